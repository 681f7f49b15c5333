#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/core/tensor_impl.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/saving/weights_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

void WeightPlan::add(const Variable& weight, const Tensor& value, const std::string& where) {
  RILL_CHECK(value.shape().is_compatible_with(weight.shape()), invalid_argument,
             "[load_weights] {}: weight \"{}\" has shape {} in the model, and {} in the file",
             where, weight.name(), weight.shape(), value.shape());
  const bool fits = value.dtype() == weight.dtype() ||
                    (value.dtype().is_floating() && weight.dtype().is_floating()) ||
                    (value.dtype().is_integer() && weight.dtype().is_integer());
  RILL_CHECK(fits, invalid_argument,
             "[load_weights] {}: weight \"{}\" is {} in the model, and {} in the file", where,
             weight.name(), weight.dtype(), value.dtype());
  weights_.emplace_back(weight,
                        value.dtype() == weight.dtype() ? value : cast(value, weight.dtype()));
}

void WeightPlan::add(TrackableNode& variable, const Tensor& value, const std::string& where) {
  const std::vector<TrackableNode::SavedValue> now = variable.saved_values();
  RILL_INTERNAL_CHECK(now.size() == 1);
  const Tensor& old = now[0].value;
  RILL_CHECK(value.shape() == old.shape(), invalid_argument,
             "[load_weights] {} has shape {} in the model, and {} in the file", where, old.shape(),
             value.shape());
  rill::retain(&variable);
  others_.emplace_back(Ref<TrackableNode>(&variable),
                       value.dtype() == old.dtype() ? value : cast(value, old.dtype()));
}

void WeightPlan::add(WeightPlan&& other) {
  for (auto& w : other.weights_) weights_.push_back(std::move(w));
  for (auto& v : other.others_) others_.push_back(std::move(v));
}

void WeightPlan::apply() const {
  for (const auto& [weight, value] : weights_) weight.assign(value);
  for (const auto& [node, value] : others_) node->restore_value("VARIABLE_VALUE", value);
}

bool is_factor(const Lora* lora, const Variable& weight) {
  return lora && lora->enabled() && (weight.id() == lora->a.id() || weight.id() == lora->b.id());
}
Tensor merged_value(const LayerImpl& layer, const Variable& weight) {
  for (const Lora* lora : loras_in(layer))
    if (lora->w.id() == weight.id()) return lora->merged();
  return weight.value();
}
void plan_without_adaptation(const Lora& lora, WeightPlan& plan) {
  if (lora.enabled()) plan.add(lora.b, zeros(lora.b.shape(), lora.b.dtype()), "an adaptation");
}

void plan_scale(const Optimizer& optimizer, const Tensor& good_steps, const Tensor& scale,
                WeightPlan& plan) {
  const Ref<LossScaleOptimizerImpl> scales = loss_scale_optimizer(optimizer);
  if (!scales || !scales->growth_steps) return;
  plan.add(scales->good_steps, good_steps, "the steps since the scale of the loss changed");
  plan.add(scales->scale, scale, "the scale of the loss");
}

bool is_skipped(bool skip_mismatch, const std::function<void()>& plan_it) {
  try {
    plan_it();
    return false;
  } catch (const errors::InvalidArgument& e) {
    if (!skip_mismatch) throw;
    RILL_LOG(warning, "{}; it is left as it is", e.message());
    return true;
  }
}

void require_built(const Model& model, const std::string& path) {
  const bool users = LayerObjects::is_users_class(LayerObjects::behind(model));
  bool built = model.built() || (users && !model.weights().empty());  // see require_weights
  for (const LayerRef& l : model.layers()) built = built && l->built();
  RILL_CHECK(built, failed_precondition,
             "[{}] load_weights: the model has not made its weights yet, and HDF5 files ({}) fit "
             "only a model that has them. Call it on data or build_model(shape) first; or save "
             "a TensorFlow checkpoint, which waits for them",
             model.name(), path);
}

// A class of the user's with its own train_step may have no call: what its layers have made is
// there.
void require_weights(const Model& model, const char* what) {
  if (model.built()) return;
  const bool users = LayerObjects::is_users_class(LayerObjects::behind(model));
  RILL_CHECK(users && !model.weights().empty(), failed_precondition,
             "[{}] {}: the model has not made its weights yet. Call it on data, or "
             "build_model(shape), first",
             model.name(), what);
  std::string lack;
  for (const LayerRef& l : model.layers())
    if (!l->built() && l->weights().empty())
      lack += (lack.empty() ? "\"" : ", \"") + l->name() + "\"";
  if (!lack.empty())
    RILL_LOG(warning,
             "[{}] {}: the layers {} are not built: if they are to have weights, the file holds "
             "none of them",
             model.name(), what, lack);
}

}  // namespace rill::keras
