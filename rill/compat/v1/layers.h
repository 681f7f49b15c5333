#pragma once
#include "rill/compat/v1/template.h"
#include "rill/compat/v1/variable_scope.h"
#include "rill/keras/layers/convolutional.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/normalization.h"
#include "rill/keras/layers/pooling.h"
#include "rill/keras/layers/regularization.h"

// tf.layers of TensorFlow 1. The classes are Keras's. The functions make a layer and call it:
// their weights are variables of the default store, "<scopes>/<name>/kernel:0", which a second call
// with the same name shares where `reuse` (its own, or that of the scope) allows it. A name that is
// not given is that of the class, made unique in its scope: dense, dense_1.
//
//   auto net = v1::make_template("net", [](Tensor x) {
//     return v1::layers::dense(x, 10, {.activation = "relu", .name = "hidden"});
//   });
//
// A function that has weights fails (FailedPrecondition) where no store would keep them: call it in
// a make_template, under VariableStore::as_default(), or use the class.
namespace rill RILL_API {
namespace compat {
namespace v1 {
namespace layers {

using keras::layers::AveragePooling1D, keras::layers::AveragePooling2D,
    keras::layers::AveragePooling3D, keras::layers::BatchNormalization, keras::layers::Conv1D,
    keras::layers::Conv2D, keras::layers::Conv2DTranspose, keras::layers::Conv3D,
    keras::layers::Conv3DTranspose, keras::layers::Dense, keras::layers::Dropout,
    keras::layers::Flatten, keras::layers::Layer, keras::layers::MaxPooling1D,
    keras::layers::MaxPooling2D, keras::layers::MaxPooling3D, keras::layers::SeparableConv1D,
    keras::layers::SeparableConv2D;

// Initializers that are not given are those of the scope, else glorot_uniform.
struct DenseOptions {
  keras::Activation activation = {};
  bool use_bias = true;
  keras::Initializer kernel_initializer = {}, bias_initializer = "zeros";
  keras::Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  keras::Constraint kernel_constraint = {}, bias_constraint = {};
  bool trainable = true;
  std::string name = {};
  Reuse reuse = {};
};
// activation(inputs kernel + bias).
Tensor dense(const Operand& inputs, std::int64_t units, const DenseOptions& options = {});

struct ConvOptions {
  nn::Sizes strides = 1;
  std::string padding = "valid", data_format = "channels_last";
  nn::Sizes dilation_rate = 1;
  keras::Activation activation = {};
  bool use_bias = true;
  keras::Initializer kernel_initializer = {}, bias_initializer = "zeros";
  keras::Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  keras::Constraint kernel_constraint = {}, bias_constraint = {};
  bool trainable = true;
  std::string name = {};
  Reuse reuse = {};
};
Tensor conv1d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
              const ConvOptions& options = {});
Tensor conv2d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
              const ConvOptions& options = {});
Tensor conv3d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
              const ConvOptions& options = {});
// These take no dilation_rate: InvalidArgument for one.
Tensor conv2d_transpose(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const ConvOptions& options = {});
Tensor conv3d_transpose(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const ConvOptions& options = {});

struct SeparableConvOptions {
  nn::Sizes strides = 1;
  std::string padding = "valid", data_format = "channels_last";
  nn::Sizes dilation_rate = 1;
  std::int64_t depth_multiplier = 1;
  keras::Activation activation = {};
  bool use_bias = true;
  keras::Initializer depthwise_initializer = {}, pointwise_initializer = {},
                     bias_initializer = "zeros";
  keras::Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {},
                     activity_regularizer = {};
  keras::Constraint depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  bool trainable = true;
  std::string name = {};
  Reuse reuse = {};
};
Tensor separable_conv1d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const SeparableConvOptions& options = {});
Tensor separable_conv2d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const SeparableConvOptions& options = {});

struct BatchNormalizationOptions {
  nn::Sizes axis = -1;
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true;
  keras::Initializer beta_initializer = "zeros", gamma_initializer = "ones",
                     moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  keras::Regularizer beta_regularizer = {}, gamma_regularizer = {};
  keras::Constraint beta_constraint = {}, gamma_constraint = {};
  bool training = false;
  bool trainable = true;
  std::string name = {};
  Reuse reuse = {};
};
// In training the moving statistics move at once, in a traced function as part of it.
Tensor batch_normalization(const Operand& inputs, const BatchNormalizationOptions& options = {});

// ---- without weights
struct DropoutOptions {
  TensorShape noise_shape = {};
  std::int64_t seed = -1;
  bool training = false;
  std::string name = {};
};
Tensor dropout(const Operand& inputs, double rate = 0.5, const DropoutOptions& options = {});

struct FlattenOptions {
  std::string name = {};
  std::string data_format = "channels_last";
};
Tensor flatten(const Operand& inputs, const FlattenOptions& options = {});

struct PoolingOptions {
  std::string padding = "valid", data_format = "channels_last";
  std::string name = {};
};
Tensor max_pooling1d(const Operand& inputs, const nn::Sizes& pool_size, const nn::Sizes& strides,
                     const PoolingOptions& options = {});
Tensor max_pooling2d(const Operand& inputs, const nn::Sizes& pool_size, const nn::Sizes& strides,
                     const PoolingOptions& options = {});
Tensor max_pooling3d(const Operand& inputs, const nn::Sizes& pool_size, const nn::Sizes& strides,
                     const PoolingOptions& options = {});
Tensor average_pooling1d(const Operand& inputs, const nn::Sizes& pool_size,
                         const nn::Sizes& strides, const PoolingOptions& options = {});
Tensor average_pooling2d(const Operand& inputs, const nn::Sizes& pool_size,
                         const nn::Sizes& strides, const PoolingOptions& options = {});
Tensor average_pooling3d(const Operand& inputs, const nn::Sizes& pool_size,
                         const nn::Sizes& strides, const PoolingOptions& options = {});

}  // namespace layers
}  // namespace v1
}  // namespace compat

namespace layers {
using namespace rill::compat::v1::layers;
}

}  // namespace RILL_API
