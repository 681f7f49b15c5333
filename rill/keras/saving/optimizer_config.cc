#include "rill/base/check.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/saving/object_graph_impl.h"

namespace rill::keras {

Config optimizer_record(std::string_view class_name, const KerasOptimizerImpl& o,
                        std::initializer_list<std::pair<std::string_view, Config>> own) {
  RILL_CHECK(!o.has_schedule(), unimplemented,
             "[{}] the learning rate is a function of the step, which a file does not hold; save "
             "with include_optimizer = false, or without compile",
             o.name);
  Config c = Config::dict({{"name", o.name},
                           {"weight_decay", Config()},
                           {"clipnorm", Config()},
                           {"global_clipnorm", Config()},
                           {"clipvalue", Config()},
                           {"use_ema", false},
                           {"ema_momentum", 0.99},
                           {"ema_overwrite_frequency", Config()},
                           {"jit_compile", false},
                           {"is_legacy_optimizer", false},
                           {"learning_rate", o.learning_rate()}});
  for (const auto& [key, value] : own) c.set(key, value);
  return Config::dict({{"class_name", class_name}, {"config", c}});
}

namespace {
const KerasOptimizerImpl& keras_optimizer(const Ref<TrackableNode>& node, const std::string& name) {
  const auto* impl = dynamic_cast<const KerasOptimizerImpl*>(node.get());
  RILL_CHECK(impl, unimplemented,
             "[{}] an optimizer of TensorFlow 1 has no form in Keras's files; save with "
             "include_optimizer = false, or compile with one of keras::optimizers",
             name);
  return *impl;
}
}  // namespace

Config serialize_optimizer(const Optimizer& o) {
  return keras_optimizer(o.trackable(), o.name()).config();
}

Optimizer deserialize_optimizer(const Config& given) {
  using namespace optimizers;
  if (given.is_text()) return optimizers::get(given.as_string());
  std::string name = given["class_name"].as_string();
  if (const auto at = name.rfind('>'); at != name.npos) name = name.substr(at + 1);
  const Config& c = given["config"];
  for (const char* key : {"weight_decay", "clipnorm", "global_clipnorm", "clipvalue",
                          "loss_scale_factor", "gradient_accumulation_steps"})
    RILL_CHECK(c.get(key).is_null() || c.get(key) == Config(0), unimplemented,
               "[load_model] the optimizer {} has {} = {}, which Rill's does not have. Load with "
               "compile = false and compile anew",
               name, key, c.get(key).to_json());
  RILL_CHECK(!c.get("use_ema", false), unimplemented,
             "[load_model] the optimizer {} keeps moving averages (use_ema), which Rill's does "
             "not. Load with compile = false and compile anew",
             name);
  const Config& rate = c.get("learning_rate");
  RILL_CHECK(rate.is_null() || rate.is_number(), unimplemented,
             "[load_model] the learning rate of {} is {}; Rill reads numbers. Load with compile = "
             "false and compile anew",
             name, rate.to_json().substr(0, 100));
  const auto number = [&](const char* key, double otherwise) { return c.get(key, otherwise); };
  // The fields that an options struct has come from the file; those that the file lacks stay.
  const auto filled = [&](auto o) {
    o.learning_rate = number("learning_rate", o.learning_rate.at(0));
    o.name = c.get("name", o.name.c_str());
    if constexpr (requires { o.momentum; }) o.momentum = number("momentum", o.momentum);
    if constexpr (requires { o.nesterov; }) o.nesterov = c.get("nesterov", o.nesterov);
    if constexpr (requires { o.beta_1; }) o.beta_1 = number("beta_1", o.beta_1);
    if constexpr (requires { o.beta_2; }) o.beta_2 = number("beta_2", o.beta_2);
    if constexpr (requires { o.epsilon; }) o.epsilon = number("epsilon", o.epsilon);
    if constexpr (requires { o.amsgrad; }) o.amsgrad = c.get("amsgrad", o.amsgrad);
    if constexpr (requires { o.rho; }) o.rho = number("rho", o.rho);
    if constexpr (requires { o.centered; }) o.centered = c.get("centered", o.centered);
    if constexpr (requires { o.initial_accumulator_value; })
      o.initial_accumulator_value =
          number("initial_accumulator_value", o.initial_accumulator_value);
    if constexpr (requires { o.l1_regularization_strength; }) {
      o.learning_rate_power = number("learning_rate_power", o.learning_rate_power);
      o.l1_regularization_strength =
          number("l1_regularization_strength", o.l1_regularization_strength);
      o.l2_regularization_strength =
          number("l2_regularization_strength", o.l2_regularization_strength);
      o.l2_shrinkage_regularization_strength =
          number("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
      o.beta = number("beta", o.beta);
    }
    return o;
  };
  if (name == "SGD") return SGD(filled(SGDOptions{}));
  if (name == "Adam") return Adam(filled(AdamOptions{}));
  if (name == "Adamax") return Adamax(filled(AdamaxOptions{}));
  if (name == "Nadam") return Nadam(filled(NadamOptions{}));
  if (name == "Adagrad") return Adagrad(filled(AdagradOptions{}));
  if (name == "Adadelta") return Adadelta(filled(AdadeltaOptions{}));
  if (name == "RMSprop") return RMSprop(filled(RMSpropOptions{}));
  if (name == "Ftrl") return Ftrl(filled(FtrlOptions{}));
  return optimizers::get(name);  // an error that names the nearest
}

bool has_keras_state(const Optimizer& o) {
  return dynamic_cast<const KerasOptimizerImpl*>(o.trackable().get()) != nullptr;
}
std::vector<OptimizerVariable> optimizer_variables(const Optimizer& o) {
  const Ref<TrackableNode> node = o.trackable();
  keras_optimizer(node, o.name());
  std::vector<OptimizerVariable> list;
  for (const TrackableNode::Edge& e : node->child("_variables")->edges())
    list.push_back({variable_name(*e.child), e.child});
  return list;
}

}  // namespace rill::keras
