#include "rill/keras/activations/activation.h"

#include <map>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/tensor_impl.h"
#include "rill/keras/behaviour_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

class ActivationImpl {
 public:
  std::string name;
  std::function<Tensor(const Tensor&)> f;
  RefCount refs;
};
void retain(ActivationImpl* a) noexcept { a->refs.retain(); }
void release(ActivationImpl* a) noexcept {
  if (a->refs.release()) delete a;
}

namespace {

using Pointer = Tensor (*)(const Operand&);

struct Named {
  const char* name;
  Pointer own;  // keras::activations
  Pointer op;   // the same by the name of an op; may be null
};
// Both are known by their address, so that a layer that was given tf::nn::relu can be saved.
const Named kNamed[] = {
    {"linear", activations::linear, static_cast<Pointer>(identity)},
    {"relu", activations::relu, nn::relu},
    {"sigmoid", activations::sigmoid, nn::sigmoid},
    {"sigmoid", activations::sigmoid, rill::sigmoid},
    {"tanh", activations::tanh, nn::tanh},
    {"tanh", activations::tanh, rill::tanh},
    {"softmax", activations::softmax, nn::softmax},
    {"softplus", activations::softplus, nn::softplus},
    {"softsign", activations::softsign, nn::softsign},
    {"elu", activations::elu, nn::elu},
    {"selu", activations::selu, nn::selu},
    {"gelu", activations::gelu, nn::gelu},
    {"exponential", activations::exponential, rill::exp},
    {"swish", activations::swish, nn::swish},
    {"swish", activations::silu, nn::silu},
    {"hard_sigmoid", activations::hard_sigmoid, nullptr},
    {"mish", activations::mish, nullptr},
    {"relu6", nn::relu6, nullptr},
    {"leaky_relu", nn::leaky_relu, nullptr},
    {"log_softmax", nn::log_softmax, nullptr},
    {"celu", activations::celu, nullptr},
    {"glu", activations::glu, nullptr},
    {"hard_shrink", activations::hard_shrink, nullptr},
    {"hard_silu", activations::hard_silu, activations::hard_swish},
    {"hard_tanh", activations::hard_tanh, nullptr},
    {"log_sigmoid", activations::log_sigmoid, nullptr},
    {"soft_shrink", activations::soft_shrink, nullptr},
    {"sparse_plus", activations::sparse_plus, nullptr},
    {"sparse_sigmoid", activations::sparse_sigmoid, nullptr},
    {"sparsemax", activations::sparsemax, nullptr},
    {"squareplus", activations::squareplus, nullptr},
    {"tanh_shrink", activations::tanh_shrink, nullptr},
};

std::vector<std::string> known_names() {
  std::vector<std::string> names{"silu", "hard_swish"};
  for (const Named& n : kNamed)
    if (names.empty() || names.back() != n.name) names.push_back(n.name);
  return names;
}

}  // namespace

Activation Activation::by_name(std::string_view name) {
  if (name.empty() || name == "linear") return {};
  const std::string_view wanted = name == "silu"         ? "swish"
                                  : name == "hard_swish" ? "hard_silu"
                                                         : name;
  if (wanted == "hard_sigmoid" && keras_behaviour() == 3) {
    Activation made = by_function([](const Tensor& x) { return nn::relu6(x + 3) * (1.0 / 6); });
    made.impl_->name = wanted;
    return made;
  }
  for (const Named& n : kNamed)
    if (wanted == n.name) return by_pointer(n.own);
  RILL_FAIL(invalid_argument, "[activation] unknown activation \"{}\".{}", name,
            did_you_mean(name, known_names()));
}
Activation Activation::by_pointer(Tensor (*f)(const Operand&)) {
  auto* impl = new ActivationImpl;
  Activation made(impl);
  impl->f = [f](const Tensor& x) { return f(x); };
  for (const Named& n : kNamed)
    if (f == n.own || (n.op && f == n.op)) {
      if (std::string_view(n.name) == "linear") return {};
      impl->name = n.name;
      break;
    }
  return made;
}
Activation Activation::by_function(std::function<Tensor(const Tensor&)> f) {
  auto* impl = new ActivationImpl;
  impl->f = std::move(f);
  return Activation(impl);
}

Tensor Activation::operator()(const Tensor& x) const { return impl_ ? impl_->f(x) : x; }
const std::string& Activation::name() const {
  static const std::string linear = "linear";
  return impl_ ? impl_->name : linear;
}
Config Activation::serialize() const {
  RILL_CHECK(!name().empty(), failed_precondition,
             "[activation] a lambda or an own function has no name that a file could hold; use "
             "one of the library by name, or a user-defined Layer with get_config");
  return name();
}
Activation Activation::deserialize(const Config& config) {
  if (config.is_null()) return {};
  if (config.is_text()) return by_name(config.as_string());
  // Keras 3 may wrap a name: {"class_name": "function", "config": "relu"}.
  return deserialize(config["config"]);
}

namespace activations {

Tensor linear(const Operand& x) { return to_tensor(x); }
Tensor relu(const Operand& x) { return nn::relu(x); }
Tensor relu(const Operand& x, ReluOptions o) {
  RILL_CHECK(o.max_value >= 0 && o.negative_slope >= 0 && o.threshold >= 0, invalid_argument,
             "[relu] negative_slope {}, max_value {}, threshold {}; expected none below 0",
             o.negative_slope, o.max_value, o.threshold);
  const Tensor in = to_tensor(x);
  Tensor y;
  if (o.threshold != 0) {
    const Tensor over = in > o.threshold;
    const Tensor below =
        o.negative_slope != 0 ? o.negative_slope * (in - o.threshold) : zeros_like(in);
    y = where(over, in, below);
  } else if (o.negative_slope != 0) {
    y = nn::leaky_relu(in, o.negative_slope);
  } else {
    y = o.max_value == 6 ? nn::relu6(in) : nn::relu(in);
  }
  return o.max_value != 0 ? minimum(y, o.max_value) : y;
}
// Losses take the logits of these two where they can: see losses.cc.
static Tensor with_logits(Tensor probabilities, const Tensor& logits) {
  retain(logits.impl());
  probabilities.impl()->logits = Ref<TensorImpl>(logits.impl());
  return probabilities;
}
Tensor sigmoid(const Operand& x) {
  const Tensor in = to_tensor(x);
  return with_logits(nn::sigmoid(in), in);
}
Tensor hard_sigmoid(const Operand& x) { return clip_by_value(0.2 * to_tensor(x) + 0.5, 0, 1); }
Tensor tanh(const Operand& x) { return nn::tanh(x); }
Tensor softmax(const Operand& x) { return softmax(x, -1); }
Tensor softmax(const Operand& x, int axis) {
  const Tensor in = to_tensor(x);
  RILL_CHECK(!in.shape().has_rank() || in.ndim() > 1, invalid_argument,
             "[softmax] cannot apply softmax to a tensor of shape {}: expected one with a batch "
             "axis and an axis of classes",
             in.shape());
  return with_logits(nn::softmax(in, axis), in);
}
Tensor softplus(const Operand& x) { return nn::softplus(x); }
Tensor softsign(const Operand& x) { return nn::softsign(x); }
Tensor elu(const Operand& x) { return nn::elu(x); }
Tensor elu(const Operand& x, double alpha) {
  const Tensor in = to_tensor(x), y = nn::elu(in);
  return alpha == 1 ? y : where(in > 0, y, alpha * y);
}
Tensor selu(const Operand& x) { return nn::selu(x); }
Tensor gelu(const Operand& x) { return nn::gelu(x); }
Tensor gelu(const Operand& x, bool approximate) { return nn::gelu(x, approximate); }
Tensor exponential(const Operand& x) { return rill::exp(x); }
Tensor swish(const Operand& x) { return nn::swish(x); }
Tensor mish(const Operand& x) {
  const Tensor in = to_tensor(x);
  return in * nn::tanh(nn::softplus(in));
}
Activation get(std::string_view name) { return Activation(name); }

}  // namespace activations
}  // namespace rill::keras
