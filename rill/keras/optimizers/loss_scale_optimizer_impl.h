#pragma once
#include "rill/keras/optimizers/loss_scale_optimizer.h"
#include "rill/keras/optimizers/optimizer_impl.h"

namespace rill::keras {

// The class, as Keras 2.15 and Keras 3 call it in files.
inline constexpr const char *kLossScaleOptimizer = "LossScaleOptimizerV3",
                            *kLossScaleOptimizer3 = "LossScaleOptimizer";

// A step of another optimizer, or none. In a checkpoint its state stands where that of an
// optimizer alone would, and beside it, of a dynamic scale:
//   loss_scale/current_loss_scale, loss_scale/good_steps
class LossScaleOptimizerImpl : public OptimizerImpl {
 public:
  LossScaleOptimizerImpl(Ref<OptimizerImpl> around, const mixed_precision::LossScaleOptions& o);

  void apply(const GradientsAndVariables& pairs, const Variable& global_step) override;
  void build(const std::vector<Variable>& variables) override;
  double learning_rate() const override { return inner->learning_rate(); }
  void set_learning_rate(const optimizers::LearningRate& rate) override {
    inner->set_learning_rate(rate);
  }
  std::vector<Variable> variables() const override;
  std::string class_name() const override { return kLossScaleOptimizer; }
  Config config() const override;
  void exclude_from_weight_decay(const std::vector<Variable>& vars,
                                 const std::vector<std::string>& names) override {
    inner->exclude_from_weight_decay(vars, names);
  }
  void finalize_variable_values(const std::vector<Variable>& vars) override {
    inner->finalize_variable_values(vars);
  }
  Variable steps_taken() const override { return inner->steps_taken(); }
  bool gathers_gradients() const override { return inner->gathers_gradients(); }
  Tensor scaled_loss(const Tensor& loss) override;
  Gradients unscaled_gradients(const Gradients& gradients) override;
  Tensor loss_scale() const;

  const Ref<OptimizerImpl> inner;
  // 2 or 3: Keras 3 does not count steps that are left out, and has no least scale.
  const int behaves_as;
  const double initial_scale;
  const std::optional<std::int64_t> growth_steps;  // none: the scale is fixed
  Variable scale, good_steps;                      // of a dynamic one

 private:
  void share_edges();
  void adapt_scale(const Tensor& finite);
  bool warned_ = false, scaled_ = false, unscaled_ = false;
};

// Null for an optimizer of another kind.
Ref<LossScaleOptimizerImpl> loss_scale_optimizer(const Optimizer& optimizer);

namespace mixed_precision {
// From {"inner_optimizer": .., "dynamic": .., ..}, as Keras saves it.
Optimizer loss_scale_optimizer_of(const Config& config);
}  // namespace mixed_precision

}  // namespace rill::keras
