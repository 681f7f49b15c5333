#pragma once
#include <optional>

#include "rill/keras/activations/activation.h"
#include "rill/keras/engine/layer.h"

// Layers of the core. The last fields of every options struct are the keyword arguments that
// all layers take, in one order; of some, low-rank adaptation follows (Layer::enable_lora).
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
  std::int64_t input_dim = 0;  // other than 0: input_shape = {input_dim}
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
  std::int64_t lora_rank = 0;             // 0: none
  std::optional<double> lora_alpha = {};  // the rank, when not given
};
// activation(x kernel + bias) along the last axis. Weights: kernel [in, units], bias [units].
class Dense : public Layer {
 public:
  explicit Dense(DenseOptions options);
  explicit Dense(std::int64_t units, DenseOptions options = {});
  Dense(std::int64_t units, keras::Activation activation, DenseOptions options = {});
  // The weights by name, once the layer is built.
  Variable kernel() const { return weight_named("kernel"); }
  Variable bias() const { return weight_named("bias"); }
};

struct ActivationOptions {
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// An activation as its own layer.
class Activation : public Layer {
 public:
  explicit Activation(keras::Activation activation, ActivationOptions options = {});
};

struct IdentityOptions {
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Gives what it takes.
class Identity : public Layer {
 public:
  Identity();
  explicit Identity(IdentityOptions options);
};

struct FlattenOptions {
  std::string data_format = "channels_last";
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
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
  std::vector<Tensor> weights = {};
};
// [batch, ...] -> [batch, target_shape]; one size may be -1.
class Reshape : public Layer {
 public:
  explicit Reshape(ReshapeOptions options);
  // {7, 7, 64}, or a shape. Templates, so that braces with names in them are options alone.
  template <std::size_t n>
  explicit Reshape(const Dim (&target_shape)[n], ReshapeOptions options = {})
      : Reshape(shape_of(target_shape, n), std::move(options)) {}
  template <class Shape>
  requires std::is_same_v<Shape, TensorShape>
  explicit Reshape(const Shape& target_shape, ReshapeOptions options = {})
      : Reshape((options.target_shape = target_shape, std::move(options))) {}

 private:
  static TensorShape shape_of(const Dim* sizes, std::size_t n);
};

struct EmbeddingOptions {
  std::int64_t input_dim = 0, output_dim = 0;
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer = {}, activity_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;         // index 0 is padding: it is masked for the layers that follow
  std::int64_t input_length = 0;  // 0: any
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
  std::int64_t lora_rank = 0;             // 0: none
  std::optional<double> lora_alpha = {};  // the rank, when not given
};
// Indices [batch, ...] -> rows [batch, ..., output_dim] of the weight "embeddings" [input_dim,
// output_dim]. Its gradient stays sparse: an optimizer touches the rows that were used.
class Embedding : public Layer {
 public:
  explicit Embedding(EmbeddingOptions options);
  Embedding(std::int64_t input_dim, std::int64_t output_dim, EmbeddingOptions options = {});
  Variable embeddings() const { return weight_named("embeddings"); }
};

struct MaskingOptions {
  double mask_value = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Masks the steps of [batch, time, features] whose features are all mask_value.
class Masking : public Layer {
 public:
  Masking();
  explicit Masking(MaskingOptions options);
  explicit Masking(double mask_value, MaskingOptions options = {});
};

struct EinsumDenseOptions {
  std::string equation = {};      // "abc,cd->abd": the input, the kernel, the output
  TensorShape output_shape = {};  // without the batch; None where the input says it
  keras::Activation activation = {};
  std::string bias_axes = {};  // the labels of the output that the bias has; none: no bias
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
  std::int64_t lora_rank = 0;             // 0: none
  std::optional<double> lora_alpha = {};  // the rank, when not given
};
// activation(einsum(equation, x, kernel) + bias): a Dense along any axes. "..." at the begin or
// end of the labels stands for axes that come along.
class EinsumDense : public Layer {
 public:
  explicit EinsumDense(EinsumDenseOptions options);
  EinsumDense(std::string_view equation, const TensorShape& output_shape,
              EinsumDenseOptions options = {});
};

struct InputLayerOptions {
  TensorShape input_shape = {};
  std::int64_t batch_size = -1;  // -1: any
  DType dtype = {};
  std::string name = {};
  bool sparse = false, ragged = false;
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
  DType dtype = {};              // backend::floatx(), when not given
};
// A field that must be given, and be true.
struct SaidTrue {
  SaidTrue(bool yes);
};
struct RaggedInputOptions {
  std::int64_t batch_size = -1;
  std::string name = {};
  DType dtype = {};
  SaidTrue ragged;
};
struct SparseInputOptions {
  std::int64_t batch_size = -1;
  std::string name = {};
  DType dtype = {};
  SaidTrue sparse;
};
// A symbolic tensor [batch, shape...]: layers that are called on it draw a functional model.
Tensor Input(const TensorShape& shape, InputOptions options = {});
// Input({None}, {.ragged = true}), Input({1000}, {.sparse = true}): the same of ragged and of
// sparse tensors. Of a ragged one the axes up to the last None are ragged.
RaggedTensor Input(const TensorShape& shape, RaggedInputOptions options);
SparseTensor Input(const TensorShape& shape, SparseInputOptions options);

}  // namespace keras
}  // namespace RILL_API
