#include "rill/keras/saving/call_config_impl.h"

#include "rill/base/check.h"
#include "rill/core/shape_inference.h"
#include "rill/keras/layers/op_layer_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

namespace {

// ---- which functions there are
// Functions of two tensors, x and y, and of one.
struct Binary {
  const char* function;
  Tensor (*draw)(const Tensor&, const Tensor&);
};
constexpr Binary kBinary[] = {
    {"__operators__.add", [](const Tensor& x, const Tensor& y) { return x + y; }},
    {"math.add", [](const Tensor& x, const Tensor& y) { return x + y; }},
    {"math.subtract", [](const Tensor& x, const Tensor& y) { return x - y; }},
    {"math.multiply", [](const Tensor& x, const Tensor& y) { return x * y; }},
    {"math.truediv", [](const Tensor& x, const Tensor& y) { return x / y; }},
    {"math.divide", [](const Tensor& x, const Tensor& y) { return x / y; }},
    {"math.maximum", [](const Tensor& x, const Tensor& y) { return maximum(x, y); }},
    {"math.minimum", [](const Tensor& x, const Tensor& y) { return minimum(x, y); }},
    {"math.pow", [](const Tensor& x, const Tensor& y) { return pow(x, y); }},
    {"math.equal", [](const Tensor& x, const Tensor& y) { return equal(x, y); }},
    {"math.not_equal", [](const Tensor& x, const Tensor& y) { return not_equal(x, y); }},
    {"math.greater", [](const Tensor& x, const Tensor& y) { return greater(x, y); }},
    {"math.greater_equal", [](const Tensor& x, const Tensor& y) { return greater_equal(x, y); }},
    {"math.less", [](const Tensor& x, const Tensor& y) { return less(x, y); }},
    {"math.less_equal", [](const Tensor& x, const Tensor& y) { return less_equal(x, y); }},
    {"math.logical_and", [](const Tensor& x, const Tensor& y) { return logical_and(x, y); }},
    {"math.logical_or", [](const Tensor& x, const Tensor& y) { return logical_or(x, y); }},
    {"math.floormod", [](const Tensor& x, const Tensor& y) { return floormod(x, y); }},
    {"compat.v1.floor_div", [](const Tensor& x, const Tensor& y) { return floordiv(x, y); }},
    {"math.floordiv", [](const Tensor& x, const Tensor& y) { return floordiv(x, y); }},
    {"math.squared_difference",
     [](const Tensor& x, const Tensor& y) { return squared_difference(x, y); }},
};
struct Unary {
  const char* function;
  Tensor (*draw)(const Tensor&);
};
constexpr Unary kUnary[] = {
    {"nn.relu", [](const Tensor& x) { return nn::relu(x); }},
    {"math.sigmoid", [](const Tensor& x) { return sigmoid(x); }},
    {"math.tanh", [](const Tensor& x) { return tanh(x); }},
    {"math.exp", [](const Tensor& x) { return exp(x); }},
    {"math.log", [](const Tensor& x) { return log(x); }},
    {"math.square", [](const Tensor& x) { return square(x); }},
    {"math.sqrt", [](const Tensor& x) { return sqrt(x); }},
    {"math.abs", [](const Tensor& x) { return abs(x); }},
    {"math.negative", [](const Tensor& x) { return negative(x); }},
    {"math.logical_not", [](const Tensor& x) { return logical_not(x); }},
    {"math.floor", [](const Tensor& x) { return floor(x); }},
    {"math.ceil", [](const Tensor& x) { return ceil(x); }},
    {"math.round", [](const Tensor& x) { return round(x); }},
    {"math.sign", [](const Tensor& x) { return sign(x); }},
    {"math.rsqrt", [](const Tensor& x) { return rsqrt(x); }},
    {"math.reciprocal", [](const Tensor& x) { return reciprocal(x); }},
    {"math.sin", [](const Tensor& x) { return sin(x); }},
    {"math.cos", [](const Tensor& x) { return cos(x); }},
    {"math.erf", [](const Tensor& x) { return erf(x); }},
    {"math.log1p", [](const Tensor& x) { return log1p(x); }},
    {"math.softplus", [](const Tensor& x) { return nn::softplus(x); }},
    {"math.is_nan", [](const Tensor& x) { return is_nan(x); }},
    {"nn.elu", [](const Tensor& x) { return nn::elu(x); }},
    {"nn.relu6", [](const Tensor& x) { return nn::relu6(x); }},
    {"identity", [](const Tensor& x) { return identity(x); }},
    {"stop_gradient", [](const Tensor& x) { return stop_gradient(x); }},
};
using Reduce = Tensor (*)(const Operand&, const std::vector<int>&, ReduceOptions);
struct ReductionOp {
  const char* function;
  Reduce over;
  Tensor (*all)(const Operand&, ReduceOptions);
};
constexpr ReductionOp kReductions[] = {
    {"math.reduce_sum", reduce_sum_over, reduce_sum},
    {"math.reduce_mean", reduce_mean_over, reduce_mean},
    {"math.reduce_max", reduce_max_over, reduce_max},
    {"math.reduce_min", reduce_min_over, reduce_min},
    {"math.reduce_prod", reduce_prod_over, reduce_prod},
    {"math.reduce_any", reduce_any_over, reduce_any},
    {"math.reduce_all", reduce_all_over, reduce_all},
};

template <class T, std::size_t N>
const T* find(const T (&table)[N], std::string_view function) {
  for (const T& row : table)
    if (function == row.function) return &row;
  return nullptr;
}

// ---- writing
Config constant_config(const Tensor& given) {
  const Tensor t = given.cpu();
  const bool whole = t.dtype().is_integer();
  RILL_CHECK(whole || t.dtype().is_floating() || t.dtype().is_bool(), unimplemented,
             "[get_config] an op of the model has a {} constant, which a configuration does not "
             "hold; put the op into a Layer of your own",
             t.dtype());
  if (t.ndim() == 0) {
    if (t.dtype().is_bool()) return t.item<bool>();
    return whole ? Config(t.item<std::int64_t>()) : Config(t.item<double>());
  }
  RILL_CHECK(t.size() <= 100000, unimplemented,
             "[get_config] an op of the model has a constant of shape {}, which is too large for a "
             "configuration; make it a weight of a Layer of your own",
             t.shape());
  Config list = Config::list();
  for (std::int64_t i = 0; i < t.shape().dim(0); ++i)
    list.push_back(constant_config(t[static_cast<int>(i)]));
  return list;
}

// What a call of an op tells of it.
class OpCall {
 public:
  OpCall(const KerasNode& node, const TensorPlace& place)
      : node_(node),
        op_(static_cast<const OpLayer&>(*node.layer)),
        inputs_(node.inputs.flatten()),
        place_(place) {}

  Config config() const {
    const std::string function = function_name(op_.op());
    const Config none = Config::dict({{"name", Config()}});
    if (find(kBinary, function))
      return starting_with(0, Config::dict({{"y", value(1)}, {"name", Config()}}));
    if (find(kUnary, function)) return starting_with(0, none);
    if (find(kReductions, function))
      return starting_with(
          0, Config::dict({{"axis", constant_value(1, "axis")}, {"keepdims", flag("keep_dims")}}));
    if (function == "nn.softmax" || function == "nn.log_softmax")
      return starting_with(0, Config::dict());
    if (function == "linalg.matmul") {
      const bool batch = op_.op().name == "BatchMatMulV2";
      return starting_with(0,
                           Config::dict({{"b", value(1)},
                                         {"transpose_a", flag(batch ? "adj_x" : "transpose_a")},
                                         {"transpose_b", flag(batch ? "adj_y" : "transpose_b")}}));
    }
    if (function == "reshape" || function == "broadcast_to")
      return starting_with(0, Config::dict({{"shape", value(1)}}));
    if (function == "compat.v1.transpose")
      return starting_with(0, Config::dict({{"perm", constant_value(1, "perm")}}));
    if (function == "cast") return starting_with(0, Config::dict({{"dtype", dtype()}}));
    if (function == "concat") {
      const std::size_t last = inputs_.size() - 1;
      return starting_with_list(last, Config::dict({{"axis", constant_value(last, "axis")}}));
    }
    if (function == "__operators__.getitem")
      return starting_with(0, Config::dict({{"slice_spec", slices()}}));
    return of_array();
  }

 private:
  // Those that build arrays and take them apart.
  Config of_array() const {
    const std::string function = function_name(op_.op());
    const std::string_view op = op_.op().name;
    const Config none = Config::dict();
    if (function == "stack")
      return starting_with_list(inputs_.size(), Config::dict({{"axis", number("axis")}}));
    if (function == "math.add_n") return starting_with_list(inputs_.size(), none);
    if (function == "unstack")
      return starting_with(0, Config::dict({{"num", number("num")}, {"axis", number("axis")}}));
    if (op == "Split")
      return starting_with(1, Config::dict({{"num_or_size_splits", number("num_split")},
                                            {"axis", constant_value(0, "axis")}}));
    if (op == "SplitV")
      return starting_with(0, Config::dict({{"num_or_size_splits", constant_value(1, "sizes")},
                                            {"axis", constant_value(2, "axis")}}));
    if (function == "where")
      return starting_with(0, Config::dict({{"x", value(1)}, {"y", value(2)}}));
    if (function == "expand_dims" || function == "math.cumsum" || function == "reverse") {
      Config given = Config::dict({{"axis", constant_value(1, "axis")}});
      if (function == "math.cumsum")
        for (const char* key : {"exclusive", "reverse"}) given.set(key, flag(key));
      return starting_with(0, given);
    }
    if (function == "compat.v1.squeeze") {
      Config axes = Config::list();
      for (const std::int64_t i : attrs().ints_attr("squeeze_dims")) axes.push_back(i);
      return starting_with(0, Config::dict({{"axis", axes.size() == 0 ? Config() : axes}}));
    }
    if (function == "tile") return starting_with(0, Config::dict({{"multiples", value(1)}}));
    if (function == "fill") return starting_with(0, Config::dict({{"value", value(1)}}));
    if (function == "compat.v1.shape")
      return starting_with(0, Config::dict({{"out_type", dtype()}}));
    if (function == "compat.v1.pad")
      return starting_with(
          0, Config::dict({{"paddings", constant_value(1, "paddings")},
                           {"mode", op == "MirrorPad" ? std::string(attrs().string_attr("mode"))
                                                      : std::string("CONSTANT")},
                           {"constant_values", op == "PadV2" ? value(2) : Config(0)}}));
    if (function == "one_hot")
      return starting_with(0, Config::dict({{"depth", constant_value(1, "depth")},
                                            {"on_value", constant_value(2, "on_value")},
                                            {"off_value", constant_value(3, "off_value")},
                                            {"axis", number("axis")},
                                            {"dtype", dtype()}}));
    if (function == "compat.v1.gather")
      return starting_with(0, Config::dict({{"indices", value(1)},
                                            {"axis", constant_value(2, "axis")},
                                            {"batch_dims", number("batch_dims")}}));
    if (function == "math.argmax" || function == "math.argmin")
      return starting_with(
          0, Config::dict({{"axis", constant_value(1, "axis")}, {"output_type", dtype()}}));
    if (function == "clip_by_value")
      return starting_with(
          0, Config::dict({{"clip_value_min", value(1)}, {"clip_value_max", value(2)}}));
    // Keras 2 loses the tensors of an einsum when it saves one, and does not read this; Keras 3
    // has a form of its own.
    if (function == "einsum")
      return starting_with_list(
          inputs_.size(),
          Config::dict({{"equation", std::string(attrs().string_attr("equation"))}}));
    RILL_FAIL(unimplemented,
              "[get_config] the op {} (layer \"{}\") has no form in Keras's configurations that "
              "Rill knows; put it into a Layer of your own",
              op, op_.name());
  }

  Config value(std::size_t i) const {
    const Tensor& t = inputs_.at(i);
    return keras_symbol(t) ? place_(t) : constant_config(t);
  }
  Config constant_value(std::size_t i, const char* what) const {
    RILL_CHECK(
        !keras_symbol(inputs_.at(i)), unimplemented,
        "[get_config] the {} of layer \"{}\" is computed by the model, which a configuration "
        "does not hold; put the op into a Layer of your own",
        what, op_.name());
    return constant_config(inputs_.at(i));
  }
  // The first argument has no name: the arguments stand behind it.
  Config starting_with(std::size_t i, const Config& arguments) const {
    const Tensor& t = inputs_.at(i);
    Config call =
        keras_symbol(t) ? place_(t) : Config::list({kConstantValue, -1, constant_config(t)});
    call.push_back(arguments);
    return call;
  }
  // A list of the first n tensors, with the arguments behind each.
  Config starting_with_list(std::size_t n, const Config& arguments) const {
    Config call = Config::list();
    for (std::size_t i = 0; i < n; ++i) call.push_back(starting_with(i, arguments));
    return call;
  }
  std::string dtype() const { return node_.specs.at(0).dtype.name(); }
  AttrReader attrs() const { return AttrReader(op_.op(), op_.attrs().list()); }
  bool flag(std::string_view name) const { return attrs().bool_attr(name); }
  std::int64_t number(std::string_view name) const { return attrs().int_attr(name); }
  int axes_of_ellipsis(std::size_t entries) const {
    const auto ellipsis = number("ellipsis_mask"), added = number("new_axis_mask") & ~ellipsis;
    RILL_CHECK(inputs_[0].shape().has_rank(), unimplemented,
               "[get_config] layer \"{}\" takes a slice with an ellipsis of a tensor whose rank is "
               "not known; slice in a Layer of your own",
               op_.name());
    int others = 0;
    for (std::size_t i = 0; i < entries; ++i) others += ((ellipsis | added) >> i & 1) != 0 ? 0 : 1;
    return inputs_[0].ndim() - others;
  }
  // x[:, 1:3, 0] as [{"start": null, ..}, {"start": 1, "stop": 3, ..}, 0]; a new axis as null. For
  // "..." stand the slices that it is, as Keras 2 has no form for it in archives.
  Config slices() const {
    const Config begin = constant_value(1, "start of a slice"),
                 end = constant_value(2, "end of a slice"),
                 step = constant_value(3, "step of a slice");
    Config list = Config::list();
    for (std::size_t i = 0; i < begin.size(); ++i) {
      const auto has = [&](const char* which) { return (number(which) >> i & 1) != 0; };
      if (has("ellipsis_mask")) {
        for (int k = axes_of_ellipsis(begin.size()); k > 0; --k)
          list.push_back(Config::dict({{"start", {}}, {"stop", {}}, {"step", {}}}));
        continue;
      }
      if (has("new_axis_mask") || has("shrink_axis_mask")) {
        list.push_back(has("new_axis_mask") ? Config() : begin[i]);
        continue;
      }
      list.push_back(Config::dict({{"start", has("begin_mask") ? Config() : begin[i]},
                                   {"stop", has("end_mask") ? Config() : end[i]},
                                   {"step", step[i].as_int() == 1 ? Config() : step[i]}}));
    }
    return list;
  }

  const KerasNode& node_;
  const OpLayer& op_;
  std::vector<Tensor> inputs_;
  const TensorPlace& place_;
};

}  // namespace

const CallArguments& call_arguments(std::string_view class_name) {
  static const std::vector<std::string_view> flags{"use_causal_mask", "return_attention_scores"};
  static const CallArguments none, attention{.flags = flags}, cell{.inputs = {"states"}},
      heads{.inputs = {"value", "key", "attention_mask"}, .flags = flags};
  if (class_name == "MultiHeadAttention") return heads;
  if (class_name == "Attention" || class_name == "AdditiveAttention") return attention;
  for (const char* name : {"SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"})
    if (class_name == name) return cell;
  return none;
}

namespace {

// The call of a layer: its inputs, with all other arguments behind each.
class LayerCall {
 public:
  LayerCall(const KerasNode& node, const TensorPlace& place) : n_(node), place_(place) {}

  Config config() {
    const auto& names = call_arguments(n_.layer->class_name()).inputs;
    const bool by_name = !names.empty() && !n_.inputs.is_tensor();
    for (std::size_t i = 1; by_name && i < n_.inputs.size(); ++i) {
      const Config given = value(n_.inputs.part(i));
      if (i > names.size()) {  // states that were given one by one
        Config list = arguments_[names.back()];
        if (i == names.size() + 1) list = Config::list({list});
        list.push_back(given);
        arguments_.set(names.back(), list);
      } else if (i == 1 || given != arguments_.get(names[i - 2])) {  // the key may be the value
        arguments_.set(names[i - 1], given);
      }
    }
    add_options();
    if (by_name) return Config::list({input(n_.inputs[0])});
    return n_.inputs.is_tensor() ? Config::list({input(n_.inputs)}) : input(n_.inputs);
  }

 private:
  void add_options() {
    const CallOptions& o = n_.options;
    if (o.mask.defined()) arguments_.set("mask", symbolic(o.mask, "mask"));
    bool any = false;
    Config masks = Config::list();
    for (const Tensor& m : o.masks) {
      masks.push_back(m.defined() ? symbolic(m, "mask") : Config());
      any = any || m.defined();
    }
    if (any) arguments_.set("mask", masks);
    if (!o.initial_state.empty()) {
      Config states = Config::list();
      for (const Tensor& t : o.initial_state) states.push_back(symbolic(t, "initial_state"));
      arguments_.set("initial_state", states);
    }
    // Those of a drawing are inputs.
    for (const Tensor& t : o.constants) symbolic(t, "constants");
    if (o.training >= 0) arguments_.set("training", o.training > 0);
    for (const std::string& key : o.arguments.keys()) arguments_.set(key, o.arguments[key]);
  }
  Config symbolic(const Tensor& t, const char* what) const {
    RILL_CHECK(keras_symbol(t), unimplemented,
               "[get_config] layer \"{}\" is called with a constant as {}, which a configuration "
               "does not hold; put the call into a Layer of your own",
               n_.layer->name(), what);
    return place_(t);
  }
  // An argument with a name.
  Config value(const Nest& nest) const {
    if (nest.is_tensor())
      return keras_symbol(nest.as_tensor()) ? place_(nest.as_tensor())
                                            : constant_config(nest.as_tensor());
    Config list = Config::list();
    for (std::size_t i = 0; i < nest.size(); ++i) list.push_back(value(nest.part(i)));
    return list;
  }
  Config input(const Nest& nest) const {
    if (nest.is_tensor()) {
      const Tensor& t = nest.as_tensor();
      Config entry =
          keras_symbol(t) ? place_(t) : Config::list({kConstantValue, -1, constant_config(t)});
      entry.push_back(arguments_);
      return entry;
    }
    Config c = nest.is_dict() ? Config::dict() : Config::list();
    if (nest.is_dict())
      for (const std::string& key : nest.keys()) c.set(key, input(nest[key]));
    else
      for (std::size_t i = 0; i < nest.size(); ++i) c.push_back(input(nest.part(i)));
    return c;
  }

  const KerasNode& n_;
  const TensorPlace& place_;
  Config arguments_ = Config::dict();
};

}  // namespace

Config call_config(const KerasNode& n, const TensorPlace& place) {
  if (dynamic_cast<const OpLayer*>(n.layer.get())) return OpCall(n, place).config();
  return LayerCall(n, place).config();
}

// ---- reading
namespace {

std::vector<int> axes_of(const Config& c) {
  std::vector<int> axes;
  for (const std::int64_t i : c.as_ints()) axes.push_back(static_cast<int>(i));
  return axes;
}

Tensor draw_slices(const Tensor& x, const Config& spec) {
  std::vector<std::int64_t> begin, end, step;
  StridedSliceOptions masks;
  const std::size_t n = spec.is_list() ? spec.size() : 1;
  RILL_CHECK(n <= 30, invalid_argument, "[from_config] a slice has {} entries", n);
  for (std::size_t i = 0; i < n; ++i) {
    const Config& s = spec.is_list() ? spec[i] : spec;
    if (s.is_number()) {
      begin.push_back(s.as_int());
      end.push_back(s.as_int() + 1);
      step.push_back(1);
      masks.shrink_axis_mask |= 1 << i;
      continue;
    }
    if (s.is_null() || is_ellipsis(s)) {
      for (auto* list : {&begin, &end}) list->push_back(0);
      step.push_back(1);
      (s.is_null() ? masks.new_axis_mask : masks.ellipsis_mask) |= 1 << i;
      continue;
    }
    RILL_CHECK(s.is_dict() && s.contains("start") && s.contains("stop"), unimplemented,
               "[from_config] a slice is {}; Rill reads numbers and ranges of numbers",
               s.to_json());
    const auto bound = [&](const char* key, int& mask) {
      if (s.get(key).is_null()) mask |= 1 << i;
      return s.get(key, 0);
    };
    begin.push_back(bound("start", masks.begin_mask));
    end.push_back(bound("stop", masks.end_mask));
    step.push_back(s.get("step", 1));
  }
  return strided_slice(x, constant(begin), constant(end), constant(step), masks);
}

}  // namespace

namespace {

DType dtype_or(const Config& given, DType otherwise) {
  return given.is_text() ? DType::from_name(given.as_string()) : otherwise;
}
int axis_of(const Config& arguments, int otherwise = 0) {
  return static_cast<int>(arguments.get("axis", otherwise));
}

std::vector<Tensor> draw_split(const Tensor& x, const Config& arguments) {
  const Config& parts = arguments["num_or_size_splits"];
  if (parts.is_list()) return split(x, axes_of(parts), axis_of(arguments));
  return split(x, static_cast<int>(parts.as_int()), axis_of(arguments));
}
Tensor draw_one_hot(const Tensor& x, const Config& arguments) {
  const Config &on = arguments.get("on_value"), &off = arguments.get("off_value");
  const bool whole = on.kind() == Config::Kind::integer || off.kind() == Config::Kind::integer;
  return one_hot(x, arguments["depth"].as_int(),
                 OneHotOptions{.on_value = on.is_number() ? on.as_double() : 1,
                               .off_value = off.is_number() ? off.as_double() : 0,
                               .axis = axis_of(arguments, -1),
                               .dtype = dtype_or(arguments.get("dtype"), whole ? int32 : float32)});
}
Tensor draw_gather(const Tensor& x, const Config& arguments, const ReadOperand& operand) {
  const int batch_dims = static_cast<int>(arguments.get("batch_dims", 0));
  return gather(x, operand(arguments["indices"], {}),
                {.axis = axis_of(arguments, batch_dims), .batch_dims = batch_dims});
}
Tensor draw_where(const Tensor& condition, const Config& arguments, const ReadOperand& operand) {
  const Config &given_x = arguments.get("x"), &given_y = arguments.get("y");
  RILL_CHECK(
      !given_x.is_null() && !given_y.is_null(), unimplemented,
      "[from_config] the model calls tf.where without x and y, which Rill does not read from "
      "files");
  const Tensor y = operand(given_y, {}), x = operand(given_x, keras_symbol(y) ? y : Tensor());
  return where(condition, x, operand(given_y, x));
}

// Functions of one tensor that build arrays and take them apart; false for any other.
bool draw_array(const std::string& function, const Tensor& x, const Config& arguments,
                const ReadOperand& operand, std::vector<Tensor>& out) {
  const Config& axis = arguments.get("axis");
  if (function == "split")
    out = draw_split(x, arguments);
  else if (function == "unstack")
    out = unstack(x, axis_of(arguments));
  else if (function == "where")
    out = {draw_where(x, arguments, operand)};
  else if (function == "expand_dims")
    out = {expand_dims(x, static_cast<int>(arguments["axis"].as_int()))};
  else if (function == "compat.v1.squeeze" || function == "squeeze")
    out = {squeeze(x, axis.is_null() ? std::vector<int>() : axes_of(axis))};
  else if (function == "tile")
    out = {tile(x, operand(arguments["multiples"], constant(0)))};
  else if (function == "fill")
    out = {fill(x, operand(arguments["value"], {}))};
  else if (function == "compat.v1.shape" || function == "shape")
    out = {shape(x, dtype_or(arguments.get("out_type"), int32))};
  else if (function == "zeros_like")
    out = {zeros_like(x, dtype_or(arguments.get("dtype"), x.dtype()))};
  else if (function == "ones_like")
    out = {ones_like(x, dtype_or(arguments.get("dtype"), x.dtype()))};
  else if (function == "compat.v1.pad" || function == "pad")
    out = {pad(x, operand(arguments["paddings"], constant(0)),
               {.mode = arguments.get("mode", "CONSTANT"),
                .constant_values = arguments.get("constant_values", 0.0)})};
  else if (function == "one_hot")
    out = {draw_one_hot(x, arguments)};
  else if (function == "compat.v1.gather" || function == "gather")
    out = {draw_gather(x, arguments, operand)};
  else if (function == "math.argmax")
    out = {argmax(x, axis_of(arguments), dtype_or(arguments.get("output_type"), int64))};
  else if (function == "math.argmin")
    out = {argmin(x, axis_of(arguments), dtype_or(arguments.get("output_type"), int64))};
  else if (function == "clip_by_value")
    out = {clip_by_value(x, operand(arguments["clip_value_min"], x),
                         operand(arguments["clip_value_max"], x))};
  else if (function == "math.cumsum")
    out = {cumsum(x, axis_of(arguments),
                  {.exclusive = arguments.get("exclusive", false),
                   .reverse = arguments.get("reverse", false)})};
  else if (function == "reverse")
    out = {reverse(x, constant(axes_of(arguments["axis"])))};
  else if (function == "broadcast_to")
    out = {broadcast_to(x, operand(arguments["shape"], constant(0)))};
  else
    return false;
  return true;
}

// Functions of a list of tensors.
Tensor draw_list(const std::string& function, const Config& first, const Config& arguments,
                 const ReadOperand& operand) {
  std::vector<Tensor> parts;
  Tensor like;  // a constant takes the dtype of the tensors beside it
  for (const Config& c : first.items())
    if (const Tensor t = operand(c, {}); keras_symbol(t)) like = t;
  for (const Config& c : first.items()) parts.push_back(operand(c, like));
  if (function == "stack") return stack(parts, axis_of(arguments));
  if (function == "math.add_n") return add_n(parts);
  if (function == "einsum") {
    const Attr attrs[] = {{"equation", arguments["equation"].as_string()}};
    return execute(find_op("Einsum"), as_inputs(parts), attrs);
  }
  return concat(parts, static_cast<int>(arguments["axis"].as_int()));
}

}  // namespace

std::vector<Tensor> draw_function(const std::string& function, const Config& first,
                                  const Config& arguments, const ReadOperand& operand) {
  if (const Binary* b = find(kBinary, function)) {
    // A constant takes the dtype of the tensor beside it.
    const Config& second = arguments["y"];
    Tensor x = operand(first, {}), y = operand(second, keras_symbol(x) ? x : Tensor());
    if (!keras_symbol(x)) x = operand(first, y);
    return {b->draw(x, y)};
  }
  for (const char* of_list : {"concat", "stack", "math.add_n", "einsum"})
    if (function == of_list) return {draw_list(function, first, arguments, operand)};
  const Tensor x = operand(first, {});
  if (const Unary* u = find(kUnary, function)) return {u->draw(x)};
  if (const ReductionOp* r = find(kReductions, function)) {
    const ReduceOptions options{.keepdims = arguments.get("keepdims", false)};
    const Config& axis = arguments.get("axis");
    return {axis.is_null() ? r->all(x, options) : r->over(x, axes_of(axis), options)};
  }
  if (std::vector<Tensor> out; draw_array(function, x, arguments, operand, out)) return out;
  if (function == "nn.softmax" || function == "nn.log_softmax") {
    const int axis = axis_of(arguments, -1);
    const bool last = axis == -1 || axis == x.ndim() - 1;
    if (function == "nn.softmax") return {last ? nn::softmax(x) : nn::softmax(x, axis)};
    return {last ? nn::log_softmax(x) : nn::log_softmax(x, axis)};
  }
  if (function == "math.l2_normalize")
    return {nn::l2_normalize(x, axes_of(arguments["axis"]), arguments.get("epsilon", 1e-12))};
  if (function == "linalg.matmul")
    return {matmul(x, operand(arguments["b"], x),
                   {.transpose_a = arguments.get("transpose_a", false),
                    .transpose_b = arguments.get("transpose_b", false)})};
  if (function == "reshape") return {reshape(x, operand(arguments["shape"], constant(0)))};
  if (function == "compat.v1.transpose" || function == "transpose") {
    const Config& perm = arguments.get("perm");
    return {perm.is_null() ? transpose(x) : transpose(x, axes_of(perm))};
  }
  if (function == "cast") return {cast(x, DType::from_name(arguments["dtype"].as_string()))};
  if (function == "__operators__.getitem") return {draw_slices(x, arguments["slice_spec"])};
  RILL_FAIL(unimplemented,
            "[from_config] the model calls tf.{}, which Rill does not read from files", function);
}

}  // namespace rill::keras
