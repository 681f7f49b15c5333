#pragma once
#include "rill/keras/engine/layer.h"

// Layers that act only in training.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct DropoutOptions {
  double rate = 0;
  TensorShape noise_shape = {};  // sizes of 1 (or None as in the input) share what is dropped
  std::int64_t seed = -1;        // -1: as tf::random::set_seed says
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// In training each element is 0 with probability rate, else scaled by 1 / (1 - rate).
class Dropout : public Layer {
 public:
  explicit Dropout(DropoutOptions options);
  explicit Dropout(double rate, DropoutOptions options = {});
};

struct SpatialDropoutOptions {
  double rate = 0;
  std::string data_format = "channels_last";
  std::int64_t seed = -1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Dropout of whole channels of an image [batch, axes.., channels].
template <int axes>
class SpatialDropout : public Layer {
 public:
  explicit SpatialDropout(SpatialDropoutOptions options);
  explicit SpatialDropout(double rate, SpatialDropoutOptions o = {})
      : SpatialDropout((o.rate = rate, std::move(o))) {}
};
using SpatialDropout1D = SpatialDropout<1>;
using SpatialDropout2D = SpatialDropout<2>;
using SpatialDropout3D = SpatialDropout<3>;

struct GaussianNoiseOptions {
  double stddev = 0;
  std::int64_t seed = -1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// In training x + noise of mean 0.
class GaussianNoise : public Layer {
 public:
  explicit GaussianNoise(GaussianNoiseOptions options);
  explicit GaussianNoise(double stddev, GaussianNoiseOptions options = {});
};

struct GaussianDropoutOptions {
  double rate = 0;
  std::int64_t seed = -1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// In training x * noise of mean 1 and standard deviation sqrt(rate / (1 - rate)).
class GaussianDropout : public Layer {
 public:
  explicit GaussianDropout(GaussianDropoutOptions options);
  explicit GaussianDropout(double rate, GaussianDropoutOptions options = {});
};

// As DropoutOptions: rate, noise_shape, seed. Keeps mean and variance of what selu gives.
class AlphaDropout : public Layer {
 public:
  explicit AlphaDropout(DropoutOptions options);
  explicit AlphaDropout(double rate, DropoutOptions options = {});
};

struct ActivityRegularizationOptions {
  double l1 = 0, l2 = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// The input itself, which adds l1 * sum(|x|) + l2 * sum(x^2) a sample to the loss.
class ActivityRegularization : public Layer {
 public:
  explicit ActivityRegularization(ActivityRegularizationOptions options);
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
