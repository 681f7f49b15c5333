#pragma once
#include <map>
#include <mutex>

#include "rill/keras/optimizers/optimizer.h"

namespace rill::keras {

// What an optimizer does, shared by its handles and by TensorFlow 1's family.
class OptimizerImpl {
 public:
  OptimizerImpl(std::string optimizer_name, optimizers::LearningRate rate);
  virtual ~OptimizerImpl() = default;

  // Checks everything, then steps. `global_step` (may be undefined) is counted up.
  void apply(const GradientsAndVariables& pairs, const Variable& global_step);

  std::string name;
  optimizers::LearningRate learning_rate;
  Variable iterations;
  std::vector<Variable> slots;  // in the order of their making
  RefCount refs;

 protected:
  // One variable's update at the current step (`step` counts from 1).
  virtual void update(const Variable& var, const Gradient& grad, double lr, std::int64_t step) = 0;
  // Runs before the variables of a step.
  virtual void begin_step(std::int64_t /*step*/) {}

  // The state called `slot` of a variable, made of one number on first use.
  Tensor slot(const Variable& var, const char* slot, double initial);

 private:
  void check_slots(const Variable& var, const TensorShape& shape);
  std::map<std::pair<std::uint64_t, std::string>, Variable> by_key_;
  std::mutex mutex_;
};

// A number as a scalar of the variable's dtype.
Tensor scalar_for(const Variable& var, double value);
// base^t where base first takes the variable's precision, as in Keras: 1 - base^t
// is small, so that the rounding shows.
double power_for(const Variable& var, double base, double t);
// Rows of one index summed into one.
IndexedSlices sum_duplicates(const IndexedSlices& slices);

}  // namespace rill::keras
