// What a model does with a batch, and the settings of compile.
#include "rill/base/check.h"
#include "rill/core/call_context.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/training/trainer_impl.h"

namespace rill::keras {

Trainer& compiled_trainer(const Model& m, const char* what) {
  Trainer* t = m.model_impl().trainer.get();
  RILL_CHECK(
      t, failed_precondition,
      "[{}] you must compile your model before training or testing: call compile({{.optimizer "
      "= .., .loss = ..}}) before {}",
      m.name(), what);
  return *t;
}

void Model::compile(CompileOptions options) {
  RILL_CHECK(!model_impl().progress, failed_precondition,
             "[{}] compile is called while fit is running, by one of its callbacks: set "
             "model->stop_training, and compile after fit",
             name());
  if (impl_->policy.name() == "mixed_float16" && !loss_scale_optimizer(*options.optimizer)) {
    const BehaviourScope behaviour(impl_->behaves_as);
    options.optimizer = mixed_precision::LossScaleOptimizer(*options.optimizer);
  }
  // Checkpoints of the model hold the optimizer too, as Keras's do.
  model_impl().track("optimizer", options.optimizer->trackable());
  auto trainer = std::make_shared<Trainer>(std::move(options));
  trainer->remember_trainable(model_impl());
  model_impl().trainer = std::move(trainer);
}
bool Model::compiled() const { return model_impl().trainer != nullptr; }
Optimizer& Model::optimizer() const {
  return *compiled_trainer(*this, "optimizer").options.optimizer;
}
// A handle on a user-defined model does what the object does.
static Model* other_model(const Model& m) {
  return static_cast<Model*>(LayerObjects::other_object(m));
}

std::vector<MetricRef> Model::metrics() const {
  if (const Model* object = other_model(*this)) return object->metrics();
  std::vector<MetricRef> all;
  if (compiled()) all = model_impl().trainer->metrics();
  const std::vector<MetricRef> tracked = impl_->tracked_metrics();
  all.insert(all.end(), tracked.begin(), tracked.end());
  return all;
}
std::vector<std::string> Model::metrics_names() const {
  std::vector<std::string> names;
  if (compiled()) names = model_impl().trainer->metrics_names();
  for (const MetricRef& m : impl_->tracked_metrics()) names.push_back(m->name());
  return names;
}
void Model::reset_metrics() {
  compiled_trainer(*this, "reset_metrics").reset_metrics();
  for (const MetricRef& m : metrics())
    if (m.defined()) m->reset_state();
}

Tensor Model::compute_loss(const Nest& y, const Nest& y_pred, const Nest& sample_weight) {
  if (Model* object = other_model(*this)) return object->compute_loss(y, y_pred, sample_weight);
  return compiled_trainer(*this, "compute_loss").compute_loss(*this, y, y_pred, sample_weight);
}
Nest Model::compute_metrics(const Nest& y, const Nest& y_pred, const Nest& sample_weight) {
  return compiled_trainer(*this, "compute_metrics")
      .compute_metrics(*this, y, y_pred, sample_weight);
}

Nest Model::train_step(const Nest& data) {
  if (Model* object = other_model(*this)) return object->train_step(data);
  Trainer& t = compiled_trainer(*this, "fit");
  const BehaviourScope behaviour(impl_->behaves_as);  // of the optimizer
  const CallSiteScope site;
  CallSiteScope::put();
  Optimizer& optimizer = *t.options.optimizer;
  const BatchParts p = parts_of(data);
  Nest y_pred;
  Tensor loss;
  Gradients gradients;
  std::vector<Variable> variables;
  {
    GradientTape tape;
    y_pred = apply(p.x, {.training = 1});
    t.check_watched(*this, tape);
    {
      const name_scope scope(kLossScope);
      const CallSiteScope site_of_loss;
      loss = compute_loss(p.y, y_pred, p.sample_weight);
    }
    const name_scope scope(kGradientScope);
    variables = trainable_variables();
    if (!variables.empty()) gradients = tape.gradient(optimizer.get_scaled_loss(loss), variables);
  }
  if (!variables.empty()) {  // else all is frozen, and the loss is still of interest
    const name_scope scope(kUpdateScope);
    optimizer.apply_gradients(optimizer.get_unscaled_gradients(gradients), variables);
  }
  const Nest results = t.compute_metrics(*this, p.y, y_pred, p.sample_weight);
  if (!t.runs_eagerly()) impl_->clear_call_losses();  // of a trace: they have no values
  return results;
}

Nest Model::test_step(const Nest& data) {
  if (Model* object = other_model(*this)) return object->test_step(data);
  Trainer& t = compiled_trainer(*this, "evaluate");
  const BatchParts p = parts_of(data);
  const Nest y_pred = apply(p.x, {.training = 0});
  compute_loss(p.y, y_pred, p.sample_weight);
  const Nest results = t.compute_metrics(*this, p.y, y_pred, p.sample_weight);
  if (!t.runs_eagerly()) impl_->clear_call_losses();  // of a trace: they have no values
  return results;
}

Nest Model::predict_step(const Nest& data) {
  if (Model* object = other_model(*this)) return object->predict_step(data);
  const Nest out = apply(parts_of(data).x, {.training = 0});
  impl_->clear_call_losses();
  return out;
}

}  // namespace rill::keras
