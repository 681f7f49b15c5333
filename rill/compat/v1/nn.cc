#include "rill/compat/v1/nn.h"

#include "rill/ops/nn/windows.h"
#include "rill/ops/op_helpers.h"

namespace rill::compat::v1::nn {

Tensor dropout(const Operand& x, const DropoutOptions& o) {
  const bool by_rate = o.rate != -1, by_keep = o.keep_prob != -1;
  RILL_CHECK(by_rate != by_keep, invalid_argument,
             "[dropout] {}; expected exactly one of rate and keep_prob (rate = 1 - keep_prob)",
             by_rate ? "both rate and keep_prob are given" : "neither rate nor keep_prob is given");
  RILL_CHECK(by_rate || (o.keep_prob > 0 && o.keep_prob <= 1), invalid_argument,
             "[dropout] keep_prob is {}; expected a number in (0, 1]", o.keep_prob);
  return rill::nn::dropout(x, by_rate ? o.rate : 1 - o.keep_prob,
                           {.noise_shape = o.noise_shape, .seed = o.seed, .name = o.name});
}
Tensor dropout(const Operand& x, double keep_prob) {
  return dropout(x, DropoutOptions{.keep_prob = keep_prob});
}

Tensor conv2d_backprop_input(const Operand& input_sizes, const Operand& filter,
                             const Operand& out_backprop, const Sizes& strides,
                             const Padding& padding, const Conv2dOptions& o) {
  const ArgPair a(filter, out_backprop);
  const Arg sizes(input_sizes, int32);
  return call_conv(find_op("Conv2DBackpropInput"),
                   WindowAttrs("conv2d_backprop_input", 2, o.data_format),
                   {sizes, a.first(), a.second()}, strides, padding, o.dilations);
}
Tensor conv2d_backprop_filter(const Operand& input, const Operand& filter_sizes,
                              const Operand& out_backprop, const Sizes& strides,
                              const Padding& padding, const Conv2dOptions& o) {
  const ArgPair a(input, out_backprop);
  const Arg sizes(filter_sizes, int32);
  return call_conv(find_op("Conv2DBackpropFilter"),
                   WindowAttrs("conv2d_backprop_filter", 2, o.data_format),
                   {a.first(), sizes, a.second()}, strides, padding, o.dilations);
}
Tensor conv2d(const Operand& input, const Operand& filter, const Sizes& strides,
              const Padding& padding, const Conv2dOptions& o) {
  return rill::nn::conv2d(input, filter, strides, padding,
                          {.data_format = o.data_format, .dilations = o.dilations, .name = o.name});
}

}  // namespace rill::compat::v1::nn
