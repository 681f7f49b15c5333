#pragma once
#include <vector>

#include "rill/core/gradient.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Making, shaping, joining and picking tensors. Names, arguments and defaults
// are TensorFlow's.
namespace rill RILL_API {

// ---- constants. Integer literals make int32, floating ones float32, strings
// string, unless a dtype is named. A vector keeps its own element type.
Tensor constant(const Operand& value, DType dtype = {}, const TensorShape& shape = {});
Tensor constant(std::initializer_list<Operand> value, DType dtype = {}, const TensorShape& shape = {});
template <class T>
Tensor constant(const std::vector<T>& value, DType dtype = {}, const TensorShape& shape = {});
Tensor convert_to_tensor(const Operand& value, DType dtype = {});
Tensor convert_to_tensor(std::initializer_list<Operand> value, DType dtype = {});

Tensor fill(const Operand& dims, const Operand& value);
Tensor zeros(const Operand& shape, DType dtype = float32);
Tensor ones(const Operand& shape, DType dtype = float32);
Tensor zeros_like(const Operand& x, DType dtype = {});
Tensor ones_like(const Operand& x, DType dtype = {});

// ---- shape and dtype
Tensor identity(const Operand& x);
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
  int begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
};
// input[begin:end:strides] an axis; bit i of a mask speaks of entry i. x(..) and
// x[..] of Tensor are easier to read.
Tensor strided_slice(const Operand& input, const Operand& begin, const Operand& end, StridedSliceOptions options = {});
Tensor strided_slice(const Operand& input, const Operand& begin, const Operand& end, const Operand& strides, StridedSliceOptions options = {});
std::vector<Tensor> unstack(const Operand& value, int axis = 0);
Tensor pad(const Operand& x, const Operand& paddings);
// x where the condition holds, y elsewhere; all three broadcast.
Tensor where(const Operand& condition, const Operand& x, const Operand& y);
// params[.., indices, ..] along axis.
Tensor gather(const Operand& params, const Operand& indices, int axis = 0);
Tensor gather(const Operand& params, const Operand& indices, GatherOptions options);
// The coordinates where condition holds (or is not zero), one row each: int64.
Tensor where(const Operand& condition);
// The parts of tensor where mask holds; mask covers the axes from `axis` on.
Tensor boolean_mask(const Operand& tensor, const Operand& mask, int axis = 0);

}  // namespace rill
