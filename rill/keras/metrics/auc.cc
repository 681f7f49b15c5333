#include "rill/keras/metrics/auc.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/metrics/confusion_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras::metrics {
namespace {

constexpr double kEpsilon = 1e-7;  // 0 and 1 themselves lie within the outer thresholds

std::string lower(std::string s) {
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}
const char* const kCounts[] = {"true_positives", "true_negatives", "false_positives",
                               "false_negatives"};

Tensor ratio(const Tensor& part, const Tensor& other) {
  return math::divide_no_nan(part, part + other);
}

}  // namespace

AUC::AUC(AUCOptions o) : Metric({o.name, o.dtype}), o_(std::move(o)) {
  const std::string curve = lower(o_.curve), method = lower(o_.summation_method);
  RILL_CHECK(curve == "roc" || curve == "pr", invalid_argument,
             "[AUC] curve is \"{}\"; expected \"ROC\" or \"PR\"", o_.curve);
  RILL_CHECK(method == "interpolation" || method == "minoring" || method == "majoring",
             invalid_argument,
             "[AUC] summation_method is \"{}\"; expected \"interpolation\", \"minoring\" or "
             "\"majoring\"",
             o_.summation_method);
  o_.curve = curve == "roc" ? "ROC" : "PR";
  o_.summation_method = method;
  RILL_CHECK(o_.multi_label || o_.num_labels == 0, invalid_argument,
             "[AUC] num_labels is {} without multi_label; expected none", o_.num_labels);
  for (double w : o_.label_weights)
    RILL_CHECK(w >= 0, invalid_argument, "[AUC] a label weight is {}; expected none below 0", w);

  auto rule = std::make_shared<ConfusionRule>();
  std::vector<double> t = o_.thresholds;
  if (t.empty()) {
    RILL_CHECK(o_.num_thresholds > 1, invalid_argument,
               "[AUC] num_thresholds is {}; expected at least 2", o_.num_thresholds);
    const double last = o_.num_thresholds - 1;
    for (int i = 1; i + 1 < o_.num_thresholds; ++i) t.push_back(i / last);
    rule->even = true;
  } else {
    std::sort(t.begin(), t.end());
    o_.thresholds = t;
    o_.num_thresholds = static_cast<int>(t.size()) + 2;
  }
  t.insert(t.begin(), 0);
  t.push_back(1);
  if (!rule->even) rule->even = evenly_spaced(t);
  t.front() = -kEpsilon;
  t.back() = 1 + kEpsilon;
  rule->thresholds = std::move(t);
  rule->multi_label = o_.multi_label;
  if (!o_.multi_label && !o_.label_weights.empty())
    rule->label_weights = cast(constant(o_.label_weights), dtype());
  rule_ = std::move(rule);
  if (!o_.multi_label || o_.num_labels > 0)
    for (const char* name : kCounts)
      weight_once(name, o_.multi_label ? TensorShape({o_.num_thresholds, o_.num_labels})
                                       : TensorShape({o_.num_thresholds}));
}
void AUC::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& w) {
  const ConfusionCounts c =
      rule_->count(y_true, o_.from_logits ? nn::sigmoid(y_pred) : y_pred, w, dtype());
  const Tensor counts[] = {c.true_positives, c.true_negatives, c.false_positives,
                           c.false_negatives};
  RILL_CHECK(has_weight(kCounts[0]) || counts[0].shape().is_fully_defined(), invalid_argument,
             "[{}] predictions of shape {} do not tell the number of labels; expected num_labels",
             name(), y_pred.shape());
  for (int i = 0; i < 4; ++i) weight_once(kCounts[i], counts[i].shape()).assign_add(counts[i]);
}
Tensor AUC::count(const char* name) const {
  return const_cast<AUC*>(this)->weight_once(name, {}).value();
}
Tensor AUC::result() {
  RILL_CHECK(has_weight(kCounts[0]), failed_precondition,
             "[{}] there is no value yet: call update_state first", name());
  const Tensor tp = count("true_positives"), tn = count("true_negatives"),
               fp = count("false_positives"), fn = count("false_negatives");
  const auto head = [&](const Tensor& x) { return x[Slice{None, o_.num_thresholds - 1}]; };
  const auto tail = [&](const Tensor& x) { return x[Slice{1, None}]; };
  Tensor steps;
  if (o_.curve == "PR" && o_.summation_method == "interpolation") {
    // Between two thresholds true positives grow in a line with all positives, so that the
    // precision does not; the area of that is known (Davis and Goadrich, 2006).
    const Tensor p = tp + fp, p0 = head(p), p1 = tail(p), dtp = head(tp) - tail(tp);
    const Tensor slope = math::divide_no_nan(dtp, maximum(p0 - p1, 0));
    const Tensor intercept = tail(tp) - slope * p1;
    const Tensor growth =
        where((p0 > 0) & (p1 > 0), math::divide_no_nan(p0, maximum(p1, 0)), ones_like(p1));
    steps = math::divide_no_nan(slope * (dtp + intercept * log(growth)),
                                maximum(tail(tp) + tail(fn), 0));
  } else {
    const bool roc = o_.curve == "ROC";
    const Tensor recall = ratio(tp, fn);
    const Tensor x = roc ? ratio(fp, tn) : recall, y = roc ? recall : ratio(tp, fp);
    const Tensor height = o_.summation_method == "interpolation" ? (head(y) + tail(y)) / 2
                          : o_.summation_method == "minoring"    ? minimum(head(y), tail(y))
                                                                 : maximum(head(y), tail(y));
    steps = (head(x) - tail(x)) * height;
  }
  if (!o_.multi_label) return reduce_sum(steps);
  const Tensor by_label = reduce_sum(steps, 0);
  if (o_.label_weights.empty()) return reduce_mean(by_label);
  const Tensor w = cast(constant(o_.label_weights), dtype());
  return math::divide_no_nan(reduce_sum(by_label * w), reduce_sum(w));
}
Config AUC::get_config() const {
  Config c = Metric::get_config();
  c.set("num_thresholds", o_.num_thresholds);
  c.set("curve", o_.curve);
  c.set("summation_method", o_.summation_method);
  c.set("multi_label", o_.multi_label);
  c.set("num_labels", o_.num_labels > 0 ? Config(o_.num_labels) : Config());
  c.set("label_weights", o_.label_weights.empty() ? Config() : Config::list_of(o_.label_weights));
  c.set("from_logits", o_.from_logits);
  if (!o_.thresholds.empty()) c.set("thresholds", Config::list_of(o_.thresholds));
  return c;
}

}  // namespace rill::keras::metrics
