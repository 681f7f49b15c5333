#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "rill/core/nest.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/sparse_ops.h"
#include "rill/ops/string_ops.h"

// Tensors whose rows differ in length: tf.RaggedTensor and tf.ragged.
namespace rill RILL_API {

class RaggedTensor;
class RaggedRows;  // the row splits of every level, which tensors of the same rows share
void retain(RaggedRows*) noexcept;
void release(RaggedRows*) noexcept;

struct RaggedFromTensorOptions {
  // The length of each row; or, from the outer to the inner axis, those of several levels.
  TensorList lengths = {};
  Tensor padding = {};  // what is left out where it ends a row
  int ragged_rank = 1;
  DType row_splits_dtype = int64;
};

namespace detail {
template <class T, int Depth>
struct NestedList {
  using type = std::vector<typename NestedList<T, Depth - 1>::type>;
};
template <class T>
struct NestedList<T, 0> {
  using type = T;
};
}  // namespace detail

// Rows of different lengths: row i is values()[row_splits()[i] .. row_splits()[i + 1]]. Rows may
// have rows of their own: ragged_rank() tells how many axes are ragged. A handle, which never
// changes. As a leaf of a Nest it is argument and result of functions, and an element of datasets.
//
//   auto rt = tf::ragged::constant({{3, 1, 4, 1}, {}, {5, 9, 2}});
//   std::cout << tf::reduce_sum(rt, 1);   // [9 0 16]
//
// Row splits begin with 0, never fall and end with the number of values; InvalidArgument otherwise
// (`validate`: false trusts them). They are int64, or int32 where an int32 tensor gave them.
// Symbolic ones are not checked.
class RaggedTensor {
 public:
  RaggedTensor() = default;  // undefined
  static RaggedTensor from_row_splits(const Operand& values, const Operand& row_splits,
                                      bool validate = true);
  static RaggedTensor from_row_splits(const RaggedTensor& values, const Operand& row_splits,
                                      bool validate = true);
  static RaggedTensor from_row_lengths(const Operand& values, const Operand& row_lengths,
                                       bool validate = true);
  static RaggedTensor from_row_lengths(const RaggedTensor& values, const Operand& row_lengths,
                                       bool validate = true);
  // The row of each value, in order. nrows: -1 takes as many rows as the last id says.
  static RaggedTensor from_value_rowids(const Operand& values, const Operand& value_rowids,
                                        std::int64_t nrows = -1, bool validate = true);
  static RaggedTensor from_value_rowids(const RaggedTensor& values, const Operand& value_rowids,
                                        std::int64_t nrows = -1, bool validate = true);
  static RaggedTensor from_row_starts(const Operand& values, const Operand& row_starts,
                                      bool validate = true);
  static RaggedTensor from_row_limits(const Operand& values, const Operand& row_limits,
                                      bool validate = true);
  // Rows of one length. nrows is asked for where that length is 0.
  static RaggedTensor from_uniform_row_length(const Operand& values, std::int64_t length,
                                              std::int64_t nrows = -1);
  static RaggedTensor from_uniform_row_length(const RaggedTensor& values, std::int64_t length,
                                              std::int64_t nrows = -1);
  // From the outermost splits to the innermost.
  static RaggedTensor from_nested_row_splits(const Operand& flat_values,
                                             const std::vector<Tensor>& nested_row_splits,
                                             bool validate = true);
  static RaggedTensor from_nested_row_lengths(const Operand& flat_values,
                                              const std::vector<Tensor>& nested_row_lengths,
                                              bool validate = true);
  static RaggedTensor from_tensor(const Operand& tensor,
                                  const RaggedFromTensorOptions& options = {});
  // Of rank 2, with the coordinates of each row 0, 1, ..; InvalidArgument otherwise.
  static RaggedTensor from_sparse(const SparseTensor& sparse, DType row_splits_dtype = int64);

  bool defined() const { return flat_values_.defined(); }
  Tensor values() const;  // InvalidArgument where rows have rows of their own: ragged_values()
  RaggedTensor ragged_values() const;  // the rows of the rows
  const Tensor& flat_values() const { return flat_values_; }
  Tensor row_splits() const;  // of the outermost rows
  std::vector<Tensor> nested_row_splits() const;
  std::vector<Tensor> nested_row_lengths() const;
  Tensor nrows() const;
  // Of axis 1; of another ragged axis with rows in rows: nested_row_lengths().
  Tensor row_lengths(int axis = 1) const;
  Tensor row_starts() const;
  Tensor row_limits() const;
  Tensor value_rowids() const;
  std::int64_t uniform_row_length() const;  // of axis 1; -1: rows may differ
  int ragged_rank() const;
  DType dtype() const { return flat_values_.dtype(); }
  DType row_splits_dtype() const;
  TensorShape shape() const;      // (3, None)
  Tensor bounding_shape() const;  // the smallest box that holds every row
  bool is_symbolic() const;

  // Rows padded to the longest one, with zeros, empty strings or default_value; with a shape cut
  // or padded to it where it says a size.
  Tensor to_tensor() const;
  Tensor to_tensor(const Operand& default_value, const TensorShape& shape = {}) const;
  SparseTensor to_sparse() const;

  // A row, where its elements are no rows: ragged_rank() 1. Negative numbers count from the end.
  Tensor operator[](int row) const;
  RaggedTensor row(int i) const;  // where they are
  // rt(tf::slice(1, 3)), rt(tf::all, tf::slice(tf::None, 2)): some rows, a part of each. Numbers
  // alone, rt(2, 0), pick an element: a tensor (InvalidArgument where rows have rows below them).
  template <class... I>
  requires(std::is_convertible_v<const I&, Index>&&...) auto operator()(const I&... i) const {
    if constexpr (sizeof...(I) >= 2 && (std::is_integral_v<I> && ...))
      return Tensor(at({Index(i)...}));
    else
      return at({Index(i)...});
  }
  RaggedTensor at(std::initializer_list<Index> index) const;
  // Of no ragged axis, as rt(2) and rt(2, tf::slice(1, 3)) give it: the tensor that it is.
  // InvalidArgument otherwise.
  operator Tensor() const;

  // The same rows of other values. REQUIRES: as many.
  RaggedTensor with_flat_values(const Operand& flat_values) const;
  RaggedTensor with_values(const Operand& values) const;
  RaggedTensor with_values(const RaggedTensor& values) const;
  RaggedTensor with_row_splits_dtype(DType dtype) const;

  // Rows as lists; Depth is the rank: to_list<int, 3>() where rows have rows.
  template <class T, int Depth = 2>
  typename detail::NestedList<T, Depth>::type to_list() const {
    const std::vector<std::vector<std::int64_t>> lengths = list_lengths(Depth);
    std::vector<T> flat = flat_values_.template to_vector<T>();
    std::vector<std::size_t> next(static_cast<std::size_t>(Depth) + 1, 0);
    return list<T, Depth>(flat, lengths, next);
  }
  std::string to_string() const;  // "[[3, 1, 4, 1], [], [5, 9, 2]]"

  // As a leaf of a Nest ("ragged"): an argument or result of functions, an element of datasets.
  Nest to_nest() const;
  static RaggedTensor from_nest(const Nest& nest);  // InvalidArgument for another kind

  // Library use. Of no levels: a tensor that stands among ragged ones.
  static RaggedTensor of_rows(Tensor flat_values, Ref<RaggedRows> rows);
  const Ref<RaggedRows>& rows() const { return rows_; }

 private:
  // For each axis the lengths of its rows, in order. InvalidArgument for another rank.
  std::vector<std::vector<std::int64_t>> list_lengths(int rank) const;
  // The next row of an axis; next[Depth] counts the elements.
  template <class T, int Depth>
  static typename detail::NestedList<T, Depth>::type list(
      std::vector<T>& flat, const std::vector<std::vector<std::int64_t>>& lengths,
      std::vector<std::size_t>& next) {
    if constexpr (Depth == 0) {
      return std::move(flat[next.back()++]);
    } else {
      const std::size_t axis = lengths.size() - Depth;
      typename detail::NestedList<T, Depth>::type out;
      for (std::int64_t n = lengths[axis][next[axis]++]; n > 0; --n)
        out.push_back(list<T, Depth - 1>(flat, lengths, next));
      return out;
    }
  }

  Tensor flat_values_;
  Ref<RaggedRows> rows_;
};
namespace strings {
template <StringLike S>
RaggedTensor split(const Operand& input, const S& sep, int maxsplit) {
  return split(input, SplitOptions{std::string(std::string_view(sep)), maxsplit});
}
}  // namespace strings
// <tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2]]>
std::ostream& operator<<(std::ostream& os, const RaggedTensor& t);
void append_formatted(std::string& out, const RaggedTensor& t, std::string_view spec);

// ---- element by element: the op on the flat values. Two ragged tensors have the same rows;
// tensors broadcast: a scalar, [n, 1] (a number for each row), [n, k] where every row has k
// elements, sizes of the axes within.
#define RILL_RAGGED_BINARY(name)                                   \
  RaggedTensor name(const RaggedTensor& x, const RaggedTensor& y); \
  RaggedTensor name(const RaggedTensor& x, const Operand& y);      \
  RaggedTensor name(const Operand& x, const RaggedTensor& y);
RILL_RAGGED_BINARY(operator+)
RILL_RAGGED_BINARY(operator-)
RILL_RAGGED_BINARY(operator*)
RILL_RAGGED_BINARY(operator/)
RILL_RAGGED_BINARY(operator%)
RILL_RAGGED_BINARY(operator<)
RILL_RAGGED_BINARY(operator<=)
RILL_RAGGED_BINARY(operator>)
RILL_RAGGED_BINARY(operator>=)
RILL_RAGGED_BINARY(operator==)
RILL_RAGGED_BINARY(operator!=)
RILL_RAGGED_BINARY(operator&)
RILL_RAGGED_BINARY(operator|)
RILL_RAGGED_BINARY(operator^)
RILL_RAGGED_BINARY(add)
RILL_RAGGED_BINARY(subtract)
RILL_RAGGED_BINARY(multiply)
RILL_RAGGED_BINARY(divide)
RILL_RAGGED_BINARY(truediv)
RILL_RAGGED_BINARY(floordiv)
RILL_RAGGED_BINARY(floormod)
RILL_RAGGED_BINARY(divide_no_nan)
RILL_RAGGED_BINARY(squared_difference)
RILL_RAGGED_BINARY(pow)
RILL_RAGGED_BINARY(maximum)
RILL_RAGGED_BINARY(minimum)
RILL_RAGGED_BINARY(equal)
RILL_RAGGED_BINARY(not_equal)
RILL_RAGGED_BINARY(less)
RILL_RAGGED_BINARY(less_equal)
RILL_RAGGED_BINARY(greater)
RILL_RAGGED_BINARY(greater_equal)
RILL_RAGGED_BINARY(logical_and)
RILL_RAGGED_BINARY(logical_or)
RILL_RAGGED_BINARY(logical_xor)
#undef RILL_RAGGED_BINARY

#define RILL_RAGGED_UNARY(name) RaggedTensor name(const RaggedTensor& x);
RILL_RAGGED_UNARY(operator-)
RILL_RAGGED_UNARY(operator~)
RILL_RAGGED_UNARY(abs)
RILL_RAGGED_UNARY(negative)
RILL_RAGGED_UNARY(sign)
RILL_RAGGED_UNARY(square)
RILL_RAGGED_UNARY(sqrt)
RILL_RAGGED_UNARY(rsqrt)
RILL_RAGGED_UNARY(reciprocal)
RILL_RAGGED_UNARY(exp)
RILL_RAGGED_UNARY(expm1)
RILL_RAGGED_UNARY(log)
RILL_RAGGED_UNARY(log1p)
RILL_RAGGED_UNARY(sin)
RILL_RAGGED_UNARY(cos)
RILL_RAGGED_UNARY(tan)
RILL_RAGGED_UNARY(tanh)
RILL_RAGGED_UNARY(sigmoid)
RILL_RAGGED_UNARY(erf)
RILL_RAGGED_UNARY(floor)
RILL_RAGGED_UNARY(ceil)
RILL_RAGGED_UNARY(rint)
RILL_RAGGED_UNARY(round)
RILL_RAGGED_UNARY(is_nan)
RILL_RAGGED_UNARY(is_inf)
RILL_RAGGED_UNARY(is_finite)
RILL_RAGGED_UNARY(logical_not)
RILL_RAGGED_UNARY(identity)
RILL_RAGGED_UNARY(stop_gradient)
RILL_RAGGED_UNARY(zeros_like)
RILL_RAGGED_UNARY(ones_like)
#undef RILL_RAGGED_UNARY
namespace nn {
RaggedTensor relu(const RaggedTensor& x);
using rill::sigmoid, rill::tanh;
}  // namespace nn
RaggedTensor cast(const RaggedTensor& x, DType dtype);
RaggedTensor clip_by_value(const RaggedTensor& t, const Operand& clip_value_min,
                           const Operand& clip_value_max);
// x where the condition holds, y elsewhere.
RaggedTensor where(const RaggedTensor& condition, const RaggedTensor& x, const RaggedTensor& y);
RaggedTensor where(const RaggedTensor& condition, const RaggedTensor& x, const Operand& y);
RaggedTensor where(const RaggedTensor& condition, const Operand& x, const RaggedTensor& y);
RaggedTensor where(const RaggedTensor& condition, const Operand& x, const Operand& y);

// ---- reductions: over all elements, one axis, or some; of variance and std one. An empty row
// gives what an empty sum or product gives; the mean of none is NaN, the largest of none the lowest
// number of the dtype. Where the result is ragged itself, InvalidArgument: tf::ragged::reduce_sum
// gives it.
#define RILL_RAGGED_REDUCTION(name)                                                \
  Tensor name(const RaggedTensor& x, ReduceOptions options = {});                  \
  Tensor name(const RaggedTensor& x, int axis, ReduceOptions options = {});        \
  Tensor name(const RaggedTensor& x, Axes axis, ReduceOptions options = {});       \
  namespace ragged {                                                               \
  RaggedTensor name(const RaggedTensor& x, int axis, ReduceOptions options = {});  \
  RaggedTensor name(const RaggedTensor& x, Axes axis, ReduceOptions options = {}); \
  }
RILL_RAGGED_REDUCTION(reduce_sum)
RILL_RAGGED_REDUCTION(reduce_mean)
RILL_RAGGED_REDUCTION(reduce_prod)
RILL_RAGGED_REDUCTION(reduce_max)
RILL_RAGGED_REDUCTION(reduce_min)
RILL_RAGGED_REDUCTION(reduce_all)
RILL_RAGGED_REDUCTION(reduce_any)
RILL_RAGGED_REDUCTION(reduce_variance)
RILL_RAGGED_REDUCTION(reduce_std)
#undef RILL_RAGGED_REDUCTION

// ---- joining and picking
// Rows below each other (axis 0), or each beside its partners (axis 1).
RaggedTensor concat(const std::vector<RaggedTensor>& values, int axis);
RaggedTensor expand_dims(const RaggedTensor& x, int axis);
// Rows by number; rows of a tensor by ragged numbers.
RaggedTensor gather(const RaggedTensor& params, const Operand& indices);
RaggedTensor gather(const Operand& params, const RaggedTensor& indices);
RaggedTensor reverse(const RaggedTensor& x, int axis);
// The whole multiples[i] times, 1 or more, along axis i.
RaggedTensor tile(const RaggedTensor& x, const std::vector<int>& multiples);
Tensor size(const RaggedTensor& x, DType out_type = int32);  // the number of its elements
Tensor rank(const RaggedTensor& x);

namespace ragged {
using rill::RaggedTensor;
// Lists of lists. Numbers stand at one depth; ragged_rank tells how many axes are ragged (all
// within the first, unless given), the rest have one length each.
struct ConstantOptions {
  DType dtype = {};
  int ragged_rank = -1;
  DType row_splits_dtype = int64;
};
RaggedTensor constant(const Operand& pylist, DType dtype = {});
RaggedTensor constant(std::initializer_list<Operand> pylist, DType dtype = {});
RaggedTensor constant(const Operand& pylist, const ConstantOptions& options);
RaggedTensor constant(std::initializer_list<Operand> pylist, const ConstantOptions& options);
template <class T>
RaggedTensor constant(const std::vector<std::vector<T>>& rows, DType dtype = {}) {
  std::vector<T> all;
  std::vector<std::int64_t> splits{0};
  for (const std::vector<T>& row : rows) {
    all.insert(all.end(), row.begin(), row.end());
    splits.push_back(static_cast<std::int64_t>(all.size()));
  }
  return RaggedTensor::from_row_splits(rill::to_tensor(all, dtype), splits, false);
}
template <class F>
RaggedTensor map_flat_values(F f, const RaggedTensor& x) {
  return x.with_flat_values(f(x.flat_values()));
}
// Of several: their rows are the same.
void require_same_rows(const RaggedTensor& x, const RaggedTensor& y, std::string_view tag);
template <class F>
RaggedTensor map_flat_values(F f, const RaggedTensor& x, const RaggedTensor& y) {
  require_same_rows(x, y, "ragged.map_flat_values");
  return x.with_flat_values(f(x.flat_values(), y.flat_values()));
}
// Tensors as rows, of one rank and of any sizes.
RaggedTensor stack_rows(const std::vector<Tensor>& rows);
// A template, so that {rt, rt} are ragged tensors, although one may become a Tensor.
template <class L = std::vector<Tensor>>
requires std::is_same_v<L, std::vector<Tensor>> RaggedTensor stack(const L& rows) {
  return stack_rows(rows);
}
RaggedTensor stack(const std::vector<RaggedTensor>& rows);
// Row i: 0 .. limits[i] - 1; starts[i], starts[i] + deltas[i], .. below limits[i].
RaggedTensor range(const Operand& limits);
RaggedTensor range(const Operand& starts, const Operand& limits, const Operand& deltas = 1);
// The elements where mask holds, in their rows.
RaggedTensor boolean_mask(const RaggedTensor& data, const RaggedTensor& mask);
RaggedTensor boolean_mask(const RaggedTensor& data, const Operand& mask);  // of whole rows
RaggedTensor boolean_mask(const Operand& data, const Operand& mask);       // of rank 2 or more
Tensor row_splits_to_segment_ids(const Operand& splits);
Tensor segment_ids_to_row_splits(const Operand& segment_ids, std::int64_t num_segments = -1);
}  // namespace ragged

// The same names under math, as in tf.math.
namespace math {
using rill::abs, rill::add, rill::ceil, rill::cos, rill::divide, rill::divide_no_nan, rill::equal,
    rill::erf, rill::exp, rill::expm1, rill::floor, rill::floordiv, rill::floormod, rill::greater;
using rill::greater_equal, rill::is_finite, rill::is_inf, rill::is_nan, rill::less,
    rill::less_equal, rill::log, rill::log1p, rill::logical_and, rill::logical_not;
using rill::logical_or, rill::logical_xor, rill::maximum, rill::minimum, rill::multiply,
    rill::negative, rill::not_equal, rill::pow, rill::reciprocal, rill::rint, rill::round;
using rill::reduce_all, rill::reduce_any, rill::reduce_max, rill::reduce_mean, rill::reduce_min,
    rill::reduce_prod, rill::reduce_std, rill::reduce_sum, rill::reduce_variance;
using rill::rsqrt, rill::sigmoid, rill::sign, rill::sin, rill::sqrt, rill::square,
    rill::squared_difference, rill::subtract, rill::tan, rill::tanh, rill::truediv;
}  // namespace math

}  // namespace RILL_API
