#pragma once
#include <functional>
#include <string>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Neural networks: activations, normalisation, convolutions, pooling, losses.
// Names, arguments and defaults are TensorFlow's. What may be passed as an activation has no
// default argument but a second overload.
namespace rill RILL_API {
Tensor sigmoid(const Operand& x);
Tensor tanh(const Operand& x);

namespace nn {

// ---- activations
using rill::sigmoid, rill::tanh;
Tensor relu(const Operand& x);        // max(x, 0)
Tensor relu6(const Operand& x);       // min(max(x, 0), 6)
Tensor leaky_relu(const Operand& x);  // alpha 0.2
Tensor leaky_relu(const Operand& x, double alpha);
Tensor elu(const Operand& x);       // exp(x) - 1 below 0
Tensor selu(const Operand& x);      // elu that keeps mean 0 and variance 1
Tensor softplus(const Operand& x);  // log(1 + exp(x))
Tensor softsign(const Operand& x);  // x / (1 + |x|)
}  // namespace nn
namespace math {
using nn::softplus, nn::softsign;
}
namespace nn {
// relu of x and of -x, joined along the last axis or a given one.
Tensor crelu(const Operand& x);
Tensor crelu(const Operand& x, int axis);

// x times the normal distribution's probability of being below x; approximate:
// by tanh, off by at most 5e-4.
Tensor gelu(const Operand& x);
Tensor gelu(const Operand& x, bool approximate);
// x * sigmoid(beta * x), beta 1 unless given.
Tensor swish(const Operand& x);
Tensor swish(const Operand& x, double beta);
Tensor silu(const Operand& x);
Tensor silu(const Operand& x, double beta);

// exp(x) / sum(exp(x)) along the last axis or a given one: in [0, 1], sum 1.
Tensor softmax(const Operand& logits);
Tensor softmax(const Operand& logits, int axis);
Tensor log_softmax(const Operand& logits);
Tensor log_softmax(const Operand& logits, int axis);

// ---- layers in one call
// Adds a vector to the channels: the last axis, or axis 1 when data_format
// begins with "NC".
Tensor bias_add(const Operand& value, const Operand& bias);
Tensor bias_add(const Operand& value, const Operand& bias, const std::string& data_format);
Tensor xw_plus_b(const Operand& x, const Operand& weights,
                 const Operand& biases);  // matmul(x, w) + b
Tensor relu_layer(const Operand& x, const Operand& weights, const Operand& biases);  // relu of that
// Rows of params; the gradient stays sparse.
Tensor embedding_lookup(const Operand& params, const Operand& ids);
// Each of them scaled down to a Euclidean norm of max_norm where it is longer.
Tensor embedding_lookup(const Operand& params, const Operand& ids, double max_norm);

// The fraction of zeros: a float32 scalar.
Tensor zero_fraction(const Operand& value);

// Each element is dropped (set to 0) with probability rate, in [0, 1); the others
// are scaled by 1 / (1 - rate), so that the sum is kept on average. rate 0 gives x.
struct DropoutOptions {
  // What is decided apart: where it has 1, one decision stands for the whole
  // axis; None stands for the size of x. Not given: each element.
  TensorShape noise_shape = {};
  std::int64_t seed = -1;  // -1: none; see random::set_seed
  std::string name = {};
};
Tensor dropout(const Operand& x, const Operand& rate, const DropoutOptions& options = {});

// ---- normalisation. An undefined Tensor() stands for TensorFlow's None.
struct MomentsOptions {
  bool keepdims = false;
};
// Mean and variance over axes. Half types are summed in float32.
Tensors<2> moments(const Operand& x, const std::vector<int>& axes, MomentsOptions options = {});
// The same with weights, which broadcast to x.
Tensors<2> weighted_moments(const Operand& x, const std::vector<int>& axes,
                            const Operand& frequency_weights, MomentsOptions options = {});
// {count, sum of x - shift, sum of (x - shift)^2, shift}: what moments are made of,
// so that parts of a data set can be added up. Without a shift it is 0, and undefined in the
// result.
Tensors<4> sufficient_statistics(const Operand& x, const std::vector<int>& axes,
                                 const Tensor& shift = {}, MomentsOptions options = {});
Tensors<2> normalize_moments(const Operand& counts, const Operand& mean_ss,
                             const Operand& variance_ss, const Tensor& shift = {});
// x / sqrt(max(sum(x^2), epsilon)) over all axes, or over those given.
Tensor l2_normalize(const Operand& x);
Tensor l2_normalize(const Operand& x, int axis, double epsilon = 1e-12);
Tensor l2_normalize(const Operand& x, const std::vector<int>& axis, double epsilon = 1e-12);
// scale * (x - mean) / sqrt(variance + variance_epsilon) + offset; all broadcast to x.
Tensor batch_normalization(const Operand& x, const Operand& mean, const Operand& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon);
struct FusedBatchNormOptions {
  Tensor mean = {}, variance = {};  // needed for inference, and for running averages
  double epsilon = 0.001;
  std::string data_format = "NHWC";  // or "NCHW", "NDHWC", "NCDHW"
  bool is_training = true;
  double exponential_avg_factor = 1;  // the weight of this batch in running averages
  std::string name = {};
};
// {y, mean, variance}: of this batch (variance with N - 1) mixed into those given
// when training; those given, and used, else.
Tensors<3> fused_batch_norm(const Operand& x, const Operand& scale, const Operand& offset,
                            const FusedBatchNormOptions& options = {});
struct LayerNormOptions {
  int begin_axis = -1;  // this axis and all after it are normalised together
  double epsilon = 1e-3;
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta in one pass, each row apart.
// gamma and beta have the shape of the axes that are normalised.
Tensor layer_norm(const Operand& x, const Operand& gamma, const Operand& beta,
                  LayerNormOptions options = {});
struct LocalResponseOptions {
  int depth_radius = 5;
  double bias = 1, alpha = 1, beta = 0.5;
};
// x / (bias + alpha * sum of squares of the channels within depth_radius)^beta.
Tensor local_response_normalization(const Operand& input, LocalResponseOptions options = {});
Tensor lrn(const Operand& input, LocalResponseOptions options = {});

// ---- windows that move over an image: convolutions and pooling
// A number for each axis of the image: one for all of them, one each, or one for
// each axis of the tensor with 1 for batch and channels.
class Sizes {
 public:
  Sizes(int all) : v_{all} {}
  Sizes(std::initializer_list<int> each) : v_(each) {}
  Sizes(const std::vector<int>& each) : v_(each) {}
  const std::vector<int>& list() const { return v_; }

 private:
  std::vector<int> v_;
};
// "SAME" (zeros around, so that the size is kept except for strides), "VALID" (none),
// or {before, after} for each axis of the tensor.
class Padding {
 public:
  template <StringLike S>
  Padding(const S& name) : name_(std::string_view(name)) {}
  Padding(std::initializer_list<std::initializer_list<int>> each) : name_("EXPLICIT") {
    for (const auto& axis : each) each_.emplace_back(axis);
  }
  Padding(const std::vector<std::vector<int>>& each) : name_("EXPLICIT"), each_(each) {}
  const std::string& name() const { return name_; }
  const std::vector<std::vector<int>>& each() const { return each_; }

 private:
  std::string name_;
  std::vector<std::vector<int>> each_;
};
struct ConvOptions {
  std::string data_format = {};  // channels last unless it begins with "NC"
  Sizes dilations = 1;           // steps between the taps of a filter
  std::string name = {};
};
// input [batch, height, width, in] with filters [height, width, in, out], and in
// the same way for one and three axes. Fewer channels in the filters than in the
// input: groups.
Tensor conv1d(const Operand& input, const Operand& filters, const Sizes& stride,
              const Padding& padding, const ConvOptions& options = {});
Tensor conv2d(const Operand& input, const Operand& filters, const Sizes& strides,
              const Padding& padding, const ConvOptions& options = {});
Tensor conv3d(const Operand& input, const Operand& filters, const Sizes& strides,
              const Padding& padding, const ConvOptions& options = {});
// One of those, by the rank.
Tensor convolution(const Operand& input, const Operand& filters, const Sizes& strides = 1,
                   const Padding& padding = "VALID", const ConvOptions& options = {});
// filter [height, width, channels, multiplier]: each channel apart.
Tensor depthwise_conv2d(const Operand& input, const Operand& filter, const Sizes& strides,
                        const Padding& padding, const ConvOptions& options = {});
// depthwise_conv2d, then conv2d with pointwise_filter [1, 1, channels * multiplier, out].
Tensor separable_conv2d(const Operand& input, const Operand& depthwise_filter,
                        const Operand& pointwise_filter, const Sizes& strides,
                        const Padding& padding, const ConvOptions& options = {});
// conv2d with dilations of rate.
Tensor atrous_conv2d(const Operand& value, const Operand& filters, int rate,
                     const Padding& padding);
// The gradients of convolutions with respect to their input, as layers: filters
// [.., out, in]; output_shape is that of the whole result.
Tensor conv1d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Sizes& strides, const Padding& padding = "SAME",
                        const ConvOptions& options = {});
Tensor conv2d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Sizes& strides, const Padding& padding = "SAME",
                        const ConvOptions& options = {});
Tensor conv3d_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                        const Sizes& strides, const Padding& padding = "SAME",
                        const ConvOptions& options = {});
// One of those, by the rank.
Tensor conv_transpose(const Operand& input, const Operand& filters, const Operand& output_shape,
                      const Sizes& strides, const Padding& padding = "SAME",
                      const ConvOptions& options = {});
Tensor atrous_conv2d_transpose(const Operand& value, const Operand& filters,
                               const Operand& output_shape, int rate, const Padding& padding);

// The gradients of depthwise_conv2d with respect to an input and a filter of a shape.
Tensor depthwise_conv2d_backprop_input(const Operand& input_sizes, const Operand& filter,
                                       const Operand& out_backprop, const Sizes& strides,
                                       const Padding& padding, const ConvOptions& options = {});
Tensor depthwise_conv2d_backprop_filter(const Operand& input, const Operand& filter_sizes,
                                        const Operand& out_backprop, const Sizes& strides,
                                        const Padding& padding, const ConvOptions& options = {});

struct PoolOptions {
  std::string data_format = {};  // channels last unless it begins with "NC"
  std::string name = {};
};
// The largest and the mean of each window. The mean leaves padding out.
Tensor max_pool(const Operand& input, const Sizes& ksize, const Sizes& strides,
                const Padding& padding, const PoolOptions& options = {});
Tensor max_pool1d(const Operand& input, const Sizes& ksize, const Sizes& strides,
                  const Padding& padding, const PoolOptions& options = {});
Tensor max_pool2d(const Operand& input, const Sizes& ksize, const Sizes& strides,
                  const Padding& padding, const PoolOptions& options = {});
Tensor max_pool3d(const Operand& input, const Sizes& ksize, const Sizes& strides,
                  const Padding& padding, const PoolOptions& options = {});
Tensor avg_pool(const Operand& input, const Sizes& ksize, const Sizes& strides,
                const Padding& padding, const PoolOptions& options = {});
Tensor avg_pool1d(const Operand& input, const Sizes& ksize, const Sizes& strides,
                  const Padding& padding, const PoolOptions& options = {});
Tensor avg_pool2d(const Operand& input, const Sizes& ksize, const Sizes& strides,
                  const Padding& padding, const PoolOptions& options = {});
Tensor avg_pool3d(const Operand& input, const Sizes& ksize, const Sizes& strides,
                  const Padding& padding, const PoolOptions& options = {});
struct ArgmaxOptions {
  std::string data_format = "NHWC";
  DType output_dtype = int64;
  bool include_batch_in_index = false;
};
// {largest, its place}: (y * width + x) * channels + c, after batch * height if asked.
Tensors<2> max_pool_with_argmax(const Operand& input, const Sizes& ksize, const Sizes& strides,
                                const Padding& padding, const ArgmaxOptions& options = {});
struct FractionalPoolOptions {
  bool pseudo_random = false;  // cells of two sizes in a regular order, not in any
  bool overlapping = false;    // each cell also has the first pixels of the next
  std::int64_t seed = 0;       // 0: other cells at every call
};
// The largest and the mean of cells that make an image smaller by a ratio of 1 or more (one
// number, one for each of height and width, or four), which may be no integer: {result, where
// the cells begin along the height, and along the width}. "NHWC" alone.
Tensors<3> fractional_max_pool(const Operand& value, const std::vector<double>& pooling_ratio,
                               const FractionalPoolOptions& options = {});
Tensors<3> fractional_avg_pool(const Operand& value, const std::vector<double>& pooling_ratio,
                               const FractionalPoolOptions& options = {});
struct WindowOptions {
  Sizes strides = 1;
  Padding padding = "VALID";
  std::string data_format = {};
  Sizes dilations = 1;
};
// An op with a window on an image: its input, how many axes the image has, the padding.
using WindowOp =
    std::function<Tensor(const Tensor& input, int num_spatial_dims, const Padding& padding)>;
struct SpaceToBatchOptions {
  TensorShape filter_shape = {};       // begins with the sizes of the window; "SAME" needs it
  std::vector<int> spatial_dims = {};  // the axes of the image, in order: {1, 2, ...} by default,
  std::string data_format = {};        // {2, 3, ...} where this begins with "NC"
};
// The op with a dilated window: called, with "VALID" padding, on an input of which the pixels that
// such a window meets are neighbours in one entry of a larger batch. Dilations of 1: the op as it
// is.
Tensor with_space_to_batch(const Operand& input, const std::vector<int>& dilation_rate,
                           const Padding& padding, const WindowOp& op,
                           const SpaceToBatchOptions& options = {});
// The largest of input + filters [height, width, channels] under the window, and
// the smallest of input - filters: morphology in grey tones. "NHWC" alone.
Tensor dilation2d(const Operand& input, const Operand& filters, const Sizes& strides,
                  const Padding& padding, const std::string& data_format, const Sizes& dilations);
Tensor erosion2d(const Operand& value, const Operand& filters, const Sizes& strides,
                 const Padding& padding, const std::string& data_format, const Sizes& dilations);
// pooling_type is "MAX" or "AVG"; one to three axes.
Tensor pool(const Operand& input, const Sizes& window_shape, const std::string& pooling_type,
            const WindowOptions& options = {});

// ---- losses. Labels and logits are easily confused, so they are always named:
//   nn::softmax_cross_entropy_with_logits({.labels = y, .logits = z});
// Logits are unscaled: what softmax or sigmoid has been applied to gives wrong results.
namespace detail {
class NamedOnly {  // comes first, so that {labels, logits} without names does not compile
 public:
  constexpr NamedOnly() {}
};
}  // namespace detail
struct CrossEntropyArgs {
  detail::NamedOnly use_names = {};
  Tensor labels = {};
  Tensor logits = {};
  int axis = -1;  // of the classes
  std::string name = {};
};
// Labels are distributions over the classes. Losses have the shape of logits
// without the axis of classes. No gradient flows into the labels here; in _v2 it does.
Tensor softmax_cross_entropy_with_logits(const CrossEntropyArgs& args);
Tensor softmax_cross_entropy_with_logits_v2(const CrossEntropyArgs& args);
// Labels are class numbers, int32 or int64: one rank less than logits.
Tensor sparse_softmax_cross_entropy_with_logits(const CrossEntropyArgs& args);
// Classes are independent: max(x, 0) - x z + log(1 + exp(-|x|)) element by element.
Tensor sigmoid_cross_entropy_with_logits(const CrossEntropyArgs& args);
struct WeightedCrossEntropyArgs {
  detail::NamedOnly use_names = {};
  Tensor labels = {};
  Tensor logits = {};
  Tensor pos_weight = {};  // the weight of a positive label
  std::string name = {};
};
Tensor weighted_cross_entropy_with_logits(const WeightedCrossEntropyArgs& args);
// exp(c) - z c of targets z and log-input c: minus the log-likelihood of a Poisson
// variable except for a constant, which the full loss approximates (Stirling).
Tensor log_poisson_loss(const Operand& targets, const Operand& log_input,
                        bool compute_full_loss = false);
// By position: refused.
Tensor softmax_cross_entropy_with_logits(const Operand&, const Operand&) = delete;
Tensor softmax_cross_entropy_with_logits_v2(const Operand&, const Operand&) = delete;
Tensor sparse_softmax_cross_entropy_with_logits(const Operand&, const Operand&) = delete;
Tensor sigmoid_cross_entropy_with_logits(const Operand&, const Operand&) = delete;

}  // namespace nn
namespace math {
using rill::nn::l2_normalize;
}

// ---- numbers rounded to what integers of num_bits (2 to 16) stand for between two limits, which
// are moved so that 0 is a step. The gradient goes straight through within the limits; beyond them
// it goes to the limit. float32.
namespace quantization {
struct FakeQuantOptions {
  int num_bits = 8;
  bool narrow_range = false;  // without the lowest integer
};
struct FakeQuantArgs {
  double min = -6, max = 6;
  int num_bits = 8;
  bool narrow_range = false;
};
Tensor fake_quant_with_min_max_args(const Operand& inputs, const FakeQuantArgs& options = {});
Tensor fake_quant_with_min_max_vars(const Operand& inputs, const Operand& min, const Operand& max,
                                    FakeQuantOptions options = {});
// min and max have an element for each of the last axis.
Tensor fake_quant_with_min_max_vars_per_channel(const Operand& inputs, const Operand& min,
                                                const Operand& max, FakeQuantOptions options = {});
}  // namespace quantization

}  // namespace RILL_API
