#pragma once
#include <cstddef>
#include <optional>

#include "rill/keras/activations/activation.h"
#include "rill/keras/engine/layer.h"
#include "rill/ops/nn_ops.h"

// Convolutions over one, two or three axes of the input [batch, axes.., channels], or
// [batch, channels, axes..] with data_format "channels_first". Sizes are one number for all axes
// or a list: Conv2D(32, 5), Conv2D(32, {5, 3}), Conv2D({.filters = 32, .kernel_size = {5, 3}}).
// padding "same" keeps sizes except for strides; "causal" (Conv1D, SeparableConv1D) looks only
// back.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct ConvOptions {
  std::int64_t filters = 0;
  nn::Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid", data_format = "channels_last";
  nn::Sizes dilation_rate = 1;
  std::int64_t groups = 1;
  keras::Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
  std::int64_t lora_rank = 0;             // 0: none; see Layer::enable_lora
  std::optional<double> lora_alpha = {};  // the rank, when not given
};
struct ConvTransposeOptions {
  std::int64_t filters = 0;
  nn::Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid";
  nn::Sizes output_padding = {};  // empty: as the strides ask
  std::string data_format = "channels_last";
  nn::Sizes dilation_rate = 1;
  keras::Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
struct DepthwiseConvOptions {
  nn::Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid";
  std::int64_t depth_multiplier = 1;
  std::string data_format = "channels_last";
  nn::Sizes dilation_rate = 1;
  keras::Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, bias_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
struct LocallyConnectedOptions {
  std::int64_t filters = 0;
  nn::Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid", data_format = "channels_last";  // padding: "valid" alone
  keras::Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  int implementation = 1;  // 1 alone: Keras's 2 and 3 keep the same weights in other shapes
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
struct SeparableConvOptions {
  std::int64_t filters = 0;
  nn::Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid", data_format = "channels_last";
  nn::Sizes dilation_rate = 1;
  std::int64_t depth_multiplier = 1;
  keras::Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", pointwise_initializer = "glorot_uniform",
              bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  Constraint depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};

// activation(conv(x, kernel) + bias). Weights: kernel [kernel_size.., in / groups, filters],
// bias [filters].
template <int axes>
class Conv : public Layer {
 public:
  explicit Conv(ConvOptions options);
  // The weights by name, once the layer is built.
  Variable kernel() const { return weight_named("kernel"); }
  Variable bias() const { return weight_named("bias"); }
  Conv(std::int64_t filters, ConvOptions o) : Conv((o.filters = filters, std::move(o))) {}
  Conv(std::int64_t filters, int kernel_size, ConvOptions o = {})
      : Conv((o.filters = filters, o.kernel_size = kernel_size, std::move(o))) {}
  Conv(std::int64_t filters, int kernel_size, int strides, ConvOptions o = {})
      : Conv((o.filters = filters, o.kernel_size = kernel_size, o.strides = strides,
              std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1)
      Conv(std::int64_t filters, const int (&kernel_size)[n], ConvOptions o = {})
      : Conv((o.filters = filters, o.kernel_size = std::vector<int>(kernel_size, kernel_size + n),
              std::move(o))) {}
};
using Conv1D = Conv<1>;
using Conv2D = Conv<2>;
using Conv3D = Conv<3>;
using Convolution1D = Conv1D;
using Convolution2D = Conv2D;
using Convolution3D = Conv3D;

// The gradient of a convolution with respect to its input, as a layer: what "same" and strides
// made smaller it makes larger. Weights: kernel [kernel_size.., filters, in], bias [filters].
template <int axes>
class ConvTranspose : public Layer {
 public:
  explicit ConvTranspose(ConvTransposeOptions options);
  ConvTranspose(std::int64_t filters, ConvTransposeOptions o)
      : ConvTranspose((o.filters = filters, std::move(o))) {}
  ConvTranspose(std::int64_t filters, int kernel_size, ConvTransposeOptions o = {})
      : ConvTranspose((o.filters = filters, o.kernel_size = kernel_size, std::move(o))) {}
  ConvTranspose(std::int64_t filters, int kernel_size, int strides, ConvTransposeOptions o = {})
      : ConvTranspose((o.filters = filters, o.kernel_size = kernel_size, o.strides = strides,
                       std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1)
      ConvTranspose(std::int64_t filters, const int (&kernel_size)[n], ConvTransposeOptions o = {})
      : ConvTranspose((o.filters = filters,
                       o.kernel_size = std::vector<int>(kernel_size, kernel_size + n),
                       std::move(o))) {}
};
using Conv1DTranspose = ConvTranspose<1>;
using Conv2DTranspose = ConvTranspose<2>;
using Conv3DTranspose = ConvTranspose<3>;
using Convolution1DTranspose = Conv1DTranspose;
using Convolution2DTranspose = Conv2DTranspose;
using Convolution3DTranspose = Conv3DTranspose;

// Each channel convolved with depth_multiplier filters of its own. Weights: depthwise_kernel
// [kernel_size.., in, depth_multiplier], bias [in * depth_multiplier].
template <int axes>
class DepthwiseConv : public Layer {
 public:
  explicit DepthwiseConv(DepthwiseConvOptions options);
  explicit DepthwiseConv(int kernel_size, DepthwiseConvOptions o = {})
      : DepthwiseConv((o.kernel_size = kernel_size, std::move(o))) {}
  DepthwiseConv(int kernel_size, int strides, DepthwiseConvOptions o = {})
      : DepthwiseConv((o.kernel_size = kernel_size, o.strides = strides, std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1) explicit DepthwiseConv(const int (&kernel_size)[n],
                                                      DepthwiseConvOptions o = {})
      : DepthwiseConv(
            (o.kernel_size = std::vector<int>(kernel_size, kernel_size + n), std::move(o))) {}
};
using DepthwiseConv1D = DepthwiseConv<1>;
using DepthwiseConv2D = DepthwiseConv<2>;

// A depthwise convolution, then one over the channels alone. Weights: depthwise_kernel
// [kernel_size.., in, depth_multiplier], pointwise_kernel [1.., in * depth_multiplier, filters],
// bias [filters].
template <int axes>
class SeparableConv : public Layer {
 public:
  explicit SeparableConv(SeparableConvOptions options);
  SeparableConv(std::int64_t filters, SeparableConvOptions o)
      : SeparableConv((o.filters = filters, std::move(o))) {}
  SeparableConv(std::int64_t filters, int kernel_size, SeparableConvOptions o = {})
      : SeparableConv((o.filters = filters, o.kernel_size = kernel_size, std::move(o))) {}
  SeparableConv(std::int64_t filters, int kernel_size, int strides, SeparableConvOptions o = {})
      : SeparableConv((o.filters = filters, o.kernel_size = kernel_size, o.strides = strides,
                       std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1)
      SeparableConv(std::int64_t filters, const int (&kernel_size)[n], SeparableConvOptions o = {})
      : SeparableConv((o.filters = filters,
                       o.kernel_size = std::vector<int>(kernel_size, kernel_size + n),
                       std::move(o))) {}
};
using SeparableConv1D = SeparableConv<1>;
using SeparableConv2D = SeparableConv<2>;
using SeparableConvolution1D = SeparableConv1D;
using SeparableConvolution2D = SeparableConv2D;

// A convolution that has its own filters at each place: images must have a known size. Weights:
// kernel [places, kernel_size.. * in, filters], bias [places.., filters].
template <int axes>
class LocallyConnected : public Layer {
 public:
  explicit LocallyConnected(LocallyConnectedOptions options);
  LocallyConnected(std::int64_t filters, int kernel_size, LocallyConnectedOptions o = {})
      : LocallyConnected((o.filters = filters, o.kernel_size = kernel_size, std::move(o))) {}
  LocallyConnected(std::int64_t filters, int kernel_size, int strides,
                   LocallyConnectedOptions o = {})
      : LocallyConnected((o.filters = filters, o.kernel_size = kernel_size, o.strides = strides,
                          std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1) LocallyConnected(std::int64_t filters, const int (&kernel_size)[n],
                                                LocallyConnectedOptions o = {})
      : LocallyConnected((o.filters = filters,
                          o.kernel_size = std::vector<int>(kernel_size, kernel_size + n),
                          std::move(o))) {}
};
using LocallyConnected1D = LocallyConnected<1>;
using LocallyConnected2D = LocallyConnected<2>;

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
