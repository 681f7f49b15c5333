#include "rill/keras/metrics/mean.h"

#include <cstdlib>

#include "rill/base/check.h"
#include "rill/keras/metrics/weights_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

Tensor fitted_weights(const Tensor& weights, const Tensor& values) {
  if (known_ranks(weights, values) && std::abs(weights.ndim() - values.ndim()) > 1) return weights;
  return in_rank_of(weights, values);
}

namespace metrics {
namespace {

Tensor in_dtype(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

// Values, and what each counts.
struct Weighed {
  Tensor values, weights;
};

bool spreads_over(const TensorShape& weights, const TensorShape& values) {
  if (weights.rank() == 0) return true;
  if (weights.rank() != values.rank()) return false;
  for (int i = 0; i < weights.rank(); ++i)
    if (weights.dim(i) > 1 && values.dim(i) >= 0 && weights.dim(i) != values.dim(i)) return false;
  return true;
}

// How many values the axes hold that the weights lack; 1 where they lack one axis at most.
Tensor values_per_weight(const Tensor& values, const Tensor& weights) {
  const Tensor lacking = rank(values) - rank(weights);
  const Tensor many = (lacking > 1) & (rank(weights) > 0);
  const Tensor rest = where(many, lacking, zeros_like(lacking));
  const Tensor sizes = slice(shape(values), reshape(rank(values) - rest, {1}), constant({-1}));
  return cast(reduce_prod(sizes), values.dtype());
}

// Weights spread over the values. Where they lack more than one axis they count for the sums, or
// the means, over those; where they do not fit they are multiplied as they are, as in Keras.
Weighed weighed(const Tensor& values, const Tensor& sample_weight, bool sums) {
  const Tensor given = in_dtype(sample_weight, values.dtype()), w = fitted_weights(given, values);
  if (!known_ranks(given, values)) {
    const Tensor spread = w * ones_like(values);
    return {values, sums ? spread : spread / values_per_weight(values, given)};
  }
  if (spreads_over(w.shape(), values.shape())) return {values, broadcast_to(w, shape(values))};
  std::vector<int> rest;
  for (int i = w.ndim(); i < values.ndim(); ++i) rest.push_back(i);
  if (rest.empty()) return {values, w};
  return {sums ? reduce_sum(values, rest) : reduce_mean(values, rest), w};
}

}  // namespace

Reduce::Reduce(Kind kind, MetricOptions options)
    : Metric(std::move(options)), kind_(kind), total_(add_weight("total")) {
  if (kind_ == Kind::mean) count_ = add_weight("count");
}
void Reduce::accumulate(const Tensor& given, const Tensor& sample_weight) {
  const Tensor values = in_dtype(given, dtype());
  if (!sample_weight.defined()) {
    total_.assign_add(reduce_sum(values));
    if (kind_ == Kind::mean) count_.assign_add(cast(size(values), dtype()));
    return;
  }
  const auto [v, w] = weighed(values, sample_weight, kind_ == Kind::sum);
  total_.assign_add(reduce_sum(v * w));
  if (kind_ == Kind::mean) count_.assign_add(reduce_sum(w));
}
Tensor Reduce::result() {
  if (kind_ == Kind::sum) return total_.value();
  return math::divide_no_nan(total_.value(), count_.value());
}

Mean::Mean(MetricOptions o) : Reduce(Kind::mean, std::move(o)) {}
void Mean::update_state(const Operand& values) { accumulate(to_tensor(values), Tensor()); }
void Mean::update_state(const Tensor& values, const Tensor& sample_weight, const Tensor&) {
  accumulate(values, sample_weight);
}
Tensor Mean::operator()(const Operand& values) {
  update_state(values);
  return result();
}
Tensor Mean::operator()(const Operand& values, const Operand& sample_weight) {
  accumulate(to_tensor(values), to_tensor(sample_weight, dtype()));
  return result();
}

Sum::Sum(MetricOptions o) : Reduce(Kind::sum, std::move(o)) {}
void Sum::update_state(const Operand& values) { accumulate(to_tensor(values), Tensor()); }
void Sum::update_state(const Tensor& values, const Tensor& sample_weight, const Tensor&) {
  accumulate(values, sample_weight);
}
Tensor Sum::operator()(const Operand& values) {
  update_state(values);
  return result();
}
Tensor Sum::operator()(const Operand& values, const Operand& sample_weight) {
  accumulate(to_tensor(values), to_tensor(sample_weight, dtype()));
  return result();
}

MeanTensor::MeanTensor(MeanTensorOptions o)
    : Metric({std::move(o.name), o.dtype}), shape_(std::move(o.shape)) {
  if (!shape_.has_rank()) return;
  weight_once("total", shape_);
  weight_once("count", shape_);
}
void MeanTensor::update_state(const Operand& values) { update_state(to_tensor(values), Tensor()); }
void MeanTensor::update_state(const Tensor& given, const Tensor& sample_weight, const Tensor&) {
  Tensor values = in_dtype(given, dtype());
  const Variable total = weight_once("total", values.shape()),
                 count = weight_once("count", values.shape());
  RILL_CHECK(total.shape().is_compatible_with(values.shape()), invalid_argument,
             "[{}] got values of shape {}; expected shape {}, as the first had", name(),
             values.shape(), total.shape());
  if (!sample_weight.defined()) {
    total.assign_add(values);
    count.assign_add(ones_like(values));
    return;
  }
  const auto [v, w] = weighed(values, sample_weight, false);
  total.assign_add(v * w);
  count.assign_add(w);
}
Tensor MeanTensor::result() {
  RILL_CHECK(has_weight("total"), failed_precondition,
             "[{}] there is no value yet: call update_state first", name());
  return math::divide_no_nan(weight_once("total", {}).value(), weight_once("count", {}).value());
}
Tensor MeanTensor::operator()(const Operand& values) {
  update_state(values);
  return result();
}
Tensor MeanTensor::operator()(const Operand& values, const Operand& sample_weight) {
  update_state(to_tensor(values), to_tensor(sample_weight, dtype()));
  return result();
}
Config MeanTensor::get_config() const {
  Config c = Metric::get_config();
  if (shape_.has_rank()) c.set("shape", shape_);
  return c;
}

MeanMetricWrapper::MeanMetricWrapper(std::function<Tensor(const Tensor&, const Tensor&)> fn,
                                     MetricOptions o)
    : Reduce(Kind::mean, std::move(o)), fn_(std::move(fn)) {}
Tensor MeanMetricWrapper::counted(const Tensor&, const Tensor&) const { return {}; }
void MeanMetricWrapper::update_state(const Tensor& y_true, const Tensor& y_pred,
                                     const Tensor& sample_weight) {
  const auto [t, p] = matched_ranks(in_dtype(y_true, dtype()), in_dtype(y_pred, dtype()));
  const Tensor values = fn_(t, p);
  Tensor w = sample_weight;
  if (const Tensor counts = counted(t, p); counts.defined()) {
    const Tensor share = cast(counts, dtype());
    w = w.defined() ? share * fitted_weights(in_dtype(w, dtype()), values) : share;
  }
  accumulate(values, w);
}

}  // namespace metrics
}  // namespace rill::keras
