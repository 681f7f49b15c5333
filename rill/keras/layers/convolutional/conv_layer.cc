#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/layers/convolutional/conv_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

void check_filters(std::string_view class_name, std::int64_t filters) {
  RILL_CHECK(filters > 0, invalid_argument,
             "[{}] filters is {}; expected a positive number of outputs", class_name, filters);
}

namespace {

// Of the library's own only these are not.
bool is_elementwise(const Activation& a) {
  return !a.name().empty() && !a.is("softmax") && !a.is("log_softmax");
}

}  // namespace

void ConvLayer::check_window() const {
  const auto largest = [](const std::vector<int>& v) {
    return *std::max_element(v.begin(), v.end());
  };
  RILL_CHECK(largest(strides_) == 1 || largest(dilation_rate_) == 1, invalid_argument,
             "[{}] strides {} and dilation_rate {} are both above 1; expected one of them to be 1",
             class_name(), largest(strides_), largest(dilation_rate_));
}

std::int64_t ConvLayer::take_channels(const TensorShape& input) {
  const std::int64_t channels = input.has_rank() ? input.dim(channel_axis()) : -1;
  RILL_CHECK(channels >= 0, invalid_argument,
             "[{}] the channel dimension of the inputs should be defined; got an input of shape "
             "{}, of which axis {} is unknown",
             name(), input, channel_axis());
  input_spec.axes = {{channel_axis(), channels}};
  return channels;
}

TensorShape ConvLayer::kernel_shape(std::int64_t in, std::int64_t out) const {
  TensorShape s = TensorShape::scalar();
  for (int k : kernel_size_) s.push_back(k);
  s.push_back(in);
  s.push_back(out);
  return s;
}
void ConvLayer::add_bias(std::int64_t channels) {
  if (use_bias_) bias_ = add_weight("bias", {channels}, bias_options_);
}

std::string ConvLayer::op_format() const {
  if (axes_ == 3) return channels_first_ ? "NCDHW" : "NDHWC";
  return channels_first_ ? "NCHW" : "NHWC";
}
nn::Sizes ConvLayer::op_sizes(std::vector<int> sizes) const {
  if (axes_ == 1) sizes.insert(sizes.begin(), 1);
  return sizes;
}
nn::Padding ConvLayer::op_padding() const {
  if (padding_ != "causal") return padding_ == "same" ? "SAME" : "VALID";
  const std::vector<int> none{0, 0}, back{dilation_rate_[0] * (kernel_size_[0] - 1), 0};
  return channels_first_ ? nn::Padding({none, none, none, back})
                         : nn::Padding({none, none, back, none});
}

Tensor ConvLayer::as_image(const Tensor& x) const {
  return axes_ == 1 ? expand_dims(x, channels_first_ ? -2 : -3) : x;
}
Tensor ConvLayer::as_image_filter(const Tensor& kernel) const {
  return axes_ == 1 ? expand_dims(kernel, 0) : kernel;
}
Tensor ConvLayer::finish(const Tensor& image) const {
  Tensor y = image;
  const bool more_batch_axes = y.ndim() > op_axes() + 2;
  if (use_bias_ && channels_first_ && more_batch_axes) {
    // [channels, 1..]: from the end the channels stand where they always do.
    std::vector<int> sizes(static_cast<std::size_t>(op_axes() + 1), 1);
    sizes[0] = -1;
    y = y + reshape(in_compute_dtype(bias_), constant(sizes));
  } else if (use_bias_) {
    y = more_batch_axes ? nn::bias_add(y, in_compute_dtype(bias_))
                        : nn::bias_add(y, in_compute_dtype(bias_), op_format());
  }
  if (axes_ > 1) return activation_(y);
  // Next to the convolution, where it becomes part of it, unless it may look at the axes.
  const bool early = is_elementwise(activation_);
  if (early) y = activation_(y);
  y = squeeze(y, channels_first_ ? -2 : -3);
  return early ? y : activation_(y);
}

}  // namespace rill::keras
