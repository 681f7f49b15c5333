#include <map>
#include <set>
#include <string>

#include "rill/keras/engine/registered_layers_impl.h"
#include "rill/keras/saving/call_config_impl.h"
#include "rill/keras/saving/model_config_impl.h"
#include "rill/keras/saving/op_calls_impl.h"

// The configuration of a model in the form of Keras 3. It is made of that of Keras 2, which
// get_config gives: what Keras 3 has dropped is left out where it says nothing, and refused where
// it does.
namespace rill::keras {

namespace {

Config converted(const Config& record);

void convert_layer(const std::string& class_name, Config& c) {
  change_for_keras3(class_name, c);
  c.erase("batch_input_shape");
  // Layers inside others.
  for (const char* key : {"layer", "backward_layer", "cell"})
    if (c.get(key).is_dict()) c.set(key, with_modules(converted(c[key])));
  if (c.get("cells").is_list()) {
    Config cells = Config::list();
    for (const Config& cell : c["cells"].items()) cells.push_back(with_modules(converted(cell)));
    c.set("cells", cells);
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
// A constant, of which Keras 2 keeps the numbers alone.
Config constant_record(const Config& value) {
  return Config::dict(
      {{"class_name", "__tensor__"},
       {"config",
        Config::dict({{"value", value}, {"dtype", only_whole(value) ? "int32" : "float32"}})}});
}
// States of a recurrent layer, which stand behind its input there, as an argument with a name.
Config with_named_states(const Config& call, const Config& layer) {
  static const std::set<std::string, std::less<>> recurrent{
      "RNN", "SimpleRNN", "GRU", "LSTM", "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"};
  if (!call.is_list() || call.size() < 2 || !recurrent.contains(layer["class_name"].as_string()) ||
      layer["config"].get("num_constants", 0) > 0)
    return call;
  Config states = Config::list();
  for (std::size_t i = 0; i < call.size(); ++i) {
    const Config& input = call[i];
    if (!input.is_list() || input.size() != 4 || !input[3].is_dict() ||
        input[0] == Config(kConstantValue))
      return call;
    if (i > 0) states.push_back(Config::list({input[0], input[1], input[2]}));
  }
  Config arguments = call[0][3];
  arguments.set("initial_state", states.size() == 1 ? states[0] : states);
  return Config::list({Config::list({call[0][0], call[0][1], call[0][2], arguments})});
}
// [["x", 0, 0, {"value": ["y", 0, 0]}]] as {"args": [x], "kwargs": {"value": y}}: of the form of
// Keras 2, Keras 3 reads tensors as arguments without names alone, and no constants.
Config call_with_arguments(const Config& call) {
  if (!call.is_list() || call.size() == 0) return call;
  Config tensors = Config::list(), kwargs;
  bool needed = false;
  for (const Config& input : call.items()) {
    if (!input.is_list() || input.size() != 4 || !input[3].is_dict()) return call;
    kwargs = input[3];
    const bool constant = input[0] == Config(kConstantValue);
    needed = needed || constant;
    tensors.push_back(constant ? constant_record(input[2])
                               : with_tensors(Config::list({input[0], input[1], input[2]})));
  }
  if (!needed && !any_place(kwargs)) return call;
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
        calls.push_back(is_op(l) ? call : call_with_arguments(with_named_states(call, l)));
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
  if (class_name == "Custom>CustomScaleLayer") out.set("class_name", "CustomScaleLayer");
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
