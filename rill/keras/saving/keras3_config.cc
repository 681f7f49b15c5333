#include <map>

#include "rill/base/check.h"
#include "rill/keras/saving/model_config_impl.h"
#include "rill/keras/saving/op_calls_impl.h"

// The configuration of a model in the form of Keras 3. It is made of that of Keras 2, which
// get_config gives: what Keras 3 has dropped is left out where it says nothing, and refused where
// it does.
namespace rill::keras {

namespace {

void drop(Config& c, std::initializer_list<const char*> keys) {
  for (const char* key : keys) c.erase(key);
}
// An argument that Keras 3 does not have may only have the value that says nothing.
void drop_if(Config& c, const std::string& layer, const char* key, const Config& nothing) {
  RILL_CHECK(
      !c.contains(key) || c[key] == nothing || c[key].is_null(), unimplemented,
      "[save] layer \"{}\" has {} = {}, which Keras 3 does not know; save with keras_version "
      "= 2",
      layer, key, c[key].to_json().substr(0, 60));
  c.erase(key);
}

Config converted(const Config& record);

void convert_layer(const std::string& class_name, Config& c) {
  const std::string name = c.get("name", "");
  RILL_CHECK(class_name != "ThresholdedReLU", unimplemented,
             "[save] layer \"{}\" is a ThresholdedReLU, which Keras 3 does not have; save with "
             "keras_version = 2, or use ReLU with a threshold",
             name);
  if (class_name == "InputLayer") {
    if (c.contains("batch_input_shape")) c.set("batch_shape", c["batch_input_shape"]);
    c.erase("batch_input_shape");
    return;
  }
  c.erase("batch_input_shape");
  for (const char* key : {"layer", "backward_layer", "cell"})
    if (c.get(key).is_dict()) c.set(key, with_modules(converted(c[key])));
  if (c.get("cells").is_list()) {
    Config cells = Config::list();
    for (const Config& cell : c["cells"].items()) cells.push_back(with_modules(converted(cell)));
    c.set("cells", cells);
  }
  if (class_name == "BatchNormalization" && c.get("axis").is_list() && c["axis"].size() == 1)
    c.set("axis", Config(c["axis"][0]));
  if (class_name.starts_with("SeparableConv") || class_name.starts_with("DepthwiseConv")) {
    drop_if(c, name, "groups", 1);
    drop(c, {"kernel_initializer", "kernel_regularizer", "kernel_constraint"});
    if (class_name.starts_with("Depthwise")) c.erase("filters");
  }
  if (class_name.find("Transpose") != std::string::npos) drop_if(c, name, "groups", 1);
  if (class_name == "MultiHeadAttention") drop(c, {"query_shape", "key_shape", "value_shape"});
  for (const char* key : {"time_major", "ragged"}) drop_if(c, name, key, false);
  for (const char* key : {"implementation"}) c.erase(key);  // how, not what
  if (class_name == "Embedding") c.erase("input_length");   // the shape of the input says it
  if (class_name.starts_with("SpatialDropout")) {
    drop_if(c, name, "noise_shape", {});
    c.erase("trainable");  // it has no weights, and Keras 3 does not take it
  }
  if (class_name == "LeakyReLU" && c.contains("alpha")) {
    c.set("negative_slope", c["alpha"]);
    c.erase("alpha");
  }
}

// ["block", 1, 0, {..}] as ["block", 0, 0, {..}]: Keras 3 does not count the call that drew a
// model.
Config renumbered(const Config& c, const std::map<std::string, std::int64_t>& first) {
  if (c.is_dict()) {
    Config out = Config::dict();
    for (const std::string& key : c.keys()) out.set(key, renumbered(c[key], first));
    return out;
  }
  if (!c.is_list()) return c;
  Config out = Config::list();
  for (const Config& item : c.items()) out.push_back(renumbered(item, first));
  if (c.size() >= 3 && c[0].is_text() && c[1].is_number())
    if (const auto at = first.find(c[0].as_string()); at != first.end()) {
      std::vector<Config> items = out.items();
      items[1] = c[1].as_int() - at->second;
      return Config::list(items);
    }
  return out;
}

bool is_place(const Config& c) {
  return c.is_list() && c.size() == 3 && c[0].is_text() && c[1].is_number() && c[2].is_number();
}
bool any_place(const Config& c) {
  if (is_place(c)) return true;
  for (const Config& item : c.items())
    if (any_place(item)) return true;
  return false;
}
// Tensors as records.
Config with_tensors(const Config& c) {
  if (is_place(c)) return keras3_tensor(c);
  Config out = c.is_dict() ? Config::dict() : Config::list();
  if (c.is_dict())
    for (const std::string& key : c.keys()) out.set(key, with_tensors(c[key]));
  else if (c.is_list())
    for (const Config& item : c.items()) out.push_back(with_tensors(item));
  else
    return c;
  return out;
}
// [["x", 0, 0, {"value": ["y", 0, 0]}]] as {"args": [x], "kwargs": {"value": y}}: of the form of
// Keras 2, Keras 3 reads tensors as arguments without names alone.
Config call_with_arguments(const Config& call) {
  if (!call.is_list() || call.size() == 0) return call;
  Config args = Config::list(), kwargs;
  for (const Config& input : call.items()) {
    if (!input.is_list() || input.size() != 4 || !input[3].is_dict()) return call;
    kwargs = input[3];
    args.push_back(Config::list({input[0], input[1], input[2]}));
  }
  if (!any_place(kwargs)) return call;
  const Config tensors = with_tensors(args);
  return Config::dict({{"args", call.size() == 1 ? tensors : Config::list({tensors})},
                       {"kwargs", with_tensors(kwargs)}});
}

bool is_op(const Config& record) {
  const std::string& class_name = record["class_name"].as_string();
  return class_name == "TFOpLambda" || class_name == "SlicingOpLambda";
}

void convert_model(Config& c) {
  std::map<std::string, std::int64_t> first;
  Config layers = Config::list();
  for (const Config& l : c["layers"].items()) {
    const std::string& class_name = l["class_name"].as_string();
    if (class_name == "Functional" || class_name == "Sequential")
      first.emplace(l["config"].get("name", ""), 1);
    layers.push_back(is_op(l) ? l : converted(l));
  }
  Config numbered = Config::list();
  for (Config l : layers.items()) {
    if (l.contains("inbound_nodes")) {
      Config calls = Config::list();
      const Config now = renumbered(l["inbound_nodes"], first);
      for (const Config& call : now.items())
        calls.push_back(is_op(l) ? call : call_with_arguments(call));
      l.set("inbound_nodes", calls);
      if (is_op(l)) l = keras3_op_record(l);
    }
    numbered.push_back(l);
  }
  c.set("layers", numbered);
  for (const char* key : {"input_layers", "output_layers"})
    if (c.contains(key)) c.set(key, renumbered(c[key], first));
}

Config converted(const Config& record) {
  const std::string class_name = record["class_name"].as_string();
  Config config = record["config"], out = record;
  if (class_name == "Sequential" || class_name == "Functional")
    convert_model(config);
  else if (class_name.find('>') == std::string::npos)
    convert_layer(class_name, config);
  out.set("config", config);
  return out;
}

}  // namespace

Config keras3_record(const Config& record) { return converted(record); }

}  // namespace rill::keras
