// Grey-scale morphology: a convolution with max for the sum and + for the product.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn/windows.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void dilation_shape(ShapeContext& c) {
  c.set_output(0, dilation_geometry(c, c.input(0), c.input(1)).out_shape());
}
template <int like>
void dilation_grad_shape(ShapeContext& c) {
  const TensorShape want = dilation_geometry(c, c.input(0), c.input(1)).out_shape();
  RILL_CHECK(c.input(2).is_compatible_with(want), invalid_argument,
             "[{}] out_backprop has shape {}; expected {}", c.tag(), c.input(2), want);
  c.set_output(0, c.input(like));
}
OpBuilder dilation_attrs(OpBuilder b) {
  b.type("T", kRealTypes)
      .attr("strides: list(int)")
      .attr("rates: list(int)")
      .attr("padding: string");
  return b;
}
const Op& input_op =
    dilation_attrs(OpBuilder("Dilation2DBackpropInput", "dilation2d_backprop_input")
                       .input("input: T")
                       .input("filter: T")
                       .input("out_backprop: T")
                       .output("in_backprop: T"))
        .doc("out_backprop put where dilation2d found the largest sum, in the shape of input.")
        .shape(dilation_grad_shape<0>)
        .no_gradient()
        .define();
const Op& filter_op =
    dilation_attrs(OpBuilder("Dilation2DBackpropFilter", "dilation2d_backprop_filter")
                       .input("input: T")
                       .input("filter: T")
                       .input("out_backprop: T")
                       .output("filter_backprop: T"))
        .doc("out_backprop put where dilation2d found the largest sum, in the shape of filter.")
        .shape(dilation_grad_shape<1>)
        .no_gradient()
        .define();
void dilation_grad(GradContext& g) {
  const std::initializer_list<Attr> attrs{{"strides", g.ints_attr("strides")},
                                          {"rates", g.ints_attr("rates")},
                                          {"padding", g.string_attr("padding")}};
  if (g.needs(0)) g.set(0, execute(input_op, {g.input(0), g.input(1), g.dy()}, attrs));
  if (g.needs(1)) g.set(1, execute(filter_op, {g.input(0), g.input(1), g.dy()}, attrs));
}
const Op& dilation_op = dilation_attrs(OpBuilder("Dilation2D", "dilation2d")
                                           .input("input: T")
                                           .input("filter: T")
                                           .output("output: T"))
                            .doc(
                                "The largest of input + filter [height, width, channels] under the "
                                "window, for each channel.")
                            .shape(dilation_shape)
                            .gradient(dilation_grad, "input filter")
                            .define();

}  // namespace

namespace nn {

Tensor dilation2d(const Operand& input, const Operand& filters, const Sizes& strides,
                  const Padding& padding, const std::string& data_format, const Sizes& dilations) {
  const ArgPair a(input, filters);
  RILL_CHECK(data_format == "NHWC", invalid_argument,
             "[dilation2d] data_format is \"{}\"; expected \"NHWC\"", data_format);
  const WindowAttrs w("dilation2d", 2, data_format);
  const auto s = w.sizes(strides, "strides"), r = w.sizes(dilations, "dilations");
  return execute(dilation_op, {a.first(), a.second()},
                 {{"strides", s}, {"rates", r}, {"padding", padding.name()}});
}
Tensor erosion2d(const Operand& value, const Operand& filters, const Sizes& strides,
                 const Padding& padding, const std::string& data_format, const Sizes& dilations) {
  const ArgPair a(value, filters);
  return negative(dilation2d(negative(a.first()), reverse(a.second(), {0, 1}), strides, padding,
                             data_format, dilations));
}

}  // namespace nn
}  // namespace rill
