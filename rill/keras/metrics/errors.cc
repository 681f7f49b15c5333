#include "rill/keras/metrics/errors.h"

#include "rill/base/check.h"
#include "rill/keras/losses/ranks_impl.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::metrics {

Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred) {
  return cosine_similarity(y_true, y_pred, -1);
}
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis) {
  return -losses::cosine_similarity(y_true, y_pred, axis);
}

namespace {

Matched in_dtype(const Tensor& y_true, const Tensor& y_pred, DType dtype) {
  return matched_ranks(cast(y_true, dtype), cast(y_pred, dtype));
}

}  // namespace

RootMeanSquaredError::RootMeanSquaredError(MetricOptions o) : Reduce(Kind::mean, std::move(o)) {}
void RootMeanSquaredError::update_state(const Tensor& y_true, const Tensor& y_pred,
                                        const Tensor& sample_weight) {
  const auto [t, p] = in_dtype(y_true, y_pred, dtype());
  accumulate(squared_difference(p, t), sample_weight);
}
Tensor RootMeanSquaredError::result() { return sqrt(Reduce::result()); }

MeanRelativeError::MeanRelativeError(MeanRelativeErrorOptions o)
    : Reduce(Kind::mean, {std::move(o.name), o.dtype}), normalizer_(std::move(o.normalizer)) {
  RILL_CHECK(normalizer_.defined(), invalid_argument,
             "[MeanRelativeError] there is no normalizer; expected a tensor that errors are "
             "divided by");
}
void MeanRelativeError::update_state(const Tensor& y_true, const Tensor& y_pred,
                                     const Tensor& sample_weight) {
  const auto [t, p] = in_dtype(y_true, y_pred, dtype());
  accumulate(math::divide_no_nan(abs(t - p), cast(normalizer_, dtype())), sample_weight);
}
Config MeanRelativeError::get_config() const {
  Config c = Metric::get_config();
  const auto values = cast(normalizer_, float64).to_vector<double>();
  c.set("normalizer", normalizer_.ndim() == 0 ? Config(values[0]) : Config::list_of(values));
  return c;
}

CosineSimilarity::CosineSimilarity(CosineMetricOptions o)
    : MeanMetricWrapper([axis = o.axis](const Tensor& t,
                                        const Tensor& p) { return cosine_similarity(t, p, axis); },
                        {std::move(o.name), o.dtype}),
      axis_(o.axis) {}
Config CosineSimilarity::get_config() const {
  Config c = Metric::get_config();
  c.set("axis", axis_);
  return c;
}

BinaryCrossentropy::BinaryCrossentropy(BinaryCrossentropyMetricOptions o)
    : MeanMetricWrapper(
          [own = losses::CrossentropyOptions{o.from_logits, o.label_smoothing}](
              const Tensor& t, const Tensor& p) { return losses::binary_crossentropy(t, p, own); },
          {std::move(o.name), o.dtype}),
      own_{o.from_logits, o.label_smoothing} {}
Config BinaryCrossentropy::get_config() const {
  Config c = Metric::get_config();
  c.set("from_logits", own_.from_logits);
  c.set("label_smoothing", own_.label_smoothing);
  return c;
}

CategoricalCrossentropy::CategoricalCrossentropy(CategoricalCrossentropyMetricOptions o)
    : MeanMetricWrapper(
          [own = losses::CrossentropyOptions{o.from_logits, o.label_smoothing, o.axis}](
              const Tensor& t, const Tensor& p) {
            return losses::categorical_crossentropy(t, p, own);
          },
          {std::move(o.name), o.dtype}),
      own_{o.from_logits, o.label_smoothing, o.axis} {}
Config CategoricalCrossentropy::get_config() const {
  Config c = Metric::get_config();
  c.set("from_logits", own_.from_logits);
  c.set("label_smoothing", own_.label_smoothing);
  c.set("axis", own_.axis);
  return c;
}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    SparseCategoricalCrossentropyMetricOptions o)
    : MeanMetricWrapper(
          [own = losses::SparseCrossentropyOptions{o.from_logits, o.axis, o.ignore_class}](
              const Tensor& t, const Tensor& p) {
            return losses::sparse_categorical_crossentropy(t, p, own);
          },
          {std::move(o.name), o.dtype}),
      own_{o.from_logits, o.axis, o.ignore_class} {}
Tensor SparseCategoricalCrossentropy::counted(const Tensor& y_true, const Tensor& y_pred) const {
  if (!own_.ignore_class) return {};
  return cast(class_numbers(y_true, y_pred), int64) != *own_.ignore_class;
}
Config SparseCategoricalCrossentropy::get_config() const {
  Config c = Metric::get_config();
  c.set("from_logits", own_.from_logits);
  c.set("ignore_class", own_.ignore_class ? Config(*own_.ignore_class) : Config());
  c.set("axis", own_.axis);
  return c;
}

}  // namespace rill::keras::metrics
