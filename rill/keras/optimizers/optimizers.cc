// Keras's optimizers: which slots, which numbers, which kernel. A sparse
// gradient is made dense where Keras lets the state of all rows decay (all with
// a running mean); it stays sparse where untouched rows do not change.
#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/attr.h"
#include "rill/keras/optimizers/keras_optimizer_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/state_ops.h"

namespace rill::keras::optimizers {
namespace {

class SgdImpl : public KerasOptimizerImpl {
 public:
  explicit SgdImpl(const SGDOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate, {{{"m", "momentums"}}}), o_(o) {}
  Config config() const override {
    return optimizer_record("SGD", *this, {{"momentum", o_.momentum}, {"nesterov", o_.nesterov}});
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step&) override {
    const Tensor rate = scalar_for(v, lr);
    if (o_.momentum != 0) {
      const Attr attrs[] = {{"use_nesterov", o_.nesterov}};
      run_update("ResourceApplyKerasMomentum",
                 {v.handle(), slot(v, "m", 0), rate, g.tensor(), scalar_for(v, o_.momentum)},
                 attrs);
    } else if (g.is_sparse()) {
      scatter_sub_variable(v.handle(), g.slices().indices, g.slices().values * rate);
    } else {
      apply_gradient_descent(v.handle(), rate, g.tensor());
    }
  }

 private:
  SGDOptions o_;
};

class AdamImpl : public KerasOptimizerImpl {
 public:
  explicit AdamImpl(const AdamOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate, lists(o)), o_(o) {}
  Config config() const override {
    return optimizer_record("Adam", *this,
                            {{"beta_1", o_.beta_1},
                             {"beta_2", o_.beta_2},
                             {"epsilon", o_.epsilon},
                             {"amsgrad", o_.amsgrad}});
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    std::vector<Tensor> inputs{v.handle(), slot(v, "m", 0), slot(v, "v", 0)};
    if (o_.amsgrad) inputs.push_back(slot(v, "vhat", 0));
    for (const Tensor& x : {n(step.power_for(v, o_.beta_1)), n(step.power_for(v, o_.beta_2)), n(lr),
                            n(1 - o_.beta_1), n(1 - o_.beta_2), n(o_.epsilon), g.tensor()})
      inputs.push_back(x);
    run_update(o_.amsgrad ? "ResourceApplyAdamWithAmsgradKeras" : "ResourceApplyAdamKeras", inputs,
               {});
  }

 private:
  static std::vector<SlotGroup> lists(const AdamOptions& o) {
    std::vector<SlotGroup> out{{{"m", "_momentums"}, {"v", "_velocities"}}};
    if (o.amsgrad) out.push_back({{"vhat", "_velocity_hats"}});
    return out;
  }
  AdamOptions o_;
};

class AdamaxImpl : public KerasOptimizerImpl {
 public:
  explicit AdamaxImpl(const AdamaxOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate, {{{"m", "_m"}, {"u", "_u"}}}), o_(o) {}
  Config config() const override {
    return optimizer_record(
        "Adamax", *this, {{"beta_1", o_.beta_1}, {"beta_2", o_.beta_2}, {"epsilon", o_.epsilon}});
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    run_update("ResourceApplyAdaMax",
               {v.handle(), slot(v, "m", 0), slot(v, "u", 0), n(step.power_for(v, o_.beta_1)),
                n(lr), n(o_.beta_1), n(o_.beta_2), n(o_.epsilon), g.tensor()},
               {});
  }

 private:
  AdamaxOptions o_;
};

class NadamImpl : public KerasOptimizerImpl {
 public:
  explicit NadamImpl(const NadamOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate, {{{"m", "_momentums"}, {"v", "_velocities"}}}),
        o_(o) {}
  Config config() const override {
    return optimizer_record(
        "Nadam", *this, {{"beta_1", o_.beta_1}, {"beta_2", o_.beta_2}, {"epsilon", o_.epsilon}});
  }

 protected:
  // Keras's momentum schedule: u(t) = beta_1 * (1 - 0.5 * 0.96^t), and its running product.
  void begin_step(const Step& step) override {
    const Variable p = product();
    p.assign((Number::of(p) * momentum(step.count)).as(p.dtype()));
  }
  void prepare(const std::vector<Variable>& variables) override {
    KerasOptimizerImpl::prepare(variables);
    dtype_ = variables[0].dtype();
  }
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    const Number u = momentum(step.count), next = momentum(step.count + 1),
                 so_far = step.value_of(product());
    run_update("ResourceApplyNadam",
               {v.handle(), slot(v, "m", 0), slot(v, "v", 0), n(so_far), n(so_far * next), n(u),
                n(next), n(step.power_for(v, o_.beta_2)), n(lr), n(o_.beta_1), n(o_.beta_2),
                n(o_.epsilon), g.tensor()},
               {});
  }

 private:
  Variable product() {
    return state("u_product", [this] { return constant(1., dtype_); });
  }
  Number momentum(const Number& t) const { return o_.beta_1 * (1 - 0.5 * pow(0.96, t)); }
  NadamOptions o_;
  DType dtype_ = float32;  // of the product: as the first variable
};

class AdagradImpl : public KerasOptimizerImpl {
 public:
  explicit AdagradImpl(const AdagradOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate,
                           {{{"accumulator", "_accumulators", o.initial_accumulator_value}}}),
        o_(o) {}
  Config config() const override {
    return optimizer_record(
        "Adagrad", *this,
        {{"initial_accumulator_value", o_.initial_accumulator_value}, {"epsilon", o_.epsilon}});
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step&) override {
    std::vector<Tensor> inputs{v.handle(), slot(v, "accumulator", o_.initial_accumulator_value),
                               scalar_for(v, lr), scalar_for(v, o_.epsilon)};
    if (g.is_sparse()) {
      const IndexedSlices s = sum_duplicates(g.slices());
      inputs.push_back(s.values);
      inputs.push_back(s.indices);
      run_update("ResourceSparseApplyAdagradKeras", inputs, {});
    } else {
      inputs.push_back(g.tensor());
      run_update("ResourceApplyAdagradKeras", inputs, {});
    }
  }

 private:
  AdagradOptions o_;
};

class AdadeltaImpl : public KerasOptimizerImpl {
 public:
  explicit AdadeltaImpl(const AdadeltaOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate,
                           {{{"accumulated_grad", "_accumulated_grads"},
                             {"accumulated_delta_var", "_accumulated_delta_vars"}}}),
        o_(o) {}
  Config config() const override {
    return optimizer_record("Adadelta", *this, {{"rho", o_.rho}, {"epsilon", o_.epsilon}});
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step&) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    run_update("ResourceApplyAdadelta",
               {v.handle(), slot(v, "accumulated_grad", 0), slot(v, "accumulated_delta_var", 0),
                n(lr), n(o_.rho), n(o_.epsilon), g.tensor()},
               {});
  }

 private:
  AdadeltaOptions o_;
};

class RmspropImpl : public KerasOptimizerImpl {
 public:
  explicit RmspropImpl(const RMSpropOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate, lists(o)), o_(o) {}
  Config config() const override {
    return optimizer_record("RMSprop", *this,
                            {{"rho", o_.rho},
                             {"momentum", o_.momentum},
                             {"epsilon", o_.epsilon},
                             {"centered", o_.centered}});
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step&) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    std::vector<Tensor> inputs{v.handle()};
    if (o_.centered) inputs.push_back(slot(v, "average_gradient", 0));
    for (const Tensor& x : {slot(v, "velocity", 0), slot(v, "momentum", 0), n(lr), n(o_.rho),
                            n(o_.momentum), n(o_.epsilon), g.tensor()})
      inputs.push_back(x);
    run_update(o_.centered ? "ResourceApplyCenteredRMSProp" : "ResourceApplyRMSProp", inputs, {});
  }

 private:
  // The kernel has a momentum even where there is none; Keras does not keep that one.
  static std::vector<SlotGroup> lists(const RMSpropOptions& o) {
    std::vector<SlotGroup> out{{{"velocity", "_velocities"}}};
    if (o.momentum > 0) out.push_back({{"momentum", "_momentums"}});
    if (o.centered) out.push_back({{"average_gradient", "_average_gradients"}});
    return out;
  }
  RMSpropOptions o_;
};

class FtrlImpl : public KerasOptimizerImpl {
 public:
  explicit FtrlImpl(const FtrlOptions& o)
      : KerasOptimizerImpl(o.name, o.learning_rate,
                           {{{"accumulator", "_accumulators", o.initial_accumulator_value},
                             {"linear", "_linears"}}}),
        o_(o) {}
  Config config() const override {
    return optimizer_record(
        "Ftrl", *this,
        {{"learning_rate_power", o_.learning_rate_power},
         {"initial_accumulator_value", o_.initial_accumulator_value},
         {"l1_regularization_strength", o_.l1_regularization_strength},
         {"l2_regularization_strength", o_.l2_regularization_strength},
         {"l2_shrinkage_regularization_strength", o_.l2_shrinkage_regularization_strength},
         {"beta", o_.beta}});
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step&) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    // beta enters as a part of l2, as in the paper.
    const Number l2 = o_.l2_regularization_strength + o_.beta / (2 * lr);
    run_update("ResourceApplyFtrlV2",
               {v.handle(), slot(v, "accumulator", o_.initial_accumulator_value),
                slot(v, "linear", 0), g.tensor(), n(lr), n(o_.l1_regularization_strength), n(l2),
                n(o_.l2_shrinkage_regularization_strength), n(o_.learning_rate_power)},
               {});
  }

 private:
  FtrlOptions o_;
};

template <class Options>
Options with_rate(const LearningRate& rate) {
  Options o;
  o.learning_rate = rate;
  return o;
}

}  // namespace

SGD::SGD() : SGD(SGDOptions{}) {}
SGD::SGD(SGDOptions o) : Optimizer(new SgdImpl(o)) {
  RILL_CHECK(o.momentum >= 0 && o.momentum <= 1, invalid_argument,
             "[SGD] momentum is {}; expected a number in [0, 1]", o.momentum);
}
SGD::SGD(const LearningRate& rate) : SGD(with_rate<SGDOptions>(rate)) {}
Adam::Adam() : Adam(AdamOptions{}) {}
Adam::Adam(AdamOptions o) : Optimizer(new AdamImpl(o)) {}
Adam::Adam(const LearningRate& rate) : Adam(with_rate<AdamOptions>(rate)) {}
Adamax::Adamax() : Adamax(AdamaxOptions{}) {}
Adamax::Adamax(AdamaxOptions o) : Optimizer(new AdamaxImpl(o)) {}
Nadam::Nadam() : Nadam(NadamOptions{}) {}
Nadam::Nadam(NadamOptions o) : Optimizer(new NadamImpl(o)) {}
Adagrad::Adagrad() : Adagrad(AdagradOptions{}) {}
Adagrad::Adagrad(AdagradOptions o) : Optimizer(new AdagradImpl(o)) {}
Adadelta::Adadelta() : Adadelta(AdadeltaOptions{}) {}
Adadelta::Adadelta(AdadeltaOptions o) : Optimizer(new AdadeltaImpl(o)) {}
RMSprop::RMSprop() : RMSprop(RMSpropOptions{}) {}
RMSprop::RMSprop(RMSpropOptions o) : Optimizer(new RmspropImpl(o)) {}
RMSprop::RMSprop(const LearningRate& rate) : RMSprop(with_rate<RMSpropOptions>(rate)) {}
Ftrl::Ftrl() : Ftrl(FtrlOptions{}) {}
Ftrl::Ftrl(FtrlOptions o) : Optimizer(new FtrlImpl(o)) {}

Optimizer get(std::string_view name) {
  static const std::pair<const char*, Optimizer (*)()> kKnown[] = {
      {"adadelta", [] { return Optimizer(Adadelta()); }},
      {"adagrad", [] { return Optimizer(Adagrad()); }},
      {"adam", [] { return Optimizer(Adam()); }},
      {"adamax", [] { return Optimizer(Adamax()); }},
      {"ftrl", [] { return Optimizer(Ftrl()); }},
      {"nadam", [] { return Optimizer(Nadam()); }},
      {"rmsprop", [] { return Optimizer(RMSprop()); }},
      {"sgd", [] { return Optimizer(SGD()); }}};
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::vector<std::string> known;
  for (const auto& [n, make] : kKnown) {
    if (lower == n) return make();
    known.push_back(n);
  }
  RILL_FAIL(invalid_argument, "[optimizers.get] there is no optimizer \"{}\".{}", name,
            did_you_mean(lower, known));
}

}  // namespace rill::keras::optimizers
