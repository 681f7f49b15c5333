#pragma once
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/convolutional.h"
#include "rill/keras/layers/fields_impl.h"
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
  Tensor as_image_filter(const Tensor& kernel) const;  // in the compute dtype
  Tensor as_image_filter(const Variable& kernel) const {
    return as_image_filter(in_compute_dtype(kernel));
  }
  // Bias, back from the image, activation.
  Tensor finish(const Tensor& image) const;

  // The options with a number for each axis, and names as they are checked.
  template <class O>
  O normalised(O o) const {
    o.kernel_size = kernel_size_;
    o.strides = strides_;
    o.dilation_rate = dilation_rate_;
    o.padding = padding_;
    o.data_format = data_format_name(channels_first_);
    return o;
  }

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
template <class F, class O>
void visit_window(F& f, O& o) {
  f.required("kernel_size", o.kernel_size);
  f.required("strides", o.strides);
  f("padding", o.padding);
  f("data_format", o.data_format);
  // Keras 2's Conv3DTranspose has none.
  constexpr bool transposed = requires { o.output_padding; };
  f.written_if(!transposed || o.kernel_size.list().size() < 3, "dilation_rate", o.dilation_rate);
  if constexpr (requires { o.groups; })
    f("groups", o.groups);
  else
    f.always_in_keras2("groups", 1);
  f("activation", o.activation);
  f("use_bias", o.use_bias);
}

// InvalidArgument unless it is a positive number of filters.
void check_filters(std::string_view class_name, std::int64_t filters);

}  // namespace rill::keras
