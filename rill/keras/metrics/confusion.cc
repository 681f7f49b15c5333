#include "rill/keras/metrics/confusion.h"

#include <limits>

#include "rill/base/check.h"
#include "rill/keras/metrics/confusion_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::metrics {

Config Thresholds::config() const {
  if (values_.empty()) return {};
  return is_list_ ? Config::list_of(values_) : Config(values_[0]);
}
Thresholds Thresholds::from(const Config& c) {
  if (c.is_null()) return {};
  if (!c.is_list()) return c.as_double();
  std::vector<double> list;
  for (const Config& i : c.items()) list.push_back(i.as_double());
  return list;
}

namespace {

std::shared_ptr<const ConfusionRule> rule_of(const Thresholds& given, double otherwise,
                                             std::optional<int> top_k = {},
                                             std::optional<int> class_id = {}) {
  for (double t : given.values())
    RILL_CHECK(t >= 0 && t <= 1, invalid_argument,
               "[metric] a threshold is {}; expected numbers in [0, 1]", t);
  auto rule = std::make_shared<ConfusionRule>();
  rule->thresholds = given.values().empty() ? std::vector<double>{otherwise} : given.values();
  rule->even = evenly_spaced(rule->thresholds);
  rule->top_k = top_k;
  rule->class_id = class_id;
  return rule;
}
TensorShape shape_of(const ConfusionRule& rule) {
  return TensorShape({static_cast<std::int64_t>(rule.thresholds.size())});
}
Tensor one_or_all(const Tensor& by_threshold, const ConfusionRule& rule) {
  return rule.thresholds.size() == 1 ? by_threshold[0] : by_threshold;
}
Config optional_of(const std::optional<int>& v) { return v ? Config(*v) : Config(); }
Tensor share(const Variable& a, const Variable& b) {
  return math::divide_no_nan(a.value(), a.value() + b.value());
}

}  // namespace

ConfusionCount::ConfusionCount(What what, ConfusionOptions o)
    : Metric({std::move(o.name), o.dtype}),
      what_(what),
      given_(std::move(o.thresholds)),
      rule_(rule_of(given_, 0.5)),
      accumulator_(add_weight("accumulator", {}, shape_of(*rule_))) {}
void ConfusionCount::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& w) {
  const ConfusionCounts c = rule_->count(y_true, y_pred, w, dtype());
  const Tensor each[] = {c.true_positives, c.false_positives, c.true_negatives, c.false_negatives};
  accumulator_.assign_add(each[static_cast<int>(what_)]);
}
Tensor ConfusionCount::result() { return one_or_all(accumulator_.value(), *rule_); }
Config ConfusionCount::get_config() const {
  Config c = Metric::get_config();
  c.set("thresholds", given_.config());
  return c;
}

// With top_k alone every prediction that stays says yes.
ConfusionShare::ConfusionShare(const char* other, PrecisionOptions o)
    : Metric({o.name, o.dtype}),
      given_(std::move(o)),
      rule_(rule_of(given_.thresholds, given_.top_k ? -1e10 : 0.5, given_.top_k, given_.class_id)),
      of_positives_(std::string_view(other) == "false_positives"),
      right_(add_weight("true_positives", {}, shape_of(*rule_))),
      other_(add_weight(other, {}, shape_of(*rule_))) {}
void ConfusionShare::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& w) {
  const ConfusionCounts c = rule_->count(y_true, y_pred, w, dtype());
  right_.assign_add(c.true_positives);
  other_.assign_add(of_positives_ ? c.false_positives : c.false_negatives);
}
Tensor ConfusionShare::result() { return one_or_all(share(right_, other_), *rule_); }
Config ConfusionShare::get_config() const {
  Config c = Metric::get_config();
  c.set("thresholds", given_.thresholds.config());
  c.set("top_k", optional_of(given_.top_k));
  c.set("class_id", optional_of(given_.class_id));
  return c;
}

namespace {

std::shared_ptr<const ConfusionRule> even_rule(int n, std::optional<int> class_id) {
  RILL_CHECK(n > 0, invalid_argument, "[metric] num_thresholds is {}; expected at least 1", n);
  auto rule = std::make_shared<ConfusionRule>();
  rule->class_id = class_id;
  rule->even = n > 1;
  if (n == 1) rule->thresholds = {0.5};
  for (int i = 0; n > 1 && i < n; ++i)
    rule->thresholds.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
  return rule;
}

}  // namespace

TradeOff::TradeOff(const char* argument, Rate held, Rate wanted, double value, TradeOffOptions o)
    : Metric({o.name, o.dtype}),
      argument_(argument),
      held_(held),
      wanted_(wanted),
      value_(value),
      given_(std::move(o)),
      rule_(even_rule(given_.num_thresholds, given_.class_id)),
      true_positives_(add_weight("true_positives", {}, shape_of(*rule_))),
      true_negatives_(add_weight("true_negatives", {}, shape_of(*rule_))),
      false_positives_(add_weight("false_positives", {}, shape_of(*rule_))),
      false_negatives_(add_weight("false_negatives", {}, shape_of(*rule_))) {
  RILL_CHECK(value >= 0 && value <= 1, invalid_argument,
             "[metric] {} is {}; expected a number in [0, 1]", argument, value);
}
void TradeOff::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& w) {
  const ConfusionCounts c = rule_->count(y_true, y_pred, w, dtype());
  true_positives_.assign_add(c.true_positives);
  true_negatives_.assign_add(c.true_negatives);
  false_positives_.assign_add(c.false_positives);
  false_negatives_.assign_add(c.false_negatives);
}
Tensor TradeOff::rate(Rate which) const {
  switch (which) {
    case Rate::precision:
      return share(true_positives_, false_positives_);
    case Rate::recall:
      return share(true_positives_, false_negatives_);
    default:
      return share(true_negatives_, false_positives_);
  }
}
Tensor TradeOff::result() {
  const Tensor allowed = rate(held_) >= value_, wanted = rate(wanted_);
  // Rates are not negative: where nothing is allowed the best of them is 0.
  return reduce_max(where(allowed, wanted, zeros_like(wanted)));
}
Config TradeOff::get_config() const {
  Config c = Metric::get_config();
  c.set("class_id", optional_of(given_.class_id));
  c.set("num_thresholds", given_.num_thresholds);
  c.set(argument_, value_);
  return c;
}

}  // namespace rill::keras::metrics
