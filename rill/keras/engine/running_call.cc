#include "rill/keras/engine/running_call_impl.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/base/logging.h"

namespace rill::keras {

namespace {

bool holds(const LayerImpl& l, const LayerImpl& wanted) {
  const auto& in = l.children;  // mostly it is one of these
  return std::any_of(in.begin(), in.end(), [&](const auto& c) { return c.get() == &wanted; }) ||
         std::any_of(in.begin(), in.end(), [&](const auto& c) { return holds(*c, wanted); });
}

}  // namespace

RunningCall::RunningCall(LayerImpl& layer, bool users)
    : layer_(layer), users_(users), around_(call_state().running) {
  if (around_ && around_->users_ && !around_->knows(layer)) {
    stranger_ = true;
    weights_before_ = layer.weights(LayerImpl::Which::all).size();
  }
  call_state().running = this;
}

void RunningCall::check_tracked() const {
  if (!stranger_ || layer_.told_untracked) return;
  const std::size_t now = layer_.weights(LayerImpl::Which::all).size();
  layer_.made_untracked = layer_.made_untracked || now > weights_before_;
  const std::string& user = around_->layer_.name();
  RILL_CHECK(!layer_.made_untracked, failed_precondition,
             "[{}] call makes the weights of \"{}\" ({}), a layer that {} does not hold: they "
             "would be neither trained nor saved. Make it a member and call track(\"{}\", "
             "member) in the constructor",
             user, layer_.name(), layer_.class_name(), user, layer_.name());
  if (now == 0) return;
  // On purpose, perhaps: a model that is used as it is.
  layer_.told_untracked = true;
  RILL_LOG(warning,
           "[{}] call uses \"{}\" ({}), a layer with weights that {} does not hold: they are "
           "neither trained nor saved with it. track(\"{}\", member) in the constructor makes "
           "it known",
           user, layer_.name(), layer_.class_name(), user, layer_.name());
}

bool RunningCall::knows(const LayerImpl& wanted) const {
  for (const RunningCall* c = this; c; c = c->around_)
    if (holds(c->layer_, wanted)) return true;
  return false;
}

}  // namespace rill::keras
