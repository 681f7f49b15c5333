#pragma once
#include <functional>
#include <map>
#include <mutex>

#include "rill/keras/optimizers/number_impl.h"
#include "rill/keras/optimizers/optimizer.h"
#include "rill/saving/trackable_ref.h"

namespace rill::keras {

// The step that is being made, and what its variables share.
class Step {
 public:
  explicit Step(const Number& count_from_1) : count(count_from_1) {}
  // base^count where base first takes the variable's precision, as in Keras: 1 - base^t
  // is small, so that the rounding shows.
  Number power_for(const Variable& var, double base);
  // The value of a scalar variable, read once per step.
  Number value_of(const Variable& scalar);
  const Number count;

 private:
  struct Power {
    double base;
    Number value;
  };
  struct Read {
    std::uint64_t variable;
    Number value;
  };
  std::vector<Power> powers_;
  std::vector<Read> reads_;
};

// What the handles of an optimizer share.
class OptimizerImpl : public TrackableNode {
 public:
  OptimizerImpl(std::string optimizer_name, Variable step_count)
      : name(std::move(optimizer_name)), iterations(std::move(step_count)) {}

  // Checks everything, then steps. `global_step` (may be undefined) is counted up.
  virtual void apply(const GradientsAndVariables& pairs, const Variable& global_step) = 0;
  // Makes the state for these variables, unless there is some.
  virtual void build(const std::vector<Variable>& variables) = 0;
  virtual double learning_rate() const = 0;  // of the step made last, where it is a schedule
  virtual void set_learning_rate(const optimizers::LearningRate& rate) = 0;
  virtual std::vector<Variable> variables() const = 0;
  virtual std::string class_name() const = 0;
  virtual Config config() const;
  // Of a user's class; empty for the library's.
  virtual std::string registered_name() const { return {}; }
  virtual void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                         const std::vector<std::string>& names);
  virtual void finalize_variable_values(const std::vector<Variable>& variables);
  // What is differentiated in the place of a loss, and the gradients of the loss from its.
  virtual Tensor scaled_loss(const Tensor& loss) { return loss; }
  virtual Gradients unscaled_gradients(const Gradients& gradients) { return gradients; }

  // Steps taken: the calls of apply(), unless several of them make one.
  virtual Variable steps_taken() const { return iterations; }
  virtual bool gathers_gradients() const { return false; }

  std::string name;
  Variable iterations;  // calls of apply()
};

// An optimizer with its own rule; shared by Keras's family and TensorFlow 1's. How the state
// is in a checkpoint differs between the families.
class RuleOptimizerImpl : public OptimizerImpl {
 public:
  RuleOptimizerImpl(std::string optimizer_name, optimizers::LearningRate rate);

  void apply(const GradientsAndVariables& pairs, const Variable& global_step) override;
  void build(const std::vector<Variable>& variables) override;
  double learning_rate() const override;
  void set_learning_rate(const optimizers::LearningRate& rate) override;
  std::vector<Variable> variables() const override;

  std::vector<Variable> slots;  // in the order of their making

 protected:
  // One variable's update at the current step.
  virtual void update(const Variable& var, const Gradient& grad, const Number& lr, Step& step) = 0;
  // Run once, before the first step: the variables that it changes.
  virtual void prepare(const std::vector<Variable>& /*variables*/) {}
  // State was made: the family says where it stands. Runs while the state is locked.
  virtual void slot_made(const Variable& var, const char* what, const Variable& slot) = 0;
  virtual void state_made(const char* what, const Variable& value) = 0;
  // Run before and after the variables of a step.
  virtual void begin_step(const Step& /*step*/) {}
  virtual void end_step() {}
  // What a family does beside the rule itself: gradients are changed, the rate is, variables are
  // before their updates. `done`: the steps made so far.
  virtual bool changes_gradients() const { return false; }
  virtual GradientsAndVariables changed(const GradientsAndVariables& pairs) { return pairs; }
  virtual Number changed_rate(const Number& rate, const Number& /*done*/) const { return rate; }
  virtual void before_updates(const GradientsAndVariables&, const Number& /*rate*/) {}
  // What one call of apply() does to the variables; `calls`: those made so far.
  virtual void use_gradients(const GradientsAndVariables& pairs, const Tensor& calls) {
    update_variables(pairs, calls, calls);
  }
  // A step, after `done` others, at the rate that there is after so many calls.
  void update_variables(const GradientsAndVariables& pairs, const Tensor& calls,
                        const Tensor& done);

  // The shape of the state called `slot` of a variable of shape `of`.
  virtual TensorShape slot_shape(const TensorShape& of, std::string_view /*slot*/) const {
    return of;
  }
  // The state called `slot` of a variable, made of one number on first use.
  Tensor slot(const Variable& var, const char* slot, double initial) {
    return slot_variable(var, slot, initial).handle();
  }
  // The same as a variable; `copy`: made of the variable's value instead.
  Variable slot_variable(const Variable& var, const char* slot, double initial, bool copy = false);
  // A number that the optimizer keeps from step to step, made on first use.
  Variable state(const char* what, const std::function<Tensor()>& initial);

  const optimizers::LearningRate& rate() const { return rate_; }
  std::mutex mutex_;  // of the state

 private:
  void make_step(const GradientsAndVariables& pairs);
  Number traced_rate(const Tensor& done);
  void check_slots(const Variable& var, const TensorShape& shape);
  optimizers::LearningRate rate_;
  // Where traced functions find a rate that is a number; once it is there it is the rate.
  Variable rate_cell_;
  bool rate_traced_ = false;  // a graph has the rate itself in it
  std::once_flag prepared_;
  std::map<std::pair<std::uint64_t, std::string>, Variable> by_key_;
};

// The node of a variable in the graph of objects.
inline Ref<TrackableNode> node_of(const Variable& v) { return train::TrackableRef(v).trackable(); }

// A number as a scalar of the variable's dtype.
Tensor scalar_for(const Variable& var, const Number& value);
// Rows of one index summed into one.
IndexedSlices sum_duplicates(const IndexedSlices& slices);

}  // namespace rill::keras
