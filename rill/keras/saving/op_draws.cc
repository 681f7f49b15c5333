#include "rill/keras/saving/op_draws_impl.h"

#include <map>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/keras/behaviour_impl.h"
#include "rill/keras/engine/symbolic_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

// ---- any op, by its schema
namespace {

class OpReader {
 public:
  OpReader(const WrittenCall& call, const ReadOperand& operand)
      : call_(call), form_(*call.form), operand_(operand), op_(find_op(form_.ops.front())) {}

  std::vector<Tensor> draw() {
    for (const ArgDef& input : op_.inputs) read_input(input);
    settle_constants();
    AttrStorage attrs;
    for (const AttrDef& attr : op_.attrs)
      if (const OpArgument* argument = argument_of(attr.name)) add_attr(attr, *argument, attrs);
    std::vector<Tensor> inputs;
    for (const Given& g : given_) inputs.push_back(g.tensor);
    return execute_all(op_, as_inputs(inputs), attrs.list(), 1);
  }

 private:
  struct Given {
    Config value;
    Tensor tensor;
    int type_attr = -1;  // of a constant that takes its dtype from others
  };

  const OpArgument* argument_of(const std::string& source) const {
    for (const OpArgument& a : form_.arguments)
      for (const std::string& s : a.sources)
        if (s == source) return &a;
    return nullptr;
  }
  [[noreturn]] void refuse_without(const std::string& argument) const {
    RILL_FAIL(unimplemented,
              "[from_config] the model calls tf.{} without {}, which Rill does not read from files",
              form_.function(), argument);
  }

  void read_input(const ArgDef& input) {
    if (input.name == form_.first.front()) {
      if (!form_.list) return read(input, call_.first);
      for (const Config& item : call_.first.items()) read(input, item);
      return;
    }
    const OpArgument* argument = argument_of(input.name);
    RILL_CHECK(argument, internal, "[from_config] the form of {} lacks its {}", op_.name,
               input.name);
    Config value = call_.arguments.get(argument->keras2);
    if (value.is_null() && argument->null_means) {
      given_.push_back({{}, argument->null_means(given_.front().tensor)});
      return;
    }
    if (value.is_null()) value = argument->otherwise;
    if (value.is_null()) refuse_without(argument->keras2);
    if (argument->always_list && value.is_number()) value = Config::list({value});
    read(input, value);
  }
  void read(const ArgDef& input, const Config& value) {
    const AttrValue* fixed =
        input.type_attr < 0
            ? nullptr
            : op_.find_default(op_.attrs[static_cast<std::size_t>(input.type_attr)].name);
    const DType dtype = fixed ? fixed->as_type() : input.dtype;
    Given g{value, operand_(value, dtype.defined() ? zeros({}, dtype) : Tensor())};
    if (!dtype.defined() && input.type_attr >= 0) {
      Tensor& like = like_[input.type_attr];
      const bool symbolic = keras_symbol(g.tensor) != nullptr;
      if (symbolic || !like.defined()) like = g.tensor;
      if (!symbolic) g.type_attr = input.type_attr;
    }
    given_.push_back(std::move(g));
  }
  // A constant takes the dtype of the tensors beside it.
  void settle_constants() {
    for (Given& g : given_)
      if (g.type_attr >= 0 && like_[g.type_attr].dtype() != g.tensor.dtype())
        g.tensor = operand_(g.value, like_[g.type_attr]);
  }
  void add_attr(const AttrDef& attr, const OpArgument& argument, AttrStorage& attrs) const {
    const Config& value = call_.arguments.get(argument.keras2);
    if (value.is_null() && !attr.has_default) refuse_without(argument.keras2);
    if (value.is_null()) return;
    if (attr.type == "bool") attrs.add(attr.name, value.as_bool());
    if (attr.type == "int") attrs.add(attr.name, value.as_int());
    if (attr.type == "string") attrs.add(attr.name, value.as_string());
    if (attr.type == "type") attrs.add(attr.name, DType::from_name(value.as_string()));
    if (attr.type == "list(int)") attrs.add(attr.name, value.as_ints());
  }

  const WrittenCall& call_;
  const OpForm& form_;
  const ReadOperand& operand_;
  const Op& op_;
  std::vector<Given> given_;
  std::map<int, Tensor> like_;  // by the attribute of the dtype
};

}  // namespace

std::vector<Tensor> draw_op(const WrittenCall& call, const ReadOperand& operand) {
  return OpReader(call, operand).draw();
}

// ---- exceptions
namespace {

std::vector<int> axes_of(const Config& c) {
  std::vector<int> axes;
  for (const std::int64_t i : c.as_ints()) axes.push_back(static_cast<int>(i));
  return axes;
}
int axis_of(const Config& arguments, int otherwise) {
  return static_cast<int>(arguments.get("axis", otherwise));
}
DType dtype_or(const Config& given, DType otherwise) {
  return given.is_text() ? DType::from_name(given.as_string()) : otherwise;
}
bool is_ellipsis(const Config& c) {
  return c.is_dict() && c.get("class_name") == Config("__ellipsis__");
}
bool is_last_axis(const Tensor& x, int axis) { return axis == -1 || axis == x.ndim() - 1; }

}  // namespace

// Whole numbers become fractions.
std::vector<Tensor> draw_divide(const WrittenCall& call, const ReadOperand& operand) {
  const Config& second = call.arguments["y"];
  Tensor x = operand(call.first, {});
  const Tensor y = operand(second, keras_symbol(x) ? x : Tensor());
  if (!keras_symbol(x)) x = operand(call.first, y);
  return {x / y};
}
std::vector<Tensor> draw_abs(const WrittenCall& call, const ReadOperand& operand) {
  return {abs(operand(call.first, {}))};
}
std::vector<Tensor> draw_round(const WrittenCall& call, const ReadOperand& operand) {
  return {round(operand(call.first, {}))};
}
std::vector<Tensor> draw_softmax(const WrittenCall& call, const ReadOperand& operand) {
  const Tensor x = operand(call.first, {});
  const int axis = axis_of(call.arguments, -1);
  return {is_last_axis(x, axis) ? nn::softmax(x) : nn::softmax(x, axis)};
}
std::vector<Tensor> draw_log_softmax(const WrittenCall& call, const ReadOperand& operand) {
  const Tensor x = operand(call.first, {});
  const int axis = axis_of(call.arguments, -1);
  return {is_last_axis(x, axis) ? nn::log_softmax(x) : nn::log_softmax(x, axis)};
}
std::vector<Tensor> draw_l2_normalize(const WrittenCall& call, const ReadOperand& operand) {
  return {nn::l2_normalize(operand(call.first, {}), axes_of(call.arguments["axis"]),
                           call.arguments.get("epsilon", 1e-12))};
}
std::vector<Tensor> draw_matmul(const WrittenCall& call, const ReadOperand& operand) {
  const Tensor a = operand(call.first, {});
  return {matmul(a, operand(call.arguments["b"], a),
                 {.transpose_a = call.arguments.get("transpose_a", false),
                  .transpose_b = call.arguments.get("transpose_b", false)})};
}
std::vector<Tensor> draw_clip(const WrittenCall& call, const ReadOperand& operand) {
  const Tensor t = operand(call.first, {});
  return {clip_by_value(t, operand(call.arguments["clip_value_min"], t),
                        operand(call.arguments["clip_value_max"], t))};
}
std::vector<Tensor> draw_gather(const WrittenCall& call, const ReadOperand& operand) {
  const int batch_dims = static_cast<int>(call.arguments.get("batch_dims", 0));
  return {gather(operand(call.first, {}), operand(call.arguments["indices"], {}),
                 {.axis = axis_of(call.arguments, batch_dims), .batch_dims = batch_dims})};
}
std::vector<Tensor> draw_one_hot(const WrittenCall& call, const ReadOperand& operand) {
  const Config &on = call.arguments.get("on_value"), &off = call.arguments.get("off_value");
  const bool whole = on.kind() == Config::Kind::integer || off.kind() == Config::Kind::integer;
  return {one_hot(
      operand(call.first, {}), call.arguments["depth"].as_int(),
      OneHotOptions{.on_value = on.is_number() ? on.as_double() : 1,
                    .off_value = off.is_number() ? off.as_double() : 0,
                    .axis = axis_of(call.arguments, -1),
                    .dtype = dtype_or(call.arguments.get("dtype"), whole ? int32 : float32)})};
}
std::vector<Tensor> draw_pad(const WrittenCall& call, const ReadOperand& operand) {
  return {pad(operand(call.first, {}), operand(call.arguments["paddings"], constant(0)),
              {.mode = call.arguments.get("mode", "CONSTANT"),
               .constant_values = call.arguments.get("constant_values", 0.0)})};
}
std::vector<Tensor> draw_split(const WrittenCall& call, const ReadOperand& operand) {
  const Tensor x = operand(call.first, {});
  const Config& parts = call.arguments["num_or_size_splits"];
  const int axis = axis_of(call.arguments, 0);
  if (parts.is_list()) return split(x, axes_of(parts), axis);
  return split(x, static_cast<int>(parts.as_int()), axis);
}
std::vector<Tensor> draw_unstack(const WrittenCall& call, const ReadOperand& operand) {
  return unstack(operand(call.first, {}), axis_of(call.arguments, 0));
}
// Keras 3 has no op for the shape of a tensor, with which Rill fills one like it: what its files
// hold is drawn so that they can hold it again.
std::vector<Tensor> draw_zeros_like(const WrittenCall& call, const ReadOperand& operand) {
  const Tensor x = operand(call.first, {});
  const DType dtype = dtype_or(call.arguments.get("dtype"), x.dtype());
  if (keras_behaviour() == 2) return {zeros_like(x, dtype)};
  return {cast(logical_and(equal(x, x), false), dtype)};
}
std::vector<Tensor> draw_ones_like(const WrittenCall& call, const ReadOperand& operand) {
  const Tensor x = operand(call.first, {});
  const DType dtype = dtype_or(call.arguments.get("dtype"), x.dtype());
  if (keras_behaviour() == 2) return {ones_like(x, dtype)};
  return {cast(logical_or(equal(x, x), true), dtype)};
}

std::vector<Tensor> draw_slices(const WrittenCall& call, const ReadOperand& operand) {
  const Config& spec = call.arguments["slice_spec"];
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
  return {strided_slice(operand(call.first, {}), constant(begin), constant(end), constant(step),
                        masks)};
}

// ---- nulls
Tensor every_axis(const Tensor& x) {
  if (!x.shape().has_rank()) return range(rank(x));
  std::vector<int> axes;
  for (int i = 0; i < x.ndim(); ++i) axes.push_back(i);
  return constant(axes);
}
Tensor axes_backwards(const Tensor& x) {
  RILL_CHECK(x.shape().has_rank(), invalid_argument,
             "[from_config] a tensor of unknown rank is transposed without a perm");
  std::vector<int> axes;
  for (int i = x.ndim(); i-- > 0;) axes.push_back(i);
  return constant(axes);
}

}  // namespace rill::keras
