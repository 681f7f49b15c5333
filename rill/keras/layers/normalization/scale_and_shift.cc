#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/layers/normalization/normalization_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

std::vector<int> axes_of(std::string_view layer, const nn::Sizes& given, int rank) {
  RILL_CHECK(rank >= 0, invalid_argument, "[{}] the rank of the input is not known", layer);
  std::vector<int> axes;
  for (int a : given.list()) {
    const int axis = a < 0 ? a + rank : a;
    RILL_CHECK(axis >= 0 && axis < rank, invalid_argument,
               "[{}] axis is {}; expected one of an input of rank {}", layer, a, rank);
    RILL_CHECK(std::find(axes.begin(), axes.end(), axis) == axes.end(), invalid_argument,
               "[{}] axis {} comes twice", layer, a);
    axes.push_back(axis);
  }
  return axes;
}
Tensor widened(const Tensor& x) { return is_half(x.dtype()) ? cast(x, float32) : x; }

void ScaleAndShift::build(LayerImpl& layer, const TensorShape& shape, DType dtype) {
  shape_ = shape;
  gamma_.dtype = beta_.dtype = dtype;
  if (scale_) gamma_weight_ = layer.add_weight("gamma", shape, gamma_);
  if (center_) beta_weight_ = layer.add_weight("beta", shape, beta_);
}

namespace {
Tensor in(DType dtype, const Variable& v) {
  const Tensor t = v.value();
  return t.dtype() == dtype ? t : cast(t, dtype);
}
}  // namespace

Tensor ScaleAndShift::gamma(DType dtype) const {
  return scale_ ? in(dtype, gamma_weight_) : Tensor();
}
Tensor ScaleAndShift::beta(DType dtype) const {
  return center_ ? in(dtype, beta_weight_) : Tensor();
}
Tensor ScaleAndShift::gamma_or_ones(DType dtype) const {
  return scale_ ? gamma(dtype) : ones(constant(shape_.as_list()), dtype);
}
Tensor ScaleAndShift::beta_or_zeros(DType dtype) const {
  return center_ ? beta(dtype) : zeros(constant(shape_.as_list()), dtype);
}

}  // namespace rill::keras
