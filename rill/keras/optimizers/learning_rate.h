#pragma once
#include "rill/core/fn.h"
#include "rill/eager/variable.h"

namespace rill RILL_API {
namespace keras {
namespace optimizers {

// A number, a tensor or variable, or a schedule: a callable from the step (an
// int64 scalar) to the rate.
class LearningRate {
 public:
  LearningRate(double value) : number_(value) {}
  LearningRate(const Tensor& value) : tensor_(value) {}
  LearningRate(const Variable& value) : variable_(value), is_variable_(true) {}
  template <class F>
  requires std::is_invocable_v<F&, Tensor> LearningRate(F schedule)
      : LearningRate(detail::Fn::of(std::move(schedule)), 0) {}

  // The rate at a step; a scalar of any floating-point dtype where it is a tensor, a variable or
  // a schedule, which all may be part of a traced function.
  double at(std::int64_t step) const;
  Tensor at(const Tensor& step) const;
  bool is_schedule() const { return !schedule_.empty(); }
  // Where the rate is one; null.
  const Variable* variable() const { return is_variable_ ? &variable_ : nullptr; }
  bool is_number() const { return !is_variable_ && !tensor_.defined() && schedule_.empty(); }

 private:
  LearningRate(detail::Fn schedule, int);
  double number_ = 0;
  Tensor tensor_;
  Variable variable_;
  bool is_variable_ = false;
  std::vector<detail::Fn> schedule_;  // none or one
};

}  // namespace optimizers
}  // namespace keras
}  // namespace RILL_API
