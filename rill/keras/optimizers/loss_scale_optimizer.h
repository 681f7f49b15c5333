#pragma once
#include "rill/keras/optimizers/optimizer.h"

namespace rill RILL_API {
namespace keras {
namespace mixed_precision {

struct LossScaleOptions {
  bool dynamic = true;
  std::optional<double> initial_scale = {};               // 2^15; must be given for a fixed scale
  std::optional<std::int64_t> dynamic_growth_steps = {};  // 2000; for a dynamic one alone
};

// An optimizer around another, for gradients in float16, of which small ones would vanish: the
// loss is multiplied by a scale before it is differentiated, the gradients are divided by it. A
// dynamic scale doubles after dynamic_growth_steps steps of finite gradients; gradients that are
// not finite halve it (down to 1), and their step is left out: it is counted, but neither
// variables nor their state change. compile wraps the optimizer of a model of policy
// "mixed_float16" in one. In a user-defined loop:
//
//   loss = optimizer.get_scaled_loss(loss_fn(y, model(x)));  // while the tape records
//   optimizer.apply_gradients(optimizer.get_unscaled_gradients(tape.gradient(loss, vars)), vars);
class LossScaleOptimizer : public Optimizer {
 public:
  // InvalidArgument for an optimizer that scales already, for one of compat::v1, and for options
  // that contradict each other.
  explicit LossScaleOptimizer(const Optimizer& inner_optimizer, LossScaleOptions options = {});
  // A handle on a model's optimizer that is one; InvalidArgument for another.
  static LossScaleOptimizer of(const Optimizer& optimizer);

  Optimizer inner_optimizer() const;
  bool dynamic() const;
  Tensor loss_scale() const;  // now; float32
  double initial_scale() const;
  std::optional<std::int64_t> dynamic_growth_steps() const;
  Variable dynamic_counter() const;  // int64: finite steps since the last change; or undefined

 private:
  explicit LossScaleOptimizer(const Ref<OptimizerImpl>& impl) : Optimizer(impl) {}
};

}  // namespace mixed_precision
}  // namespace keras
}  // namespace RILL_API
