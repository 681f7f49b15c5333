#include "rill/base/check.h"
#include "rill/keras/saving/call_config_impl.h"
#include "rill/keras/saving/keras3_ops_impl.h"

namespace rill::keras {

namespace {

enum class Form {
  binary,
  unary,
  reduction,
  softmax,
  matmul,
  reshape,
  transpose,
  cast,
  concat,
  slice
};
struct Known {
  const char *class_name, *function;
  Form form;
  const char* module = "numpy";
};
constexpr Known kKnown[] = {
    {"Add", "__operators__.add", Form::binary},
    {"Subtract", "math.subtract", Form::binary},
    {"Multiply", "math.multiply", Form::binary},
    {"TrueDivide", "math.truediv", Form::binary},
    {"Divide", "math.truediv", Form::binary},
    {"Maximum", "math.maximum", Form::binary},
    {"Minimum", "math.minimum", Form::binary},
    {"Power", "math.pow", Form::binary},
    {"Equal", "math.equal", Form::binary},
    {"NotEqual", "math.not_equal", Form::binary},
    {"Greater", "math.greater", Form::binary},
    {"GreaterEqual", "math.greater_equal", Form::binary},
    {"Less", "math.less", Form::binary},
    {"LessEqual", "math.less_equal", Form::binary},
    {"LogicalAnd", "math.logical_and", Form::binary},
    {"LogicalOr", "math.logical_or", Form::binary},
    {"Relu", "nn.relu", Form::unary, "nn"},
    {"Sigmoid", "math.sigmoid", Form::unary, "nn"},
    {"Tanh", "math.tanh", Form::unary},
    {"Exp", "math.exp", Form::unary},
    {"Log", "math.log", Form::unary},
    {"Square", "math.square", Form::unary},
    {"Sqrt", "math.sqrt", Form::unary},
    {"Absolute", "math.abs", Form::unary},
    {"Abs", "math.abs", Form::unary},
    {"Negative", "math.negative", Form::unary},
    {"Sum", "math.reduce_sum", Form::reduction},
    {"Mean", "math.reduce_mean", Form::reduction},
    {"Max", "math.reduce_max", Form::reduction},
    {"Min", "math.reduce_min", Form::reduction},
    {"Any", "math.reduce_any", Form::reduction},
    {"All", "math.reduce_all", Form::reduction},
    {"Softmax", "nn.softmax", Form::softmax, "nn"},
    {"Matmul", "linalg.matmul", Form::matmul},
    {"Reshape", "reshape", Form::reshape},
    {"Transpose", "compat.v1.transpose", Form::transpose},
    {"Cast", "cast", Form::cast, "core"},
    {"Concatenate", "concat", Form::concat},
    {"GetItem", "__operators__.getitem", Form::slice},
};
const Known* find(std::string_view class_name) {
  for (const Known& k : kKnown)
    if (class_name == k.class_name) return &k;
  return nullptr;
}

const Known* find_function(const std::string& function) {
  if (function == "math.add") return find("Add");
  if (function == "math.divide") return find("TrueDivide");
  for (const Known& k : kKnown)
    if (function == k.function) return &k;
  return nullptr;
}

// Tuples and slices are records with a class of their own.
Config plain(const Config& c) {
  if (c.is_dict() && c.get("class_name") == Config("__slice__")) return c["config"];
  if (c.is_dict() && c.get("class_name") == Config("__tuple__")) return c["items"];
  return c;
}
Config plain_slices(const Config& given) {
  const Config c = plain(given);
  if (!c.is_list()) return c;
  Config list = Config::list();
  for (const Config& item : c.items()) list.push_back(plain(item));
  return list;
}

}  // namespace

bool is_keras3_op(const Config& record) {
  const Config& module = record.get("module");
  if (module.is_text()) return module.as_string().starts_with("keras.src.ops");
  // HDF5 files do not tell the module. A layer has a dtype, and an input a shape.
  const Config& config = record.get("config");
  return find(record["class_name"].as_string()) && config.is_dict() && !config.contains("dtype") &&
         !config.contains("trainable") && record.get("inbound_nodes").is_list();
}

Keras3Call keras3_call(const std::string& class_name, const Config& op, const Config& call) {
  const Known* known = find(class_name);
  RILL_CHECK(known, unimplemented,
             "[from_config] the model calls Keras 3's op {}, which Rill does not read from files",
             class_name);
  RILL_CHECK(call.is_dict() && call.get("args").is_list(), invalid_argument,
             "[from_config] got the call {}; expected that of a Keras 3 op",
             call.to_json().substr(0, 100));
  const Config &args = call["args"], &kwargs = call.get("kwargs");
  // By its place, by its name, or from the configuration of the op.
  const auto argument = [&](std::size_t place, const char* name) -> Config {
    if (place < args.size()) return args[place];
    return kwargs.is_dict() && kwargs.contains(name) ? kwargs[name] : op.get(name);
  };
  Keras3Call c{known->function, {}, Config::dict()};
  switch (known->form) {
    case Form::binary:
      c.first = argument(0, "x1");
      c.arguments.set("y", argument(1, "x2"));
      break;
    case Form::unary:
      c.first = argument(0, "x");
      break;
    case Form::reduction:
      c.first = argument(0, "x");
      c.arguments.set("axis", plain(op.get("axis")));
      c.arguments.set("keepdims", op.get("keepdims", false));
      break;
    case Form::softmax:
      c.first = argument(0, "x");
      c.arguments.set("axis", op.get("axis", -1));
      break;
    case Form::matmul:
      c.first = argument(0, "x1");
      c.arguments.set("b", argument(1, "x2"));
      break;
    case Form::reshape:
      c.first = argument(0, "x");
      c.arguments.set("shape", plain(op.get("newshape")));
      break;
    case Form::transpose:
      c.first = argument(0, "x");
      c.arguments.set("perm", plain(op.get("axes")));
      break;
    case Form::cast:
      c.first = argument(0, "x");
      c.arguments.set("dtype", op.get("dtype"));
      break;
    case Form::concat:
      c.first = plain(argument(0, "xs"));
      c.arguments.set("axis", op.get("axis", 0));
      break;
    case Form::slice:
      c.first = argument(0, "x");
      c.arguments.set("slice_spec", plain_slices(argument(1, "key")));
      break;
  }
  return c;
}

Config keras3_tensor(const Config& place) {
  // Keras finds the tensor by its history; it does not look at the shape.
  return Config::dict({{"class_name", "__keras_tensor__"},
                       {"config", Config::dict({{"shape", Config::list()},
                                                {"dtype", "float32"},
                                                {"keras_history", place}})}});
}

namespace {

// A tensor by its place, a constant by its value.
Config argument_of(const Config& c) {
  const bool place = c.is_list() && c.size() == 3 && c[0].is_text();
  if (!place) return c;
  return c[0] == Config(kConstantValue) ? c[2] : keras3_tensor(c);
}
Config with_slice_records(const Config& slices) {
  Config list = Config::list();
  for (const Config& s : slices.items())
    list.push_back(s.is_dict() ? Config::dict({{"class_name", "__slice__"}, {"config", s}}) : s);
  return list;
}

}  // namespace

Config keras3_op_record(const Config& record) {
  const std::string name = record["config"].get("name", ""),
                    function = record["config"].get("function", "?");
  const auto refuse = [&](const std::string& what) {
    RILL_FAIL(unimplemented,
              "[save] the model calls tf.{} (\"{}\") as a plain op{}, which is not written for "
              "Keras 3; put it into a layer, or save with keras_version = 2",
              function, name, what);
  };
  const Known* known = find_function(function);
  if (!known) refuse("");
  const Config& call = record["inbound_nodes"][0];
  const bool many = call[0].is_list();  // concat's list of tensors
  const Config& start = many ? call[0] : call;
  const Config& given = start[3];
  Config args = Config::list(), op = Config::dict({{"name", name}});
  if (many) {
    Config list = Config::list();
    for (const Config& item : call.items())
      list.push_back(argument_of(Config::list({item[0], item[1], item[2]})));
    args.push_back(list);
  } else {
    args.push_back(argument_of(Config::list({start[0], start[1], start[2]})));
  }
  const auto constant = [&](const char* key) {
    if (const Config& c = given.get(key); c.is_list() && c.size() > 0 && c[0].is_text())
      refuse(format(" with a computed {}", key));
    return given.get(key);
  };
  switch (known->form) {
    case Form::binary:
      args.push_back(argument_of(given["y"]));
      break;
    case Form::unary:
      break;
    case Form::reduction:
      op.set("axis", constant("axis"));
      op.set("keepdims", given.get("keepdims", false));
      break;
    case Form::softmax:
      op.set("axis", -1);
      break;
    case Form::matmul:
      if (given.get("transpose_a", false) || given.get("transpose_b", false))
        refuse(" that transposes");
      args.push_back(argument_of(given["b"]));
      break;
    case Form::reshape:
      op.set("newshape", constant("shape"));
      break;
    case Form::transpose:
      op.set("axes", constant("perm"));
      break;
    case Form::cast:
      op.set("dtype", given["dtype"]);
      break;
    case Form::concat:
      op.set("axis", constant("axis"));
      break;
    case Form::slice:
      args.push_back(with_slice_records(given["slice_spec"]));
      break;
  }
  return Config::dict(
      {{"module", format("keras.src.ops.{}", known->module)},
       {"class_name", known->class_name},
       {"config", op},
       {"registered_name", known->class_name},
       {"name", name},
       {"inbound_nodes",
        Config::list({Config::dict({{"args", args}, {"kwargs", Config::dict()}})})}});
}

}  // namespace rill::keras
