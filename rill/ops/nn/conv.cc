// Convolutions. Each family is three ops, the convolution and its gradients with
// respect to input and filter, which are each other's gradients.
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/flops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn/windows.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

struct Family {
  int spatial;
  bool depthwise;
  const Op *forward, *input, *filter;
};
Family families[] = {{2, false, nullptr, nullptr, nullptr},
                     {3, false, nullptr, nullptr, nullptr},
                     {2, true, nullptr, nullptr, nullptr}};
enum : int { kConv2d, kConv3d, kDepthwise };

template <int f>
void forward_shape(ShapeContext& c) {
  c.set_output(0, conv_geometry(c, families[f].spatial, families[f].depthwise, c.input(0),
                                c.input(1), windows_must_fit(c))
                      .out_shape());
}
// A list of sizes, all known and not negative, or a shape of unknown dimensions.
TensorShape sizes_at(const ShapeContext& c, int i, int rank) {
  require_rank(c, i, 1, c.op().inputs[static_cast<std::size_t>(i)].name);
  const TensorShape s = c.input_as_shape(i);
  RILL_CHECK(!s.has_rank() || s.rank() == rank, invalid_argument,
             "[{}] {} has {} entries; expected {}", c.tag(),
             c.op().inputs[static_cast<std::size_t>(i)].name, s.rank(), rank);
  if (c.input_value(i))
    RILL_CHECK(s.is_fully_defined(), invalid_argument,
               "[{}] {} are {}; expected sizes of 0 or more", c.tag(),
               c.op().inputs[static_cast<std::size_t>(i)].name, s);
  return s.has_rank() ? s : TensorShape::unknown_dims(rank);
}
template <int f, bool of_input>
void backward_shape(ShapeContext& c) {
  const Family& family = families[f];
  const int rank = family.spatial + 2;
  const TensorShape input = of_input ? sizes_at(c, 0, rank) : c.input(0),
                    filter = of_input ? c.input(1) : sizes_at(c, 1, rank);
  const TensorShape want =
      conv_geometry(c, family.spatial, family.depthwise, input, filter).out_shape();
  RILL_CHECK(c.input(2).is_compatible_with(want), invalid_argument,
             "[{}] out_backprop has shape {}; expected {}, for an input of shape {} and a filter "
             "of shape {}",
             c.tag(), c.input(2), want, input, filter);
  c.set_output(0, of_input ? input : filter);
}

// The attributes that all three ops share.
Tensor run(const Op& op, const AttrReader& c, std::initializer_list<In> inputs) {
  const bool explicit_too = op.find_attr("explicit_paddings") >= 0;
  const Attr attrs[] = {
      {"strides", c.ints_attr("strides")},
      {"padding", c.string_attr("padding")},
      {"data_format", c.string_attr("data_format")},
      {"dilations", c.ints_attr("dilations")},
      {"explicit_paddings", explicit_too ? c.attr("explicit_paddings") : AttrValue()}};
  return execute(op, std::span<const In>(inputs.begin(), inputs.size()),
                 AttrList(attrs, explicit_too ? 5 : 4));
}

template <int f>
void forward_grad(GradContext& g) {
  if (g.needs(0)) g.set(0, run(*families[f].input, g, {shape_of_input(g, 0), g.input(1), g.dy()}));
  if (g.needs(1)) g.set(1, run(*families[f].filter, g, {g.input(0), shape_of_input(g, 1), g.dy()}));
}
template <int f>
void input_grad(GradContext& g) {
  if (g.needs(1)) g.set(1, run(*families[f].filter, g, {g.dy(), shape_of_input(g, 1), g.input(2)}));
  if (g.needs(2)) g.set(2, run(*families[f].forward, g, {g.dy(), g.input(1)}));
}
template <int f>
void filter_grad(GradContext& g) {
  if (g.needs(0)) g.set(0, run(*families[f].input, g, {shape_of_input(g, 0), g.dy(), g.input(2)}));
  if (g.needs(2)) g.set(2, run(*families[f].forward, g, {g.input(0), g.dy()}));
}

OpBuilder conv_attrs(OpBuilder b, int f, TypeSet types) {
  b.type("T", types).attr("strides: list(int)");
  if (f == kConv2d) b.attr("use_cudnn_on_gpu: bool = true");
  b.attr("padding: string");
  if (f != kConv3d) b.attr("explicit_paddings: list(int) = []");
  b.attr(f == kConv3d ? "data_format: string = 'NDHWC'" : "data_format: string = 'NHWC'");
  b.attr(f == kConv3d ? "dilations: list(int) = [1, 1, 1, 1, 1]"
                      : "dilations: list(int) = [1, 1, 1, 1]");
  return b;
}
template <int f>
void define(const char* name, const char* tag, TypeSet types) {
  const std::string op = name, version = f == kConv3d ? "V2" : "";
  families[f].forward =
      &conv_attrs(OpBuilder(op, tag).input("input: T").input("filter: T").output("output: T"), f,
                  types)
           .doc(f == kDepthwise ? "Each channel convolved with its own filters: filter [height, "
                                  "width, channels, multiplier]."
                                : "The products of filter [.., in, out] with input under it, "
                                  "summed at each place.")
           .shape(forward_shape<f>)
           .gradient(forward_grad<f>, "input filter")
           .packed_input("filter")
           .flops(f == kDepthwise ? flops::of_depthwise : flops::of_conv)
           .define();
  OpBuilder input(op + "BackpropInput" + version, std::string(tag) + "_backprop_input");
  input.input(f == kConv3d ? "input_sizes: Tshape" : "input_sizes: int32")
      .input("filter: T")
      .input("out_backprop: T")
      .output("output: T");
  if (f == kConv3d) input.type("Tshape", kIndexTypes, int32);
  families[f].input =
      &conv_attrs(input, f, types)
           .doc("The gradient with respect to the input, which has shape input_sizes.")
           .shape(backward_shape<f, true>)
           .gradient(input_grad<f>, "filter out_backprop")
           .packed_input("filter")
           .flops(f == kDepthwise ? flops::of_depthwise_input : flops::of_conv_input)
           .host("input_sizes")
           .define();
  OpBuilder filter(op + "BackpropFilter" + version, std::string(tag) + "_backprop_filter");
  filter.input("input: T")
      .input("filter_sizes: int32")
      .input("out_backprop: T")
      .output("output: T");
  families[f].filter =
      &conv_attrs(filter, f, types)
           .doc("The gradient with respect to the filter, which has shape filter_sizes.")
           .shape(backward_shape<f, false>)
           .gradient(filter_grad<f>, "input out_backprop")
           .flops(f == kDepthwise ? flops::of_depthwise_filter : flops::of_conv_filter)
           .host("filter_sizes")
           .define();
}
[[maybe_unused]] const bool defined = [] {
  define<kConv2d>("Conv2D", "conv2d", kFloatTypes | TypeSet{int32});
  define<kConv3d>("Conv3D", "conv3d", kFloatTypes);
  define<kDepthwise>("DepthwiseConv2dNative", "depthwise_conv2d", kFloatTypes);
  return true;
}();

// ---- public functions
using nn::Padding;
using nn::Sizes;

// Calls body with the axes before the image folded into one.
template <class F>
Tensor with_one_batch_axis(const Tensor& x, int spatial, F body) {
  if (!x.shape().has_rank() || x.ndim() <= spatial + 2) return body(x);
  const int extra = x.ndim() - spatial - 2;
  if (!x.shape().is_fully_defined()) {
    const Tensor sizes = shape(x), batch = sizes(slice(None, extra + 1)),
                 image = sizes(slice(extra + 1, None));
    Tensor folded = reshape(x, concat({reduce_prod(batch, 0, {.keepdims = true}), image}, 0));
    Dims known = x.shape().dims();
    for (int i = 0; i < extra; ++i) known.erase(0);
    known[0] = -1;
    folded.set_shape(TensorShape(known));
    const Tensor y = body(folded);
    return reshape(y, concat({batch, shape(y)(slice(1, None))}, 0));
  }
  Dims folded{1}, out;
  for (int i = 0; i <= extra; ++i) folded[0] *= x.shape().dim(i);
  for (int i = extra + 1; i < x.ndim(); ++i) folded.push_back(x.shape().dim(i));
  const Tensor y = body(reshape(x, TensorShape(folded)));
  for (int i = 0; i <= extra; ++i) out.push_back(x.shape().dim(i));
  for (int i = 1; i < y.ndim(); ++i) out.push_back(y.shape().dim(i));
  return reshape(y, TensorShape(out));
}

// An image of one axis as one of two, with height 1.
struct Widened {
  explicit Widened(std::string_view op_tag, const std::string& format) : tag(op_tag) {
    const std::string f = format.empty() ? "NWC" : format;
    RILL_CHECK(f == "NWC" || f == "NCW" || f == "NHWC" || f == "NCHW", invalid_argument,
               "[{}] data_format is \"{}\"; expected \"NWC\" or \"NCW\"", tag, f);
    channels_first = f.starts_with("NC");
  }
  int axis() const { return channels_first ? 2 : 1; }
  std::string format() const { return image_format(2, channels_first); }
  Tensor image(const Tensor& x) const { return expand_dims(x, axis()); }
  Sizes sizes(const Sizes& s, std::string_view name) const {
    const auto& v = s.list();
    RILL_CHECK(v.size() == 1 || v.size() == 3, invalid_argument,
               "[{}] {} has {} entries; expected 1 or 3", tag, name, v.size());
    return {1, v.size() == 1 ? v[0] : v[channels_first ? 2 : 1]};
  }
  Padding padding(const Padding& p) const {
    if (p.name() != "EXPLICIT") return p;
    auto each = p.each();
    RILL_CHECK(each.size() == 3, invalid_argument,
               "[{}] padding has {} entries; expected 3, a pair for each axis", tag, each.size());
    each.insert(each.begin() + axis(), {0, 0});
    return Padding(each);
  }
  std::string_view tag;
  bool channels_first;
};

}  // namespace

Tensor call_conv(const Op& op, const WindowAttrs& w, std::initializer_list<In> inputs,
                 const nn::Sizes& strides, const nn::Padding& padding, const nn::Sizes& dilations) {
  const auto s = w.sizes(strides, "strides"), d = w.sizes(dilations, "dilations"),
             p = w.paddings(padding);
  const Attr attrs[] = {{"strides", s},
                        {"padding", padding.name()},
                        {"data_format", w.data_format},
                        {"dilations", d},
                        {"explicit_paddings", p}};
  return execute(op, std::span<const In>(inputs.begin(), inputs.size()),
                 AttrList(attrs, op.find_attr("explicit_paddings") >= 0 ? 5 : 4));
}

namespace nn {

Tensor conv2d(const Operand& input, const Operand& filters, const Sizes& strides,
              const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  const WindowAttrs w("conv2d", 2, o.data_format);
  return with_one_batch_axis(a.first(), 2, [&](const Tensor& x) {
    return call_conv(*families[kConv2d].forward, w, {x, a.second()}, strides, padding, o.dilations);
  });
}

Tensor conv1d(const Operand& input, const Operand& filters, const Sizes& stride,
              const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  const Widened w("conv1d", o.data_format);
  RILL_CHECK(!a.second().shape().has_rank() || a.second().ndim() == 3, invalid_argument,
             "[conv1d] filters must have rank 3, got shape {}", a.second().shape());
  RILL_CHECK(!a.first().shape().has_rank() || a.first().ndim() >= 3, invalid_argument,
             "[conv1d] input must have rank 3 or more, got shape {}", a.first().shape());
  return with_one_batch_axis(a.first(), 1, [&](const Tensor& x) {
    return squeeze(
        conv2d(w.image(x), expand_dims(a.second(), 0), w.sizes(stride, "stride"),
               w.padding(padding),
               {.data_format = w.format(), .dilations = w.sizes(o.dilations, "dilations")}),
        w.axis());
  });
}

Tensor conv3d(const Operand& input, const Operand& filters, const Sizes& strides,
              const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  const WindowAttrs w("conv3d", 3, o.data_format);
  return with_one_batch_axis(a.first(), 3, [&](const Tensor& x) {
    if (padding.name() != "EXPLICIT")
      return call_conv(*families[kConv3d].forward, w, {x, a.second()}, strides, padding,
                       o.dilations);
    // The op knows no explicit padding.
    const Tensor each = constant(w.paddings(padding), int32, {5, 2});
    return call_conv(*families[kConv3d].forward, w, {pad(x, each), a.second()}, strides, "VALID",
                     o.dilations);
  });
}

Tensor convolution(const Operand& input, const Operand& filters, const Sizes& strides,
                   const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  RILL_CHECK(a.second().shape().has_rank(), invalid_argument,
             "[convolution] the rank of filters must be known");
  switch (a.second().ndim()) {
    case 3:
      return conv1d(a.first(), a.second(), strides, padding, o);
    case 4:
      return conv2d(a.first(), a.second(), strides, padding, o);
    case 5:
      return conv3d(a.first(), a.second(), strides, padding, o);
  }
  RILL_CHECK(false, invalid_argument,
             "[convolution] filters have shape {}; expected rank 3, 4 or 5, for an image of one to "
             "three axes",
             a.second().shape());
  return {};
}

Tensor depthwise_conv2d(const Operand& input, const Operand& filter, const Sizes& strides,
                        const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filter);
  const WindowAttrs w("depthwise_conv2d", 2, o.data_format);
  return call_conv(*families[kDepthwise].forward, w, {a.first(), a.second()}, strides, padding,
                   o.dilations);
}

Tensor separable_conv2d(const Operand& input, const Operand& depthwise_filter,
                        const Operand& pointwise_filter, const Sizes& strides,
                        const Padding& padding, const ConvOptions& o) {
  const Arg point(pointwise_filter);
  const TensorShape& s = point->shape();
  RILL_CHECK(!s.has_rank() || (s.rank() == 4 && (s.dim(0) == 1 || s.dim(0) < 0) &&
                               (s.dim(1) == 1 || s.dim(1) < 0)),
             invalid_argument,
             "[separable_conv2d] pointwise_filter has shape {}; expected [1, 1, in, out]", s);
  return conv2d(depthwise_conv2d(input, depthwise_filter, strides, padding, o), *point, 1, "VALID",
                {.data_format = o.data_format});
}

Tensor atrous_conv2d(const Operand& value, const Operand& filters, int rate,
                     const Padding& padding) {
  RILL_CHECK(rate >= 1, invalid_argument, "[atrous_conv2d] rate is {}; expected 1 or more", rate);
  return conv2d(value, filters, 1, padding, {.dilations = rate});
}

Tensor conv2d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Sizes& strides, const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  const WindowAttrs w("conv2d_transpose", 2, o.data_format);
  const Arg sizes(output_shape, int32);
  return call_conv(*families[kConv2d].input, w, {cast(*sizes, int32), a.second(), a.first()},
                   strides, padding, o.dilations);
}
Tensor conv1d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Sizes& strides, const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  const Widened w("conv1d_transpose", o.data_format);
  const Arg given(output_shape, int32);
  RILL_CHECK(!given->shape().has_rank() || given->shape() == TensorShape({3}), invalid_argument,
             "[conv1d_transpose] output_shape has shape {}; expected 3 sizes", given->shape());
  const std::vector<Tensor> parts = split(cast(*given, int32), {w.axis(), 3 - w.axis()});
  const Tensor sizes = concat({parts[0], constant({1}, int32), parts[1]}, 0);
  return squeeze(
      conv2d_transpose(w.image(a.first()), expand_dims(a.second(), 0), sizes,
                       w.sizes(strides, "strides"), w.padding(padding),
                       {.data_format = w.format(), .dilations = w.sizes(o.dilations, "dilations")}),
      w.axis());
}
Tensor conv3d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Sizes& strides, const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  const WindowAttrs w("conv3d_transpose", 3, o.data_format);
  const Arg sizes(output_shape, int32);
  return call_conv(*families[kConv3d].input, w, {*sizes, a.second(), a.first()}, strides, padding,
                   o.dilations);
}
Tensor conv_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                      const Sizes& strides, const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, filters);
  RILL_CHECK(a.second().shape().has_rank(), invalid_argument,
             "[conv_transpose] the rank of filters must be known");
  switch (a.second().ndim()) {
    case 3:
      return conv1d_transpose(a.first(), a.second(), output_shape, strides, padding, o);
    case 4:
      return conv2d_transpose(a.first(), a.second(), output_shape, strides, padding, o);
    case 5:
      return conv3d_transpose(a.first(), a.second(), output_shape, strides, padding, o);
  }
  RILL_CHECK(false, invalid_argument,
             "[conv_transpose] filters have shape {}; expected rank 3, 4 or 5, for an image of one "
             "to three axes",
             a.second().shape());
  return {};
}
Tensor atrous_conv2d_transpose(const Operand& value, const Operand& filters,
                               const Operand& output_shape, int rate, const Padding& padding) {
  RILL_CHECK(rate >= 1, invalid_argument,
             "[atrous_conv2d_transpose] rate is {}; expected 1 or more", rate);
  return conv2d_transpose(value, filters, output_shape, 1, padding, {.dilations = rate});
}

Tensor depthwise_conv2d_backprop_input(const Operand& input_sizes, const Operand& filter,
                                       const Operand& out_backprop, const Sizes& strides,
                                       const Padding& padding, const ConvOptions& o) {
  const ArgPair a(filter, out_backprop);
  const Arg sizes(input_sizes, int32);
  return call_conv(*families[kDepthwise].input,
                   WindowAttrs("depthwise_conv2d_backprop_input", 2, o.data_format),
                   {sizes, a.first(), a.second()}, strides, padding, o.dilations);
}
Tensor depthwise_conv2d_backprop_filter(const Operand& input, const Operand& filter_sizes,
                                        const Operand& out_backprop, const Sizes& strides,
                                        const Padding& padding, const ConvOptions& o) {
  const ArgPair a(input, out_backprop);
  const Arg sizes(filter_sizes, int32);
  return call_conv(*families[kDepthwise].filter,
                   WindowAttrs("depthwise_conv2d_backprop_filter", 2, o.data_format),
                   {a.first(), sizes, a.second()}, strides, padding, o.dilations);
}

}  // namespace nn

}  // namespace rill
