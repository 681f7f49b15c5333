#include <algorithm>
#include <map>
#include <vector>

#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

using Ints = std::vector<std::int64_t>;
// The sets, sorted and without repeats, by the coordinates of their row.
template <class T>
using Rows = std::map<Ints, std::vector<T>>;

template <class T>
void sort_sets(Rows<T>& rows) {
  for (auto& [at, set] : rows) {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
}

template <class T>
void read_dense(KernelContext& c, int input, Ints& shape, Rows<T>& rows) {
  const TensorShape& s = c.in_shape(input);
  for (std::int64_t n : s.dims()) shape.push_back(n);
  const std::int64_t width = shape.back();
  Ints at(shape.size() - 1, 0);
  const T* in = c.in<T>(input);
  for (std::int64_t i = 0; i < c.in(input).size; i += width) {
    rows[at].assign(in + i, in + i + width);
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < shape[k]) break;
      at[k] = 0;
    }
  }
  sort_sets(rows);
}

// Coordinates, values and shape from input `input` on.
template <class T>
void read_sparse(KernelContext& c, int input, Ints& shape, Rows<T>& rows) {
  const std::int64_t rank = c.in(input + 2).size, n = c.in(input + 1).size;
  const auto* sizes = c.in<std::int64_t>(input + 2);
  shape.assign(sizes, sizes + rank);
  if (c.in_shape(input) != TensorShape(std::vector<std::int64_t>{n, rank}))
    return c.fail(Code::invalid_argument,
                  format("[{}] coordinates of shape {} for {} values of {} axes", c.tag(),
                         c.in_shape(input), n, rank));
  const auto* at = c.in<std::int64_t>(input);
  const T* values = c.in<T>(input + 1);
  for (std::int64_t i = 0; i < n; ++i, at += rank) {
    bool inside = true;
    for (std::int64_t k = 0; k < rank; ++k) inside = inside && at[k] >= 0 && at[k] < sizes[k];
    const bool ordered = i == 0 || std::lexicographical_compare(at - rank, at, at, at + rank) ||
                         !c.bool_attr("validate_indices");
    if (!inside || !ordered)
      return c.fail(Code::invalid_argument,
                    format("[{}] coordinates {} are {}", c.tag(), i,
                           inside ? "out of order, or repeated; use tf::sparse::reorder"
                                  : "not inside the shape"));
    rows[Ints(at, at + rank - 1)].push_back(values[i]);
  }
  sort_sets(rows);
}

template <class T>
void write_sets(KernelContext& c, const Rows<T>& a, const Rows<T>& b, Ints shape) {
  const std::string_view operation = c.string_attr("set_operation");
  static const std::vector<T> none;
  const auto row = [](const Rows<T>& rows, const Ints& at) -> const std::vector<T>& {
    const auto found = rows.find(at);
    return found == rows.end() ? none : found->second;
  };
  std::map<Ints, std::vector<T>> result;
  const auto add = [&](const Ints& at) {
    const std::vector<T>&x = row(a, at), &y = row(b, at);
    std::vector<T>& out = result[at];
    if (!out.empty()) return;  // both have it
    if (operation == "union")
      std::ranges::set_union(x, y, std::back_inserter(out));
    else if (operation == "intersection")
      std::ranges::set_intersection(x, y, std::back_inserter(out));
    else if (operation == "a-b")
      std::ranges::set_difference(x, y, std::back_inserter(out));
    else
      std::ranges::set_difference(y, x, std::back_inserter(out));
  };
  for (const auto& [at, set] : a) add(at);
  for (const auto& [at, set] : b) add(at);
  std::int64_t n = 0, widest = 0;
  for (const auto& [at, set] : result) {
    n += static_cast<std::int64_t>(set.size());
    widest = std::max(widest, static_cast<std::int64_t>(set.size()));
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  auto* indices = c.allocate<std::int64_t>(0, TensorShape(std::vector<std::int64_t>{n, rank}));
  T* values = c.allocate<T>(1, TensorShape(std::vector<std::int64_t>{n}));
  auto* sizes = c.allocate<std::int64_t>(2, TensorShape(std::vector<std::int64_t>{rank}));
  if (c.failed()) return;
  for (const auto& [at, set] : result)
    for (std::size_t k = 0; k < set.size(); ++k) {
      indices = std::copy(at.begin(), at.end(), indices);
      *indices++ = static_cast<std::int64_t>(k);
      *values++ = set[k];
    }
  shape.back() = widest;
  std::copy(shape.begin(), shape.end(), sizes);
}

template <bool first_sparse, bool second_sparse>
void set_operation_cpu(KernelContext& c) noexcept {
  const std::string_view operation = c.string_attr("set_operation");
  for (std::string_view known : {"a-b", "b-a", "intersection", "union"})
    if (operation == known) {
      dispatch_all(c.in(first_sparse ? 1 : 0).dtype, [&]<class T>() {
        if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
          Ints shape_a, shape_b;
          Rows<T> a, b;
          if constexpr (first_sparse)
            read_sparse(c, 0, shape_a, a);
          else
            read_dense(c, 0, shape_a, a);
          if constexpr (second_sparse)
            read_sparse(c, first_sparse ? 3 : 1, shape_b, b);
          else
            read_dense(c, 1, shape_b, b);
          if (c.failed()) return;
          if (shape_a.size() != shape_b.size() ||
              !std::equal(shape_a.begin(), shape_a.end() - 1, shape_b.begin()))
            return c.fail(Code::invalid_argument,
                          format("[{}] the sets are the rows of shapes {} and {}; expected equal "
                                 "axes but for the last",
                                 c.tag(), TensorShape(shape_a), TensorShape(shape_b)));
          write_sets(c, a, b, std::move(shape_a));
        }
      });
      return;
    }
  c.fail(Code::invalid_argument,
         format("[{}] set_operation is \"{}\"; expected \"a-b\", \"b-a\", \"intersection\" or "
                "\"union\"",
                c.tag(), operation));
}

void set_size_cpu(KernelContext& c) noexcept {
  dispatch_all(c.in(1).dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
      Ints shape;
      Rows<T> rows;
      read_sparse(c, 0, shape, rows);
      if (c.failed()) return;
      auto* out = c.out<std::int32_t>();
      std::fill_n(out, c.out().size, 0);
      for (const auto& [at, set] : rows) {
        std::int64_t place = 0;
        for (std::size_t k = 0; k < at.size(); ++k) place = place * shape[k] + at[k];
        out[place] = static_cast<std::int32_t>(set.size());
      }
    }
  });
}

constexpr TypeSet kSets{int8, int16, int32, int64, uint8, uint16, string};
constexpr auto dense_dense = set_operation_cpu<false, false>,
               dense_sparse = set_operation_cpu<false, true>,
               sparse_sparse = set_operation_cpu<true, true>;
RILL_KERNEL("DenseToDenseSetOperation", cpu, kSets, dense_dense);
RILL_KERNEL("DenseToSparseSetOperation", cpu, kSets, dense_sparse);
RILL_KERNEL("SparseToSparseSetOperation", cpu, kSets, sparse_sparse);
RILL_KERNEL("SetSize", cpu, kSets, set_size_cpu);

}  // namespace
}  // namespace rill::cpu
