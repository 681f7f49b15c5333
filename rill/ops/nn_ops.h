#pragma once
#include <string>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Neural networks: activations, losses, normalisation. Names, arguments and
// defaults are TensorFlow's. What may be passed as an activation has no default
// argument but a second overload.
namespace rill RILL_API {
namespace nn {

// ---- activations
Tensor relu(const Operand& x);   // max(x, 0)
Tensor relu6(const Operand& x);  // min(max(x, 0), 6)
Tensor leaky_relu(const Operand& x);  // alpha 0.2
Tensor leaky_relu(const Operand& x, double alpha);
Tensor elu(const Operand& x);       // exp(x) - 1 below 0
Tensor selu(const Operand& x);      // elu that keeps mean 0 and variance 1
Tensor softplus(const Operand& x);  // log(1 + exp(x))
Tensor softsign(const Operand& x);  // x / (1 + |x|)
// relu of x and of -x, joined along the last axis or a given one.
Tensor crelu(const Operand& x);
Tensor crelu(const Operand& x, int axis);

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
Tensor xw_plus_b(const Operand& x, const Operand& weights, const Operand& biases);   // matmul(x, w) + b
Tensor relu_layer(const Operand& x, const Operand& weights, const Operand& biases);  // relu of that
// Rows of params; the gradient stays sparse.
Tensor embedding_lookup(const Operand& params, const Operand& ids);

// ---- losses. Labels and logits are easily confused, so they are always named:
//   nn::softmax_cross_entropy_with_logits({.labels = y, .logits = z});
// Logits are unscaled: what softmax or sigmoid has been applied to gives wrong results.
namespace detail {
class NamedOnly {  // stands first, so that {labels, logits} without names does not compile
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
// By position: refused.
Tensor softmax_cross_entropy_with_logits(const Operand&, const Operand&) = delete;
Tensor softmax_cross_entropy_with_logits_v2(const Operand&, const Operand&) = delete;
Tensor sparse_softmax_cross_entropy_with_logits(const Operand&, const Operand&) = delete;
Tensor sigmoid_cross_entropy_with_logits(const Operand&, const Operand&) = delete;

}  // namespace nn
}  // namespace rill
