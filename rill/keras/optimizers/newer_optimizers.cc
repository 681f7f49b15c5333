// Optimizers that Keras 3 has beyond those of Keras 2.
#include <algorithm>
#include <cmath>
#include <regex>

#include "rill/base/check.h"
#include "rill/core/attr.h"
#include "rill/keras/optimizers/optimizer_options_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/state_ops.h"

namespace rill::keras::optimizers {

template <class F>
void own_fields(LambOptions& o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
  f("epsilon", o.epsilon);
}
template <class F>
void own_fields(MuonOptions& o, F f) {
  f("adam_beta_1", o.adam_beta_1);
  f("adam_beta_2", o.adam_beta_2);
  f("epsilon", o.epsilon);
  f("exclude_layers", o.exclude_layers);
  f("muon_a", o.muon_a);
  f("muon_b", o.muon_b);
  f("muon_c", o.muon_c);
  f("adam_lr_ratio", o.adam_lr_ratio);
  f("momentum", o.momentum);
  f("ns_steps", o.ns_steps);
  f("nesterov", o.nesterov);
  f("exclude_embeddings", o.exclude_embeddings);
  f("adam_weight_decay", o.adam_weight_decay);
  f("rms_rate", o.rms_rate);
}

namespace {

class LambImpl : public KerasOptimizerImpl {
 public:
  explicit LambImpl(const LambOptions& o)
      : KerasOptimizerImpl(setup("Lamb", o), {{{"m", "_momentums"}, {"v", "_velocities"}}}),
        o_(o) {}

 protected:
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    const Tensor grad = g.tensor(), value = v.value();
    const Variable first = slot_variable(v, "m", 0), second = slot_variable(v, "v", 0);
    const Tensor m = first.value() + (grad - first.value()) * n(1 - o_.beta_1),
                 s = second.value() + (square(grad) - second.value()) * n(1 - o_.beta_2);
    first.assign(m);
    second.assign(s);
    const Tensor direction = m / n(1 - step.power_for(v, o_.beta_1)) /
                             (sqrt(s / n(1 - step.power_for(v, o_.beta_2))) + n(o_.epsilon));
    // As long as the variable is, where both have a length.
    const auto length = [](const Tensor& x) { return sqrt(reduce_sum(square(x))); };
    const Tensor wide = length(value), step_size = length(direction), one = n(1);
    const Tensor ratio = where(logical_and(wide > 0, step_size > 0),
                               wide / where(step_size > 0, step_size, one), one);
    v.assign_sub(ratio * n(lr) * direction);
  }

 private:
  LambOptions o_;
};

class MuonImpl : public KerasOptimizerImpl {
 public:
  explicit MuonImpl(const MuonOptions& o)
      : KerasOptimizerImpl(setup("Muon", o), {{{"m", "momentums"}, {"v", "adam_velocities"}}}),
        o_(o) {
    RILL_CHECK(o_.ns_steps >= 0, invalid_argument, "[Muon] ns_steps is {}; expected at least 0",
               o_.ns_steps);
    for (const std::string& name : o_.exclude_layers) excluded_.emplace_back(name);
  }

 protected:
  bool has_slot(const Variable& v, std::string_view slot) const override {
    return slot == "m" || takes_adamw(v);
  }
  std::optional<double> weight_decay_of(const Variable& v) const override {
    return takes_adamw(v) ? o_.adam_weight_decay : o_.weight_decay;
  }
  void update(const Variable& v, const Gradient& g, const Number& lr, Step& step) override {
    const auto n = [&](const Number& x) { return scalar_for(v, x); };
    if (takes_adamw(v)) {
      run_update(
          "ResourceApplyAdamKeras",
          {v.handle(), slot(v, "m", 0), slot(v, "v", 0), n(step.power_for(v, o_.adam_beta_1)),
           n(step.power_for(v, o_.adam_beta_2)), n(lr * o_.adam_lr_ratio), n(1 - o_.adam_beta_1),
           n(1 - o_.adam_beta_2), n(o_.epsilon), g.tensor()},
          {});
      return;
    }
    const Variable momentum = slot_variable(v, "m", 0);
    const Tensor grad = g.tensor(), m = momentum.value() * n(o_.momentum) + grad;
    momentum.assign(m);
    Tensor change = n(lr) * orthogonal(o_.nesterov ? grad + n(o_.momentum) * m : m);
    if (o_.rms_rate) {
      const auto widest = static_cast<double>(std::max(v.shape().dim(0), v.shape().dim(1)));
      change = change * (std::sqrt(widest) * *o_.rms_rate);
    }
    v.assign_sub(change);
  }

 private:
  bool takes_adamw(const Variable& v) const {
    if (v.shape().rank() != 2) return true;
    std::string name = v.name();
    for (const std::regex& e : excluded_)
      if (std::regex_search(name, e)) return true;
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return o_.exclude_embeddings && name.find("embedding") != std::string::npos;
  }
  // A matrix whose singular values are all about 1: Newton's iteration, of the fifth order.
  Tensor orthogonal(const Tensor& given) const {
    const bool tall = given.shape().dim(0) > given.shape().dim(1);
    Tensor x = tall ? transpose(given) : given;
    x = x / (sqrt(reduce_sum(square(x))) + 1e-7);
    for (std::int64_t i = 0; i < o_.ns_steps; ++i) {
      const Tensor a = matmul(x, x, {.transpose_b = true});
      x = o_.muon_a * x + matmul(o_.muon_b * a + o_.muon_c * matmul(a, a), x);
    }
    return tall ? transpose(x) : x;
  }

  MuonOptions o_;
  std::vector<std::regex> excluded_;
};

}  // namespace

Lamb::Lamb(LambOptions o) : Optimizer(new LambImpl(o)) {}
Muon::Muon(MuonOptions o) : Optimizer(new MuonImpl(o)) {}

Optimizer lamb_of(const Config& c) { return made<Lamb, LambOptions>(c); }
Optimizer muon_of(const Config& c) { return made<Muon, MuonOptions>(c); }

}  // namespace rill::keras::optimizers
