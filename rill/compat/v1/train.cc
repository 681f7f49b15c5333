#include "rill/compat/v1/train.h"

#include <functional>
#include <mutex>

#include "rill/base/check.h"
#include "rill/core/attr.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/optimizers/optimizer_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/state_ops.h"
#include "rill/saving/slot_owner.h"

namespace rill::compat::v1::train {
namespace {

using keras::node_of;
using keras::Number;
using keras::OptimizerImpl;
using keras::RuleOptimizerImpl;
using keras::scalar_for;
using keras::Step;
using keras::sum_duplicates;

std::mutex step_mutex;
Variable global_step;

// How a checkpoint holds the state of TensorFlow 1's optimizers: slots beside their
// variables, other numbers under their names.
class V1OptimizerImpl : public RuleOptimizerImpl, public SlotOwner {
 public:
  using RuleOptimizerImpl::RuleOptimizerImpl;
  std::string class_name() const override { return name; }
  std::vector<SlotOwner::Slot> slot_variables() override {
    std::lock_guard lock(mutex_);
    return slots_made_;
  }
  void offer_slots(const Ref<SlotOffer>& offer) override {
    std::lock_guard lock(mutex_);
    std::erase_if(offers_, [](const Ref<SlotOffer>& o) { return o->exhausted(); });
    offers_.push_back(offer);
  }
  void take_slots() override {
    for (const SlotOwner::Slot& s : slot_variables()) take(s);
  }

 protected:
  void slot_made(const Variable& var, const char* what, const Variable& slot) override {
    slots_made_.push_back({node_of(var), what, node_of(slot)});
    take(slots_made_.back());
  }
  // TensorFlow has a number once, in the precision of the first variable.
  void state_made(const char* what, const Variable& value) override {
    std::string edge = what;
    const std::size_t precision = edge.rfind("_float64");
    if (precision != std::string::npos && !child(edge.substr(0, precision))) edge.resize(precision);
    track(edge, node_of(value));
  }

 private:
  void take(const SlotOwner::Slot& s) {
    for (const Ref<SlotOffer>& offer : offers_)
      if (const Ref<RestorePosition> p = offer->slot(*s.variable, s.name)) s.slot->restore(p);
  }
  std::vector<SlotOwner::Slot> slots_made_;
  std::vector<Ref<SlotOffer>> offers_;
};

// An update whose slots and numbers are a list; rows of a sparse gradient are
// updated alone, as TensorFlow 1 does.
class SlotOptimizer : public V1OptimizerImpl {
 public:
  struct Slot {
    const char* name;
    double initial;
  };
  // The scalars of a step except for powers, in the schema's order; `before_grad` of all come
  // before the gradient.
  using Numbers = std::function<std::vector<Number>(const Number& lr)>;
  SlotOptimizer(const char* optimizer_name, const LearningRate& rate, const char* op,
                const char* sparse_op, std::vector<Slot> slots, std::size_t before_grad,
                Numbers numbers, bool nesterov = false, bool has_nesterov = false)
      : V1OptimizerImpl(optimizer_name, rate),
        op_(op),
        sparse_op_(sparse_op),
        slot_list_(std::move(slots)),
        before_(before_grad),
        numbers_(std::move(numbers)),
        nesterov_(nesterov),
        has_nesterov_(has_nesterov) {}

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const bool rows = g.is_sparse() && sparse_op_;
    std::vector<Tensor> inputs{v.handle()};
    for (const Slot& s : slot_list_) inputs.push_back(slot(v, s.name, s.initial));
    std::vector<Number> numbers = powers_for(v, step);
    for (const Number& n : numbers_(lr)) numbers.push_back(n);
    for (std::size_t i = 0; i <= numbers.size(); ++i) {
      if (i == before_) {
        const IndexedSlices s = rows ? sum_duplicates(g.slices()) : IndexedSlices{};
        inputs.push_back(rows ? s.values : g.tensor());
        if (rows) inputs.push_back(s.indices);
      }
      if (i < numbers.size()) inputs.push_back(scalar_for(v, numbers[i]));
    }
    const Attr attrs[] = {{"use_nesterov", nesterov_}};
    run_update(rows ? sparse_op_ : op_, inputs, has_nesterov_ ? AttrList(attrs) : AttrList());
  }
  virtual std::vector<Number> powers_for(const Variable&, Step&) { return {}; }

 private:
  const char *op_, *sparse_op_;
  std::vector<Slot> slot_list_;
  std::size_t before_;
  Numbers numbers_;
  bool nesterov_, has_nesterov_;
};

class AdamImpl : public SlotOptimizer {
 public:
  AdamImpl(const LearningRate& rate, double beta1, double beta2, double epsilon)
      : SlotOptimizer("Adam", rate, "ResourceApplyAdam", nullptr, {{"m", 0}, {"v", 0}}, 6,
                      [=](const Number& lr) {
                        return std::vector<Number>{lr, beta1, beta2, epsilon};
                      }),
        betas_{beta1, beta2} {}

 protected:
  // beta^t as TensorFlow 1 keeps it: a number of the variable's precision,
  // multiplied once per step. 1 - beta^t is small, so that the rounding shows.
  std::vector<Number> powers_for(const Variable& v, Step& step) override {
    const bool wide = v.dtype() == float64;
    return {step.value_of(power(0, wide)), step.value_of(power(1, wide))};
  }
  void end_step() override {
    for (bool wide : {false, true})
      for (int i : {0, 1}) {
        const Variable& p = powers_[i][wide];
        if (!p.defined()) continue;
        // The product of two floats is exact in float64: rounded once, as one of floats is.
        p.assign((Number::of(p) * beta(i, wide)).as(p.dtype()));
      }
  }

 private:
  double beta(int i, bool wide) const {
    return wide ? betas_[i] : static_cast<double>(static_cast<float>(betas_[i]));
  }
  // One that is made late starts where the others are.
  const Variable& power(int i, bool wide) {
    static constexpr const char* kNames[2][2] = {{"beta1_power", "beta1_power_float64"},
                                                 {"beta2_power", "beta2_power_float64"}};
    Variable& p = powers_[i][wide];
    if (p.defined()) return p;
    p = state(kNames[i][wide], [&] {
      Tensor value = to_tensor(betas_[i], wide ? float64 : float32);
      for (std::int64_t t = iterations.item<std::int64_t>(); t > 0; --t) value = value * betas_[i];
      return value;
    });
    return p;
  }
  double betas_[2];
  Variable powers_[2][2];  // by beta and width
};

class DescentImpl : public V1OptimizerImpl {
 public:
  explicit DescentImpl(const LearningRate& rate) : V1OptimizerImpl("GradientDescent", rate) {}

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step&) override {
    const Tensor rate = scalar_for(v, lr);
    if (g.is_sparse())
      scatter_sub_variable(v.handle(), g.slices().indices, g.slices().values * rate);
    else
      apply_gradient_descent(v.handle(), rate, g.tensor());
  }
};

}  // namespace

Variable get_or_create_global_step() {
  std::lock_guard lock(step_mutex);
  if (!global_step.defined())
    global_step = Variable(constant(0, int64), {.trainable = false, .name = "global_step"});
  return global_step;
}
Variable get_global_step() {
  std::lock_guard lock(step_mutex);
  return global_step;
}

Optimizer::Optimizer(OptimizerImpl* impl) : impl_(impl) {}
void Optimizer::apply_gradients(const GradientsAndVariables& pairs, ApplyOptions o) {
  impl_->apply(pairs, o.global_step);
}
const std::string& Optimizer::get_name() const { return impl_->name; }
Ref<TrackableNode> Optimizer::trackable() const {
  retain(impl_.get());
  return Ref<TrackableNode>(impl_.get());
}

GradientDescentOptimizer::GradientDescentOptimizer(const LearningRate& rate)
    : Optimizer(new DescentImpl(rate)) {}
MomentumOptimizer::MomentumOptimizer(const LearningRate& rate, double momentum, bool use_nesterov)
    : Optimizer(new SlotOptimizer(
          "Momentum", rate, "ResourceApplyMomentum", "ResourceSparseApplyMomentum",
          {{"momentum", 0}}, 1,
          [=](const Number& lr) {
            return std::vector<Number>{lr, momentum};
          },
          use_nesterov, true)) {}
AdagradOptimizer::AdagradOptimizer(const LearningRate& rate, double initial)
    : Optimizer(new SlotOptimizer("Adagrad", rate, "ResourceApplyAdagrad",
                                  "ResourceSparseApplyAdagrad", {{"accumulator", initial}}, 1,
                                  [](const Number& lr) { return std::vector<Number>{lr}; })) {}
AdadeltaOptimizer::AdadeltaOptimizer(const LearningRate& rate, double rho, double epsilon)
    : Optimizer(new SlotOptimizer("Adadelta", rate, "ResourceApplyAdadelta",
                                  "ResourceSparseApplyAdadelta",
                                  {{"accum", 0}, {"accum_update", 0}}, 3, [=](const Number& lr) {
                                    return std::vector<Number>{lr, rho, epsilon};
                                  })) {}
// The mean square starts at 1, which keeps the first steps small.
RMSPropOptimizer::RMSPropOptimizer(const LearningRate& rate, double decay, double momentum,
                                   double epsilon, bool centered)
    : Optimizer(new SlotOptimizer(
          "RMSProp", rate, centered ? "ResourceApplyCenteredRMSProp" : "ResourceApplyRMSProp",
          centered ? "ResourceSparseApplyCenteredRMSProp" : "ResourceSparseApplyRMSProp",
          centered ? std::vector<SlotOptimizer::Slot>{{"mg", 0}, {"rms", 1}, {"momentum", 0}}
                   : std::vector<SlotOptimizer::Slot>{{"rms", 1}, {"momentum", 0}},
          4, [=](const Number& lr) {
            return std::vector<Number>{lr, decay, momentum, epsilon};
          })) {}
AdamOptimizer::AdamOptimizer(const LearningRate& rate, double beta1, double beta2, double epsilon)
    : Optimizer(new AdamImpl(rate, beta1, beta2, epsilon)) {}
FtrlOptimizer::FtrlOptimizer(const LearningRate& rate, double power, double initial, double l1,
                             double l2)
    : Optimizer(new SlotOptimizer("Ftrl", rate, "ResourceApplyFtrl", "ResourceSparseApplyFtrl",
                                  {{"accum", initial}, {"linear", 0}}, 0, [=](const Number& lr) {
                                    return std::vector<Number>{lr, l1, l2, power};
                                  })) {}

ExponentialMovingAverage::ExponentialMovingAverage(double decay,
                                                   ExponentialMovingAverageOptions options)
    : decay_(decay), options_(std::move(options)) {
  RILL_CHECK(decay >= 0 && decay <= 1, invalid_argument,
             "[ExponentialMovingAverage] decay is {}; expected a number from 0 to 1", decay);
}
void ExponentialMovingAverage::apply(const std::vector<Variable>& var_list) {
  Number decay = decay_;
  if (options_.num_updates.defined()) {
    const Number n = Number::of(options_.num_updates);
    decay = min(decay, (1 + n) / (10 + n));
  }
  for (const Variable& v : var_list) {
    if (!average(v).defined()) {
      EagerScope now;
      averages_.emplace_back(v,
                             Variable(identity(v), {.trainable = false, .name = average_name(v)}));
    }
    const Variable found = average(v);
    found.assign_sub((found.value() - v.value()) * scalar_for(v, 1 - decay));
  }
}
Variable ExponentialMovingAverage::average(const Variable& var) const {
  for (const auto& [v, a] : averages_)
    if (v.id() == var.id()) return a;
  return {};
}
std::string ExponentialMovingAverage::average_name(const Variable& var) const {
  const std::string name = var.name();
  return name.substr(0, name.rfind(':')) + "/" + options_.name;
}

Tensor exponential_decay(const Operand& learning_rate, const Operand& step,
                         const Operand& decay_steps, const Operand& decay_rate, bool staircase) {
  const Tensor rate = to_tensor(learning_rate, float32);
  const Tensor p = cast(to_tensor(step), rate.dtype()) / cast(to_tensor(decay_steps), rate.dtype());
  return rate * pow(to_tensor(decay_rate, rate.dtype()), staircase ? floor(p) : p);
}

}  // namespace rill::compat::v1::train
