#include <regex>

#include "rill/base/check.h"
#include "rill/eager/context.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/behaviour_impl.h"
#include "rill/keras/optimizers/keras_optimizer_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

// The learning rate as the float32 variable that Keras saves.
class KerasOptimizerImpl::RateNode : public TrackableNode {
 public:
  explicit RateNode(KerasOptimizerImpl* o) : owner(o) {}
  std::vector<SavedValue> saved_values() override {
    if (!owner) return {};
    return {{kKey, constant(static_cast<float>(owner->learning_rate()))}};
  }
  std::vector<std::string> saved_keys() override { return {kKey}; }
  void restore_value(std::string_view key, const Tensor& value) override {
    if (key != kKey) return TrackableNode::restore_value(key, value);
    RILL_CHECK(value.size() == 1 && value.dtype().is_floating(), invalid_argument,
               "[restore] the learning rate in the checkpoint is {} of shape {}; expected one "
               "floating-point number",
               value.dtype(), value.shape());
    if (owner) owner->restore_rate(value.item<double>());
  }
  KerasOptimizerImpl* owner;  // null once it is gone

 private:
  static constexpr const char* kKey = "VARIABLE_VALUE";
};

std::string_view legacy_slot(std::string_view optimizer, std::string_view slot) {
  struct Renamed {
    std::string_view optimizer, slot, legacy;
  };
  static constexpr Renamed renamed[] = {{"SGD", "m", "momentum"},
                                        {"RMSprop", "velocity", "rms"},
                                        {"RMSprop", "average_gradient", "mg"},
                                        {"Adadelta", "accumulated_grad", "accum_grad"},
                                        {"Adadelta", "accumulated_delta_var", "accum_var"},
                                        {"Adamax", "u", "v"}};
  for (const Renamed& r : renamed)
    if (r.optimizer == optimizer && r.slot == slot) return r.legacy;
  return slot;
}

namespace {
constexpr const char *kAverage = "average", *kGathered = "gradient_accumulator";

void append(TrackableNode& list, const Ref<TrackableNode>& node) {
  list.track(std::to_string(list.edges().size()), node);
}
void hold_place(TrackableNode& list, const char* slot) {
  EagerScope now;
  append(list, node_of(Variable(constant(0), {.trainable = false, .name = slot})));
}
}  // namespace

KerasOptimizerImpl::KerasOptimizerImpl(KerasSetup setup, std::vector<SlotGroup> groups)
    : RuleOptimizerImpl(setup.name, setup.rate),
      setup_(std::move(setup)),
      groups_(std::move(groups)),
      variables_(new TrackableNode),
      rate_node_(new RateNode(this)),
      first_is_mean_(setup_.gradient_accumulation_steps || keras_behaviour() == 3) {
  RILL_CHECK(!setup_.clipnorm || !setup_.global_clipnorm, invalid_argument,
             "[{}] clipnorm is {} and global_clipnorm is {}; expected one of them at most",
             setup_.class_name, setup_.clipnorm.value_or(0), setup_.global_clipnorm.value_or(0));
  RILL_CHECK(!setup_.use_ema || (setup_.ema_momentum >= 0 && setup_.ema_momentum <= 1),
             invalid_argument, "[{}] ema_momentum is {}; expected a number in [0, 1]",
             setup_.class_name, setup_.ema_momentum);
  RILL_CHECK(!setup_.ema_overwrite_frequency || *setup_.ema_overwrite_frequency >= 1,
             invalid_argument, "[{}] ema_overwrite_frequency is {}; expected at least 1",
             setup_.class_name, setup_.ema_overwrite_frequency.value_or(1));
  RILL_CHECK(setup_.gradient_accumulation_steps.value_or(2) >= 2, invalid_argument,
             "[{}] gradient_accumulation_steps is {}; expected at least 2, or none",
             setup_.class_name, setup_.gradient_accumulation_steps.value_or(2));
  if (setup_.gradient_accumulation_steps) {
    groups_.insert(groups_.begin(), SlotGroup{{kGathered, "_accumulated_gradients"}});
    const DeviceScope host("/cpu:0");
    steps_ = Variable(constant(0, int64), {.trainable = false, .name = "steps"});
  }
  if (setup_.use_ema)
    groups_.insert(groups_.begin(),
                   SlotGroup{{kAverage, "_model_variables_moving_average", 0, true}});
  const Ref<TrackableNode> count = node_of(iterations);
  track("_variables", variables_);
  variables_->track("0", count);
  track("_iterations", count);
  track(this->rate().is_schedule() ? "_current_learning_rate" : "_learning_rate", rate_node_);
}
KerasOptimizerImpl::~KerasOptimizerImpl() {
  static_cast<RateNode*>(rate_node_.get())->owner = nullptr;
}

// A float32 cannot say 0.001; a rate that is as near to it as that stays.
void KerasOptimizerImpl::restore_rate(double value) {
  if (rate().is_schedule() || static_cast<float>(learning_rate()) == static_cast<float>(value))
    return;
  if (const Variable* v = rate().variable())
    v->assign(constant(value, v->dtype()));
  else
    set_learning_rate(value);
}

void KerasOptimizerImpl::prepare(const std::vector<Variable>& variables) {
  for (const SlotGroup& group : groups_) {
    for (const SlotList& list : group) track(list.edge, Ref<TrackableNode>(new TrackableNode));
    for (const Variable& v : variables)
      for (const SlotList& list : group)
        if (has_slot(v, list.slot))
          slot_variable(v, list.slot, list.initial, list.copy);
        else
          hold_place(*child(list.edge), list.slot);
  }
  stepped_ = true;
}

// ---- beside the rule
bool KerasOptimizerImpl::changes_gradients() const {
  return setup_.clipnorm.value_or(0) > 0 || setup_.clipvalue.value_or(0) > 0 ||
         setup_.global_clipnorm.value_or(0) > 0;
}
GradientsAndVariables KerasOptimizerImpl::changed(const GradientsAndVariables& pairs) {
  GradientsAndVariables out;
  for (const auto& [g, v] : pairs)
    if (g.defined()) out.emplace_back(g, v);
  if (setup_.clipnorm.value_or(0) > 0) {
    for (auto& [g, v] : out) g = clip_by_norm(g, *setup_.clipnorm);
  } else if (setup_.global_clipnorm.value_or(0) > 0) {
    Gradients all;
    for (const auto& [g, v] : out) all.push_back(g);
    all = clip_by_global_norm(all, *setup_.global_clipnorm).first;
    for (std::size_t i = 0; i < out.size(); ++i) out[i].first = all[i];
  } else {
    for (auto& [g, v] : out) g = clip_by_value(g, -*setup_.clipvalue, *setup_.clipvalue);
  }
  return out;
}
Number KerasOptimizerImpl::changed_rate(const Number& rate, const Number& done) const {
  return setup_.decay == 0 ? rate : rate / (1 + setup_.decay * done);
}
bool KerasOptimizerImpl::decays(const Variable& v) const {
  for (std::uint64_t id : not_decayed_)
    if (id == v.id()) return false;
  for (const std::string& name : not_decayed_names_)
    if (std::regex_search(v.name(), std::regex(name))) return false;
  return true;
}
void KerasOptimizerImpl::before_updates(const GradientsAndVariables& pairs, const Number& rate) {
  for (const auto& [g, v] : pairs)
    if (const std::optional<double> decay = weight_decay_of(v); decay && g.defined() && decays(v))
      v.assign_sub(v.value() * scalar_for(v, *decay) * scalar_for(v, rate));
}
void KerasOptimizerImpl::use_gradients(const GradientsAndVariables& pairs, const Tensor& calls) {
  if (const auto n = setup_.gradient_accumulation_steps) {
    const Tensor done = floordiv(calls, *n);
    gather_or_step(pairs, calls, done);
    average(pairs, done);  // after each call
    steps_.assign(floordiv(calls + 1, *n));
  } else {
    update_variables(pairs, calls, calls);
    average(pairs, calls);
  }
}
void KerasOptimizerImpl::gather_or_step(const GradientsAndVariables& pairs, const Tensor& calls,
                                        const Tensor& done) {
  const std::int64_t n = *setup_.gradient_accumulation_steps;
  GradientsAndVariables sums;
  std::vector<Variable> gathered;
  for (const auto& [g, v] : pairs) {
    if (!g.defined()) continue;
    gathered.push_back(slot_variable(v, kGathered, 0));
    sums.emplace_back(g.tensor() + gathered.back().value(), v);
  }
  const auto step = [&] {
    GradientsAndVariables means;
    for (const auto& [sum, v] : sums)
      means.emplace_back(sum.tensor() / scalar_for(v, double(n)), v);
    update_variables(means, calls, done);
    // Also those of variables that have no gradient this time.
    for (const Variable& all : gathered_) all.assign(zeros_like(all.value()));
    return constant(true);
  };
  const auto gather = [&] {
    for (std::size_t i = 0; i < sums.size(); ++i) gathered[i].assign(sums[i].first.tensor());
    return constant(false);
  };
  cond(floormod(calls + 1, n) == 0, step, gather);
}
Variable KerasOptimizerImpl::steps_taken() const {
  if (!gathers_gradients()) return iterations;
  EagerScope now;  // the calls may have come from a file
  steps_.assign(floordiv(iterations.value(), *setup_.gradient_accumulation_steps));
  return steps_;
}
void KerasOptimizerImpl::average(const GradientsAndVariables& pairs, const Tensor& done) {
  if (!setup_.use_ema) return;
  Number keep = setup_.ema_momentum;
  if (first_is_mean_)
    keep = Number::of(where(done == 0, constant(0.), constant(setup_.ema_momentum)));
  for (const auto& [g, v] : pairs) {
    if (!g.defined()) continue;
    const Variable average = slot_variable(v, kAverage, 0, true);
    average.assign(scalar_for(v, keep) * average.value() + scalar_for(v, 1 - keep) * v.value());
    if (!setup_.ema_overwrite_frequency) continue;
    const Tensor now = floormod(done + 1, *setup_.ema_overwrite_frequency) == 0;
    v.assign(where(now, average.value(), v.value()));
  }
}
void KerasOptimizerImpl::finalize_variable_values(const std::vector<Variable>& variables) {
  if (!setup_.use_ema || !stepped_) return;
  for (const Variable& v : variables) v.assign(slot_variable(v, kAverage, 0, true).value());
}
void KerasOptimizerImpl::exclude_from_weight_decay(const std::vector<Variable>& variables,
                                                   const std::vector<std::string>& names) {
  RILL_CHECK(!stepped_, failed_precondition,
             "[exclude_from_weight_decay] the optimizer \"{}\" has made a step already; call it "
             "before the first",
             name);
  not_decayed_.clear();
  for (const Variable& v : variables) not_decayed_.push_back(v.id());
  not_decayed_names_ = names;
}

Config KerasOptimizerImpl::config() const {
  const auto optional = [](const auto& v) { return v ? Config(*v) : Config(); };
  Config c = Config::dict({{"name", name},
                           {"weight_decay", optional(setup_.weight_decay)},
                           {"clipnorm", optional(setup_.clipnorm)},
                           {"global_clipnorm", optional(setup_.global_clipnorm)},
                           {"clipvalue", optional(setup_.clipvalue)},
                           {"use_ema", setup_.use_ema},
                           {"ema_momentum", setup_.ema_momentum},
                           {"ema_overwrite_frequency", optional(setup_.ema_overwrite_frequency)},
                           {"jit_compile", false},
                           {"is_legacy_optimizer", false}});
  if (setup_.gradient_accumulation_steps)  // which Keras 2 does not know
    c.set("gradient_accumulation_steps", *setup_.gradient_accumulation_steps);
  c.set("learning_rate", rate().is_schedule() ? rate().config() : Config(learning_rate()));
  if (setup_.decay != 0) c.set("decay", setup_.decay);
  for (const std::string& key : setup_.own.keys()) c.set(key, setup_.own[key]);
  return c;
}

void KerasOptimizerImpl::take(const SlotOwner::Slot& s) {
  for (const Ref<SlotOffer>& offer : offers_)
    if (const Ref<RestorePosition> p = offer->slot(*s.variable, s.name)) s.slot->restore(p);
}
void KerasOptimizerImpl::offer_slots(const Ref<SlotOffer>& offer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(offers_, [](const Ref<SlotOffer>& o) { return o->exhausted(); });
  offers_.push_back(offer);
}
void KerasOptimizerImpl::take_slots() {
  const std::lock_guard lock(mutex_);
  for (const SlotOwner::Slot& s : made_) take(s);
}

void KerasOptimizerImpl::slot_made(const Variable& var, const char* what, const Variable& made) {
  for (const SlotGroup& group : groups_)
    for (const SlotList& list : group) {
      if (std::string_view(list.slot) != what) continue;
      if (what == std::string_view(kGathered)) gathered_.push_back(made);
      const Ref<TrackableNode> node = node_of(made);
      for (TrackableNode* to : {variables_.get(), child(list.edge)}) append(*to, node);
      made_.push_back({node_of(var), std::string(legacy_slot(setup_.class_name, what)), node});
      take(made_.back());
      return;
    }
}
void KerasOptimizerImpl::state_made(const char* what, const Variable& value) {
  track(std::string("_") + what, node_of(value));
}

}  // namespace rill::keras
