// Elements set to zero at random.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

// noise_shape with what it leaves open taken from x.
Tensor noise_sizes(const Tensor& x, const TensorShape& wanted) {
  if (!wanted.has_rank()) return x.shape().is_fully_defined() ? to_tensor(x.shape()) : shape(x);
  if (wanted.is_fully_defined()) {
    RILL_CHECK(!x.shape().is_fully_defined() ||
                   broadcast_shapes(x.shape(), wanted, "dropout") == x.shape(),
               invalid_argument, "[dropout] noise_shape {} does not broadcast to x of shape {}",
               wanted, x.shape());
    return to_tensor(wanted);
  }
  RILL_CHECK(!x.shape().has_rank() || x.ndim() == wanted.rank(), invalid_argument,
             "[dropout] noise_shape {} with None must have the rank of x, which has shape {}",
             wanted, x.shape());
  Dims dims = wanted.dims();
  bool known = x.shape().has_rank();
  for (std::size_t i = 0; known && i < dims.size(); ++i) {
    if (dims[i] < 0) dims[i] = x.shape().dim(static_cast<int>(i));
    known = dims[i] >= 0;
  }
  if (known) return to_tensor(TensorShape(dims));
  const Tensor sizes = shape(x);
  std::vector<Tensor> parts;
  for (int i = 0; i < wanted.rank(); ++i)
    parts.push_back(wanted.dim(i) < 0 ? sizes[i] : constant(wanted.dim(i), int32));
  return stack(parts);
}

void check_rate(double rate, std::string_view name) {
  RILL_CHECK(rate >= 0 && rate < 1, invalid_argument,
             "[dropout] {} is {}; expected a number in [0, 1)", name, rate);
}

}  // namespace

namespace nn {

Tensor dropout(const Operand& input, const Operand& rate, const DropoutOptions& o) {
  const Arg x(input);
  RILL_CHECK(x->dtype().is_floating(), invalid_argument,
             "[dropout] x is {}; expected a floating-point dtype. Write tf::cast(x, tf::float32)",
             x->dtype());
  Tensor share;
  if (rate.is_literal()) {
    RILL_CHECK(rate.kind() == Operand::Kind::floating || rate.kind() == Operand::Kind::integer,
               invalid_argument, "[dropout] rate must be a number or a scalar tensor");
    check_rate(rate.number(), "rate");
    if (rate.number() == 0) return *x;
  } else {
    share = Arg(rate);
    RILL_CHECK(!share.shape().has_rank() || share.ndim() == 0, invalid_argument,
               "[dropout] rate has shape {}; expected a scalar", share.shape());
    RILL_CHECK(share.dtype().is_floating(), invalid_argument,
               "[dropout] rate is {}; expected a floating-point dtype", share.dtype());
    if (!share.is_symbolic()) check_rate(share.item<double>(), "rate");
    share = cast(share, x->dtype());
  }
  const Tensor noise = random::uniform(noise_sizes(*x, o.noise_shape), 0., 1.,
                                       {.dtype = x->dtype(), .seed = o.seed});
  if (share.defined()) return where(greater_equal(noise, share), *x / (1 - share), 0);
  return where(greater_equal(noise, rate.number()), *x * (1 / (1 - rate.number())), 0);
}

}  // namespace nn

}  // namespace rill
