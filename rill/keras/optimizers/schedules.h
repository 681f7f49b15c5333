#pragma once
#include <optional>
#include <vector>

#include "rill/keras/optimizers/learning_rate.h"

// Rates that change with the step. Each is called with the step, and stands wherever a
// LearningRate may.
namespace rill RILL_API {
namespace keras {
namespace optimizers {
namespace schedules {
using optimizers::LearningRateSchedule;

struct ExponentialDecayOptions {
  double initial_learning_rate = 0.01, decay_steps = 1, decay_rate = 0.96;
  bool staircase = false;  // whole multiples of decay_steps only
  std::string name = {};
};
class ExponentialDecay : public LearningRateSchedule {  // initial * rate^(step / steps)
 public:
  explicit ExponentialDecay(ExponentialDecayOptions options) : o_(std::move(options)) {}
  ExponentialDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                   bool staircase = false)
      : o_{initial_learning_rate, decay_steps, decay_rate, staircase} {}
  Tensor operator()(const Tensor& step) const override;
  Config get_config() const override;

 private:
  ExponentialDecayOptions o_;
};

class InverseTimeDecay : public LearningRateSchedule {  // initial / (1 + rate * step / steps)
 public:
  explicit InverseTimeDecay(ExponentialDecayOptions options) : o_(std::move(options)) {}
  InverseTimeDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                   bool staircase = false)
      : o_{initial_learning_rate, decay_steps, decay_rate, staircase} {}
  Tensor operator()(const Tensor& step) const override;
  Config get_config() const override;

 private:
  ExponentialDecayOptions o_;
};

// values[i] until step boundaries[i], inclusive; the last value after that.
class PiecewiseConstantDecay : public LearningRateSchedule {
 public:
  PiecewiseConstantDecay(std::vector<double> boundaries, std::vector<double> values,
                         std::string name = {});
  Tensor operator()(const Tensor& step) const override;
  Config get_config() const override;

 private:
  std::vector<double> boundaries_, values_;
  std::string name_;
};

struct PolynomialDecayOptions {
  double initial_learning_rate = 0.01, decay_steps = 1, end_learning_rate = 0.0001, power = 1;
  bool cycle = false;  // decay_steps doubles, triples, .. once they are over
  std::string name = {};
};
class PolynomialDecay : public LearningRateSchedule {
 public:
  explicit PolynomialDecay(PolynomialDecayOptions options) : o_(std::move(options)) {}
  Tensor operator()(const Tensor& step) const override;
  Config get_config() const override;

 private:
  PolynomialDecayOptions o_;
};

struct CosineDecayOptions {
  double initial_learning_rate = 0.01, decay_steps = 1;
  double alpha = 0;  // the least rate, as a part of the first
  std::string name = {};
  std::optional<double> warmup_target = {};  // the rate grows to this one first ...
  double warmup_steps = 0;                   // ... in so many steps
};
class CosineDecay : public LearningRateSchedule {
 public:
  explicit CosineDecay(CosineDecayOptions options) : o_(std::move(options)) {}
  CosineDecay(double initial_learning_rate, double decay_steps, double alpha = 0)
      : o_{initial_learning_rate, decay_steps, alpha} {}
  Tensor operator()(const Tensor& step) const override;
  Config get_config() const override;

 private:
  CosineDecayOptions o_;
};

struct CosineDecayRestartsOptions {
  double initial_learning_rate = 0.01, first_decay_steps = 1;
  double t_mul = 2, m_mul = 1;  // how much longer, and how much higher, each period is
  double alpha = 0;
  std::string name = {};
};
class CosineDecayRestarts : public LearningRateSchedule {
 public:
  explicit CosineDecayRestarts(CosineDecayRestartsOptions options) : o_(std::move(options)) {}
  Tensor operator()(const Tensor& step) const override;
  Config get_config() const override;

 private:
  CosineDecayRestartsOptions o_;
};

// {"class_name": .., "config": ..}, as Keras saves it; InvalidArgument, with the nearest name,
// for an unknown class.
std::shared_ptr<const LearningRateSchedule> deserialize(const Config& config);

}  // namespace schedules
}  // namespace optimizers
}  // namespace keras
}  // namespace RILL_API
