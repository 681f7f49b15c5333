// Losses that Keras 3 has beyond those of Keras 2: of regions, and of embeddings.
#include <limits>

#include "rill/base/check.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/losses/loss_classes.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras::losses {
namespace {

struct Regions {
  Tensor truth, found;
  std::vector<int> axes;
  Tensor sum(const Tensor& x) const { return axes.empty() ? reduce_sum(x) : reduce_sum(x, axes); }
};
Regions regions_of(const Operand& y_true, const Operand& y_pred, const std::vector<int>& axis) {
  Tensor found = to_tensor(y_pred);
  if (!found.dtype().is_floating()) found = cast(found, backend::floatx());
  return {cast(y_true, found.dtype()), found, axis};
}

// One column of class numbers.
Tensor column(const Tensor& labels) { return reshape(cast(labels, int32), {-1, 1}); }

Config axes_config(const std::vector<int>& axis) {
  if (axis.empty()) return {};
  return axis.size() == 1 ? Config(axis[0]) : Config::list_of(axis);
}

}  // namespace

Tensor dice(const Operand& y_true, const Operand& y_pred) { return dice(y_true, y_pred, {}); }
Tensor dice(const Operand& y_true, const Operand& y_pred, const std::vector<int>& axis) {
  const Regions r = regions_of(y_true, y_pred, axis);
  const Tensor both = r.sum(r.truth * r.found);
  return 1 - 2 * both / (r.sum(r.truth) + r.sum(r.found) + backend::epsilon());
}

Tensor tversky(const Operand& y_true, const Operand& y_pred) {
  return tversky(y_true, y_pred, TverskyFunctionOptions{});
}
Tensor tversky(const Operand& y_true, const Operand& y_pred, const TverskyFunctionOptions& o) {
  const Regions r = regions_of(y_true, y_pred, o.axis);
  const Tensor both = r.sum(r.truth * r.found), lacking = r.sum((1 - r.found) * r.truth),
               too_much = r.sum(r.found * (1 - r.truth));
  return 1 - both / (both + lacking * o.alpha + too_much * o.beta + backend::epsilon());
}

Tensor circle(const Operand& y_true, const Operand& y_pred) {
  return circle(y_true, y_pred, CircleFunctionOptions{});
}
Tensor circle(const Operand& y_true, const Operand& y_pred, const CircleFunctionOptions& o) {
  const Tensor found = to_tensor(y_pred), labels = to_tensor(y_true);
  RILL_CHECK(!found.shape().has_rank() || found.ndim() == 2, invalid_argument,
             "[circle] y_pred has shape {}; expected embeddings [batch, dim]", found.shape());
  const Tensor others = o.ref_embeddings.defined() ? o.ref_embeddings : found;
  const Tensor distance = maximum(1 - matmul(found, others, {.transpose_b = true}), 0);
  Tensor same =
      equal(column(labels), transpose(column(o.ref_labels.defined() ? o.ref_labels : labels)));
  const Tensor other = logical_not(same);
  if (o.remove_diagonal) {
    const Tensor rows = range(shape(same)[0]), columns = range(shape(same)[1]);
    same = logical_and(same, not_equal(expand_dims(rows, 1), expand_dims(columns, 0)));
  }
  const auto weighed = [&](const Tensor& weights, const Tensor& counts) {
    return maximum(weights * cast(counts, distance.dtype()), 0);
  };
  const auto sum_of = [&](const Tensor& counts, const Tensor& x) {
    const double least = -std::numeric_limits<double>::infinity();
    return reduce_logsumexp(where(counts, x, fill(shape(x), constant(least, x.dtype()))), 1);
  };
  const Tensor near = sum_of(same,
                             -o.gamma * weighed(o.margin + distance, same) * (o.margin - distance)),
               far = sum_of(other, o.gamma * weighed(1 + o.margin - distance, other) *
                                       (1 - o.margin - distance));
  return nn::softplus(near + far);
}

Dice::Dice(DiceOptions o) : Loss({o.reduction, std::move(o.name)}), axis_(std::move(o.axis)) {}
Tensor Dice::call(const Tensor& y_true, const Tensor& y_pred) {
  return dice(y_true, y_pred, axis_);
}
Config Dice::get_config() const {
  Config c = Loss::get_config();
  c.set("axis", axes_config(axis_));
  return c;
}

Tversky::Tversky(TverskyOptions o)
    : Loss({o.reduction, std::move(o.name)}), own_{o.alpha, o.beta, std::move(o.axis)} {}
Tensor Tversky::call(const Tensor& y_true, const Tensor& y_pred) {
  return tversky(y_true, y_pred, own_);
}
Config Tversky::get_config() const {
  Config c = Loss::get_config();
  c.set("alpha", own_.alpha);
  c.set("beta", own_.beta);
  c.set("axis", axes_config(own_.axis));
  return c;
}

Circle::Circle(CircleOptions o)
    : Loss({o.reduction, std::move(o.name)}),
      own_{.remove_diagonal = o.remove_diagonal, .gamma = o.gamma, .margin = o.margin} {}
Tensor Circle::call(const Tensor& y_true, const Tensor& y_pred) {
  return circle(y_true, y_pred, own_);
}
Tensor Circle::counted(const Tensor& y_true, const Tensor& y_pred) const {
  return circle(y_true, y_pred, own_) > 0;
}
Config Circle::get_config() const {
  Config c = Loss::get_config();
  c.set("gamma", own_.gamma);
  c.set("margin", own_.margin);
  c.set("remove_diagonal", own_.remove_diagonal);
  return c;
}

}  // namespace rill::keras::losses
