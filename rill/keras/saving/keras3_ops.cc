#include "rill/base/check.h"
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
    {"Relu", "nn.relu", Form::unary},
    {"Sigmoid", "math.sigmoid", Form::unary},
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
    {"Softmax", "nn.softmax", Form::softmax},
    {"Matmul", "linalg.matmul", Form::matmul},
    {"Reshape", "reshape", Form::reshape},
    {"Transpose", "compat.v1.transpose", Form::transpose},
    {"Cast", "cast", Form::cast},
    {"Concatenate", "concat", Form::concat},
    {"GetItem", "__operators__.getitem", Form::slice},
};
const Known* find(std::string_view class_name) {
  for (const Known& k : kKnown)
    if (class_name == k.class_name) return &k;
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

}  // namespace rill::keras
