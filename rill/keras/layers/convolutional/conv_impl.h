#pragma once
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/convolutional.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/layers/window_impl.h"

namespace rill::keras {

// What all convolutions share: the arguments of the window, the bias, the activation, and images
// of one axis, which are computed as images of two with height 1.
class ConvLayer : public LayerImpl {
 protected:
  template <class O>
  ConvLayer(const std::string& class_name, int axes, const O& o, bool causal_too = false)
      : LayerImpl(class_name, common(o)),
        axes_(axes),
        kernel_size_(per_axis(class_name, "kernel_size", o.kernel_size, axes)),
        strides_(per_axis(class_name, "strides", o.strides, axes)),
        dilation_rate_(per_axis(class_name, "dilation_rate", o.dilation_rate, axes)),
        padding_(checked_padding(class_name, o.padding, causal_too)),
        channels_first_(is_channels_first(class_name, o.data_format)),
        use_bias_(o.use_bias),
        activation_(o.activation),
        bias_options_{.initializer = o.bias_initializer,
                      .regularizer = o.bias_regularizer,
                      .constraint = o.bias_constraint} {
    check_window();
    activity_regularizer = o.activity_regularizer;
    input_spec.ndim = axes + 2;
  }

  int channel_axis() const { return channels_first_ ? -1 - axes_ : -1; }
  // The channels of an input of that shape, which from now on is what inputs must have.
  std::int64_t take_channels(const TensorShape& input);
  // [kernel_size.., in, out].
  TensorShape kernel_shape(std::int64_t in, std::int64_t out) const;
  void add_bias(std::int64_t channels);
  // Of what the op convolves: images of two axes at least.
  int op_axes() const { return axes_ == 1 ? 2 : axes_; }
  std::string op_format() const;
  // With a 1 in front for images of one axis.
  nn::Sizes op_sizes(std::vector<int> sizes) const;
  nn::Padding op_padding() const;
  nn::ConvOptions op_options() const {
    return {.data_format = op_format(), .dilations = op_sizes(dilation_rate_)};
  }
  Tensor as_image(const Tensor& x) const;
  Tensor as_image_filter(const Variable& kernel) const;
  // Bias, back from the image, activation.
  Tensor finish(const Tensor& image) const;

  // kernel_size .. groups, activation, use_bias.
  void add_window_config(Config& c, std::int64_t groups, bool with_dilation = true) const;

  int axes_;
  std::vector<int> kernel_size_, strides_, dilation_rate_;
  std::string padding_;
  bool channels_first_, use_bias_;
  Activation activation_;
  AddWeightOptions bias_options_;
  Variable bias_;

 private:
  void check_window() const;
};

// What every options struct of a convolution has.
template <class O>
void read_conv(O& o, const Config& c) {
  o.kernel_size = sizes_from(c["kernel_size"]);
  o.strides = sizes_from(c["strides"]);
  o.padding = c.get("padding", "valid");
  o.data_format = c.get("data_format", "channels_last");
  if (!c.get("dilation_rate").is_null()) o.dilation_rate = sizes_from(c["dilation_rate"]);
  o.activation = Activation::deserialize(c.get("activation"));
  o.use_bias = c.get("use_bias", true);
  o.bias_initializer = deserialize_initializer(c.get("bias_initializer"), o.bias_initializer);
  o.bias_regularizer = Regularizer::deserialize(c.get("bias_regularizer"));
  o.activity_regularizer = Regularizer::deserialize(c.get("activity_regularizer"));
  o.bias_constraint = Constraint::deserialize(c.get("bias_constraint"));
}
template <class O>
void read_kernel(O& o, const Config& c) {
  o.filters = c["filters"].as_int();
  o.kernel_initializer = deserialize_initializer(c.get("kernel_initializer"), o.kernel_initializer);
  o.kernel_regularizer = Regularizer::deserialize(c.get("kernel_regularizer"));
  o.kernel_constraint = Constraint::deserialize(c.get("kernel_constraint"));
}
template <class O>
void read_depthwise(O& o, const Config& c) {
  o.depth_multiplier = c.get("depth_multiplier", 1);
  o.depthwise_initializer =
      deserialize_initializer(c.get("depthwise_initializer"), o.depthwise_initializer);
  o.depthwise_regularizer = Regularizer::deserialize(c.get("depthwise_regularizer"));
  o.depthwise_constraint = Constraint::deserialize(c.get("depthwise_constraint"));
}

// InvalidArgument unless it is a positive number of filters.
void check_filters(std::string_view class_name, std::int64_t filters);

}  // namespace rill::keras
