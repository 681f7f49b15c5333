#include "rill/keras/layers/lambda.h"

#include <map>
#include <mutex>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/weight_config_impl.h"

namespace rill::keras {

namespace {

std::mutex functions_mutex;
std::map<std::string, LayerFunction, std::less<>>& functions() {
  static auto* all = new std::map<std::string, LayerFunction, std::less<>>;
  return *all;
}

class LambdaLayer : public LayerImpl {
 public:
  LambdaLayer(std::string registered, LayerFunction f, const layers::LambdaOptions& o)
      : LayerImpl("Lambda", common(o)),
        registered_(std::move(registered)),
        arguments_(o.arguments.is_null() ? Config::dict() : o.arguments),
        mask_(o.mask),
        f_(registered_.empty() ? std::move(f) : utils::get_registered_function(registered_)) {
    RILL_CHECK(arguments_.is_dict(), invalid_argument,
               "[Lambda] arguments is {}; expected a dict of names and values",
               arguments_.to_json());
    supports_masking = static_cast<bool>(mask_);
  }
  Tensor compute_mask(const Nest& inputs, const Tensor& mask) override {
    return mask_ ? mask_(inputs, mask) : Tensor();
  }
  Nest call_nest(const Nest& inputs, const CallContext&) override { return f_(inputs, arguments_); }
  void add_config(Config& c) const override {
    RILL_CHECK(!registered_.empty(), failed_precondition,
               "[{}] a function without a name cannot be saved: register it with "
               "keras::utils::register_keras_function(\"name\", f), and the layer by "
               "Lambda(\"name\")",
               name());
    RILL_CHECK(!mask_, failed_precondition,
               "[{}] the function that makes its mask has no name by which it could be saved: a "
               "class with compute_mask can be",
               name());
    c.set("function", registered_);
    c.set("function_type", "function");
    c.set("module", {});
    c.set("output_shape", {});
    c.set("output_shape_type", "raw");
    c.set("output_shape_module", {});
    c.set("arguments", arguments_);
  }

 private:
  std::string registered_;
  Config arguments_;
  std::function<Tensor(const Nest&, const Tensor&)> mask_;
  LayerFunction f_;
};

const RegisterLayer registered_lambda("Lambda", [](const Config& c) -> LayerRef {
  // Keras 3 wraps the name: {"class_name": "function", "config": "name", ..}.
  const Config& given = c["function"];
  const Config& name = given.is_dict() ? given.get("config") : given;
  RILL_CHECK(name.is_text() && c.get("function_type", "function") == "function", invalid_argument,
             "[Lambda] the file holds Python bytecode, which cannot be run here. Save the layer "
             "with a named function and register one of that name: "
             "keras::utils::register_keras_function(\"name\", f)");
  auto o = from_common<layers::LambdaOptions>(c);
  o.arguments = c.get("arguments");
  return layers::Lambda(name.as_string(), std::move(o));
});

}  // namespace

void require_no_arguments(const Config& arguments) {
  RILL_CHECK(arguments.size() == 0, invalid_argument,
             "[Lambda] the function takes none but its inputs; got the arguments {}. One that "
             "takes them has a second parameter: (const tf::Tensor& x, const keras::Config& "
             "arguments)",
             arguments.to_json());
}

void utils::register_layer_function(std::string_view name, LayerFunction f) {
  RILL_CHECK(!name.empty(), invalid_argument, "[register_keras_function] the name is empty");
  const std::lock_guard lock(functions_mutex);
  functions()[std::string(name)] = std::move(f);
}
LayerFunction utils::get_registered_function(std::string_view name) {
  const std::lock_guard lock(functions_mutex);
  std::vector<std::string> names;
  for (const auto& [known, f] : functions()) {
    if (known == name) return f;
    names.push_back(known);
  }
  RILL_FAIL(not_found,
            "[Lambda] no function is registered as \"{}\".{} Make it known first: "
            "keras::utils::register_keras_function(\"{}\", f)",
            name, did_you_mean(name, names), name);
}

layers::Lambda::Lambda(std::string function, LayerFunction f, LambdaOptions o)
    : Layer(this, new LambdaLayer(std::move(function), std::move(f), o)) {}

}  // namespace rill::keras
