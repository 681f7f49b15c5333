#include "rill/base/check.h"
#include "rill/keras/optimizers/keras_optimizer_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

// The learning rate as the float32 variable that Keras saves.
class KerasOptimizerImpl::RateNode : public TrackableNode {
 public:
  explicit RateNode(KerasOptimizerImpl* o) : owner(o) {}
  std::vector<SavedValue> saved_values() override {
    if (!owner) return {};
    double rate = owner->learning_rate();
    // Keras keeps the rate of the step that was made last.
    if (const auto steps = owner->iterations.item<std::int64_t>();
        owner->rate().is_schedule() && steps > 0)
      rate = owner->rate().at(steps - 1);
    return {{kKey, constant(static_cast<float>(rate))}};
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

KerasOptimizerImpl::KerasOptimizerImpl(std::string optimizer_name, optimizers::LearningRate rate,
                                       std::vector<SlotGroup> groups)
    : OptimizerImpl(std::move(optimizer_name), std::move(rate)),
      groups_(std::move(groups)),
      variables_(new TrackableNode),
      rate_node_(new RateNode(this)) {
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
      for (const SlotList& list : group) slot(v, list.slot, list.initial);
  }
}

void KerasOptimizerImpl::slot_made(const Variable&, const char* what, const Variable& made) {
  for (const SlotGroup& group : groups_)
    for (const SlotList& list : group) {
      if (std::string_view(list.slot) != what) continue;
      const Ref<TrackableNode> node = node_of(made);
      for (TrackableNode* to : {variables_.get(), child(list.edge)})
        to->track(std::to_string(to->edges().size()), node);
      return;
    }
}
void KerasOptimizerImpl::state_made(const char* what, const Variable& value) {
  track(std::string("_") + what, node_of(value));
}

}  // namespace rill::keras
