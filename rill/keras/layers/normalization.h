#pragma once
#include <initializer_list>
#include <vector>

#include "rill/keras/engine/layer.h"
#include "rill/ops/nn_ops.h"

// Layers that bring their inputs to a mean and a size. `axis` is a number or a list.
namespace rill RILL_API {
namespace data {
class Dataset;
}
namespace keras {
namespace layers {

struct BatchNormalizationOptions {
  nn::Sizes axis = -1;  // of the channels, each of which is normalised apart
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones",
              moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta. In training mean and variance are those
// of the batch, and move moving_mean and moving_variance by 1 - momentum; else, and when the
// layer is not trainable, they are the moving ones. Half types are normalised in float32.
// Weights: gamma, beta, moving_mean, moving_variance, each [channels].
class BatchNormalization : public Layer {
 public:
  BatchNormalization();
  explicit BatchNormalization(BatchNormalizationOptions options);
  // The weights by name, once the layer is built.
  Variable gamma() const { return weight_named("gamma"); }
  Variable beta() const { return weight_named("beta"); }
  Variable moving_mean() const { return weight_named("moving_mean"); }
  Variable moving_variance() const { return weight_named("moving_variance"); }
};

struct LayerNormalizationOptions {
  nn::Sizes axis = -1;  // over which each sample is normalised
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  bool rms_scaling = false;  // of Keras 3: gamma * x / sqrt(variance + epsilon)
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta over the axes of each sample. Weights:
// gamma, beta with the sizes of those axes; gamma alone with rms_scaling.
class LayerNormalization : public Layer {
 public:
  LayerNormalization();
  explicit LayerNormalization(LayerNormalizationOptions options);
  // The weights by name, once the layer is built.
  Variable gamma() const { return weight_named("gamma"); }
  Variable beta() const { return weight_named("beta"); }
};

struct RMSNormalizationOptions {
  nn::Sizes axis = -1;
  double epsilon = 1e-6;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Of Keras 3: scale * x / sqrt(mean(x^2) + epsilon) over the axes. Weight: scale with the sizes of
// those axes.
class RMSNormalization : public Layer {
 public:
  RMSNormalization();
  explicit RMSNormalization(RMSNormalizationOptions options);
};

struct GroupNormalizationOptions {
  std::int64_t groups = 32;  // -1: each channel is a group
  int axis = -1;             // of the channels
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Groups of channels, each normalised over all other axes of the sample. Weights: gamma, beta
// [channels].
class GroupNormalization : public Layer {
 public:
  GroupNormalization();
  explicit GroupNormalization(GroupNormalizationOptions options);
  explicit GroupNormalization(std::int64_t groups, GroupNormalizationOptions options = {});
};

struct UnitNormalizationOptions {
  nn::Sizes axis = -1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x / its Euclidean length along the axes.
class UnitNormalization : public Layer {
 public:
  UnitNormalization();
  explicit UnitNormalization(UnitNormalizationOptions options);
};

struct SpectralNormalizationOptions {
  int power_iterations = 1;  // per training step
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// A layer whose kernel (or table of embeddings) is divided, before each call in training, by an
// estimate of its largest singular value. Weights: those of the layer, and vector_u [1, out],
// which is not trained.
class SpectralNormalization : public Layer {
 public:
  explicit SpectralNormalization(LayerRef layer, SpectralNormalizationOptions options = {});
};

struct NormalizationOptions {
  nn::Sizes axis = -1;              // with their own statistics; {}: one mean for everything
  Tensor mean = {}, variance = {};  // both or none; without them adapt finds them
  bool invert = false;              // the other way: x * sqrt(variance) + mean
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// (x - mean) / sqrt(variance), with statistics that are given or were found by adapt. Weights,
// unless they are given: mean, variance, count.
class Normalization : public Layer {
 public:
  Normalization();
  explicit Normalization(NormalizationOptions options);
  // The mean and variance of all of data. FailedPrecondition when they were given.
  void adapt(const Tensor& data) const;
  void adapt(const data::Dataset& batches) const;
  // Given or found, with an axis of one for each that they are taken over: [1, 3] for data of shape
  // [n, 3]. FailedPrecondition before adapt or the first call.
  Tensor mean() const;
  Tensor variance() const;
};

// One number, or one for each channel: 0.5, or {0.5, 0.25, 1}.
class PerChannel {
 public:
  PerChannel(double one) : values_{one} {}
  PerChannel(std::initializer_list<double> each) : values_(each), is_list_(true) {}
  PerChannel(std::vector<double> each) : values_(std::move(each)), is_list_(true) {}
  const std::vector<double>& values() const { return values_; }
  bool is_list() const { return is_list_; }

 private:
  std::vector<double> values_;
  bool is_list_ = false;
};

struct RescalingOptions {
  PerChannel scale = 1.0, offset = 0.0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x * scale + offset, of whole numbers too: Rescaling(1.0 / 255).
class Rescaling : public Layer {
 public:
  explicit Rescaling(RescalingOptions options);
  explicit Rescaling(double scale, RescalingOptions options = {});
  Rescaling(double scale, double offset, RescalingOptions options = {});
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
