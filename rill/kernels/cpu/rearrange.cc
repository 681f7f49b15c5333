// Kernels that take each element from a place that its axes decide one by one:
// mirrored borders, shifts, sequences; and one-hot rows, ranges.
#include <algorithm>
#include <cstring>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/strided_copy.h"

namespace rill::cpu {
namespace {

std::int64_t int_at(const TensorView& v, std::int64_t i) {
  return v.dtype == int64 ? static_cast<const std::int64_t*>(v.data)[i]
                          : static_cast<const std::int32_t*>(v.data)[i];
}
char* at(const TensorView& v, std::int64_t element) {
  return static_cast<char*>(v.data) + element * static_cast<std::int64_t>(v.dtype.itemsize());
}

// map[axis][i]: the place in the input, in elements, that index i of that axis adds.
using Maps = std::vector<std::vector<std::int64_t>>;

// visit(place in the mapped tensor, place in the dense one) over rows [begin, end) of `dims`.
template <class F>
void walk(const Dims& dims, const Maps& maps, std::int64_t begin, std::int64_t end, F visit) {
  const std::size_t last = dims.size() - 1;
  SmallVector<std::int64_t, 8> index(dims.size(), 0);
  for (std::int64_t rest = begin, i = static_cast<std::int64_t>(last); i-- > 0;
       rest /= dims[static_cast<std::size_t>(i)])
    index[static_cast<std::size_t>(i)] = rest % dims[static_cast<std::size_t>(i)];
  for (std::int64_t row = begin; row < end; ++row) {
    std::int64_t base = 0;
    for (std::size_t i = 0; i < last; ++i) base += maps[i][static_cast<std::size_t>(index[i])];
    for (std::int64_t j = 0; j < dims[last]; ++j)
      visit(base + maps[last][static_cast<std::size_t>(j)], row * dims[last] + j);
    for (std::size_t i = last; i-- > 0;) {
      if (++index[i] < dims[i]) break;
      index[i] = 0;
    }
  }
}

// out[i..] = in[map of i..]
void take(KernelContext& c, const Maps& maps) {
  if (c.out().size == 0) return;
  Dims dims = c.out_shape().dims();
  Maps all = maps;
  if (dims.empty()) dims.push_back(1), all.push_back({0});
  const std::int64_t rows = c.out().size / dims.back();
  dispatch_width(c.out().dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    T* out = c.out<T>();
    parallel_for(rows, std::max<std::int64_t>(1, (1 << 14) / dims.back()),
                 [&](std::int64_t begin, std::int64_t end) {
                   walk(dims, all, begin, end,
                        [&](std::int64_t from, std::int64_t to) { out[to] = in[from]; });
                 });
  });
}

// For each index of the padded axis the one that it mirrors.
Maps mirror_maps(const KernelContext& c, const Dims& inner) {
  const std::int64_t offset = c.string_attr("mode") == "REFLECT" ? 1 : 0;
  const Dims strides = row_major(inner);
  Maps maps;
  for (std::size_t a = 0; a < inner.size(); ++a) {
    const std::int64_t before = int_at(c.in(1), static_cast<std::int64_t>(2 * a)),
                       after = int_at(c.in(1), static_cast<std::int64_t>(2 * a + 1)), n = inner[a];
    std::vector<std::int64_t> map;
    for (std::int64_t i = -before; i < n + after; ++i)
      map.push_back(strides[a] * (i < 0 ? -i - 1 + offset : i >= n ? 2 * n - i - 1 - offset : i));
    maps.push_back(std::move(map));
  }
  return maps;
}
void mirror_pad_cpu(KernelContext& c) noexcept { take(c, mirror_maps(c, c.in_shape(0).dims())); }
RILL_KERNEL("MirrorPad", cpu, kAllTypes, mirror_pad_cpu);

// Sums in the order of the input; not parallel, as places repeat.
void mirror_pad_grad_cpu(KernelContext& c) noexcept {
  std::memset(c.out().data, 0, static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize());
  if (c.in(0).size == 0) return;
  Dims dims = c.in_shape(0).dims();
  Maps maps = mirror_maps(c, c.out_shape().dims());
  if (dims.empty()) dims.push_back(1), maps.push_back({0});
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    T* out = c.out<T>();
    walk(dims, maps, 0, c.in(0).size / dims.back(),
         [&](std::int64_t to, std::int64_t from) { out[to] = static_cast<T>(out[to] + in[from]); });
  });
}
RILL_KERNEL("MirrorPadGrad", cpu, kNumericTypes, mirror_pad_grad_cpu);

void roll_cpu(KernelContext& c) noexcept {
  const Dims &dims = c.in_shape(0).dims(), strides = row_major(dims);
  Dims shift(dims.size(), 0);
  for (std::int64_t i = 0; i < c.in(1).size; ++i) {
    const std::int64_t a = int_at(c.in(2), i);
    const auto axis =
        static_cast<std::size_t>(a < 0 ? a + static_cast<std::int64_t>(dims.size()) : a);
    if (dims[axis] > 0)
      shift[axis] = (shift[axis] + int_at(c.in(1), i) % dims[axis] + dims[axis]) % dims[axis];
  }
  Maps maps;
  for (std::size_t a = 0; a < dims.size(); ++a) {
    std::vector<std::int64_t> map;
    for (std::int64_t i = 0; i < dims[a]; ++i)
      map.push_back(strides[a] * ((i - shift[a] + dims[a]) % dims[a]));
    maps.push_back(std::move(map));
  }
  take(c, maps);
}
RILL_KERNEL("Roll", cpu, kAllTypes, roll_cpu);

void reverse_sequence_cpu(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  const Dims strides = row_major(shape.dims());
  auto axis = [&](std::string_view name) {
    const std::int64_t a = c.int_attr(name);
    return static_cast<std::size_t>(a < 0 ? a + shape.rank() : a);
  };
  const std::size_t seq = axis("seq_dim"), batch = axis("batch_dim");
  if (c.out().size == 0) return;
  for (std::int64_t b = 0; b < shape.dims()[batch]; ++b) {
    const std::int64_t n = int_at(c.in(1), b), size = shape.dims()[seq];
    if (n < 0 || n > size)
      return c.fail(Code::invalid_argument,
                    format("[{}] seq_lengths[{}] = {} is not in [0, {}]", c.tag(), b, n, size));
    StridedCopy copy{shape.dims(), strides, strides};
    copy.dims[batch] = 1;
    copy.dims[seq] = size - n;
    const std::int64_t first = b * strides[batch], rest = first + n * strides[seq];
    if (n < size) strided_copy(c.out().dtype, at(c.in(0), rest), at(c.out(), rest), copy);
    if (n == 0) continue;
    copy.dims[seq] = n;
    copy.in_strides[seq] = -strides[seq];
    strided_copy(c.out().dtype, at(c.in(0), first + (n - 1) * strides[seq]), at(c.out(), first),
                 copy);
  }
}
RILL_KERNEL("ReverseSequence", cpu, kAllTypes, reverse_sequence_cpu);

// indices [outer, inner] -> [outer, depth, inner]
void one_hot_cpu(KernelContext& c) noexcept {
  strided_copy(c.out().dtype, c.in(3).data, c.out().data, {{c.out().size}, {0}, {1}});
  const std::int64_t axis = c.int_attr("axis"), depth = *c.in<std::int32_t>(1), n = c.in(0).size;
  std::int64_t inner = 1;
  if (axis >= 0)
    for (int i = static_cast<int>(axis); i < c.in_shape(0).rank(); ++i)
      inner *= c.in_shape(0).dim(i);
  if (n == 0 || depth == 0) return;
  dispatch_types<std::uint8_t, std::int8_t, std::int32_t, std::int64_t>(
      c.in(0).dtype, [&]<class I>() {
        dispatch_width(c.out().dtype, [&]<class T>() {
          const I* index = c.in<I>(0);
          const T& on = *c.in<T>(2);
          T* out = c.out<T>();
          parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              const auto k = static_cast<std::int64_t>(index[i]);
              if (k >= 0 && k < depth) out[(i / inner * depth + k) * inner + i % inner] = on;
            }
          });
        });
      });
}
RILL_KERNEL("OneHot", cpu, kAllTypes, one_hot_cpu);

void range_cpu(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    const T start = *c.in<T>(0), delta = *c.in<T>(2);
    T* out = c.out<T>();
    parallel_for(c.out().size, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_integral_v<T>)
          out[i] =
              static_cast<T>(static_cast<std::uint64_t>(start) +
                             static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta));
        else
          out[i] = static_cast<T>(start + static_cast<T>(static_cast<float>(i)) * delta);
      }
    });
  });
}
RILL_KERNEL("Range", cpu, kFloatTypes | kSignedTypes | (TypeSet{uint16, uint32}), range_cpu);

void linspace_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    const T start = *c.in<T>(0), stop = *c.in<T>(1);
    const std::int64_t n = c.out().size;
    T* out = c.out<T>();
    const T step =
        n > 1 ? static_cast<T>((stop - start) / static_cast<T>(static_cast<float>(n - 1))) : T{};
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = static_cast<T>(start + step * static_cast<T>(static_cast<float>(i)));
    if (n > 1) out[n - 1] = stop;
  });
}
RILL_KERNEL("LinSpace", cpu, kFloatTypes, linspace_cpu);

}  // namespace
}  // namespace rill::cpu
