#include "rill/keras/saving/op_calls_impl.h"

#include "rill/base/check.h"
#include "rill/core/shape_inference.h"

namespace rill::keras {

// ---- values
Config constant_config(const Tensor& given) {
  const Tensor t = given.cpu();
  const bool whole = t.dtype().is_integer();
  RILL_CHECK(whole || t.dtype().is_floating() || t.dtype().is_bool(), unimplemented,
             "[get_config] an op of the model has a {} constant, which a configuration does not "
             "hold; put the op into a user-defined Layer",
             t.dtype());
  if (t.ndim() == 0) {
    if (t.dtype().is_bool()) return t.item<bool>();
    return whole ? Config(t.item<std::int64_t>()) : Config(t.item<double>());
  }
  RILL_CHECK(t.size() <= 100000, unimplemented,
             "[get_config] an op of the model has a constant of shape {}, which is too large for a "
             "configuration; make it a weight of a user-defined Layer",
             t.shape());
  Config list = Config::list();
  for (std::int64_t i = 0; i < t.shape().dim(0); ++i)
    list.push_back(constant_config(t[static_cast<int>(i)]));
  return list;
}

Config attr_config(const AttrValue& value) {
  switch (value.kind()) {
    case AttrValue::Kind::boolean:
      return value.as_bool();
    case AttrValue::Kind::integer:
      return value.as_int();
    case AttrValue::Kind::floating:
      return value.as_float();
    case AttrValue::Kind::text:
      return std::string(value.as_string());
    case AttrValue::Kind::integers: {  // an empty list is none
      Config list = Config::list();
      for (const std::int64_t i : value.as_ints()) list.push_back(i);
      return list.size() == 0 ? Config() : list;
    }
    default:
      RILL_FAIL(internal, "[get_config] an attribute of an op has no form in files");
  }
}

Config without_record(const Config& c) {
  if (c.is_dict() && c.get("class_name") == Config("__slice__")) return c["config"];
  if (c.is_dict() && c.get("class_name") == Config("__tuple__")) return c["items"];
  return c;
}

// ---- writing what was drawn
DrawnOp::DrawnOp(const KerasNode& node, const TensorPlace& place)
    : node_(node),
      layer_(static_cast<const OpLayer&>(*node.layer)),
      op_(layer_.op()),
      inputs_(node.inputs.flatten()),
      place_(place) {}

WrittenCall DrawnOp::written() const {
  const OpForm* form = form_of_op(op_.name);
  RILL_CHECK(form, unimplemented,
             "[get_config] the op {} (layer \"{}\") has no form in Keras's configurations that "
             "Rill knows; put it into a user-defined Layer",
             op_.name, name());
  WrittenCall call{form, first(*form)};
  for (const OpArgument& a : form->arguments)
    if (!a.sources.empty() && !a.keras2.empty()) call.arguments.set(a.keras2, argument(a));
  if (form->names_result()) call.arguments.set("name", {});
  return call;
}

std::size_t DrawnOp::offset(int input) const {
  const std::size_t in_list = inputs_.size() - (op_.inputs.size() - 1);  // one list at most
  std::size_t at = 0;
  for (int i = 0; i < input; ++i)
    at += op_.inputs[static_cast<std::size_t>(i)].is_list() ? in_list : 1;
  return at;
}
const Tensor& DrawnOp::tensor(std::string_view input) const {
  return inputs_.at(offset(op_.find_input(input)));
}
const AttrValue& DrawnOp::attr(std::string_view name) const {
  return AttrReader(op_, layer_.attrs().list()).attr(name);
}
Config DrawnOp::constant(std::string_view input, std::string_view what) const {
  const Tensor& t = tensor(input);
  RILL_CHECK(!keras_symbol(t), unimplemented,
             "[get_config] the {} of layer \"{}\" is computed by the model, which a configuration "
             "does not hold; put the op into a user-defined Layer",
             what, name());
  return constant_config(t);
}

Config DrawnOp::first(const OpForm& form) const {
  const auto entry = [&](const Tensor& t) {
    return keras_symbol(t) ? place_(t) : Config::list({kConstantValue, -1, constant_config(t)});
  };
  for (const std::string& source : form.first) {
    const int input = op_.find_input(source);
    if (input < 0) continue;
    if (!form.list) return entry(inputs_.at(offset(input)));
    Config list = Config::list();
    const std::size_t end = inputs_.size() - (op_.inputs.size() - 1);
    for (std::size_t i = 0; i < end; ++i) list.push_back(entry(inputs_[i]));
    return list;
  }
  RILL_FAIL(internal, "[get_config] the form of {} has no first argument", op_.name);
}
Config DrawnOp::argument(const OpArgument& a) const {
  if (a.write) return a.write(*this);
  for (const std::string& source : a.sources) {
    if (op_.find_input(source) >= 0) {
      const Tensor& t = tensor(source);
      return a.computed && keras_symbol(t) ? place_(t) : constant(source, a.keras2);
    }
    if (const int i = op_.find_attr(source); i >= 0)
      return op_.attrs[static_cast<std::size_t>(i)].type == "type"
                 ? Config(node_.specs.at(0).dtype.name())
                 : attr_config(attr(source));
  }
  return a.otherwise;
}

// ---- Keras 2
// The arguments follow the first, or behind each of its tensors.
Config keras2_config(const WrittenCall& call) {
  const auto entry = [&](Config place) {
    place.push_back(call.arguments);
    return place;
  };
  if (!call.form->list) return entry(call.first);
  Config list = Config::list();
  for (const Config& place : call.first.items()) list.push_back(entry(place));
  return list;
}

namespace {

WrittenCall read_keras2(const OpForm* form, const Config& call) {
  const auto place = [](const Config& c) { return Config::list({c[0], c[1], c[2]}); };
  if (call.is_list() && call.size() == 4 && call[0].is_text())  // one tensor or constant
    return {form, place(call), call[3]};
  RILL_CHECK(call.is_list() && call.size() > 0 && call[0].is_list() && call[0].size() == 4,
             invalid_argument, "[Functional] got the call {}; expected that of an op",
             call.to_json().substr(0, 100));
  Config list = Config::list();
  for (const Config& c : call.items()) list.push_back(c.is_list() && c.size() >= 3 ? place(c) : c);
  return {form, list, call[0][3]};
}

}  // namespace

WrittenCall keras2_call(const std::string& function, const Config& call) {
  const OpForm* form = form_of_function(function);
  RILL_CHECK(form, unimplemented,
             "[from_config] the model calls tf.{}, which Rill does not read from files", function);
  return read_keras2(form, call);
}

// ---- reading Keras 3
bool is_keras3_op(const Config& record) {
  const Config& module = record.get("module");
  if (module.is_text()) return module.as_string().starts_with("keras.src.ops");
  // HDF5 files do not tell the module. A layer trains or does not.
  const Config& config = record.get("config");
  return form_of_class(record["class_name"].as_string()) && config.is_dict() &&
         !config.contains("trainable") && record.get("inbound_nodes").is_list();
}

WrittenCall keras3_call(const std::string& class_name, const Config& op, const Config& call) {
  const OpForm* form = form_of_class(class_name);
  RILL_CHECK(form, unimplemented,
             "[from_config] the model calls Keras 3's op {}, which Rill does not read from files",
             class_name);
  RILL_CHECK(call.is_dict() && call.get("args").is_list(), invalid_argument,
             "[from_config] got the call {}; expected that of a Keras 3 op",
             call.to_json().substr(0, 100));
  const Refuse refuse = [&](const std::string& what) {
    RILL_FAIL(
        unimplemented,
        "[from_config] the model calls Keras 3's op {} with {}, which Rill does not read from "
        "files",
        class_name, what);
  };
  const Config &args = call["args"], &kwargs = call.get("kwargs");
  // By its place, by its name, or from the configuration of the op.
  const auto argument = [&](std::size_t place, const std::string& name) -> const Config& {
    if (place < args.size()) return args[place];
    return kwargs.is_dict() && kwargs.contains(name) ? kwargs[name] : op.get(name);
  };
  WrittenCall c{form, form->as_list ? without_record(argument(0, form->first3)) : args};
  std::size_t place = 1;
  for (const OpArgument& a : form->arguments) {
    if (a.keras3.empty()) {
      if (!a.in_keras3.is_null()) c.arguments.set(a.keras2, a.in_keras3);
      continue;
    }
    const Config& given = a.with_call ? argument(place++, a.keras3) : op.get(a.keras3);
    if (a.keras2.empty()) {
      if (!given.is_null() && given != a.otherwise)
        refuse(format("{} = {}", a.keras3, given.to_json().substr(0, 60)));
      continue;
    }
    if (given.is_null() && a.never_null) refuse("no " + a.keras3);
    if (given.is_null()) continue;
    c.arguments.set(a.keras2, a.from_keras3 ? a.from_keras3(given, c.arguments, refuse)
                                            : without_record(given));
  }
  return c;
}

// ---- writing Keras 3
Config keras3_tensor(const Config& place) {
  // Keras finds the tensor by its history; it does not look at the shape.
  return Config::dict({{"class_name", "__keras_tensor__"},
                       {"config", Config::dict({{"shape", Config::list()},
                                                {"dtype", "float32"},
                                                {"keras_history", place}})}});
}

namespace {

// A tensor by its place, a constant by its value.
Config tensor_or_value(const Config& c) {
  const bool place = c.is_list() && c.size() == 3 && c[0].is_text();
  if (!place) return c;
  return c[0] == Config(kConstantValue) ? c[2] : keras3_tensor(c);
}
// Where Keras 3 asks for the shape of an argument, a constant is an array.
Config tensor_or_array(const Config& c) {
  if (c[0] != Config(kConstantValue)) return keras3_tensor(c);
  const Config* number = &c[2];
  while (number->is_list() && number->size() > 0) number = &number->items().front();
  const char* dtype = number->kind() == Config::Kind::integer   ? "int32"
                      : number->kind() == Config::Kind::boolean ? "bool"
                                                                : "float32";
  return Config::dict(
      {{"class_name", "__numpy__"}, {"config", Config::dict({{"value", c[2]}, {"dtype", dtype}})}});
}
bool has_place(const Config& c) {
  if (c.is_list() && c.size() > 0 && c[0].is_text()) return true;
  for (const Config& item : c.items())
    if (has_place(item)) return true;
  return false;
}

}  // namespace

Config keras3_op_record(const Config& record) {
  const std::string name = record["config"].get("name", ""),
                    function = record["config"].get("function", "?");
  const Refuse refuse = [&](const std::string& what) {
    RILL_FAIL(unimplemented,
              "[save] the model calls tf.{} (\"{}\") as a plain op{}, which is not written for "
              "Keras 3; put it into a layer, or save with keras_version = 2",
              function, name, what.empty() ? what : " with " + what);
  };
  const OpForm* form = form_of_function(function);
  if (!form || form->classes.empty()) refuse("");
  const WrittenCall call = read_keras2(form, record["inbound_nodes"][0]);
  Config tensors = Config::list(), kwargs = Config::dict(), op = Config::dict({{"name", name}});
  for (const Config& c : form->list ? call.first.items() : std::vector<Config>{call.first})
    tensors.push_back(form->arrays ? tensor_or_array(c) : tensor_or_value(c));
  Config args = form->list && form->as_list ? Config::list({tensors}) : tensors;
  for (const OpArgument& a : form->arguments) {
    if (!call.arguments.contains(a.keras2)) continue;
    Config value = call.arguments[a.keras2];
    if (a.keras3.empty()) {
      // A dtype is as Keras 3 makes it.
      if (!value.is_text() && value != a.in_keras3)
        refuse(format("{} = {}", a.keras2, value.to_json().substr(0, 60)));
      continue;
    }
    const bool tensor = a.with_call && !a.by_name;
    if (!tensor && has_place(value)) refuse("a computed " + a.keras2);
    if (a.to_keras3) value = a.to_keras3(value, call.arguments, refuse);
    if (tensor)
      args.push_back(tensor_or_value(value));
    else
      (a.with_call ? kwargs : op).set(a.keras3, value);
  }
  const std::string& class_name = form->classes.front();
  return Config::dict(
      {{"module", format("keras.src.ops.{}", form->module3)},
       {"class_name", class_name},
       {"config", op},
       {"registered_name", class_name},
       {"name", name},
       {"inbound_nodes", Config::list({Config::dict({{"args", args}, {"kwargs", kwargs}})})}});
}

}  // namespace rill::keras
