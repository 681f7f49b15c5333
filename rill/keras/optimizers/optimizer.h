#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rill/core/fn.h"
#include "rill/core/trackable.h"
#include "rill/eager/gradient_tape.h"
#include "rill/eager/variable.h"
#include "rill/keras/optimizers/learning_rate.h"

namespace rill RILL_API {

// Gradients with the variables that they belong to; a none gradient leaves its
// variable as it is.
using GradientsAndVariables = std::vector<std::pair<Gradient, Variable>>;
// Pairs of the two lists, as Python's zip. InvalidArgument when the lengths differ.
GradientsAndVariables zip(const Gradients& gradients, const std::vector<Variable>& variables);

namespace compat::v1::train {
class Optimizer;
}

namespace keras {

namespace optimizers {
class UserOptimizer;
}
class OptimizerImpl;
void retain(OptimizerImpl*) noexcept;
void release(OptimizerImpl*) noexcept;

// Base of the optimizers: state for each variable it has met, and the count of
// steps. A reference, as in Python: copies share the state. All gradients of a
// call are checked before the first variable changes. In a traced function a step is
// part of the graph; there the numbers of rows that do not exist are found when it runs.
class Optimizer {
 public:
  // Of a user-defined class: keeps a copy.
  template <class C>
  requires(std::is_base_of_v<optimizers::UserOptimizer, C>) Optimizer(const C& own)
      : Optimizer(by_object(std::make_shared<C>(own))) {}
  // Gives the count of calls. Without any pair nothing happens; InvalidArgument where every
  // gradient is none.
  Variable apply_gradients(const GradientsAndVariables& grads_and_vars);
  Variable apply_gradients(const Gradients& grads, const std::vector<Variable>& vars) {
    return apply_gradients(zip(grads, vars));
  }
  // One step on loss(): equals a tape, its gradients and apply_gradients.
  template <class F>
  void minimize(F loss, const std::vector<Variable>& vars) {
    GradientTape tape;
    const Tensor value = get_scaled_loss(loss());
    apply_gradients(get_unscaled_gradients(tape.gradient(value, vars)), vars);
  }
  // The same for a loss that the tape has watched.
  void minimize(const Tensor& loss, const std::vector<Variable>& vars, GradientTape& tape) {
    apply_gradients(tape.gradient(loss, vars), vars);
  }
  // For user-defined loops: differentiate the first instead of the loss, and apply the second.
  // The loss and the gradients themselves except for mixed_precision::LossScaleOptimizer.
  Tensor get_scaled_loss(const Tensor& loss) const;
  Gradients get_unscaled_gradients(const Gradients& gradients) const;
  // Makes the state for these variables now; the first step does it otherwise.
  void build(const std::vector<Variable>& variables);
  // int64: steps taken. With gradient_accumulation_steps = n, every n-th call of apply_gradients
  // takes one; the calls are what that gives, and what a schedule goes by, as in Keras 3.
  Variable iterations() const;
  // Of a schedule: that of the step which was made last, the first before it.
  double learning_rate() const;
  // Takes effect at the next step, also of functions that were traced before: then a number
  // follows a number, and FailedPrecondition tells of anything else.
  void set_learning_rate(const optimizers::LearningRate& rate);
  void learning_rate(const optimizers::LearningRate& rate) { set_learning_rate(rate); }
  const std::string& name() const;
  // Variables that weight_decay leaves alone: these, and those in whose name one of the regular
  // expressions is found. FailedPrecondition after the first step.
  void exclude_from_weight_decay(const std::vector<Variable>& var_list,
                                 const std::vector<std::string>& var_names = {});
  // With use_ema: the variables become their averages, as after the last step of a training.
  void finalize_variable_values(const std::vector<Variable>& var_list);
  // The arguments, as Keras saves them. Unimplemented for compat::v1's optimizers.
  Config get_config() const;
  std::string class_name() const;
  // The state of the optimizer: iterations, then the slots in the order of their making.
  std::vector<Variable> variables() const;
  // For checkpoints, with the names that Keras gives to its state. Missing state
  // yet is restored at the first step.
  Ref<TrackableNode> trackable() const;

 private:
  static OptimizerImpl* by_object(std::shared_ptr<optimizers::UserOptimizer> object);

 protected:
  explicit Optimizer(OptimizerImpl* impl);
  explicit Optimizer(const Ref<OptimizerImpl>& impl) : impl_(impl) {}
  Ref<OptimizerImpl> impl_;
  friend class compat::v1::train::Optimizer;
};

namespace optimizers {
using keras::Optimizer;

// What every optimizer takes: variables shrink by weight_decay * learning_rate * themselves at
// each step; one of the three bounds gradients (each by its norm, each element, all by their
// common norm); use_ema keeps averages of the variables, which replace them every
// ema_overwrite_frequency steps; of gradient_accumulation_steps (at least 2) calls the last makes a
// step, with the mean of their gradients. Below the name: older names of Keras. lr is the
// learning_rate, which becomes learning_rate / (1 + decay * steps).
#define RILL_OPTIMIZER_FIELDS(class_name)                                    \
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {}; \
  bool use_ema = false;                                                      \
  double ema_momentum = 0.99;                                                \
  std::optional<int> ema_overwrite_frequency = {};                           \
  std::optional<std::int64_t> gradient_accumulation_steps = {};              \
  std::string name = class_name;                                             \
  std::optional<LearningRate> lr = {};                                       \
  double decay = 0

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("SGD");
};
class SGD : public Optimizer {
 public:
  SGD();
  explicit SGD(SGDOptions options);
  explicit SGD(const LearningRate& learning_rate, SGDOptions options = {})
      : SGD((options.learning_rate = learning_rate, std::move(options))) {}
};

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Adam");
};
class Adam : public Optimizer {
 public:
  Adam();
  explicit Adam(AdamOptions options);
  explicit Adam(const LearningRate& learning_rate, AdamOptions options = {})
      : Adam((options.learning_rate = learning_rate, std::move(options))) {}
};

struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Adamax");
};
class Adamax : public Optimizer {
 public:
  Adamax();
  explicit Adamax(AdamaxOptions options);
  explicit Adamax(const LearningRate& learning_rate, AdamaxOptions options = {})
      : Adamax((options.learning_rate = learning_rate, std::move(options))) {}
};

struct NadamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Nadam");
};
class Nadam : public Optimizer {
 public:
  Nadam();
  explicit Nadam(NadamOptions options);
  explicit Nadam(const LearningRate& learning_rate, NadamOptions options = {})
      : Nadam((options.learning_rate = learning_rate, std::move(options))) {}
};

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Adagrad");
};
class Adagrad : public Optimizer {
 public:
  Adagrad();
  explicit Adagrad(AdagradOptions options);
  explicit Adagrad(const LearningRate& learning_rate, AdagradOptions options = {})
      : Adagrad((options.learning_rate = learning_rate, std::move(options))) {}
};

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Adadelta");
};
class Adadelta : public Optimizer {
 public:
  Adadelta();
  explicit Adadelta(AdadeltaOptions options);
  explicit Adadelta(const LearningRate& learning_rate, AdadeltaOptions options = {})
      : Adadelta((options.learning_rate = learning_rate, std::move(options))) {}
};

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("RMSprop");
};
class RMSprop : public Optimizer {
 public:
  RMSprop();
  explicit RMSprop(RMSpropOptions options);
  explicit RMSprop(const LearningRate& learning_rate, RMSpropOptions options = {})
      : RMSprop((options.learning_rate = learning_rate, std::move(options))) {}
};

struct FtrlOptions {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5, initial_accumulator_value = 0.1,
         l1_regularization_strength = 0, l2_regularization_strength = 0,
         l2_shrinkage_regularization_strength = 0, beta = 0;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Ftrl");
};
class Ftrl : public Optimizer {
 public:
  Ftrl();
  explicit Ftrl(FtrlOptions options);
  explicit Ftrl(const LearningRate& learning_rate, FtrlOptions options = {})
      : Ftrl((options.learning_rate = learning_rate, std::move(options))) {}
};

struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = 0.004;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  RILL_OPTIMIZER_FIELDS("AdamW");
};
class AdamW : public Optimizer {
 public:
  explicit AdamW(AdamWOptions options = {});
  explicit AdamW(const LearningRate& learning_rate, AdamWOptions options = {})
      : AdamW((options.learning_rate = learning_rate, std::move(options))) {}
};

struct AdafactorOptions {
  LearningRate learning_rate = 0.001;
  double beta_2_decay = -0.8, epsilon_1 = 1e-30, epsilon_2 = 1e-3, clip_threshold = 1;
  bool relative_step = true;  // the rate is at most 1 / sqrt(step)
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Adafactor");
};
// Steps relative to the size of the variable; of a matrix, means of rows and of columns stand for
// the squares of its gradients.
class Adafactor : public Optimizer {
 public:
  explicit Adafactor(AdafactorOptions options = {});
  explicit Adafactor(const LearningRate& learning_rate, AdafactorOptions options = {})
      : Adafactor((options.learning_rate = learning_rate, std::move(options))) {}
};

struct LionOptions {
  LearningRate learning_rate = 0.0001;
  double beta_1 = 0.9, beta_2 = 0.99;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("Lion");
};
class Lion : public Optimizer {  // steps of one size, by the sign of a momentum
 public:
  explicit Lion(LionOptions options = {});
  explicit Lion(const LearningRate& learning_rate, LionOptions options = {})
      : Lion((options.learning_rate = learning_rate, std::move(options))) {}
};

// ---- of Keras 3
struct LambOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("lamb");
};
class Lamb : public Optimizer {  // Adam's steps, as long as the variable is
 public:
  explicit Lamb(LambOptions options = {});
  explicit Lamb(const LearningRate& learning_rate, LambOptions options = {})
      : Lamb((options.learning_rate = learning_rate, std::move(options))) {}
};

struct MuonOptions {
  LearningRate learning_rate = 0.001;
  double adam_beta_1 = 0.9, adam_beta_2 = 0.999;
  std::optional<double> adam_weight_decay = 0.004;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = 0.004;
  // Variables that take AdamW's steps beside those that are no matrix: in whose name one of the
  // regular expressions is found, and embeddings.
  std::vector<std::string> exclude_layers = {};
  bool exclude_embeddings = true;
  double muon_a = 3.4445, muon_b = -4.775, muon_c = 2.0315;  // of the iteration
  double adam_lr_ratio = 1;                                  // AdamW's rate by the other
  double momentum = 0.95;
  std::int64_t ns_steps = 5;
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2;  // steps by sqrt(the longer side) * rms_rate
  RILL_OPTIMIZER_FIELDS("muon");
};
// A matrix makes steps of its momentum with all singular values brought to about 1.
class Muon : public Optimizer {
 public:
  explicit Muon(MuonOptions options = {});
  explicit Muon(const LearningRate& learning_rate, MuonOptions options = {})
      : Muon((options.learning_rate = learning_rate, std::move(options))) {}
};

// ---- a user's
struct UserOptimizerOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = {};
  RILL_OPTIMIZER_FIELDS("");
  // As serialize writes them; other keys are left alone.
  static UserOptimizerOptions from_config(const Config& config);
};
// The update of one variable.
struct UpdateContext {
  Tensor learning_rate, step;   // scalars of the variable's dtype; steps are counted from 1
  std::vector<Variable> slots;  // the state of the variable, in the order of slots()
};
// Base of user-defined optimizers. All that is not its own rule (weight decay, clipping, averages,
// gathered gradients, schedules, the scale of the loss) goes as with the others:
//
//   struct Signs : keras::optimizers::UserOptimizer {
//     explicit Signs(keras::optimizers::UserOptimizerOptions o = {}) : UserOptimizer(o) {}
//     explicit Signs(const keras::Config& c) : UserOptimizer(c) {}
//     std::vector<std::string> slots() const override { return {"momentums"}; }
//     void update_step(const Tensor& g, const tf::Variable& v,
//                      const keras::optimizers::UpdateContext& c) override {
//       c.slots[0].assign(c.slots[0] * 0.9f + g);
//       v.assign_sub(c.learning_rate * tf::sign(c.slots[0].value()));
//     }
//   };
//   model.compile({.optimizer = Signs({.learning_rate = 0.01}), .loss = "mse"});
//
// keras::utils::register_keras_serializable<Signs>("Signs") lets files and names say it.
class UserOptimizer {
 public:
  explicit UserOptimizer(UserOptimizerOptions options = {}) : options_(std::move(options)) {}
  explicit UserOptimizer(const Config& config)
      : UserOptimizer(UserOptimizerOptions::from_config(config)) {}
  virtual ~UserOptimizer() = default;
  // Assigns to the variable, and to its slots.
  virtual void update_step(const Tensor& gradient, const Variable& variable,
                           const UpdateContext& context) = 0;
  // The names of what is kept for each variable, as large as it; all begin as 0.
  virtual std::vector<std::string> slots() const { return {}; }
  virtual Config get_config() const { return Config::dict(); }  // its own arguments
  const UserOptimizerOptions& options() const { return options_; }

 private:
  UserOptimizerOptions options_;
};
#undef RILL_OPTIMIZER_FIELDS

// The optimizer of that name ("adam", "Adam", "rmsprop", ..) with its defaults;
// InvalidArgument, with the nearest name, when there is none.
Optimizer get(std::string_view name);
// {"class_name": "Adam", "config": {..}}, as Keras saves it.
Config serialize(const Optimizer& optimizer);
Optimizer deserialize(const Config& config);

}  // namespace optimizers

// A user's class, for files that name it.
struct RegisterOptimizer {
  RegisterOptimizer(std::string_view registered_name, const std::type_info& type,
                    std::function<Optimizer(const Config&)> factory);
};

}  // namespace keras
}  // namespace RILL_API
