#include "rill/base/check.h"
#include "rill/keras/saving/call_config_impl.h"
#include "rill/keras/saving/keras3_ops_impl.h"

namespace rill::keras {

namespace {

enum class Form { unary, binary, list, matmul, slice, where, take, pad, split, one_hot, einsum };
// What stands in the configuration of an op, and how TensorFlow's function calls it.
struct Key {
  const char *op = nullptr, *function = nullptr;
};
struct Known {
  const char *class_name, *function;
  Form form;
  const char* module = "numpy";
  Key keys[2] = {};
};
constexpr Key kAxis{"axis", "axis"}, kKeepdims{"keepdims", "keepdims"};
constexpr Known kKnown[] = {
    {"Add", "__operators__.add", Form::binary},
    {"Subtract", "math.subtract", Form::binary},
    {"Multiply", "math.multiply", Form::binary},
    {"TrueDivide", "math.truediv", Form::binary},
    {"Divide", "math.truediv", Form::binary},
    {"Mod", "math.floormod", Form::binary},
    {"FloorDivide", "compat.v1.floor_div", Form::binary},
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
    {"LogicalNot", "math.logical_not", Form::unary},
    {"Relu", "nn.relu", Form::unary, "nn"},
    {"Relu6", "nn.relu6", Form::unary, "nn"},
    {"Elu", "nn.elu", Form::unary, "nn"},
    {"Sigmoid", "math.sigmoid", Form::unary, "nn"},
    {"Softplus", "math.softplus", Form::unary, "nn"},
    {"Tanh", "math.tanh", Form::unary},
    {"Exp", "math.exp", Form::unary},
    {"Log", "math.log", Form::unary},
    {"Log1p", "math.log1p", Form::unary},
    {"Square", "math.square", Form::unary},
    {"Sqrt", "math.sqrt", Form::unary},
    {"Rsqrt", "math.rsqrt", Form::unary, "math"},
    {"Reciprocal", "math.reciprocal", Form::unary},
    {"Absolute", "math.abs", Form::unary},
    {"Abs", "math.abs", Form::unary},
    {"Negative", "math.negative", Form::unary},
    {"Sign", "math.sign", Form::unary},
    {"Floor", "math.floor", Form::unary},
    {"Ceil", "math.ceil", Form::unary},
    {"Round", "math.round", Form::unary},
    {"Sin", "math.sin", Form::unary},
    {"Cos", "math.cos", Form::unary},
    {"Erf", "math.erf", Form::unary, "math"},
    {"Isnan", "math.is_nan", Form::unary},
    {"Sum", "math.reduce_sum", Form::unary, "numpy", {kAxis, kKeepdims}},
    {"Mean", "math.reduce_mean", Form::unary, "numpy", {kAxis, kKeepdims}},
    {"Max", "math.reduce_max", Form::unary, "numpy", {kAxis, kKeepdims}},
    {"Min", "math.reduce_min", Form::unary, "numpy", {kAxis, kKeepdims}},
    {"Prod", "math.reduce_prod", Form::unary, "numpy", {kAxis, kKeepdims}},
    {"Any", "math.reduce_any", Form::unary, "numpy", {kAxis, kKeepdims}},
    {"All", "math.reduce_all", Form::unary, "numpy", {kAxis, kKeepdims}},
    {"Argmax", "math.argmax", Form::unary, "numpy", {kAxis}},
    {"Argmin", "math.argmin", Form::unary, "numpy", {kAxis}},
    {"Cumsum", "math.cumsum", Form::unary, "numpy", {kAxis}},
    {"Softmax", "nn.softmax", Form::unary, "nn", {kAxis}},
    {"LogSoftmax", "nn.log_softmax", Form::unary, "nn", {kAxis}},
    {"ExpandDims", "expand_dims", Form::unary, "numpy", {kAxis}},
    {"Squeeze", "compat.v1.squeeze", Form::unary, "numpy", {kAxis}},
    {"Flip", "reverse", Form::unary, "numpy", {kAxis}},
    {"Unstack", "unstack", Form::unary, "core", {kAxis, {"num", "num"}}},
    {"ZerosLike", "zeros_like", Form::unary, "numpy", {{"dtype", "dtype"}}},
    {"OnesLike", "ones_like", Form::unary, "numpy", {{"dtype", "dtype"}}},
    {"Tile", "tile", Form::unary, "numpy", {{"repeats", "multiples"}}},
    {"Clip",
     "clip_by_value",
     Form::unary,
     "numpy",
     {{"x_min", "clip_value_min"}, {"x_max", "clip_value_max"}}},
    {"Reshape", "reshape", Form::unary, "numpy", {{"newshape", "shape"}}},
    {"BroadcastTo", "broadcast_to", Form::unary, "numpy", {{"shape", "shape"}}},
    {"Transpose", "compat.v1.transpose", Form::unary, "numpy", {{"axes", "perm"}}},
    {"Cast", "cast", Form::unary, "core", {{"dtype", "dtype"}}},
    {"Concatenate", "concat", Form::list, "numpy", {kAxis}},
    {"Stack", "stack", Form::list, "numpy", {kAxis}},
    {"Matmul", "linalg.matmul", Form::matmul},
    {"GetItem", "__operators__.getitem", Form::slice},
    {"Where", "where", Form::where},
    {"Take", "compat.v1.gather", Form::take},
    {"Pad", "compat.v1.pad", Form::pad},
    {"Split", "split", Form::split},
    {"OneHot", "one_hot", Form::one_hot, "nn"},
    {"Einsum", "einsum", Form::einsum},
};
const Known* find(std::string_view class_name) {
  for (const Known& k : kKnown)
    if (class_name == k.class_name) return &k;
  return nullptr;
}

const Known* find_function(const std::string& function) {
  if (function == "math.add") return find("Add");
  if (function == "math.divide") return find("TrueDivide");
  if (function == "math.floordiv") return find("FloorDivide");
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

// Where to cut, as numpy tells it, as the sizes of the parts; and back.
Config sizes_of(const Config& cuts) {
  if (!cuts.is_list()) return cuts;
  Config sizes = Config::list();
  std::int64_t before = 0;
  for (const std::int64_t cut : cuts.as_ints()) {
    sizes.push_back(cut - before);
    before = cut;
  }
  sizes.push_back(-1);  // the rest
  return sizes;
}
Config cuts_of(const Config& sizes) {
  if (!sizes.is_list()) return sizes;
  Config cuts = Config::list();
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) cuts.push_back(end += sizes[i].as_int());
  return cuts;
}

}  // namespace

bool is_keras3_op(const Config& record) {
  const Config& module = record.get("module");
  if (module.is_text()) return module.as_string().starts_with("keras.src.ops");
  // HDF5 files do not tell the module. A layer trains or does not.
  const Config& config = record.get("config");
  return find(record["class_name"].as_string()) && config.is_dict() &&
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
  Keras3Call c{known->function, argument(0, "x"), Config::dict()};
  for (const Key& key : known->keys)
    if (key.op && op.contains(key.op)) c.arguments.set(key.function, plain(op[key.op]));
  const auto refuse = [&](const char* what) {
    RILL_FAIL(
        unimplemented,
        "[from_config] the model calls Keras 3's op {} with {}, which Rill does not read from "
        "files",
        class_name, what);
  };
  switch (known->form) {
    case Form::unary:
      if (class_name.starts_with("Arg")) {
        if (op.get("axis").is_null() || op.get("keepdims", false)) refuse("this axis or keepdims");
        c.arguments.set("output_type", "int32");
      }
      if (class_name == "Elu" && op.get("alpha", 1.0) != 1) refuse("an alpha");
      if (class_name == "Round" && op.get("decimals", 0) != 0) refuse("decimals");
      if (class_name == "Flip" && op.get("axis").is_null()) refuse("no axis");
      if (class_name == "Cumsum" && op.get("axis").is_null()) refuse("no axis");
      break;
    case Form::binary:
      c.first = argument(0, "x1");
      c.arguments.set("y", argument(1, "x2"));
      break;
    case Form::list:
      c.first = plain(argument(0, class_name == "Stack" ? "x" : "xs"));
      if (!c.arguments.contains("axis")) c.arguments.set("axis", 0);
      break;
    case Form::matmul:
      c.first = argument(0, "x1");
      c.arguments.set("b", argument(1, "x2"));
      break;
    case Form::slice:
      c.arguments.set("slice_spec", plain_slices(argument(1, "key")));
      break;
    case Form::where:
      c.first = argument(0, "condition");
      c.arguments.set("x", argument(1, "x1"));
      c.arguments.set("y", argument(2, "x2"));
      break;
    case Form::take:
      if (op.get("axis").is_null()) refuse("no axis");
      c.arguments.set("indices", argument(1, "indices"));
      c.arguments.set("axis", op["axis"]);
      break;
    case Form::pad: {
      const Config given = plain(op.get("pad_width"));
      Config widths = Config::list();
      for (const Config& w : given.items()) {
        if (!plain(w).is_list()) refuse("one width for all axes");
        widths.push_back(plain(w));
      }
      c.arguments.set("paddings", widths);
      c.arguments.set("mode", op.get("mode", "constant"));
      c.arguments.set("constant_values", argument(1, "constant_values"));
      break;
    }
    case Form::split:
      c.arguments.set("num_or_size_splits", sizes_of(plain(op["indices_or_sections"])));
      c.arguments.set("axis", op.get("axis", 0));
      break;
    case Form::one_hot:
      if (op.get("sparse", false)) refuse("a sparse result");
      c.arguments.set("depth", op["num_classes"]);
      c.arguments.set("axis", op.get("axis", -1));
      c.arguments.set("dtype", op.get("dtype"));
      break;
    case Form::einsum:
      c.first = args;
      c.arguments.set("equation", op["subscripts"]);
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
// Where Keras 3 asks for the shape of an argument, a constant is an array.
Config array_of(const Config& c) {
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
  const bool many = call[0].is_list();  // a list of tensors
  const Config& start = many ? call[0] : call;
  const Config& given = start[3];
  Config args = Config::list(), kwargs = Config::dict(), op = Config::dict({{"name", name}});
  Config list = Config::list();
  const bool arrays = many || known->form == Form::take;
  for (const Config& item : many ? call.items() : std::vector<Config>{call}) {
    const Config place = Config::list({item[0], item[1], item[2]});
    list.push_back(arrays ? array_of(place) : argument_of(place));
  }
  args = known->form == Form::list ? Config::list({list}) : list;
  const auto constant = [&](const char* key) {
    if (has_place(given.get(key))) refuse(format(" with a computed {}", key));
    return given.get(key);
  };
  for (const Key& key : known->keys)
    if (key.op && given.contains(key.function)) op.set(key.op, constant(key.function));
  switch (known->form) {
    case Form::unary:
      for (const char* key : {"exclusive", "reverse"})
        if (function == "math.cumsum" && given.get(key, false)) refuse(format(" with {}", key));
      break;
    case Form::list:
      break;
    case Form::binary:
      args.push_back(argument_of(given["y"]));
      break;
    case Form::matmul:
      if (given.get("transpose_a", false) || given.get("transpose_b", false))
        refuse(" that transposes");
      args.push_back(argument_of(given["b"]));
      break;
    case Form::slice:
      args.push_back(with_slice_records(given["slice_spec"]));
      break;
    case Form::where:
      args.push_back(argument_of(given["x"]));
      args.push_back(argument_of(given["y"]));
      break;
    case Form::take:
      if (given.get("batch_dims", 0) != 0) refuse(" with batch_dims");
      args.push_back(argument_of(given["indices"]));
      op.set("axis", constant("axis"));
      break;
    case Form::pad: {
      std::string mode = given["mode"].as_string();
      for (char& c : mode) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      op.set("pad_width", constant("paddings"));
      op.set("mode", mode);
      kwargs.set("constant_values", mode == "constant" ? constant("constant_values") : Config());
      break;
    }
    case Form::split: {
      const Config sizes = constant("num_or_size_splits");
      if (sizes.is_list())
        for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
          if (sizes[i].as_int() < 0) refuse(" with a size that is not known");
      op.set("indices_or_sections", cuts_of(sizes));
      op.set("axis", constant("axis"));
      break;
    }
    case Form::one_hot:
      if (constant("on_value").as_double() != 1 || constant("off_value").as_double() != 0)
        refuse(" with other values than 1 and 0");
      op.set("num_classes", constant("depth"));
      op.set("axis", given["axis"]);
      op.set("dtype", given["dtype"]);
      break;
    case Form::einsum:
      op.set("subscripts", given["equation"]);
      break;
  }
  return Config::dict(
      {{"module", format("keras.src.ops.{}", known->module)},
       {"class_name", known->class_name},
       {"config", op},
       {"registered_name", known->class_name},
       {"name", name},
       {"inbound_nodes", Config::list({Config::dict({{"args", args}, {"kwargs", kwargs}})})}});
}

}  // namespace rill::keras
