#pragma once
#include <vector>

#include "rill/core/gradient.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Making, shaping, joining and picking tensors. Names, arguments and defaults
// are TensorFlow's.
namespace rill RILL_API {

namespace detail {
void require_row(std::size_t size, std::size_t first);  // InvalidArgument when they differ
}

// ---- constants. Integer literals make int32, floating ones float32, strings
// string, unless a dtype is named. A vector keeps its own element type.
Tensor constant(const Operand& value, DType dtype = {}, const TensorShape& shape = {});
Tensor constant(std::initializer_list<Operand> value, DType dtype = {},
                const TensorShape& shape = {});
template <class T>
Tensor constant(const std::vector<T>& value, DType dtype = {}, const TensorShape& shape = {});
template <class T>
Tensor constant(const std::vector<T>& value, const TensorShape& shape) {
  return constant(value, DType(), shape);
}
// Rows of one length.
template <class T>
Tensor constant(const std::vector<std::vector<T>>& rows, DType dtype = {}) {
  std::vector<T> all;
  for (const std::vector<T>& row : rows) {
    detail::require_row(row.size(), rows[0].size());
    all.insert(all.end(), row.begin(), row.end());
  }
  const auto n = static_cast<std::int64_t>(rows.size());
  return constant(all, dtype, {n, n == 0 ? 0 : static_cast<std::int64_t>(rows[0].size())});
}
Tensor convert_to_tensor(const Operand& value, DType dtype = {});
Tensor convert_to_tensor(std::initializer_list<Operand> value, DType dtype = {});

// 0 .. limit - 1; start, start + delta, .. below limit. The dtype is the widest
// given of int32, int64, float32, float64.
Tensor range(const Operand& limit);
Tensor range(const Operand& start, const Operand& limit, const Operand& delta = 1,
             DType dtype = {});
// num numbers from start to stop, both included.
Tensor linspace(const Operand& start, const Operand& stop, const Operand& num);
// A number, a bool or a scalar tensor.
class OneHotValue {
 public:
  OneHotValue() = default;  // not given
  template <class T>
  requires std::is_arithmetic_v<T> OneHotValue(T value) : value_(to_tensor(Operand(value))) {}
  OneHotValue(const Tensor& value) : value_(value) {}
  const Tensor& tensor() const { return value_; }

 private:
  Tensor value_;
};
struct OneHotOptions {
  OneHotValue on_value = {}, off_value = {};  // 1 and 0
  int axis = -1;                              // where the new axis goes
  DType dtype = {};                           // else that of the values given, else float32
};
// on_value at the place that an index names along a new axis of size depth; an
// index outside [0, depth) gives off_value alone.
Tensor one_hot(const Operand& indices, const Operand& depth);
Tensor one_hot(const Operand& indices, const Operand& depth, OneHotOptions options);
Tensor one_hot(const Operand& indices, const Operand& depth, const Operand& on_value,
               const Operand& off_value, int axis = -1);
// mask[.., j] = j < lengths[..]; maxlen is the largest length unless given.
Tensor sequence_mask(const Operand& lengths, DType dtype = bool_);
Tensor sequence_mask(const Operand& lengths, const Operand& maxlen, DType dtype = bool_);
struct EyeOptions {
  TensorShape batch_shape = {};
  DType dtype = float32;
};
Tensor eye(const Operand& num_rows, DType dtype = float32);
Tensor eye(const Operand& num_rows, const Operand& num_columns, EyeOptions options = {});
struct MeshgridOptions {
  std::string indexing = "xy";  // or "ij"
};
// The coordinates of a grid over lists of them, one tensor a list.
std::vector<Tensor> meshgrid(const TensorList& coordinates, MeshgridOptions options = {});

Tensor fill(const Operand& dims, const Operand& value);
Tensor zeros(const Operand& shape, DType dtype = float32);
Tensor ones(const Operand& shape, DType dtype = float32);
Tensor zeros_like(const Operand& x, DType dtype = {});
Tensor ones_like(const Operand& x, DType dtype = {});

// ---- shape and dtype
Tensor identity(const Operand& x);
std::vector<Tensor> identity_n(const TensorList& x);
// x itself, marked as never changing.
Tensor guarantee_const(const Operand& x);
// The bytes of x read as another dtype: a narrower one adds an axis, a wider one takes it.
Tensor bitcast(const Operand& x, DType dtype);
Tensor stop_gradient(const Operand& x);
Tensor cast(const Operand& x, DType dtype);
// One size may be -1: it takes what is left.
Tensor reshape(const Operand& x, const Operand& shape);

Tensor broadcast_to(const Operand& x, const Operand& shape);

// The sizes of x, the number of its elements and of its axes, as tensors.
Tensor shape(const Operand& x, DType out_type = int32);
std::vector<Tensor> shape_n(const TensorList& x, DType out_type = int32);
Tensor size(const Operand& x, DType out_type = int32);
Tensor rank(const Operand& x);
// An axis of size 1 put in before `axis`; -1 puts it last.
Tensor expand_dims(const Operand& x, int axis);
// Without the axes of size 1, or without those listed, which must be of size 1.
Tensor squeeze(const Operand& x, std::initializer_list<int> axis = {});
Tensor squeeze(const Operand& x, int axis);
Tensor squeeze(const Operand& x, const std::vector<int>& axis);
// x itself; InvalidArgument when its shape does not fit.
Tensor ensure_shape(const Operand& x, const TensorShape& shape);

// perm[i] is the axis of x that becomes axis i; without it the axes are reversed.
Tensor transpose(const Operand& x, std::initializer_list<int> perm = {});
Tensor transpose(const Operand& x, const std::vector<int>& perm);

// ---- joining and picking
Tensor concat(const TensorList& values, int axis);
Tensor stack(const TensorList& values, int axis = 0);
struct GatherOptions {
  int axis = 0;
  int batch_dims = 0;
};
// The part of input that starts at begin and has that size; -1: all that is left.
Tensor slice(const Operand& input, const Operand& begin, const Operand& size);
struct StridedSliceOptions {
  class NamedOnly {  // so that a list of strides is not taken for masks
   public:
    constexpr NamedOnly() {}
  } use_names = {};
  int begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
};
// input[begin:end:strides] an axis; bit i of a mask speaks of entry i. x(..) and
// x[..] of Tensor are easier to read.
Tensor strided_slice(const Operand& input, const Operand& begin, const Operand& end);
Tensor strided_slice(const Operand& input, const Operand& begin, const Operand& end,
                     const Operand& strides, StridedSliceOptions options = {});
Tensor strided_slice(const Operand& input, const Operand& begin, const Operand& end,
                     StridedSliceOptions) = delete;  // masks need strides
std::vector<Tensor> unstack(const Operand& value, int axis = 0);
// num_split equal parts, or parts of the given sizes, of which one may be -1.
std::vector<Tensor> split(const Operand& value, int num_split, int axis = 0);
std::vector<Tensor> split(const Operand& value, std::initializer_list<int> sizes, int axis = 0);
std::vector<Tensor> split(const Operand& value, const std::vector<int>& sizes, int axis = 0);

struct PadOptions {
  std::string mode = "CONSTANT";  // or "REFLECT", "SYMMETRIC"
  double constant_values = 0;
};
// paddings[i] = {before, after} elements added to axis i.
Tensor pad(const Operand& x, const Operand& paddings);
Tensor pad(const Operand& x, const Operand& paddings, PadOptions options);
// The whole multiples[i] times along axis i; each element `repeats` times.
Tensor tile(const Operand& x, const Operand& multiples);
Tensor repeat(const Operand& x, const Operand& repeats);  // of x made flat
Tensor repeat(const Operand& x, const Operand& repeats, int axis);
// Backwards along axes; shifted around along axes; the first seq_lengths[i] of each entry
// backwards.
Tensor reverse(const Operand& x, const Operand& axis);
Tensor roll(const Operand& x, const Operand& shift, const Operand& axis);
Tensor reverse_sequence(const Operand& x, const Operand& seq_lengths, int seq_axis,
                        int batch_axis = 0);
// Blocks of a padded image as entries of a larger batch, and back.
Tensor space_to_batch(const Operand& x, const Operand& block_shape, const Operand& paddings);
Tensor batch_to_space(const Operand& x, const Operand& block_shape, const Operand& crops);
namespace nn {
Tensor space_to_depth(const Operand& x, int block_size, std::string_view data_format = "NHWC");
Tensor depth_to_space(const Operand& x, int block_size, std::string_view data_format = "NHWC");
}  // namespace nn
// x where the condition holds, y elsewhere; all three broadcast.
Tensor where(const Operand& condition, const Operand& x, const Operand& y);
// params[.., indices, ..] along axis.
Tensor gather(const Operand& params, const Operand& indices, int axis = 0);
Tensor gather(const Operand& params, const Operand& indices, GatherOptions options);
// By coordinates: indices [.., k] pick params[i0, .., ik-1], elements or slices.
// InvalidArgument for coordinates outside.
struct GatherNdOptions {
  int batch_dims = 0;
};
Tensor gather_nd(const Operand& params, const Operand& indices);
Tensor gather_nd(const Operand& params, const Operand& indices, GatherNdOptions options);
// Zeros of a shape with updates added at coordinates; a tensor with updates put
// in, added, subtracted, or taken where they are larger or smaller.
Tensor scatter_nd(const Operand& indices, const Operand& updates, const Operand& shape);
Tensor tensor_scatter_nd_update(const Operand& tensor, const Operand& indices,
                                const Operand& updates);
Tensor tensor_scatter_nd_add(const Operand& tensor, const Operand& indices, const Operand& updates);
Tensor tensor_scatter_nd_sub(const Operand& tensor, const Operand& indices, const Operand& updates);
Tensor tensor_scatter_nd_max(const Operand& tensor, const Operand& indices, const Operand& updates);
Tensor tensor_scatter_nd_min(const Operand& tensor, const Operand& indices, const Operand& updates);
// The rows of data (slices behind the axes of partitions), each in the tensor that partitions
// names: num_partitions tensors, rows in the order of data.
std::vector<Tensor> dynamic_partition(const Operand& data, const Operand& partitions,
                                      int num_partitions);
// merged[indices[k][i..]] = data[k][i..]; of two at one place the last counts, a place without one
// is zero.
Tensor dynamic_stitch(const TensorList& indices, const TensorList& data);
// The coordinates where condition holds (or is not zero), one row each: int64.
Tensor where(const Operand& condition);
// The parts of tensor where mask holds; mask covers the axes from `axis` on.
Tensor boolean_mask(const Operand& tensor, const Operand& mask, int axis = 0);

// ---- shapes as numbers
Tensor broadcast_dynamic_shape(const Operand& shape_x, const Operand& shape_y);
TensorShape broadcast_static_shape(const TensorShape& x, const TensorShape& y);
// The axes over which the gradient of a broadcast is summed for x and for y.
Tensors<2> broadcast_gradient_args(const Operand& shape_x, const Operand& shape_y);
Tensor invert_permutation(const Operand& x);

// ---- diagonals
namespace linalg {
struct DiagOptions {
  static constexpr int kSame = -2147483647;
  int k = 0;           // the diagonal, 0 the main one, positive above it; the lowest of several
  int k_high = kSame;  // the highest of several
  int num_rows = -1, num_cols = -1;
  double padding_value = 0;
  std::string align = "RIGHT_LEFT";
};
// Matrices with given diagonals; the diagonals of matrices; matrices with diagonals replaced.
Tensor diag(const Operand& diagonal, DiagOptions options = {});
Tensor diag_part(const Operand& input, DiagOptions options = {});
Tensor set_diag(const Operand& input, const Operand& diagonal, DiagOptions options = {});
// Zeros outside num_lower diagonals below and num_upper above the main one; -1 keeps all.
Tensor band_part(const Operand& input, const Operand& num_lower, const Operand& num_upper);
// Tensors of twice the rank: output[i.., i..] = diagonal[i..], and back.
Tensor tensor_diag(const Operand& diagonal);
Tensor tensor_diag_part(const Operand& input);
using rill::eye;
}  // namespace linalg

}  // namespace RILL_API
