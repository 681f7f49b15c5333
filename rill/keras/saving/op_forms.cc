#include "rill/keras/saving/op_forms_impl.h"

#include <algorithm>
#include <map>

#include "rill/base/check.h"
#include "rill/core/attr.h"
#include "rill/keras/saving/op_calls_impl.h"
#include "rill/keras/saving/op_draws_impl.h"

namespace rill::keras {

namespace {

// ---- forms from schemas
// Where TensorFlow's Python names an argument otherwise than its graphs do.
constexpr std::pair<std::string_view, std::string_view> kNamesOfFunctions[] = {
    {"reduction_indices", "axis"}, {"dimension", "axis"},     {"dim", "axis"},
    {"squeeze_dims", "axis"},      {"keep_dims", "keepdims"}, {"DstT", "dtype"},
};
std::string name_in_functions(const std::string& name) {
  for (const auto& [graph, function] : kNamesOfFunctions)
    if (name == graph) return std::string(function);
  return name;
}
// Attributes that are not arguments of a function.
bool is_hidden(const AttrDef& attr) {
  return attr.inferred || attr.name == "Truncate" || attr.name == "incompatible_shape_error";
}
// What the host reads may be computed by the model if it is sizes; axes and so on are constants.
bool may_be_computed(const Op& op, std::size_t input) {
  const std::string& name = op.inputs[input].name;
  return (op.host_inputs >> input & 1u) == 0 || name == "shape" || name == "multiples";
}
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// A row. What the schema of the op says needs no word: the names of the arguments and of the
// function, which are constants, which have a default.
class Row {
 public:
  // `ops` that share the form. `keras2`: "math.subtract"; "math." stands for the module of a
  // function that is called as Rill's is, "" for one that has none. `keras3`: "numpy.Subtract";
  // "numpy" where the class is called as the op is, "" where there is none.
  Row(std::string_view ops, std::string_view keras2, std::string_view keras3) {
    form_.ops = words(ops);
    form_.draw = draw_op;
    form_.functions = {std::string(keras2)};
    if (!form_.ops.empty()) derive(find_op(form_.ops[0]));
    if (keras3.empty()) return;
    const std::size_t dot = std::min(keras3.find('.'), keras3.size());
    form_.module3 = keras3.substr(0, dot);
    form_.classes = {dot < keras3.size() ? std::string(keras3.substr(dot + 1)) : form_.ops[0]};
  }
  operator OpForm() const { return form_; }

  // Other names under which files call it.
  Row& also(std::string_view function) { return form_.functions.emplace_back(function), *this; }
  Row& also_class(std::string_view name) { return form_.classes.emplace_back(name), *this; }
  Row& draw(DrawCall draw) { return form_.draw = draw, *this; }

  Row& first(std::string_view sources) { return form_.first = words(sources), *this; }
  Row& first_in_keras3(const char* name) { return form_.first3 = name, *this; }
  Row& so_many_arguments() { return form_.as_list = false, *this; }
  Row& arrays() { return form_.arrays = true, *this; }

  // Instead of, or behind, the arguments of the schema.
  Row& takes(std::vector<OpArgument> all) { return form_.arguments = std::move(all), *this; }
  Row& and_takes(OpArgument a) { return form_.arguments.push_back(std::move(a)), *this; }
  // Keras 3 alone has it, and only this value is understood.
  Row& only_in_keras3(const char* name, Config value) {
    return and_takes({.keras2 = "", .keras3 = name, .otherwise = std::move(value)});
  }

  // Of an argument by its name in Keras 2.
  Row& rename(const char* from, const char* to) {
    OpArgument& a = at(from);
    if (a.keras3 == a.keras2) a.keras3 = to;
    return a.keras2 = to, *this;
  }
  Row& source(const char* name, const char* other) {
    return at(name).sources.push_back(other), *this;
  }
  Row& list(const char* name) { return at(name).always_list = true, *this; }
  Row& otherwise(const char* name, Config value) {
    return at(name).otherwise = std::move(value), *this;
  }
  Row& null(const char* name, Tensor (*means)(const Tensor&)) {
    return at(name).null_means = means, *this;
  }
  // In Keras 3: an argument of the constructor, an argument of the call, none at all.
  Row& made_with(const char* name, const char* keras3) {
    at(name).with_call = false;
    return at(name).keras3 = keras3, *this;
  }
  Row& called_with(const char* name, const char* keras3) {
    at(name).with_call = true;
    return at(name).keras3 = keras3, *this;
  }
  Row& not_in_keras3(const char* name) { return at(name).keras3.clear(), *this; }
  Row& not_in_keras3(const char* name, Config value) {
    at(name).in_keras3 = std::move(value);
    return not_in_keras3(name);
  }
  Row& never_null(const char* name) { return at(name).never_null = true, *this; }

 private:
  void derive(const Op& op) {
    std::string& function = form_.functions.front();
    if (function.empty() || function.ends_with('.')) function += op.tag;
    form_.first = {op.inputs[0].name};
    form_.list = form_.arrays = op.inputs[0].is_list();
    for (std::size_t i = 1; i < op.inputs.size(); ++i) {
      const std::string name = name_in_functions(op.inputs[i].name);
      const bool host = (op.host_inputs >> i & 1u) != 0;
      form_.arguments.push_back({.keras2 = name,
                                 .keras3 = name,
                                 .sources = {op.inputs[i].name},
                                 .computed = may_be_computed(op, i),
                                 .with_call = !host});
    }
    if (form_.arguments.size() == 1 && form_.arguments[0].keras2 == "y") {
      form_.first3 = "x1";
      form_.arguments[0].keras3 = "x2";
    }
    for (const AttrDef& attr : op.attrs) {
      if (is_hidden(attr)) continue;
      const std::string name = name_in_functions(attr.name);
      OpArgument a{.keras2 = name, .keras3 = name, .sources = {attr.name}};
      if (const AttrValue* value = op.find_default(attr.name); value && attr.type != "type")
        a.in_keras3 = attr_config(*value);
      form_.arguments.push_back(std::move(a));
    }
  }
  OpArgument& at(std::string_view keras2) {
    for (OpArgument& a : form_.arguments)
      if (a.keras2 == keras2) return a;
    RILL_FAIL(internal, "the form of tf.{} has no argument {}", form_.function(), keras2);
  }

  OpForm form_;
};

// ---- values that the versions write differently
// Tuples and slices are records with their own class in Keras 3.
Config slices_to_keras3(const Config& slices, const Config&, const Refuse&) {
  Config list = Config::list();
  for (const Config& s : slices.items())
    list.push_back(s.is_dict() ? Config::dict({{"class_name", "__slice__"}, {"config", s}}) : s);
  return list;
}
Config slices_from_keras3(const Config& given, const Config&, const Refuse&) {
  const Config c = without_record(given);
  if (!c.is_list()) return c;
  Config list = Config::list();
  for (const Config& item : c.items()) list.push_back(without_record(item));
  return list;
}

// Where to cut, as NumPy says it, and the sizes of the parts.
Config cuts_of_sizes(const Config& sizes, const Config&, const Refuse& refuse) {
  if (!sizes.is_list()) return sizes;
  Config cuts = Config::list();
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (sizes[i].as_int() < 0) refuse("a size that is not known");
    cuts.push_back(end += sizes[i].as_int());
  }
  return cuts;
}
Config sizes_of_cuts(const Config& given, const Config&, const Refuse&) {
  const Config cuts = without_record(given);
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

std::string small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}
Config mode_to_keras3(const Config& mode, const Config&, const Refuse&) {
  return small_letters(mode.as_string());
}
// Keras 3 takes a value where it is used alone.
Config border_to_keras3(const Config& value, const Config& arguments, const Refuse&) {
  return small_letters(arguments["mode"].as_string()) == "constant" ? value : Config();
}
Config widths_from_keras3(const Config& given, const Config&, const Refuse& refuse) {
  const Config all = without_record(given);
  Config widths = Config::list();
  for (const Config& w : all.items()) {
    if (!without_record(w).is_list()) refuse("one width for all axes");
    widths.push_back(without_record(w));
  }
  return widths;
}

// x[:, 1:3, 0] as [{"start": null, ..}, {"start": 1, "stop": 3, ..}, 0]; a new axis as null. For
// "..." stand the slices that it is, as Keras 2 has no form for it in archives.
Config slices_of(const DrawnOp& op) {
  const Config begin = op.constant("begin", "start of a slice"),
               end = op.constant("end", "end of a slice"),
               step = op.constant("strides", "step of a slice");
  const auto bit = [&](const char* mask, std::size_t i) {
    return (op.attr(mask).as_int() >> i & 1) != 0;
  };
  const auto axes_of_ellipsis = [&] {
    const Tensor& x = op.tensor("input");
    RILL_CHECK(x.shape().has_rank(), unimplemented,
               "[get_config] layer \"{}\" takes a slice with an ellipsis of a tensor whose rank is "
               "not known; slice in a user-defined Layer",
               op.name());
    int others = 0;
    for (std::size_t i = 0; i < begin.size(); ++i)
      others += bit("ellipsis_mask", i) || bit("new_axis_mask", i) ? 0 : 1;
    return x.ndim() - others;
  };
  Config list = Config::list();
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (bit("ellipsis_mask", i))
      for (int k = axes_of_ellipsis(); k > 0; --k)
        list.push_back(Config::dict({{"start", {}}, {"stop", {}}, {"step", {}}}));
    else if (bit("new_axis_mask", i))
      list.push_back(Config());
    else if (bit("shrink_axis_mask", i))
      list.push_back(begin[i]);
    else
      list.push_back(Config::dict({{"start", bit("begin_mask", i) ? Config() : begin[i]},
                                   {"stop", bit("end_mask", i) ? Config() : end[i]},
                                   {"step", step[i].as_int() == 1 ? Config() : step[i]}}));
  }
  return list;
}

// ---- the table
// Ops that both versions call as the schema does. Keras 3 has them in its own module, under
// the name of the op.
constexpr struct {
  std::string_view keras2, keras3, ops;
} kPlain[] = {
    {"math.", "numpy",
     "Maximum Minimum Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr "
     "LogicalNot Tanh Exp Log Log1p Square Sqrt Reciprocal Sign Floor Ceil Sin Cos"},
    {"math.", "math", "Rsqrt Erf"},
    {"math.", "nn", "Sigmoid Softplus"},
    {"nn.", "nn", "Relu Relu6"},
    {"math.", "", "SquaredDifference AddN"},
    {"math.", "numpy", "Tan Sinh Cosh Expm1"},
    {"math.", "", "Erfc Erfinv Lgamma Xdivy Xlogy Xlog1py Rint Zeta"},
    {"nn.", "nn", "Selu Softsign"},
    {"", "", "StopGradient Fill"},
    {"", "numpy", "BroadcastTo"},
    {"", "core", "Cast"},
};

std::vector<OpForm> exceptions() {
  std::vector<OpForm> rows{
      // Other names.
      Row("AddV2 Add", "__operators__.add", "numpy.Add").also("math.add"),
      Row("Sub", "math.", "numpy.Subtract"),
      Row("Mul", "math.", "numpy.Multiply"),
      Row("RealDiv", "math.truediv", "numpy.TrueDivide")
          .also("math.divide")
          .also_class("Divide")
          .draw(draw_divide),
      Row("FloorDiv", "compat.v1.floor_div", "numpy.FloorDivide").also("math.floordiv"),
      Row("FloorMod", "math.", "numpy.Mod"),
      Row("Pow", "math.", "numpy.Power"),
      Row("Neg", "math.", "numpy.Negative"),
      Row("Abs", "math.", "numpy.Absolute").also_class("Abs").draw(draw_abs),
      Row("IsNan", "math.", "numpy.Isnan"),
      Row("Identity", "", "core.ConvertToTensor").only_in_keras3("dtype", Config()),
      Row("Asin", "math.", "numpy.Arcsin"),
      Row("Acos", "math.", "numpy.Arccos"),
      Row("Atan", "math.", "numpy.Arctan"),
      Row("Asinh", "math.", "numpy.Arcsinh"),
      Row("Acosh", "math.", "numpy.Arccosh"),
      Row("Atanh", "math.", "numpy.Arctanh"),
      Row("Atan2", "math.", "numpy.Arctan2"),
      Row("IsFinite", "math.", "numpy.Isfinite"),
      Row("IsInf", "math.", "numpy.Isinf"),
      Row("Round", "math.", "numpy").draw(draw_round).only_in_keras3("decimals", 0),
      Row("Elu", "nn.", "nn").only_in_keras3("alpha", 1.0),
      // Along axes.
      Row("Softmax", "nn.", "nn")
          .draw(draw_softmax)
          .and_takes({.keras2 = "axis", .keras3 = "axis"}),
      Row("LogSoftmax", "nn.", "nn")
          .draw(draw_log_softmax)
          .and_takes({.keras2 = "axis", .keras3 = "axis"}),
      Row("Cumsum", "math.", "numpy")
          .otherwise("axis", 0)
          .never_null("axis")
          .not_in_keras3("exclusive")
          .not_in_keras3("reverse"),
      Row("", "math.l2_normalize", "").draw(draw_l2_normalize),
      // Products.
      Row("MatMul BatchMatMulV2", "linalg.", "numpy.Matmul")
          .first("a x")
          .first_in_keras3("x1")
          .source("b", "y")
          .called_with("b", "x2")
          .source("transpose_a", "adj_x")
          .not_in_keras3("transpose_a")
          .source("transpose_b", "adj_y")
          .not_in_keras3("transpose_b")
          .draw(draw_matmul),
      // Keras 2 loses the tensors of an einsum when it saves one, and does not read this.
      Row("Einsum", "", "numpy").so_many_arguments().made_with("equation", "subscripts"),
      // Arrays: their shapes, their parts, their elements.
      Row("Shape", "compat.v1.", "").also("shape"),
      Row("Reshape", "", "numpy").made_with("shape", "newshape").list("shape"),
      Row("ExpandDims", "", "numpy"),
      Row("Squeeze", "compat.v1.", "numpy").also("squeeze"),
      Row("Transpose", "compat.v1.", "numpy")
          .also("transpose")
          .made_with("perm", "axes")
          .null("perm", axes_backwards),
      Row("Tile", "", "numpy").made_with("multiples", "repeats"),
      Row("ReverseV2", "", "numpy.Flip").list("axis").never_null("axis"),
      Row("ConcatV2", "", "numpy.Concatenate").first_in_keras3("xs").otherwise("axis", 0),
      Row("Pack", "", "numpy.Stack"),
      Row("Unpack", "", "core.Unstack").draw(draw_unstack),
      Row("Split SplitV", "", "numpy")
          .first("value")
          .draw(draw_split)
          .takes({{.keras2 = "num_or_size_splits",
                   .keras3 = "indices_or_sections",
                   .sources = {"size_splits", "num_split"},
                   .to_keras3 = cuts_of_sizes,
                   .from_keras3 = sizes_of_cuts},
                  {.keras2 = "axis", .keras3 = "axis", .sources = {"split_dim"}}}),
      Row("StridedSlice", "__operators__.getitem", "numpy.GetItem")
          .draw(draw_slices)
          .takes({{.keras2 = "slice_spec",
                   .keras3 = "key",
                   .sources = {"begin"},
                   .with_call = true,
                   .to_keras3 = slices_to_keras3,
                   .from_keras3 = slices_from_keras3,
                   .write = slices_of}}),
      Row("SelectV2", "", "numpy.Where")
          .first_in_keras3("condition")
          .rename("t", "x")
          .rename("e", "y")
          .called_with("x", "x1")
          .called_with("y", "x2"),
      Row("GatherV2", "compat.v1.", "numpy.Take")
          .also("gather")
          .draw(draw_gather)
          .arrays()
          .never_null("axis")
          .not_in_keras3("batch_dims"),
      Row("ClipByValue", "", "numpy.Clip")
          .draw(draw_clip)
          .made_with("clip_value_min", "x_min")
          .made_with("clip_value_max", "x_max"),
      Row("OneHot", "", "nn")
          .draw(draw_one_hot)
          .takes({{.keras2 = "depth", .keras3 = "num_classes", .sources = {"depth"}},
                  {.keras2 = "on_value", .keras3 = "", .sources = {"on_value"}, .in_keras3 = 1.0},
                  {.keras2 = "off_value", .keras3 = "", .sources = {"off_value"}, .in_keras3 = 0.0},
                  {.keras2 = "axis", .keras3 = "axis", .sources = {"axis"}},
                  {.keras2 = "dtype", .keras3 = "dtype", .sources = {"T"}}})
          .only_in_keras3("sparse", false),
      Row("Pad PadV2 MirrorPad", "compat.v1.", "numpy")
          .also("pad")
          .draw(draw_pad)
          .takes({{.keras2 = "paddings",
                   .keras3 = "pad_width",
                   .sources = {"paddings"},
                   .from_keras3 = widths_from_keras3},
                  {.keras2 = "mode",
                   .keras3 = "mode",
                   .sources = {"mode"},
                   .otherwise = "CONSTANT",
                   .to_keras3 = mode_to_keras3},
                  {.keras2 = "constant_values",
                   .keras3 = "constant_values",
                   .sources = {"constant_values"},
                   .computed = true,
                   .with_call = true,
                   .by_name = true,
                   .otherwise = 0,
                   .to_keras3 = border_to_keras3}}),
      // Several ops in Rill.
      Row("", "zeros_like", "numpy.ZerosLike")
          .draw(draw_zeros_like)
          .takes({{.keras2 = "dtype", .keras3 = "dtype"}}),
      Row("", "ones_like", "numpy.OnesLike")
          .draw(draw_ones_like)
          .takes({{.keras2 = "dtype", .keras3 = "dtype"}}),
  };
  for (const char* op : {"Sum", "Mean", "Max", "Min", "Prod", "Any", "All"})
    rows.push_back(Row(op, "math.", "numpy").list("axis").null("axis", every_axis));
  for (const auto& [op, class3] : {std::pair{"ArgMax", "numpy.Argmax"}, {"ArgMin", "numpy.Argmin"}})
    rows.push_back(Row(op, "math.", class3)
                       .otherwise("axis", 0)
                       .never_null("axis")
                       .not_in_keras3("output_type", "int32")
                       .only_in_keras3("keepdims", false));
  return rows;
}

struct Table {
  Table() : rows(exceptions()) {
    for (const auto& plain : kPlain)
      for (const std::string& op : words(plain.ops))
        rows.push_back(Row(op, plain.keras2, plain.keras3));
    for (const OpForm& form : rows) {
      for (const std::string& op : form.ops) by_op.emplace(op, &form);
      for (const std::string& function : form.functions) by_function.emplace(function, &form);
      for (const std::string& name : form.classes) by_class.emplace(name, &form);
    }
  }
  static const OpForm* find(const std::map<std::string_view, const OpForm*>& in,
                            std::string_view name) {
    const auto at = in.find(name);
    return at == in.end() ? nullptr : at->second;
  }
  std::vector<OpForm> rows;
  std::map<std::string_view, const OpForm*> by_op, by_function, by_class;
};
const Table& table() {
  static const auto* t = new Table;
  return *t;
}

}  // namespace

bool OpForm::names_result() const {
  if (list) return false;
  for (const OpArgument& a : arguments)
    if (!a.keras2.empty() && a.keras2 != "y") return false;
  return true;
}

const std::vector<OpForm>& op_forms() { return table().rows; }
const OpForm* form_of_op(std::string_view op) { return Table::find(table().by_op, op); }
const OpForm* form_of_function(std::string_view function) {
  return Table::find(table().by_function, function);
}
const OpForm* form_of_class(std::string_view class_name) {
  return Table::find(table().by_class, class_name);
}

std::string function_name(const Op& op) {
  const OpForm* form = form_of_op(op.name);
  return form ? form->function() : "raw_ops." + op.name;
}

}  // namespace rill::keras
