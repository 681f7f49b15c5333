// Keras's optimizers: which slots, which numbers, which kernel. A sparse
// gradient is made dense where Keras lets the state of all rows decay (all with
// a running mean); it stays sparse where untouched rows do not change.
#include <optional>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/attr.h"
#include "rill/keras/behaviour_impl.h"
#include "rill/keras/optimizers/keras_optimizer_impl.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/optimizers/optimizer_options_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/state_ops.h"

namespace rill::keras::optimizers {

// The arguments of each optimizer by the names that files hold, in Keras's order.
template <class F>
void own_fields(SGDOptions& o, F f) {
  f("momentum", o.momentum);
  f("nesterov", o.nesterov);
}
template <class O, class F>
void adam_fields(O& o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
  f("epsilon", o.epsilon);
}
template <class F>
void own_fields(AdamOptions& o, F f) {
  adam_fields(o, f);
  f("amsgrad", o.amsgrad);
}
template <class F>
void own_fields(AdamWOptions& o, F f) {
  adam_fields(o, f);
  f("amsgrad", o.amsgrad);
}
template <class F>
void own_fields(AdamaxOptions& o, F f) {
  adam_fields(o, f);
}
template <class F>
void own_fields(NadamOptions& o, F f) {
  adam_fields(o, f);
}
template <class F>
void own_fields(AdagradOptions& o, F f) {
  f("initial_accumulator_value", o.initial_accumulator_value);
  f("epsilon", o.epsilon);
}
template <class F>
void own_fields(AdadeltaOptions& o, F f) {
  f("rho", o.rho);
  f("epsilon", o.epsilon);
}
template <class F>
void own_fields(RMSpropOptions& o, F f) {
  f("rho", o.rho);
  f("momentum", o.momentum);
  f("epsilon", o.epsilon);
  f("centered", o.centered);
}
template <class F>
void own_fields(FtrlOptions& o, F f) {
  f("learning_rate_power", o.learning_rate_power);
  f("initial_accumulator_value", o.initial_accumulator_value);
  f("l1_regularization_strength", o.l1_regularization_strength);
  f("l2_regularization_strength", o.l2_regularization_strength);
  f("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
  f("beta", o.beta);
}
template <class F>
void own_fields(AdafactorOptions& o, F f) {
  f("beta_2_decay", o.beta_2_decay);
  f("epsilon_1", o.epsilon_1);
  f("epsilon_2", o.epsilon_2);
  f("clip_threshold", o.clip_threshold);
  f("relative_step", o.relative_step);
}
template <class F>
void own_fields(LionOptions& o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
}

namespace {

class SgdImpl : public KerasOptimizerImpl {
 public:
  explicit SgdImpl(const SGDOptions& o)
      : KerasOptimizerImpl(setup("SGD", o), {{{"m", "momentums"}}}), o_(o) {}

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

// Adam and AdamW, which differ in what decays by default alone.
template <class Options>
class AdamImpl : public KerasOptimizerImpl {
 public:
  AdamImpl(const char* class_name, const Options& o)
      : KerasOptimizerImpl(setup(class_name, o), lists(o)), o_(o) {}

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
  static std::vector<SlotGroup> lists(const Options& o) {
    std::vector<SlotGroup> out{{{"m", "_momentums"}, {"v", "_velocities"}}};
    if (o.amsgrad) out.push_back({{"vhat", "_velocity_hats"}});
    return out;
  }
  Options o_;
};

class AdamaxImpl : public KerasOptimizerImpl {
 public:
  explicit AdamaxImpl(const AdamaxOptions& o)
      : KerasOptimizerImpl(setup("Adamax", o), {{{"m", "_m"}, {"u", "_u"}}}), o_(o) {}

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
      : KerasOptimizerImpl(setup("Nadam", o), {{{"m", "_momentums"}, {"v", "_velocities"}}}),
        o_(o) {}

 protected:
  // Keras's momentum schedule: u(t) = beta_1 * (1 - 0.5 * 0.96^t), and its running product.
  //
  // Eagerly the product takes one factor a step. In a graph Keras 2 lets every variable of a step
  // multiply it again, but the one whose number meets the count of steps: it counts the products
  // in Python, that is while it traces. A graph that makes the state is traced twice, and starts
  // to count behind the first trace. Compiled training goes by these numbers, and so do we; of a
  // single variable, where they would be NaN, by those that were meant.
  void before_updates(const GradientsAndVariables& pairs, const Number& rate) override {
    KerasOptimizerImpl::before_updates(pairs, rate);
    variables_in_step_ = 0;
    for (const auto& [g, v] : pairs) variables_in_step_ += g.defined();
    in_step_ = 0;
    if (!is_tracing()) {
      ++counted_;
    } else if (!traced_from_) {
      if (made_by_trace_) counted_ += variables_in_step_;
      traced_from_ = counted_;
      counted_ += variables_in_step_;
    }
  }
  void prepare(const std::vector<Variable>& variables) override {
    KerasOptimizerImpl::prepare(variables);
    dtype_ = variables[0].dtype();
    made_by_trace_ = is_tracing();
    product();
  }
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    const Number u = momentum(step.count), next = momentum(step.count + 1),
                 so_far = multiplied_product(u, step);
    ++in_step_;
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
  // The product as this variable of the step finds it, after what it adds.
  Number multiplied_product(const Number& u, Step& step) {
    const Variable p = product();
    const bool each =
        is_tracing() && variables_in_step_ > 1 && keras_behaviour() == 2 && !gathers_gradients();
    if (!each && in_step_ > 0) return step.value_of(p);
    Tensor after = (Number::of(p) * u).as(p.dtype());
    if (each) {
      const auto number = static_cast<double>(*traced_from_ + in_step_);
      const Tensor met = (step.count + 1).as(float64) == number;
      after = where(met, p.value(), after);
    }
    p.assign(after);
    return Number::of(after);
  }
  Number momentum(const Number& t) const { return o_.beta_1 * (1 - 0.5 * pow(0.96, t)); }
  NadamOptions o_;
  DType dtype_ = float32;  // of the product: as the first variable
  std::int64_t counted_ = 1, variables_in_step_ = 0, in_step_ = 0;
  std::optional<std::int64_t> traced_from_;  // where the first trace began to count
  bool made_by_trace_ = false;
};

class AdagradImpl : public KerasOptimizerImpl {
 public:
  explicit AdagradImpl(const AdagradOptions& o)
      : KerasOptimizerImpl(setup("Adagrad", o),
                           {{{"accumulator", "_accumulators", o.initial_accumulator_value}}}),
        o_(o) {}

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
      : KerasOptimizerImpl(setup("Adadelta", o),
                           {{{"accumulated_grad", "_accumulated_grads"},
                             {"accumulated_delta_var", "_accumulated_delta_vars"}}}),
        o_(o) {}

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
      : KerasOptimizerImpl(setup("RMSprop", o), lists(o)), o_(o) {}

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
      : KerasOptimizerImpl(setup("Ftrl", o),
                           {{{"accumulator", "_accumulators", o.initial_accumulator_value},
                             {"linear", "_linears"}}}),
        o_(o) {}

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

class LionImpl : public KerasOptimizerImpl {
 public:
  explicit LionImpl(const LionOptions& o)
      : KerasOptimizerImpl(setup("Lion", o), {{{"m", "momentums"}}}), o_(o) {
    RILL_CHECK(o.beta_1 > 0 && o.beta_1 <= 1, invalid_argument,
               "[Lion] beta_1 is {}; expected a number in (0, 1]", o.beta_1);
  }

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step&) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    const Variable momentum = slot_variable(v, "m", 0);
    const Tensor m = momentum.value(), grad = g.tensor();
    v.assign_sub(n(lr) * sign(m * n(o_.beta_1) + grad * n(1 - o_.beta_1)));
    momentum.assign(m * n(o_.beta_2) + grad * n(1 - o_.beta_2));
  }

 private:
  LionOptions o_;
};

class AdafactorImpl : public KerasOptimizerImpl {
 public:
  explicit AdafactorImpl(const AdafactorOptions& o)
      : KerasOptimizerImpl(setup("Adafactor", o), {{{"r", "_r"}, {"c", "_c"}, {"v", "_v"}}}),
        o_(o) {}

 protected:
  // Means over the last axis, and over the one before it, of variables that have both.
  TensorShape slot_shape(const TensorShape& of, std::string_view slot) const override {
    if (slot != "r" && slot != "c") return of;
    Dims dims = of.dims();
    dims.erase(dims.size() - (slot == "r" ? 1 : 2));
    return TensorShape(dims);
  }
  bool has_slot(const Variable& v, std::string_view slot) const override {
    return (slot != "r" && slot != "c") || v.shape().rank() >= 2;
  }
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    const Number rho = o_.relative_step ? min(lr, 1 / pow(step.count, 0.5)) : lr;
    const Tensor grad = g.tensor(), value = v.value();
    const auto rms = [](const Tensor& x) { return sqrt(reduce_mean(square(x))); };
    const Tensor size = maximum(n(o_.epsilon_2), rms(value)) * n(rho);
    const Tensor squares = square(grad) + n(o_.epsilon_1);
    const Number keep = 1 - pow(step.count, o_.beta_2_decay);
    const auto averaged = [&](const char* slot, const Tensor& x) {
      const Variable mean = slot_variable(v, slot, 0);
      const Tensor next = n(keep) * mean.value() + n(1 - keep) * x;
      mean.assign(next);
      return next;
    };
    Tensor second;
    if (has_slot(v, "r")) {
      const Tensor rows = averaged("r", reduce_mean(squares, {-1})),
                   columns = averaged("c", reduce_mean(squares, {-2}));
      second = expand_dims(rows / reduce_mean(rows, {-1}, {.keepdims = true}), -1) *
               expand_dims(columns, -2);
      slot_variable(v, "v", 0).assign(second);  // Keras keeps it too
    } else {
      second = averaged("v", squares);
    }
    const Tensor step_direction = grad * rsqrt(second);
    v.assign_sub(size * step_direction / maximum(n(1), rms(step_direction) / n(o_.clip_threshold)));
  }

 private:
  AdafactorOptions o_;
};

}  // namespace

SGD::SGD() : SGD(SGDOptions{}) {}
SGD::SGD(SGDOptions o) : Optimizer(new SgdImpl(o)) {
  RILL_CHECK(o.momentum >= 0 && o.momentum <= 1, invalid_argument,
             "[SGD] momentum is {}; expected a number in [0, 1]", o.momentum);
}
Adam::Adam() : Adam(AdamOptions{}) {}
Adam::Adam(AdamOptions o) : Optimizer(new AdamImpl<AdamOptions>("Adam", o)) {}
AdamW::AdamW(AdamWOptions o) : Optimizer(new AdamImpl<AdamWOptions>("AdamW", o)) {
  RILL_CHECK(o.weight_decay, invalid_argument,
             "[AdamW] there is no weight_decay; expected a number, or use Adam");
}
Adafactor::Adafactor(AdafactorOptions o) : Optimizer(new AdafactorImpl(o)) {}
Lion::Lion(LionOptions o) : Optimizer(new LionImpl(o)) {}
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
Ftrl::Ftrl() : Ftrl(FtrlOptions{}) {}
Ftrl::Ftrl(FtrlOptions o) : Optimizer(new FtrlImpl(o)) {}

namespace {

struct Known {
  const char* class_name;
  Optimizer (*make)(const Config& config);
};
const Known kKnown[] = {{"Adadelta", made<Adadelta, AdadeltaOptions>},
                        {"Adafactor", made<Adafactor, AdafactorOptions>},
                        {"Adagrad", made<Adagrad, AdagradOptions>},
                        {"Adam", made<Adam, AdamOptions>},
                        {"AdamW", made<AdamW, AdamWOptions>},
                        {"Adamax", made<Adamax, AdamaxOptions>},
                        {"Ftrl", made<Ftrl, FtrlOptions>},
                        {"Lion", made<Lion, LionOptions>},
                        {"LossScaleOptimizer", mixed_precision::loss_scale_optimizer_of},
                        {kLossScaleOptimizer, mixed_precision::loss_scale_optimizer_of},
                        {"Lamb", lamb_of},
                        {"Muon", muon_of},
                        {"Nadam", made<Nadam, NadamOptions>},
                        {"RMSprop", made<RMSprop, RMSpropOptions>},
                        {"SGD", made<SGD, SGDOptions>}};

std::string lowered(std::string_view s) {
  std::string lower(s);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}
Optimizer make(std::string_view name, const Config& config, const char* tag) {
  const std::string lower = lowered(name);
  std::vector<std::string> known;
  for (const Known& k : kKnown) {
    known.push_back(lowered(k.class_name));
    if (lower == known.back()) return k.make(config);
  }
  if (const std::optional<Optimizer> users = users_optimizer(name, config)) return *users;
  for (const std::string& users : users_optimizer_names()) known.push_back(users);
  const std::string near = did_you_mean(lower, known);
  RILL_FAIL(invalid_argument, "[{}] there is no optimizer \"{}\".{}{}", tag, name, near,
            near.empty() ? " Register a user-defined class first: " + registering_call(name) : "");
}

}  // namespace

Optimizer get(std::string_view name) { return make(name, Config::dict(), "optimizers.get"); }
Config serialize(const Optimizer& optimizer) {
  const Config config = optimizer.get_config();
  const Ref<TrackableNode> node = optimizer.trackable();
  const std::string users = static_cast<const OptimizerImpl&>(*node).registered_name();
  if (!users.empty()) return users_record(users, config);
  return Config::dict({{"class_name", optimizer.class_name()}, {"config", config}});
}
Optimizer deserialize(const Config& c) {
  if (c.is_text()) return get(c.as_string());
  std::string_view name = class_of_record(c);
  const Config& config = c.get("config").is_dict() ? c["config"] : Config::dict();
  if (std::optional<Optimizer> users = users_optimizer(name, config)) return *users;
  if (name.starts_with("Custom>")) name.remove_prefix(7);  // where a package registered it
  return make(name, config, "optimizers.deserialize");
}

}  // namespace rill::keras::optimizers
