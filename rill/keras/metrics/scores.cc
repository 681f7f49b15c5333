#include "rill/keras/metrics/scores.h"

#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::metrics {
namespace {

void check_columns(const std::string& name, const Tensor& y_true, const Tensor& y_pred) {
  for (const Tensor& y : {y_true, y_pred})
    RILL_CHECK(y.shape().has_rank() && y.ndim() == 2 && y.shape().dim(1) >= 0, invalid_argument,
               "[{}] labels have shape {}, predictions {}; expected both [samples, classes] with a "
               "known number of classes",
               name, y_true.shape(), y_pred.shape());
}
// One weight a sample, beside [samples, classes].
Tensor column(const Tensor& w, DType dtype) {
  const Tensor c = cast(w, dtype);
  return c.shape().has_rank() && c.ndim() == 1 ? expand_dims(c, 1) : c;
}

}  // namespace

FBetaScore::FBetaScore(FBetaScoreOptions o)
    : Metric({o.name.empty() ? "fbeta_score" : o.name, o.dtype}), o_(std::move(o)) {
  RILL_CHECK(o_.average.empty() || o_.average == "micro" || o_.average == "macro" ||
                 o_.average == "weighted",
             invalid_argument,
             "[{}] average is \"{}\"; expected none, \"micro\", \"macro\" or \"weighted\"", name(),
             o_.average);
  RILL_CHECK(o_.beta > 0, invalid_argument, "[{}] beta is {}; expected a number above 0", name(),
             o_.beta);
  RILL_CHECK(!o_.threshold || (*o_.threshold > 0 && *o_.threshold <= 1), invalid_argument,
             "[{}] threshold is {}; expected a number in (0, 1]", name(), o_.threshold.value_or(0));
}
void FBetaScore::update_state(const Tensor& y_true, const Tensor& y_pred,
                              const Tensor& sample_weight) {
  check_columns(name(), y_true, y_pred);
  const TensorShape &labels = y_true.shape(), &scores = y_pred.shape();
  RILL_CHECK(!labels.has_rank() || !scores.has_rank() || labels.dim(-1) < 0 || scores.dim(-1) < 0 ||
                 labels.dim(-1) == scores.dim(-1),
             invalid_argument,
             "[{}] the labels have shape {}, the predictions {}; expected a column for each class, "
             "as tf::one_hot(labels, {}) gives",
             name(), labels, scores, scores.dim(-1));
  const Tensor t = cast(y_true, dtype()), given = cast(y_pred, dtype());
  const Tensor yes =
      o_.threshold ? given > *o_.threshold
                   : (given >= reduce_max(given, -1, {.keepdims = true})) & (abs(given) > 1e-9);
  const Tensor p = cast(yes, dtype());
  const bool micro = o_.average == "micro";
  const TensorShape shape = micro ? TensorShape::scalar() : TensorShape({p.shape().dim(1)});
  const auto add = [&](const char* name, Tensor values) {
    if (sample_weight.defined()) values = values * column(sample_weight, dtype());
    weight_once(name, shape).assign_add(micro ? reduce_sum(values) : reduce_sum(values, 0));
  };
  add("true_positives", p * t);
  add("false_positives", p * (1 - t));
  add("false_negatives", (1 - p) * t);
  add("intermediate_weights", t);
}
Tensor FBetaScore::result() {
  RILL_CHECK(has_weight("true_positives"), failed_precondition,
             "[{}] there is no value yet: call update_state first", name());
  const auto value = [&](const char* n) { return weight_once(n, {}).value(); };
  const Tensor tp = value("true_positives");
  const Tensor precision = math::divide_no_nan(tp, tp + value("false_positives"));
  const Tensor recall = math::divide_no_nan(tp, tp + value("false_negatives"));
  const double b = o_.beta * o_.beta;
  const Tensor score = math::divide_no_nan(precision * recall, b * precision + recall) * (1 + b);
  if (o_.average.empty()) return score;
  if (o_.average != "weighted") return reduce_mean(score);
  const Tensor w = value("intermediate_weights");
  return reduce_sum(score * math::divide_no_nan(w, reduce_sum(w)));
}
Config FBetaScore::get_config() const {
  Config c = Metric::get_config();
  c.set("average", o_.average.empty() ? Config() : Config(o_.average));
  c.set("beta", o_.beta);
  c.set("threshold", o_.threshold ? Config(*o_.threshold) : Config());
  return c;
}
Config F1Score::get_config() const {
  Config c = FBetaScore::get_config();
  c.erase("beta");
  return c;
}

R2Score::R2Score(R2ScoreOptions o)
    : Metric({o.name, o.dtype}), o_(std::move(o)), num_samples_(add_weight("num_samples", int32)) {
  RILL_CHECK(o_.class_aggregation.empty() || o_.class_aggregation == "uniform_average" ||
                 o_.class_aggregation == "variance_weighted_average",
             invalid_argument,
             "[{}] class_aggregation is \"{}\"; expected none, \"uniform_average\" or "
             "\"variance_weighted_average\"",
             name(), o_.class_aggregation);
  RILL_CHECK(o_.num_regressors >= 0, invalid_argument,
             "[{}] num_regressors is {}; expected none below 0", name(), o_.num_regressors);
}
void R2Score::update_state(const Tensor& y_true, const Tensor& y_pred,
                           const Tensor& sample_weight) {
  check_columns(name(), y_true, y_pred);
  const Tensor t = cast(y_true, dtype()), p = cast(y_pred, dtype());
  const Tensor w = broadcast_to(
      sample_weight.defined() ? column(sample_weight, dtype()) : cast(constant(1.f), dtype()),
      shape(t));
  const auto add = [&](const char* name, const Tensor& values) {
    weight_once(name, TensorShape({t.shape().dim(1)})).assign_add(reduce_sum(values, 0));
  };
  add("squared_sum", t * t * w);
  add("sum", t * w);
  add("residual", square(t - p) * w);
  add("count", w);
  num_samples_.assign_add(size(t));
}
Tensor R2Score::result() {
  RILL_CHECK(has_weight("sum"), failed_precondition,
             "[{}] there is no value yet: call update_state first", name());
  const auto value = [&](const char* n) { return weight_once(n, {}).value(); };
  const Tensor sum = value("sum");
  const Tensor total = value("squared_sum") - sum * (sum / value("count"));
  Tensor score = 1 - value("residual") / total;
  score = where(is_inf(score), zeros_like(score), score);
  if (o_.class_aggregation == "uniform_average")
    score = reduce_mean(score);
  else if (!o_.class_aggregation.empty())
    score = reduce_sum(total * score) / reduce_sum(total);
  if (o_.num_regressors == 0) return score;
  // With too few samples the adjustment has no meaning, and the plain score stands.
  const Tensor n = cast(num_samples_.value(), score.dtype());
  const Tensor free = n - static_cast<double>(o_.num_regressors) - 1;
  return where(free > 0, 1 - (1 - score) * (n - 1) / free, score);
}
Config R2Score::get_config() const {
  Config c = Metric::get_config();
  c.set("class_aggregation",
        o_.class_aggregation.empty() ? Config() : Config(o_.class_aggregation));
  c.set("num_regressors", o_.num_regressors);
  return c;
}

}  // namespace rill::keras::metrics
