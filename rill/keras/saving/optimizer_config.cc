#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/saving/object_graph_impl.h"

namespace rill::keras {

namespace {
void check_keras_state(const Optimizer& o) {
  RILL_CHECK(has_keras_state(o), unimplemented,
             "[{}] an optimizer of TensorFlow 1 has no form in Keras's files; save with "
             "include_optimizer = false, or compile with one of keras::optimizers",
             o.name());
}
}  // namespace

Config serialize_optimizer(const Optimizer& o) {
  check_keras_state(o);
  return optimizers::serialize(o);
}

Optimizer deserialize_optimizer(const Config& given) {
  if (given.is_text()) return optimizers::get(given.as_string());
  // Of Keras 3, which may also scale losses and gather gradients.
  for (const char* key : {"loss_scale_factor", "gradient_accumulation_steps"})
    RILL_CHECK(given["config"].get(key).is_null(), unimplemented,
               "[load_model] the optimizer has {} = {}, which Rill's does not have", key,
               given["config"].get(key).to_json());
  // Of Keras before 2.11: its Nadam calls "decay" what is a constant of the momenta since.
  if (given["class_name"] == Config("Nadam") && given["config"].contains("decay")) {
    Config without = given, config = given["config"];
    config.erase("decay");
    without.set("config", config);
    return optimizers::deserialize(without);
  }
  return optimizers::deserialize(given);
}

bool has_keras_state(const Optimizer& o) {
  return loss_scale_optimizer(o) || dynamic_cast<KerasOptimizerImpl*>(o.trackable().get());
}
std::vector<OptimizerVariable> optimizer_variables(const Optimizer& o) {
  check_keras_state(o);
  std::vector<OptimizerVariable> list;
  for (const TrackableNode::Edge& e : o.trackable()->child("_variables")->edges())
    list.push_back({variable_name(*e.child), e.child});
  return list;
}

Ref<TrackableNode> product_of_momenta(const Optimizer& o) {
  for (const TrackableNode::Edge& e : o.trackable()->edges())
    if (e.name == "_u_product") return e.child;
  return {};
}

Tensor product_of_momenta_after(const Optimizer& o, std::int64_t steps) {
  const Config record = serialize_optimizer(o);
  const Config& outer = record["config"];
  const Config& config =
      outer.contains("inner_optimizer") ? outer["inner_optimizer"]["config"] : outer;
  const double beta = config["beta_1"].as_double();
  const Ref<TrackableNode> product = product_of_momenta(o);
  const DType dtype = product->saved_values().at(0).value.dtype();
  double value = 1;
  // It soon is too small for a float.
  for (std::int64_t t = 1; t <= steps && value > 0; ++t) {
    value *= beta * (1 - 0.5 * std::pow(0.96, static_cast<double>(t)));
    if (dtype == float32) value = static_cast<float>(value);
  }
  return constant(value, dtype);
}

std::vector<std::pair<std::string, Tensor>> optimizer_state(const Optimizer& o, int keras_version) {
  std::vector<std::pair<std::string, Tensor>> state;
  for (const OptimizerVariable& v : optimizer_variables(o))
    state.emplace_back(v.name, v.node->saved_values().at(0).value);
  if (keras_version < 3) return state;
  // Keras 3 keeps the learning rate behind the count of steps, unless it is a schedule, and no
  // momentum for an SGD that has none.
  const Config record = serialize_optimizer(o), &config = record["config"];
  if (record["class_name"] == Config("SGD") && config.get("momentum", 0.0) == 0)
    state.resize(std::min<std::size_t>(state.size(), 1));
  if (config.get("learning_rate").is_number())
    state.insert(state.begin() + 1, {"learning_rate", constant(o.learning_rate(), float32)});
  if (const Ref<TrackableNode> product = product_of_momenta(o))
    state.emplace_back("variable", product->saved_values().at(0).value);
  return state;
}

}  // namespace rill::keras
