#pragma once
#include <limits>

#include "rill/keras/engine/layer.h"
#include "rill/ops/nn_ops.h"

// Activations that have arguments or weights, as layers.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct SoftmaxOptions {
  nn::Sizes axis = -1;  // one, or several that sum to 1 together
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// exp(x) / sum(exp(x)) along the axis. What a mask of the input's shape hides becomes 0.
class Softmax : public Layer {
 public:
  Softmax();
  explicit Softmax(SoftmaxOptions options);
};

struct ReLUOptions {
  double max_value = std::numeric_limits<double>::infinity();
  double negative_slope = 0, threshold = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x above the threshold, at most max_value; negative_slope * (x - threshold) below.
class ReLU : public Layer {
 public:
  ReLU();
  explicit ReLU(ReLUOptions options);
  explicit ReLU(double max_value, ReLUOptions options = {});
};

struct LeakyReLUOptions {
  double alpha = 0.3;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x above 0, alpha * x below.
class LeakyReLU : public Layer {
 public:
  LeakyReLU();
  explicit LeakyReLU(LeakyReLUOptions options);
  explicit LeakyReLU(double alpha, LeakyReLUOptions options = {});
};

struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  std::vector<int> shared_axes = {};  // along which one alpha stands for all
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x above 0, alpha * x below, with a weight alpha of the shape of a sample.
class PReLU : public Layer {
 public:
  PReLU();
  explicit PReLU(PReLUOptions options);
};

struct ELUOptions {
  double alpha = 1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x above 0, alpha * (exp(x) - 1) below.
class ELU : public Layer {
 public:
  ELU();
  explicit ELU(ELUOptions options);
  explicit ELU(double alpha, ELUOptions options = {});
};

struct ThresholdedReLUOptions {
  double theta = 1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// x above theta, 0 below.
class ThresholdedReLU : public Layer {
 public:
  ThresholdedReLU();
  explicit ThresholdedReLU(ThresholdedReLUOptions options);
  explicit ThresholdedReLU(double theta, ThresholdedReLUOptions options = {});
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
