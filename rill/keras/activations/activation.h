#pragma once
#include <functional>
#include <string>
#include <type_traits>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/keras/config.h"

namespace rill RILL_API {
namespace keras {

class ActivationImpl;
void retain(ActivationImpl*) noexcept;
void release(ActivationImpl*) noexcept;

// A function of one tensor: "relu", tf::nn::relu, or any callable. Default-constructed it is
// none: the layer is linear. A handle; it never changes.
class Activation {
 public:
  Activation() = default;
  Activation(std::nullptr_t) {}
  template <StringLike S>
  Activation(const S& name) : Activation(by_name(std::string_view(name))) {}
  // Picks the member of an overload set that takes one tensor. A function of the library keeps
  // its name, so that files can hold it.
  Activation(Tensor (*f)(const Operand&)) : Activation(by_pointer(f)) {}
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, Tensor> && !StringLike<F> &&
           !std::is_same_v<std::remove_cvref_t<F>, Activation> &&
           !std::is_convertible_v<F, Tensor (*)(const Operand&)>) Activation(F f)
      : Activation(by_function(std::move(f))) {}

  bool defined() const { return static_cast<bool>(impl_); }
  Tensor operator()(const Tensor& x) const;  // x itself when it is none
  // "relu"; "linear" for none; "" for a function that files cannot name.
  const std::string& name() const;
  bool is(std::string_view name) const { return this->name() == name; }

  // Its name. FailedPrecondition for a function that was not registered.
  Config serialize() const;
  static Activation deserialize(const Config& config);

 private:
  explicit Activation(ActivationImpl* impl) : impl_(impl) {}
  static Activation by_name(std::string_view name);
  static Activation by_pointer(Tensor (*f)(const Operand&));
  static Activation by_function(std::function<Tensor(const Tensor&)> f);
  Ref<ActivationImpl> impl_;
  friend class ActivationRegistry;
};

// Keras's activations as functions.
namespace activations {

Tensor linear(const Operand& x);
Tensor relu(const Operand& x);
struct ReluOptions {
  double negative_slope = 0;
  double max_value = 0;  // 0: none
  double threshold = 0;
};
Tensor relu(const Operand& x, ReluOptions options);
Tensor sigmoid(const Operand& x);
Tensor hard_sigmoid(const Operand& x);  // 0.2 x + 0.5, cut to [0, 1]
Tensor tanh(const Operand& x);
Tensor softmax(const Operand& x);
Tensor softmax(const Operand& x, int axis);
Tensor softplus(const Operand& x);
Tensor softsign(const Operand& x);
Tensor elu(const Operand& x);
Tensor elu(const Operand& x, double alpha);
Tensor selu(const Operand& x);
Tensor gelu(const Operand& x);
Tensor gelu(const Operand& x, bool approximate);
Tensor exponential(const Operand& x);
Tensor swish(const Operand& x);
inline Tensor silu(const Operand& x) { return swish(x); }
Tensor mish(const Operand& x);

// ---- of Keras 3
Tensor celu(const Operand& x);  // max(x, 0) + alpha (e^(min(x, 0) / alpha) - 1), alpha 1
Tensor celu(const Operand& x, double alpha);
Tensor glu(const Operand& x);  // one half of the last axis times the sigmoid of the other
Tensor glu(const Operand& x, int axis);
Tensor hard_shrink(const Operand& x);  // x, but 0 from -0.5 to 0.5
Tensor hard_shrink(const Operand& x, double threshold);
Tensor hard_silu(const Operand& x);  // x relu6(x + 3) / 6
inline Tensor hard_swish(const Operand& x) { return hard_silu(x); }
Tensor hard_tanh(const Operand& x);  // x, cut to [-1, 1]
Tensor log_sigmoid(const Operand& x);
Tensor soft_shrink(const Operand& x);  // x moved by 0.5 towards 0
Tensor soft_shrink(const Operand& x, double threshold);
Tensor sparse_plus(const Operand& x);     // 0, (x + 1)^2 / 4 from -1 to 1, x
Tensor sparse_sigmoid(const Operand& x);  // 0, (x + 1) / 2 from -1 to 1, 1
Tensor sparsemax(const Operand& x);       // along the last axis
Tensor sparsemax(const Operand& x, int axis);
Tensor squareplus(const Operand& x);  // (x + sqrt(x^2 + b)) / 2, b 4
Tensor squareplus(const Operand& x, double b);
Tensor tanh_shrink(const Operand& x);  // x - tanh(x)
// x where it is above the threshold, else default_value.
Tensor threshold(const Operand& x, double threshold, double default_value);

// The activation of that name; InvalidArgument, with the nearest name, when there is none.
Activation get(std::string_view name);

}  // namespace activations
}  // namespace keras
}  // namespace RILL_API
