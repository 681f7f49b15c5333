#include "rill/keras/optimizers/schedules.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::optimizers {

LearningRateSchedule::~LearningRateSchedule() = default;
Config LearningRateSchedule::get_config() const {
  RILL_FAIL(unimplemented,
            "[schedules] the class {} has no get_config, without which no file can hold it: "
            "override keras::Config get_config() const",
            class_name());
}
std::string LearningRateSchedule::class_name() const { return class_name_of(typeid(*this)); }

LearningRate::LearningRate(std::shared_ptr<const LearningRateSchedule> s)
    : LearningRate(detail::Fn::of([s](const Tensor& step) { return (*s)(step); }), 0) {
  object_ = std::move(s);
}
namespace schedules {
namespace {
const std::vector<std::string>& class_names() {
  static const auto* all =
      new std::vector<std::string>{"ExponentialDecay", "InverseTimeDecay", "PiecewiseConstantDecay",
                                   "PolynomialDecay",  "CosineDecay",      "CosineDecayRestarts"};
  return *all;
}
ClassRegistry<RegisterSchedule::Factory>& known_schedules() {
  static auto* k = new ClassRegistry<RegisterSchedule::Factory>;
  return *k;
}
}  // namespace
}  // namespace schedules

RegisterSchedule::RegisterSchedule(std::string_view name, const std::type_info& type, Factory f) {
  schedules::known_schedules().add(name, type, std::move(f));
}

Config LearningRate::config() const {
  if (schedule_.empty()) return at(0);
  RILL_CHECK(object_, failed_precondition,
             "[learning rate] a user-defined function has no name that a file could hold; use one "
             "of keras::optimizers::schedules");
  const std::vector<std::string>& known = schedules::class_names();
  const std::string name = object_->class_name();
  if (std::find(known.begin(), known.end(), name) == known.end())
    return users_record(schedules::known_schedules().name_of(typeid(*object_), name),
                        object_->get_config());
  return Config::dict({{"class_name", name},
                       {"config", object_->get_config()},
                       {"module", "keras.optimizers.schedules"},
                       {"registered_name", Config()}});
}
LearningRate LearningRate::from_config(const Config& c) {
  return c.is_dict() ? LearningRate(schedules::deserialize(c)) : LearningRate(c.as_double());
}

namespace schedules {
namespace {

// Rates are float32, as Keras computes them.
Tensor number(double v) { return constant(v, float32); }
Tensor as_number(const Tensor& step) { return cast(step, float32); }
Config text_or_null(const std::string& s) { return s.empty() ? Config() : Config(s); }

Config decay_config(const ExponentialDecayOptions& o) {
  return Config::dict({{"initial_learning_rate", o.initial_learning_rate},
                       {"decay_steps", o.decay_steps},
                       {"decay_rate", o.decay_rate},
                       {"staircase", o.staircase},
                       {"name", text_or_null(o.name)}});
}
Tensor periods(const Tensor& step, const ExponentialDecayOptions& o) {
  const Tensor p = as_number(step) / number(o.decay_steps);
  return o.staircase ? floor(p) : p;
}

}  // namespace

Tensor ExponentialDecay::operator()(const Tensor& step) const {
  return number(o_.initial_learning_rate) * pow(number(o_.decay_rate), periods(step, o_));
}
Config ExponentialDecay::get_config() const { return decay_config(o_); }
Tensor InverseTimeDecay::operator()(const Tensor& step) const {
  return number(o_.initial_learning_rate) / (1 + number(o_.decay_rate) * periods(step, o_));
}
Config InverseTimeDecay::get_config() const { return decay_config(o_); }

PiecewiseConstantDecay::PiecewiseConstantDecay(std::vector<double> boundaries,
                                               std::vector<double> values, std::string name)
    : boundaries_(std::move(boundaries)), values_(std::move(values)), name_(std::move(name)) {
  RILL_CHECK(values_.size() == boundaries_.size() + 1, invalid_argument,
             "[PiecewiseConstantDecay] got {} boundaries and {} values; expected one value more "
             "than boundaries",
             boundaries_.size(), values_.size());
}
Tensor PiecewiseConstantDecay::operator()(const Tensor& step) const {
  Tensor rate = number(values_.back());
  for (std::size_t i = boundaries_.size(); i-- > 0;)
    rate = where(step <= cast(constant(boundaries_[i]), step.dtype()), number(values_[i]), rate);
  return rate;
}
Config PiecewiseConstantDecay::get_config() const {
  return Config::dict({{"boundaries", Config::list_of(boundaries_)},
                       {"values", Config::list_of(values_)},
                       {"name", text_or_null(name_)}});
}

Tensor PolynomialDecay::operator()(const Tensor& step) const {
  Tensor s = as_number(step), steps = number(o_.decay_steps);
  if (o_.cycle)
    steps = steps * where(s == 0, number(1), ceil(s / steps));
  else
    s = minimum(s, steps);
  const Tensor end = number(o_.end_learning_rate);
  return (number(o_.initial_learning_rate) - end) * pow(1 - s / steps, number(o_.power)) + end;
}
Config PolynomialDecay::get_config() const {
  return Config::dict({{"initial_learning_rate", o_.initial_learning_rate},
                       {"decay_steps", o_.decay_steps},
                       {"end_learning_rate", o_.end_learning_rate},
                       {"power", o_.power},
                       {"cycle", o_.cycle},
                       {"name", text_or_null(o_.name)}});
}

namespace {

// From 1 to alpha by half a turn of the cosine.
Tensor half_turn(const Tensor& fraction, double alpha) {
  const Tensor cosine = 0.5 * (1 + cos(number(std::numbers::pi) * fraction));
  return (1 - alpha) * cosine + alpha;
}

}  // namespace

Tensor CosineDecay::operator()(const Tensor& step) const {
  const Tensor first = number(o_.initial_learning_rate), steps = number(o_.decay_steps);
  if (!o_.warmup_target)
    return first * half_turn(minimum(as_number(step), steps) / steps, o_.alpha);
  const Tensor target = number(*o_.warmup_target), warmup = number(o_.warmup_steps);
  const Tensor s = minimum(as_number(step), steps + warmup);
  return where(s < warmup, (target - first) * (s / warmup) + first,
               target * half_turn((s - warmup) / steps, o_.alpha));
}
Config CosineDecay::get_config() const {
  return Config::dict({{"initial_learning_rate", o_.initial_learning_rate},
                       {"decay_steps", o_.decay_steps},
                       {"alpha", o_.alpha},
                       {"name", text_or_null(o_.name)},
                       {"warmup_target", o_.warmup_target ? Config(*o_.warmup_target) : Config()},
                       {"warmup_steps", o_.warmup_steps}});
}

Tensor CosineDecayRestarts::operator()(const Tensor& step) const {
  Tensor fraction = as_number(step) / number(o_.first_decay_steps), restarts;
  if (o_.t_mul == 1) {
    restarts = floor(fraction);
    fraction = fraction - restarts;
  } else {
    // Periods grow by t_mul: the sum of the first n is (1 - t_mul^n) / (1 - t_mul).
    const Tensor t = number(o_.t_mul);
    restarts = floor(log(1 - fraction * (1 - t)) / log(t));
    const Tensor length = pow(t, restarts);
    fraction = (fraction - (1 - length) / (1 - t)) / length;
  }
  const Tensor cosine =
      0.5 * pow(number(o_.m_mul), restarts) * (1 + cos(number(std::numbers::pi) * fraction));
  return number(o_.initial_learning_rate) * ((1 - o_.alpha) * cosine + o_.alpha);
}
Config CosineDecayRestarts::get_config() const {
  return Config::dict({{"initial_learning_rate", o_.initial_learning_rate},
                       {"first_decay_steps", o_.first_decay_steps},
                       {"t_mul", o_.t_mul},
                       {"m_mul", o_.m_mul},
                       {"alpha", o_.alpha},
                       {"name", text_or_null(o_.name)}});
}

std::shared_ptr<const LearningRateSchedule> deserialize(const Config& config) {
  const std::string& name = class_of_record(config);
  const Config& c = config["config"];
  const std::string label = c.get("name", "");
  const auto numbers_of = [](const Config& list) {
    std::vector<double> v;
    for (const Config& i : list.items()) v.push_back(i.as_double());
    return v;
  };
  if (name == "ExponentialDecay" || name == "InverseTimeDecay") {
    const ExponentialDecayOptions o{c["initial_learning_rate"].as_double(),
                                    c["decay_steps"].as_double(), c["decay_rate"].as_double(),
                                    c.get("staircase", false), label};
    if (name == "ExponentialDecay") return std::make_shared<ExponentialDecay>(o);
    return std::make_shared<InverseTimeDecay>(o);
  }
  if (name == "PiecewiseConstantDecay")
    return std::make_shared<PiecewiseConstantDecay>(numbers_of(c["boundaries"]),
                                                    numbers_of(c["values"]), label);
  if (name == "PolynomialDecay")
    return std::make_shared<PolynomialDecay>(PolynomialDecayOptions{
        c["initial_learning_rate"].as_double(), c["decay_steps"].as_double(),
        c.get("end_learning_rate", 0.0001), c.get("power", 1.0), c.get("cycle", false), label});
  if (name == "CosineDecay") {
    CosineDecayOptions o{c["initial_learning_rate"].as_double(), c["decay_steps"].as_double(),
                         c.get("alpha", 0.0), label};
    if (!c.get("warmup_target").is_null()) o.warmup_target = c["warmup_target"].as_double();
    o.warmup_steps = c.get("warmup_steps", 0.0);
    return std::make_shared<CosineDecay>(o);
  }
  if (name == "CosineDecayRestarts")
    return std::make_shared<CosineDecayRestarts>(CosineDecayRestartsOptions{
        c["initial_learning_rate"].as_double(), c["first_decay_steps"].as_double(),
        c.get("t_mul", 2.0), c.get("m_mul", 1.0), c.get("alpha", 0.0), label});
  if (const auto make = known_schedules().find(name)) return make(c);
  RILL_FAIL(invalid_argument,
            "[schedules.deserialize] there is no schedule \"{}\".{} Register a user-defined class "
            "first: {}",
            name, did_you_mean(name, class_names()), registering_call(name));
}

}  // namespace schedules
}  // namespace rill::keras::optimizers
