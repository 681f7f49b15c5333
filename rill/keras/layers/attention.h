#pragma once
#include <utility>
#include <vector>

#include "rill/keras/engine/layer.h"

// Layers in which each query takes what it needs from all values. Inputs are a query
// [batch, Tq, dim], a value [batch, Tv, dim] and, where it is not the value, a key.
namespace rill RILL_API {
namespace keras {
namespace layers {

// What a call of Attention or AdditiveAttention may say beyond query and value.
struct AttentionCall {
  Tensor key = {};                          // the value, when not given
  Tensor query_mask = {}, value_mask = {};  // [batch, T]; else as the tensors carry them
  // Two results: auto [y, scores] = layer(q, v, {.return_attention_scores = true}).unpack<2>();
  bool return_attention_scores = false;
  bool use_causal_mask = false;  // a query sees no value that comes after it
  int training = -1;
};

// What Attention and AdditiveAttention have in common.
class DenseAttention : public Layer {
 public:
  using Layer::operator();  // attention({query, value}) and ({query, value, key})
  Tensor operator()(const Operand& query, const Operand& value, AttentionCall call = {}) const;
  // The result, and how much of each value went into it: [batch, Tq, Tv].
  std::pair<Tensor, Tensor> with_scores(const Operand& query, const Operand& value,
                                        AttentionCall call = {}) const;

 protected:
  template <class L>
  DenseAttention(const L* self, LayerImpl* impl) : Layer(self, impl, typeid(DenseAttention)) {}
};

struct AttentionOptions {
  bool use_scale = false;          // a weight that scales the scores
  std::string score_mode = "dot";  // query . key, or "concat": sum of tanh(query + key)
  double dropout = 0;              // of the scores
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Luong's attention: softmax(query . key) value.
class Attention : public DenseAttention {
 public:
  Attention();
  explicit Attention(AttentionOptions options);
  explicit Attention(bool use_scale, AttentionOptions options = {});
};

struct AdditiveAttentionOptions {
  bool use_scale = true;
  double dropout = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Bahdanau's attention: softmax(sum(scale * tanh(query + key))) value.
class AdditiveAttention : public DenseAttention {
 public:
  AdditiveAttention();
  explicit AdditiveAttention(AdditiveAttentionOptions options);
  explicit AdditiveAttention(bool use_scale, AdditiveAttentionOptions options = {});
};

// What a call of MultiHeadAttention may say beyond query and value.
struct MultiHeadAttentionCall {
  Tensor key = {};                       // the value, when not given
  Tensor attention_mask = {};            // [batch, Tq, Tv]: false where a query must not look
  bool return_attention_scores = false;  // two results, as of Attention
  int training = -1;
  bool use_causal_mask = false;
};
struct MultiHeadAttentionOptions {
  std::int64_t num_heads = 0, key_dim = 0;
  std::int64_t value_dim = 0;  // 0: key_dim
  double dropout = 0;
  bool use_bias = true;
  TensorShape output_shape = {};         // of the features; not given: those of the query
  std::vector<int> attention_axes = {};  // none: all between the batch and the features
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Several attentions side by side, each on its own projection of query, key and value.
//
//   keras::layers::MultiHeadAttention attention(8, 64);
//   auto y = attention(x, x, {.use_causal_mask = true});
//
// As a list of inputs: query, value, key, attention_mask, of which the last two may lack. Masks
// that the inputs carry are respected.
class MultiHeadAttention : public Layer {
 public:
  explicit MultiHeadAttention(MultiHeadAttentionOptions options);
  MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim,
                     MultiHeadAttentionOptions options = {});
  using Layer::operator();
  Tensor operator()(const Operand& query, const Operand& value,
                    MultiHeadAttentionCall call = {}) const;
  // The result, and the scores [batch, heads, Tq, Tv].
  std::pair<Tensor, Tensor> with_scores(const Operand& query, const Operand& value,
                                        MultiHeadAttentionCall call = {}) const;
};

struct GroupQueryAttentionOptions {
  std::int64_t head_dim = 0, num_query_heads = 0, num_key_value_heads = 0;
  double dropout = 0;  // of the scores
  bool use_bias = true;
  std::int64_t sliding_window = 0;  // a query sees fewer steps than that to either side; 0: all
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  bool use_gate = false;  // the result is weighed by a sigmoid of the query
  std::int64_t seed = -1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Of Keras 3: a MultiHeadAttention whose query heads share keys and values in groups. The number of
// query heads is a multiple of that of the others. Inputs [batch, T, dim], as of
// MultiHeadAttention.
class GroupQueryAttention : public Layer {
 public:
  explicit GroupQueryAttention(GroupQueryAttentionOptions options);
  GroupQueryAttention(std::int64_t head_dim, std::int64_t num_query_heads,
                      std::int64_t num_key_value_heads, GroupQueryAttentionOptions options = {});
  using Layer::operator();
  Tensor operator()(const Operand& query, const Operand& value,
                    MultiHeadAttentionCall call = {}) const;
  // The result, and the scores [batch, heads, Tq, Tv].
  std::pair<Tensor, Tensor> with_scores(const Operand& query, const Operand& value,
                                        MultiHeadAttentionCall call = {}) const;
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
