#include <algorithm>
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
bool adapts_scale(const Optimizer& o) {
  const Ref<LossScaleOptimizerImpl> scales = loss_scale_optimizer(o);
  return scales && scales->growth_steps;
}
}  // namespace

Config serialize_optimizer(const Optimizer& o) {
  check_keras_state(o);
  return optimizers::serialize(o);
}

Optimizer deserialize_optimizer(const Config& given, bool scaled) {
  if (given.is_text()) return optimizers::get(given.as_string());
  // Of Keras 3, which may also scale the loss by a number.
  if (const Config& factor = given["config"].get("loss_scale_factor"); !factor.is_null()) {
    Config plain = given, config = given["config"];
    config.erase("loss_scale_factor");
    plain.set("config", config);
    const Optimizer inner = deserialize_optimizer(plain, scaled);
    if (scaled) return inner;
    return mixed_precision::LossScaleOptimizer(
        inner, {.dynamic = false, .initial_scale = factor.as_double()});
  }
  // Of Keras before 2.11: its Nadam calls "decay" what is a constant of the momenta since.
  if (given["class_name"] == Config("Nadam") && given["config"].contains("decay")) {
    Config without = given, config = given["config"];
    config.erase("decay");
    without.set("config", config);
    return optimizers::deserialize(without);
  }
  return optimizers::deserialize(given);
}

Config keras3_optimizer(const Config& record, bool scaled) {
  Config out = record, own = record["config"];
  if (record["class_name"] == Config(kLossScaleOptimizer)) {
    const Config inner = keras3_optimizer(own["inner_optimizer"], false);
    if (!own.get("dynamic", true)) {  // there the optimizer itself scales
      RILL_CHECK(!scaled, unimplemented,
                 "[save] the optimizer scales the loss by {}, and never by another number. Keras 3 "
                 "would adapt that, since the policy of the model is mixed_float16; save with "
                 "keras_version = 2, or include_optimizer = false",
                 own["initial_scale"].to_json());
      Config config = inner["config"];
      config.set("loss_scale_factor", own["initial_scale"]);
      out = inner;
      out.set("config", config);
      return out;
    }
    return Config::dict(
        {{"module", "keras.optimizers"},
         {"class_name", kLossScaleOptimizer3},
         {"config", Config::dict({{"name", "loss_scale_optimizer"},
                                  {"inner_optimizer", inner},
                                  {"initial_scale", own["initial_scale"]},
                                  {"dynamic_growth_steps", own["dynamic_growth_steps"]}})},
         {"registered_name", Config()}});
  }
  own.erase("jit_compile");
  own.erase("is_legacy_optimizer");
  // A schedule without a name has one of its class there.
  if (Config rate = own.get("learning_rate");
      rate.is_dict() && rate["config"].get("name").is_null()) {
    Config arguments = rate["config"];
    arguments.erase("name");
    rate.set("config", arguments);
    own.set("learning_rate", rate);
  }
  out.set("config", own);
  return out;
}

Config rule_record(const Optimizer& o) {
  const Config record = serialize_optimizer(o);
  return record["config"].contains("inner_optimizer") ? record["config"]["inner_optimizer"]
                                                      : record;
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

std::vector<OptimizerVariable> kept_by_keras3(const Optimizer& o) {
  std::vector<OptimizerVariable> list = optimizer_variables(o);
  const Config record = rule_record(o);
  if (record["class_name"] != Config("SGD") || record["config"].get("momentum", 0.0) != 0)
    return list;
  for (const TrackableNode::Edge& e : o.trackable()->edges())
    if (e.name == "momentums")
      std::erase_if(list, [&](const OptimizerVariable& v) {
        return std::any_of(e.child->edges().begin(), e.child->edges().end(),
                           [&](const auto& m) { return m.child.get() == v.node.get(); });
      });
  return list;
}

Ref<TrackableNode> product_of_momenta(const Optimizer& o) {
  for (const TrackableNode::Edge& e : o.trackable()->edges())
    if (e.name == "_u_product") return e.child;
  return {};
}

Tensor product_of_momenta_after(const Optimizer& o, std::int64_t steps, int keras) {
  const double beta = rule_record(o)["config"]["beta_1"].as_double();
  const Ref<TrackableNode> product = product_of_momenta(o);
  const DType dtype = product->saved_values().at(0).value.dtype();
  // As compiled training of Keras 2 makes it (see Nadam): each variable adds a factor at each step,
  // but one at each of the steps n to 2 n - 1.
  std::int64_t n = 1;
  for (const TrackableNode::Edge& e : o.trackable()->edges())
    if (e.name == "_momentums" && keras == 2)
      n = static_cast<std::int64_t>(e.child->edges().size());
  const Config record = rule_record(o);
  if (const Config& calls = record["config"].get("gradient_accumulation_steps"); calls.is_number())
    steps /= calls.as_int();
  double value = 1;
  // It soon is too small for a float.
  for (std::int64_t t = 1; t <= steps && value > 0; ++t) {
    const std::int64_t factors = n > 1 && t >= n && t < 2 * n ? n - 1 : n;
    for (std::int64_t i = 0; i < factors; ++i) {
      value *= beta * (1 - 0.5 * std::pow(0.96, static_cast<double>(t)));
      if (dtype == float32) value = static_cast<float>(value);
    }
  }
  return constant(value, dtype);
}

std::vector<std::pair<std::string, Tensor>> optimizer_state(const Optimizer& o, int keras_version) {
  std::vector<std::pair<std::string, Tensor>> state;
  for (const OptimizerVariable& v : keras_version < 3 ? optimizer_variables(o) : kept_by_keras3(o))
    state.emplace_back(v.name, v.node->saved_values().at(0).value);
  if (keras_version < 3) return state;
  // Keras 3 keeps the learning rate behind the count of steps, unless it is a schedule.
  const Config record = rule_record(o), &config = record["config"];
  if (config.get("learning_rate").is_number())
    state.insert(state.begin() + 1, {"learning_rate", constant(o.learning_rate(), float32)});
  // Nor does it keep the product of momenta of an optimizer inside another one.
  if (const Ref<TrackableNode> product = product_of_momenta(o); product && !adapts_scale(o))
    state.emplace_back("variable", product->saved_values().at(0).value);
  return state;
}

std::vector<std::pair<std::string, Tensor>> state_of_scale(const Optimizer& o) {
  if (!adapts_scale(o)) return {};
  const Ref<LossScaleOptimizerImpl> scales = loss_scale_optimizer(o);
  const std::string name = "loss_scale_optimizer/";
  return {{name + "iteration", constant(0, int64)},
          {name + "learning_rate", constant(0.f)},
          {name + "step_counter", scales->good_steps.value()},
          {name + "dynamic_scale", scales->scale.value()}};
}

}  // namespace rill::keras
