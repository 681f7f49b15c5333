// Activations that Keras 3 has beyond those of Keras 2.
#include "rill/base/check.h"
#include "rill/core/shape_inference.h"
#include "rill/keras/activations/activation.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras::activations {

Tensor celu(const Operand& x) { return celu(x, 1.0); }
Tensor celu(const Operand& x, double alpha) {
  RILL_CHECK(alpha != 0, invalid_argument, "[celu] alpha is 0; expected another number");
  const Tensor in = to_tensor(x);
  return maximum(in, 0) + alpha * expm1(minimum(in, 0) / alpha);
}
Tensor glu(const Operand& x) { return glu(x, -1); }
Tensor glu(const Operand& x, int axis) {
  const Tensor in = to_tensor(x);
  RILL_CHECK(in.shape().has_rank() && in.ndim() > 0, invalid_argument,
             "[glu] the tensor has shape {}; expected one with an axis to cut in halves",
             in.shape());
  const int at = normalize_axis(axis, in.ndim(), "glu");
  RILL_CHECK(in.shape().dim(at) >= 0 && in.shape().dim(at) % 2 == 0, invalid_argument,
             "[glu] axis {} of the tensor of shape {} is cut in halves; expected an even size",
             axis, in.shape());
  const std::vector<Tensor> halves = split(in, 2, at);
  return halves[0] * nn::sigmoid(halves[1]);
}
Tensor hard_shrink(const Operand& x) { return hard_shrink(x, 0.5); }
Tensor hard_shrink(const Operand& x, double threshold) {
  const Tensor in = to_tensor(x);
  return where(abs(in) > threshold, in, zeros_like(in));
}
Tensor hard_silu(const Operand& x) {
  const Tensor in = to_tensor(x);
  return in * (nn::relu6(in + 3) / 6);
}
Tensor hard_tanh(const Operand& x) { return clip_by_value(x, -1, 1); }
// -softplus(-x), which loses nothing where sigmoid is all but 0.
Tensor log_sigmoid(const Operand& x) { return -nn::softplus(-to_tensor(x)); }
Tensor soft_shrink(const Operand& x) { return soft_shrink(x, 0.5); }
Tensor soft_shrink(const Operand& x, double threshold) {
  const Tensor in = to_tensor(x);
  return where(in > threshold, in - threshold,
               where(in < -threshold, in + threshold, zeros_like(in)));
}
Tensor sparse_plus(const Operand& x) {
  const Tensor in = to_tensor(x);
  return where(in <= -1, zeros_like(in), where(in < 1, 0.25 * square(in + 1), in));
}
Tensor sparse_sigmoid(const Operand& x) {
  const Tensor in = to_tensor(x);
  return where(in <= -1, zeros_like(in), where(in >= 1, ones_like(in), 0.5 * (in + 1)));
}
Tensor sparsemax(const Operand& x) { return sparsemax(x, -1); }
// The logits less one number, where that leaves something; it is worked out of the largest, those
// whose own share would be above 0 were they the least. Keras adds up their running sums, where the
// nearest distribution takes the last of these: so the result need not sum to 1. What was trained
// with it needs the same.
Tensor sparsemax(const Operand& x, int axis) {
  const Tensor in = to_tensor(x);
  RILL_CHECK(in.shape().has_rank() && in.ndim() > 0, invalid_argument,
             "[sparsemax] the tensor has shape {}; expected one with an axis of logits",
             in.shape());
  const int at = normalize_axis(axis, in.ndim(), "sparsemax");
  const Tensor sorted = sort(in, at, "DESCENDING"), sums = cumsum(sorted, at);
  std::vector<std::int64_t> along(static_cast<std::size_t>(in.ndim()), 1);
  along[static_cast<std::size_t>(at)] = -1;
  const Tensor count = reshape(cast(range(1, shape(in)[at] + 1), in.dtype()), constant(along));
  const Tensor stays = sorted - (sums - 1) / count > 0;
  const Tensor k = reduce_sum(cast(stays, in.dtype()), at, {.keepdims = true});
  const Tensor total = reduce_sum(where(stays, sums, zeros_like(sums)), at, {.keepdims = true});
  return maximum(in - (total - 1) / k, 0);
}
Tensor squareplus(const Operand& x) { return squareplus(x, 4); }
Tensor squareplus(const Operand& x, double b) {
  const Tensor in = to_tensor(x);
  return (in + sqrt(square(in) + b)) / 2;
}
Tensor tanh_shrink(const Operand& x) {
  const Tensor in = to_tensor(x);
  return in - nn::tanh(in);
}
Tensor threshold(const Operand& x, double threshold, double default_value) {
  const Tensor in = to_tensor(x);
  return where(in > threshold, in, fill(shape(in), constant(default_value, in.dtype())));
}

}  // namespace rill::keras::activations
