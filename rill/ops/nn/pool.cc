// Pooling: the largest or the mean of each window of an image.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn/windows.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

struct Family {
  int spatial;
  const Op *max, *max_grad, *max_grad_grad, *avg, *avg_grad;
};
Family families[] = {{2, nullptr, nullptr, nullptr, nullptr, nullptr},
                     {3, nullptr, nullptr, nullptr, nullptr, nullptr}};

template <int f>
void pool_shape(ShapeContext& c) {
  c.set_output(0,
               pool_geometry(c, families[f].spatial, c.input(0), windows_must_fit(c)).out_shape());
}
void require_shape(const ShapeContext& c, int i, const TensorShape& want) {
  RILL_CHECK(c.input(i).is_compatible_with(want), invalid_argument,
             "[{}] {} has shape {}; expected {}, for an input of shape {}", c.tag(),
             c.op().inputs[static_cast<std::size_t>(i)].name, c.input(i), want, c.input(0));
}
TensorShape known_rank(const TensorShape& s, int rank) {
  return s.has_rank() ? s : TensorShape::unknown_dims(rank);
}

// orig_input, orig_output, and the gradient of one to that of the other.
template <int f>
void max_grad_shape(ShapeContext& c) {
  const TensorShape out = pool_geometry(c, families[f].spatial, c.input(0)).out_shape();
  require_shape(c, 1, out);
  require_shape(c, 2, out);
  c.set_output(0, known_rank(c.input(0), out.rank()));
}
template <int f>
void max_grad_grad_shape(ShapeContext& c) {
  const TensorShape out = pool_geometry(c, families[f].spatial, c.input(0)).out_shape();
  require_shape(c, 1, out);
  require_shape(c, 2, c.input(0));
  c.set_output(0, out);
}
template <int f>
void avg_grad_shape(ShapeContext& c) {
  const int rank = families[f].spatial + 2;
  require_rank(c, 0, 1, "orig_input_shape");
  const TensorShape input = known_rank(c.input_as_shape(0), rank);
  RILL_CHECK(!c.input_value(0) || input.is_fully_defined(), invalid_argument,
             "[{}] orig_input_shape is {}; expected sizes of 0 or more", c.tag(), input);
  const TensorShape out = pool_geometry(c, families[f].spatial, input).out_shape();
  RILL_CHECK(c.input(1).is_compatible_with(out), invalid_argument,
             "[{}] grad has shape {}; expected {}, for an input of shape {}", c.tag(), c.input(1),
             out, input);
  c.set_output(0, input);
}

// The call of an op of the family with the attributes of another.
Tensor run(const Op& op, const AttrReader& c, std::initializer_list<In> inputs) {
  // The op that also gives places knows one format alone.
  const std::string_view format =
      c.op().find_attr("data_format") >= 0 ? c.string_attr("data_format") : "NHWC";
  const bool explicit_too =
      op.find_attr("explicit_paddings") >= 0 && c.op().find_attr("explicit_paddings") >= 0;
  const Attr attrs[] = {
      {"ksize", c.ints_attr("ksize")},
      {"strides", c.ints_attr("strides")},
      {"padding", c.string_attr("padding")},
      {"data_format", format},
      {"explicit_paddings", explicit_too ? c.attr("explicit_paddings") : AttrValue()}};
  return execute(op, std::span<const In>(inputs.begin(), inputs.size()),
                 AttrList(attrs, explicit_too ? 5 : 4));
}
// The places of the largest do not move, so that gradients of gradients pick or
// place, and the first two inputs get none.
template <int f, bool of_grad>
void max_second(GradContext& g) {
  if (g.needs(2))
    g.set(2, run(of_grad ? *families[f].max_grad_grad : *families[f].max_grad, g,
                 {g.input(0), g.input(1), g.dy()}));
}

OpBuilder pool_attrs(OpBuilder b, int f, bool may_be_explicit) {
  b.attr("ksize: list(int)").attr("strides: list(int)").attr("padding: string");
  if (may_be_explicit) b.attr("explicit_paddings: list(int) = []");
  b.attr(f ? "data_format: string = 'NDHWC'" : "data_format: string = 'NHWC'");
  return b;
}
template <int f>
void define() {
  const std::string axes = f ? "3D" : "", tag = f ? "pool3d" : "pool";
  const bool both = f == 0;  // SAME and VALID, and user-defined paddings
  const TypeSet types = f ? kFloatTypes : kRealTypes;
  Family& family = families[f];
  family.max_grad_grad =
      &pool_attrs(OpBuilder("MaxPool" + axes + "GradGrad", "max_" + tag + "_grad_grad")
                      .input("orig_input: T")
                      .input("orig_output: T")
                      .input("grad: T")
                      .output("output: T")
                      .type("T", types),
                  f, both)
           .doc("The elements of grad where max_pool found the largest of orig_input.")
           .shape(max_grad_grad_shape<f>)
           .gradient(max_second<f, false>, "orig_input orig_output")
           .define();
  OpBuilder grad("MaxPool" + axes + "Grad", "max_" + tag + "_grad");
  if (f)
    grad.input("orig_input: TInput").input("orig_output: TInput").type("TInput", types, float32);
  else
    grad.input("orig_input: T").input("orig_output: T");
  family.max_grad = &pool_attrs(grad.input("grad: T").output("output: T").type("T", types), f, both)
                         .doc(
                             "grad put where max_pool found the largest of orig_input, the first "
                             "of equals; zeros elsewhere.")
                         .shape(max_grad_shape<f>)
                         .gradient(max_second<f, true>, "orig_input orig_output")
                         .define();
  family.max =
      &pool_attrs(OpBuilder("MaxPool" + axes, "max_" + tag)
                      .input("input: T")
                      .output("output: T")
                      .type("T", types),
                  f, both)
           .doc("The largest element of each window, for each channel. Padding never wins.")
           .shape(pool_shape<f>)
           .gradient(
               [](GradContext& g) {
                 g.set(0, run(*families[f].max_grad, g, {g.input(0), g.output(), g.dy()}));
               },
               "input output")
           .define();
  family.avg_grad =
      &pool_attrs(OpBuilder("AvgPool" + axes + "Grad", "avg_" + tag + "_grad")
                      .input("orig_input_shape: int32")
                      .input("grad: T")
                      .output("output: T")
                      .type("T", kFloatTypes),
                  f, false)
           .doc("grad divided evenly among the elements of each window.")
           .shape(avg_grad_shape<f>)
           .gradient([](GradContext& g) { g.set(1, run(*families[f].avg, g, {g.dy()})); })
           .host("orig_input_shape")
           .define();
  family.avg = &pool_attrs(OpBuilder("AvgPool" + axes, "avg_" + tag)
                               .input(f ? "input: T" : "value: T")
                               .output("output: T")
                               .type("T", kFloatTypes),
                           f, false)
                    .doc("The mean of each window, for each channel, without the padding.")
                    .shape(pool_shape<f>)
                    .gradient([](GradContext& g) {
                      g.set(0, run(*families[f].avg_grad, g, {shape_of_input(g, 0), g.dy()}));
                    })
                    .define();
}
[[maybe_unused]] const bool defined = (define<0>(), define<1>(), true);

void argmax_shape(ShapeContext& c) {
  // This op has no data_format: the geometry is that of the op that has.
  const Attr attrs[] = {{"ksize", c.ints_attr("ksize")},
                        {"strides", c.ints_attr("strides")},
                        {"padding", c.string_attr("padding")}};
  const TensorShape out =
      pool_geometry(AttrReader(*families[0].max, attrs), 2, c.input(0), windows_must_fit(c))
          .out_shape();
  c.set_output(0, out);
  c.set_output(1, out);
}
void argmax_grad(GradContext& g) {
  g.set(0, run(*families[0].max_grad, g, {g.input(0), g.output(0), g.dy(0)}));
}
const Op& argmax_op = OpBuilder("MaxPoolWithArgmax", "max_pool_with_argmax")
                          .input("input: T")
                          .output("output: T")
                          .output("argmax: Targmax")
                          .attr("ksize: list(int)")
                          .attr("strides: list(int)")
                          .type("Targmax", kIndexTypes, int64)
                          .attr("padding: string")
                          .attr("include_batch_in_index: bool = false")
                          .type("T", kRealTypes)
                          .doc(
                              "The largest element of each window and where it is, counted in the "
                              "input made flat (each image apart unless asked).")
                          .shape(argmax_shape)
                          .gradient(argmax_grad, "input output")
                          .define();

using nn::Padding;
using nn::PoolOptions;
using nn::Sizes;

Tensor call(const Op& op, std::string_view tag, int spatial, const Operand& input,
            const Sizes& ksize, const Sizes& strides, const Padding& padding,
            const std::string& data_format) {
  const Arg x(input);
  const WindowAttrs w(tag, spatial, data_format);
  const auto k = w.sizes(ksize, "ksize"), s = w.sizes(strides, "strides"), p = w.paddings(padding);
  const Attr attrs[] = {{"ksize", k},
                        {"strides", s},
                        {"padding", padding.name()},
                        {"data_format", w.data_format},
                        {"explicit_paddings", p}};
  const In inputs[] = {*x};
  return execute(op, inputs, AttrList(attrs, op.find_attr("explicit_paddings") >= 0 ? 5 : 4));
}

// An image of one axis as one of two, with height 1.
Tensor call_1d(bool max, std::string_view tag, const Operand& input, const Sizes& ksize,
               const Sizes& strides, const Padding& padding, const std::string& format) {
  const std::string f = format.empty() ? "NWC" : format;
  RILL_CHECK(f == "NWC" || f == "NCW", invalid_argument,
             "[{}] data_format is \"{}\"; expected \"NWC\" or \"NCW\"", tag, f);
  const bool first = f == "NCW";
  const Arg x(input);
  RILL_CHECK(!x->shape().has_rank() || x->ndim() == 3, invalid_argument,
             "[{}] input must have rank 3, got shape {}", tag, x->shape());
  auto wide = [&](const Sizes& s, std::string_view name) -> Sizes {
    RILL_CHECK(s.list().size() == 1 || s.list().size() == 3, invalid_argument,
               "[{}] {} has {} entries; expected 1 or 3", tag, name, s.list().size());
    return {1, s.list().size() == 1 ? s.list()[0] : s.list()[first ? 2 : 1]};
  };
  RILL_CHECK(padding.name() != "EXPLICIT" || padding.each().size() == 3, invalid_argument,
             "[{}] padding has {} entries; expected 3, a pair for each axis", tag,
             padding.each().size());
  auto each = padding.each();
  if (padding.name() == "EXPLICIT") each.insert(each.begin() + (first ? 2 : 1), {0, 0});
  const int axis = first ? 2 : 1;
  return squeeze(
      call(max ? *families[0].max : *families[0].avg, tag, 2, expand_dims(*x, axis),
           wide(ksize, "ksize"), wide(strides, "strides"),
           padding.name() == "EXPLICIT" ? Padding(each) : padding, image_format(2, first)),
      axis);
}

Tensor pool_by_rank(bool max, const Operand& input, const Sizes& ksize, const Sizes& strides,
                    const Padding& padding, const PoolOptions& o) {
  const Arg x(input);
  const std::string_view tag = max ? "max_pool" : "avg_pool";
  RILL_CHECK(x->shape().has_rank() && x->ndim() >= 3 && x->ndim() <= 5, invalid_argument,
             "[{}] input has shape {}; expected rank 3, 4 or 5, for an image of one to three axes",
             tag, x->shape());
  if (x->ndim() == 3) return call_1d(max, tag, *x, ksize, strides, padding, o.data_format);
  const Family& f = families[x->ndim() - 4];
  return call(max ? *f.max : *f.avg, tag, f.spatial, *x, ksize, strides, padding, o.data_format);
}

}  // namespace

namespace nn {

Tensor max_pool(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                const PoolOptions& o) {
  return pool_by_rank(true, x, ksize, strides, p, o);
}
Tensor avg_pool(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                const PoolOptions& o) {
  return pool_by_rank(false, x, ksize, strides, p, o);
}
Tensor max_pool1d(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                  const PoolOptions& o) {
  return call_1d(true, "max_pool1d", x, ksize, strides, p, o.data_format);
}
Tensor avg_pool1d(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                  const PoolOptions& o) {
  return call_1d(false, "avg_pool1d", x, ksize, strides, p, o.data_format);
}
Tensor max_pool2d(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                  const PoolOptions& o) {
  return call(*families[0].max, "max_pool2d", 2, x, ksize, strides, p, o.data_format);
}
Tensor avg_pool2d(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                  const PoolOptions& o) {
  return call(*families[0].avg, "avg_pool2d", 2, x, ksize, strides, p, o.data_format);
}
Tensor max_pool3d(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                  const PoolOptions& o) {
  return call(*families[1].max, "max_pool3d", 3, x, ksize, strides, p, o.data_format);
}
Tensor avg_pool3d(const Operand& x, const Sizes& ksize, const Sizes& strides, const Padding& p,
                  const PoolOptions& o) {
  return call(*families[1].avg, "avg_pool3d", 3, x, ksize, strides, p, o.data_format);
}

Tensors<2> max_pool_with_argmax(const Operand& input, const Sizes& ksize, const Sizes& strides,
                                const Padding& padding, const ArgmaxOptions& o) {
  const Arg x(input);
  RILL_CHECK(o.data_format == "NHWC", invalid_argument,
             "[max_pool_with_argmax] data_format is \"{}\"; expected \"NHWC\"", o.data_format);
  const WindowAttrs w("max_pool_with_argmax", 2, o.data_format);
  const auto k = w.sizes(ksize, "ksize"), s = w.sizes(strides, "strides");
  auto out = execute_all(argmax_op, {x},
                         {{"ksize", k},
                          {"strides", s},
                          {"padding", padding.name()},
                          {"Targmax", o.output_dtype},
                          {"include_batch_in_index", o.include_batch_in_index}});
  return {{out[0], out[1]}};
}

Tensor pool(const Operand& input, const Sizes& window_shape, const std::string& pooling_type,
            const WindowOptions& o) {
  const Arg x(input);
  RILL_CHECK(pooling_type == "MAX" || pooling_type == "AVG", invalid_argument,
             "[pool] pooling_type is \"{}\"; expected \"MAX\" or \"AVG\"", pooling_type);
  const bool max = pooling_type == "MAX";
  RILL_CHECK(
      x->shape().has_rank() && x->ndim() >= 3 && x->ndim() <= 5, invalid_argument,
      "[pool] input has shape {}; expected rank 3, 4 or 5, for an image of one to three axes",
      x->shape());
  const int spatial = x->ndim() - 2;
  auto each = [&](const Sizes& s, std::string_view name) {
    std::vector<int> v = s.list();
    if (v.size() == 1) v.assign(static_cast<std::size_t>(spatial), v[0]);
    RILL_CHECK(static_cast<int>(v.size()) == spatial, invalid_argument,
               "[pool] {} has {} entries; expected 1 or {}, one for each axis of the image", name,
               v.size(), spatial);
    for (int i : v)
      RILL_CHECK(i >= 1, invalid_argument, "[pool] an entry of {} is {}; expected 1 or more", name,
                 i);
    return v;
  };
  const std::vector<int> window = each(window_shape, "window_shape"),
                         strides = each(o.strides, "strides"),
                         dilations = each(o.dilations, "dilations");
  bool dilated = false, strided = false;
  for (int d : dilations) dilated = dilated || d > 1;
  for (int s : strides) strided = strided || s > 1;
  if (!dilated)
    return pool_by_rank(max, *x, window, strides, o.padding, {.data_format = o.data_format});
  RILL_CHECK(!strided, invalid_argument,
             "[pool] strides and dilations are both above 1; expected one of them to be 1");
  RILL_CHECK(o.data_format.empty() || o.data_format == image_format(spatial, false), unimplemented,
             "[pool] dilations with data_format \"{}\"; expected channels last", o.data_format);
  RILL_CHECK(o.padding.name() == "VALID", unimplemented,
             "[pool] padding is \"{}\"; expected \"VALID\" with dilations", o.padding.name());
  return with_space_to_batch(*x, dilations, o.padding,
                             [&](const Tensor& parts, int, const Padding&) {
                               return pool_by_rank(max, parts, window, 1, "VALID", {});
                             });
}

}  // namespace nn
}  // namespace rill
