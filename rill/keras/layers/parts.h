#pragma once
#include "rill/keras/engine/layer.h"

// Layers that Keras's applications have of their own: files of ConvNeXt and InceptionResNetV2 name
// them.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct CustomScaleLayerOptions {
  double scale = 1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Of two inputs, the first and `scale` of the second: layer({x, branch}).
class CustomScaleLayer : public Layer {
 public:
  explicit CustomScaleLayer(CustomScaleLayerOptions options);
  explicit CustomScaleLayer(double scale, CustomScaleLayerOptions options = {});
};

struct LayerScaleOptions {
  double init_values = 1e-6;
  std::int64_t projection_dim = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x * gamma along the last axis. Weight: gamma [projection_dim], of init_values at first.
class LayerScale : public Layer {
 public:
  explicit LayerScale(LayerScaleOptions options);
  LayerScale(double init_values, std::int64_t projection_dim, LayerScaleOptions options = {});
};

struct StochasticDepthOptions {
  double drop_path_rate = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// In training each sample is 0 with the probability drop_path_rate, else scaled by
// 1 / (1 - drop_path_rate).
class StochasticDepth : public Layer {
 public:
  explicit StochasticDepth(StochasticDepthOptions options);
  explicit StochasticDepth(double drop_path_rate, StochasticDepthOptions options = {});
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
