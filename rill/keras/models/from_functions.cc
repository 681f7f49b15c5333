#include "rill/keras/models/from_functions.h"

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"

namespace rill::keras {

namespace {

template <class Functions, class Required>
std::shared_ptr<const Functions> checked(Functions f, Required required, const char* what,
                                         const char* function) {
  RILL_CHECK(!f.class_name.empty(), invalid_argument,
             "[{}] class_name is empty; expected the name of the class, which names and files use",
             what);
  RILL_CHECK(required(f), invalid_argument, "[{}] the class {} has no function {}", what,
             f.class_name, function);
  return std::make_shared<const Functions>(std::move(f));
}

}  // namespace

// ---- layers
FunctionLayer::FunctionLayer(LayerFunctions f, LayerOptions o)
    : Layer(std::move(o)),
      functions_(checked(
          std::move(f), [](const LayerFunctions& i) { return !!i.call; }, "FunctionLayer",
          "call")) {}
void FunctionLayer::build_all(const std::vector<TensorShape>& shapes) {
  if (functions_->build && impl_->build_under_way)
    functions_->build(*this, shapes);
  else
    Layer::build_all(shapes);
}
Nest FunctionLayer::call_nest(const Nest& inputs, const CallContext& context) {
  return functions_->call(*this, inputs, context);
}
Tensor FunctionLayer::compute_mask(const Nest& inputs, const Tensor& mask) {
  return functions_->compute_mask ? functions_->compute_mask(*this, inputs, mask)
                                  : Layer::compute_mask(inputs, mask);
}
Config FunctionLayer::get_config() const {
  const Config base = Layer::get_config();
  return functions_->get_config ? functions_->get_config(*this, base) : base;
}
std::string FunctionLayer::run_time_class() const { return functions_->class_name; }

// ---- models
FunctionModel::FunctionModel(ModelFunctions f, LayerOptions o)
    : Model(std::move(o)),
      functions_(checked(
          std::move(f), [](const ModelFunctions& i) { return !!i.call; }, "FunctionModel",
          "call")) {}
Nest FunctionModel::call_nest(const Nest& inputs, const CallContext& context) {
  return functions_->call(*this, inputs, context);
}
Nest FunctionModel::train_step(const Nest& data) {
  return functions_->train_step ? functions_->train_step(*this, data) : Model::train_step(data);
}
Nest FunctionModel::test_step(const Nest& data) {
  return functions_->test_step ? functions_->test_step(*this, data) : Model::test_step(data);
}
Nest FunctionModel::predict_step(const Nest& data) {
  return functions_->predict_step ? functions_->predict_step(*this, data)
                                  : Model::predict_step(data);
}
Config FunctionModel::get_config() const {
  const Config base = Model::get_config();
  return functions_->get_config ? functions_->get_config(*this, base) : base;
}
std::string FunctionModel::run_time_class() const { return functions_->class_name; }

// ---- metrics
FunctionMetric::FunctionMetric(MetricFunctions f, MetricOptions o)
    : Metric(std::move(o)),
      functions_(checked(
          std::move(f), [](const MetricFunctions& i) { return i.update_state && i.result; },
          "FunctionMetric", "update_state or result")) {}
void FunctionMetric::update_state(const Tensor& y_true, const Tensor& y_pred,
                                  const Tensor& sample_weight) {
  functions_->update_state(*this, y_true, y_pred, sample_weight);
}
Tensor FunctionMetric::result() { return functions_->result(*this); }
void FunctionMetric::reset_state() {
  if (functions_->reset_state)
    functions_->reset_state(*this);
  else
    Metric::reset_state();
}
std::string FunctionMetric::class_name() const { return functions_->class_name; }
Config FunctionMetric::get_config() const {
  const Config base = Metric::get_config();
  return functions_->get_config ? functions_->get_config(*this, base) : base;
}

}  // namespace rill::keras
