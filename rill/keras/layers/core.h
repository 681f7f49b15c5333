#pragma once
#include "rill/keras/activations/activation.h"
#include "rill/keras/layer.h"

// Layers of the core. The last fields of every options struct are the keyword arguments that
// all layers take, in one order.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct DenseOptions {
  std::int64_t units = 0;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
};
// activation(x kernel + bias) along the last axis. Weights: kernel [in, units], bias [units].
class Dense : public Layer {
 public:
  explicit Dense(DenseOptions options);
  explicit Dense(std::int64_t units, DenseOptions options = {});
};

struct ActivationOptions {
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
};
// An activation as a layer of its own.
class Activation : public Layer {
 public:
  explicit Activation(keras::Activation activation, ActivationOptions options = {});
};

struct FlattenOptions {
  std::string data_format = "channels_last";
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
};
// [batch, ...] -> [batch, everything else].
class Flatten : public Layer {
 public:
  Flatten();
  explicit Flatten(FlattenOptions options);
};

struct ReshapeOptions {
  TensorShape target_shape = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
};
// [batch, ...] -> [batch, target_shape]; one size may be -1.
class Reshape : public Layer {
 public:
  explicit Reshape(ReshapeOptions options);
  explicit Reshape(const TensorShape& target_shape, ReshapeOptions options = {});
};

struct InputLayerOptions {
  TensorShape input_shape = {};
  std::int64_t batch_size = -1;  // -1: any
  DType dtype = {};
  std::string name = {};
};
// The entry of a model; mostly made by keras::Input.
class InputLayer : public Layer {
 public:
  explicit InputLayer(InputLayerOptions options);
};

}  // namespace layers

struct InputOptions {
  std::int64_t batch_size = -1;  // -1: any
  std::string name = {};         // "input_1", ... when empty
  DType dtype = float32;
};
// A symbolic tensor [batch, shape...]: layers that are called on it draw a functional model.
Tensor Input(const TensorShape& shape, InputOptions options = {});

}  // namespace keras
}  // namespace RILL_API
