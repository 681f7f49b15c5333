#pragma once
#include <functional>
#include <memory>
#include <typeinfo>

#include "rill/core/fn.h"
#include "rill/eager/variable.h"
#include "rill/keras/config.h"

namespace rill RILL_API {
namespace keras {
namespace optimizers {

// The base of the schedules that files can hold: keras::optimizers::schedules, or a user-defined
// one, which overrides the first, and for files get_config: Unimplemented when a file is to hold
// one that does not. keras::utils::register_keras_serializable or custom_object_scope lets files
// name it.
class LearningRateSchedule {
 public:
  virtual ~LearningRateSchedule();
  virtual Tensor operator()(const Tensor& step) const = 0;
  virtual Config get_config() const;
  virtual std::string class_name() const;
};
// A user's class, for files that name it.
struct RegisterSchedule {
  using Factory = std::function<std::shared_ptr<const LearningRateSchedule>(const Config&)>;
  RegisterSchedule(std::string_view registered_name, const std::type_info& type, Factory factory);
};

// A number, a tensor or variable, or a schedule: a callable from the step (an
// int64 scalar) to the rate.
class LearningRate {
 public:
  LearningRate(double value) : number_(value) {}
  LearningRate(const Tensor& value) : tensor_(value) {}
  LearningRate(const Variable& value) : variable_(value), is_variable_(true) {}
  template <class S>
  requires std::is_base_of_v<LearningRateSchedule, S> LearningRate(const S& schedule)
      : LearningRate(std::make_shared<const S>(schedule)) {}
  LearningRate(std::shared_ptr<const LearningRateSchedule> schedule);
  template <class F>
  requires(std::is_invocable_v<F&, Tensor> && !std::is_base_of_v<LearningRateSchedule, F>)
      LearningRate(F schedule)
      : LearningRate(detail::Fn::of(std::move(schedule)), 0) {}

  // The rate at a step; a scalar of any floating-point dtype where it is a tensor, a variable or
  // a schedule, which all may be part of a traced function.
  double at(std::int64_t step) const;
  Tensor at(const Tensor& step) const;
  bool is_schedule() const { return !schedule_.empty(); }
  // Where the rate is one; null.
  const Variable* variable() const { return is_variable_ ? &variable_ : nullptr; }
  // As files hold it: a number, or the class and arguments of a schedule. FailedPrecondition for
  // a callable that is not a LearningRateSchedule.
  Config config() const;
  static LearningRate from_config(const Config& config);
  bool is_number() const { return !is_variable_ && !tensor_.defined() && schedule_.empty(); }

 private:
  LearningRate(detail::Fn schedule, int);
  double number_ = 0;
  Tensor tensor_;
  Variable variable_;
  bool is_variable_ = false;
  std::vector<detail::Fn> schedule_;                    // none or one
  std::shared_ptr<const LearningRateSchedule> object_;  // where the schedule is one
};

}  // namespace optimizers
}  // namespace keras
}  // namespace RILL_API
