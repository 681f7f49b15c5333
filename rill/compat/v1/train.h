#pragma once
#include "rill/eager/context.h"
#include "rill/eager/gradient_functions.h"
#include "rill/keras/optimizers/optimizer.h"

// TensorFlow 1's optimizers, in eager execution: the loss is a callable.
namespace rill RILL_API {
namespace compat {
namespace v1 {
namespace train {

struct MinimizeOptions {
  Variable global_step = {};
  std::vector<Variable> var_list = {};
};
struct ApplyOptions {
  Variable global_step = {};
};

// The step count of the program: int64, made on first use.
Variable get_or_create_global_step();
// The same; undefined before it was made.
Variable get_global_step();

class Optimizer {
 public:
  // One step on loss(); equals compute_gradients and apply_gradients. Without a
  // var_list every trainable variable that loss() reads is trained.
  template <class F>
  requires std::is_invocable_v<F&>
  void minimize(F loss, MinimizeOptions options = {}) {
    apply_gradients(compute_gradients(std::move(loss), options.var_list),
                    {.global_step = options.global_step});
  }
  template <class F>
  requires std::is_invocable_v<F&> GradientsAndVariables
  compute_gradients(F loss, const std::vector<Variable>& var_list = {}) {
    GradientTape tape;
    const Tensor value = loss();
    const std::vector<Variable> vars = var_list.empty() ? tape.watched_variables() : var_list;
    return zip(tape.gradient(value, vars), vars);
  }
  // Updates the variables and counts global_step up by one.
  void apply_gradients(const GradientsAndVariables& grads_and_vars, ApplyOptions options = {});
  const std::string& get_name() const;
  // The same optimizer where Keras expects one, as in compile.
  operator keras::Optimizer() const { return keras::Optimizer(impl_); }
  // For checkpoints: slots are beside their variables, as TensorFlow 1 has them.
  Ref<TrackableNode> trackable() const;

 protected:
  explicit Optimizer(keras::OptimizerImpl* impl);
  Ref<keras::OptimizerImpl> impl_;
};

using keras::optimizers::LearningRate;
class GradientDescentOptimizer : public Optimizer {
 public:
  explicit GradientDescentOptimizer(const LearningRate& learning_rate);
};
class MomentumOptimizer : public Optimizer {
 public:
  MomentumOptimizer(const LearningRate& learning_rate, double momentum, bool use_nesterov = false);
};
class AdagradOptimizer : public Optimizer {
 public:
  explicit AdagradOptimizer(const LearningRate& learning_rate,
                            double initial_accumulator_value = 0.1);
};
class AdadeltaOptimizer : public Optimizer {
 public:
  explicit AdadeltaOptimizer(const LearningRate& learning_rate = 0.001, double rho = 0.95,
                             double epsilon = 1e-8);
};
class RMSPropOptimizer : public Optimizer {
 public:
  explicit RMSPropOptimizer(const LearningRate& learning_rate, double decay = 0.9,
                            double momentum = 0.0, double epsilon = 1e-10, bool centered = false);
};
class AdamOptimizer : public Optimizer {
 public:
  explicit AdamOptimizer(const LearningRate& learning_rate = 0.001, double beta1 = 0.9,
                         double beta2 = 0.999, double epsilon = 1e-8);
};
class FtrlOptimizer : public Optimizer {
 public:
  explicit FtrlOptimizer(const LearningRate& learning_rate, double learning_rate_power = -0.5,
                         double initial_accumulator_value = 0.1,
                         double l1_regularization_strength = 0.0,
                         double l2_regularization_strength = 0.0);
};

// Averages of variables that forget: at each apply() an average moves by
// 1 - decay of the way to its variable. With num_updates (the global step) the
// decay is at most (1 + n) / (10 + n), so that the first steps count more.
struct ExponentialMovingAverageOptions {
  Variable num_updates = {};  // undefined: none
  std::string name = "ExponentialMovingAverage";
};
class ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(double decay, ExponentialMovingAverageOptions options = {});
  // An average begins with the value of its variable.
  void apply(const std::vector<Variable>& var_list);
  // Undefined when apply() has not met the variable.
  Variable average(const Variable& var) const;
  std::string average_name(const Variable& var) const;  // "w/ExponentialMovingAverage"

 private:
  double decay_;
  ExponentialMovingAverageOptions options_;
  std::vector<std::pair<Variable, Variable>> averages_;  // variable, average
};

// learning_rate * decay_rate ^ (global_step / decay_steps); with staircase the
// exponent is whole.
Tensor exponential_decay(const Operand& learning_rate, const Operand& global_step,
                         const Operand& decay_steps, const Operand& decay_rate,
                         bool staircase = false);

}  // namespace train
}  // namespace v1
}  // namespace compat
}  // namespace RILL_API

namespace rill RILL_API {

// TensorFlow 1's places for the same things: tf::train::AdamOptimizer, and
// tf::contrib::eager as tfe.
namespace train {
using namespace rill::compat::v1::train;
}
namespace contrib {
namespace eager {
using rill::custom_gradient;
using rill::enable_eager_execution;
using rill::executing_eagerly;
using rill::gradients_function;
using rill::GradientTape;
using rill::implicit_gradients;
using rill::implicit_value_and_gradients;
using rill::value_and_gradients_function;
using rill::Variable;
}  // namespace eager
}  // namespace contrib

}  // namespace RILL_API
