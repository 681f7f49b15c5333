#include "rill/keras/optimizers/optimizer.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/core/resource.h"
#include "rill/core/tensor_impl.h"
#include "rill/eager/context.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/optimizers/optimizer_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/state_ops.h"

namespace rill {

GradientsAndVariables zip(const Gradients& gradients, const std::vector<Variable>& variables) {
  RILL_CHECK(gradients.size() == variables.size(), invalid_argument,
             "[zip] {} gradients for {} variables", gradients.size(), variables.size());
  GradientsAndVariables out;
  for (std::size_t i = 0; i < variables.size(); ++i) out.emplace_back(gradients[i], variables[i]);
  return out;
}

namespace keras {
namespace optimizers {

LearningRate::LearningRate(detail::Fn schedule, int) : schedule_{std::move(schedule)} {}
double LearningRate::at(std::int64_t step) const {
  if (!schedule_.empty())
    return schedule_[0](Nest(constant(step, int64))).as_tensor().item<double>();
  if (is_variable_) return variable_.item<double>();
  if (tensor_.defined()) return tensor_.item<double>();
  return number_;
}
Tensor LearningRate::at(const Tensor& step) const {
  if (!schedule_.empty()) return schedule_[0](Nest(step)).as_tensor();
  if (is_variable_) return variable_.value();
  return tensor_.defined() ? tensor_ : constant(number_, float64);
}

}  // namespace optimizers

void retain(OptimizerImpl* o) noexcept { o->refs.retain(); }
void release(OptimizerImpl* o) noexcept {
  if (o->refs.release()) delete o;
}

namespace {

// On the host wherever the optimizer is made: every step asks for its number.
Variable step_counter() {
  const DeviceScope host("/cpu:0");
  return Variable(constant(0, int64), {.trainable = false, .name = "iteration"});
}

}  // namespace

RuleOptimizerImpl::RuleOptimizerImpl(std::string optimizer_name, optimizers::LearningRate rate)
    : OptimizerImpl(std::move(optimizer_name), step_counter()), rate_(std::move(rate)) {}

double RuleOptimizerImpl::learning_rate() const {
  if (rate_cell_.defined()) return rate_cell_.item<double>();
  return rate_.at(std::max<std::int64_t>(iterations.item<std::int64_t>() - 1, 0));
}

void RuleOptimizerImpl::set_learning_rate(const optimizers::LearningRate& rate) {
  RILL_CHECK(
      !rate_traced_ && (!rate_cell_.defined() || rate.is_number()), failed_precondition,
      "[set_learning_rate] a traced function has the learning rate of \"{}\" in it, which is "
      "{}; expected {}",
      name, rate_traced_ ? "a tensor, a variable or a schedule" : "a number",
      rate_traced_ ? "a tf::Variable as the rate, assigned to" : "another number");
  rate_ = rate;
  if (rate_cell_.defined()) rate_cell_.assign(rate.at(constant(0, int64)));
}

// The rate after `done` steps, as a part of the graph that is being traced.
Number RuleOptimizerImpl::traced_rate(const Tensor& done) {
  if (!rate_.is_number()) {
    rate_traced_ = true;
    return Number::of(rate_.at(done));
  }
  if (!rate_cell_.defined()) {
    EagerScope now;
    rate_cell_ = Variable(constant(rate_.at(0), float64),
                          {.trainable = false, .name = name + "/learning_rate"});
  }
  return Number::of(rate_cell_);
}

std::vector<Variable> RuleOptimizerImpl::variables() const {
  std::vector<Variable> out{iterations};
  out.insert(out.end(), slots.begin(), slots.end());
  return out;
}

void RuleOptimizerImpl::build(const std::vector<Variable>& variables) {
  std::call_once(prepared_, [&] { prepare(variables); });
}

void RuleOptimizerImpl::make_step(const GradientsAndVariables& pairs) {
  // State for all, as in Keras: a file holds as much whether or not a gradient was there.
  std::vector<Variable> variables;
  for (const auto& [g, v] : pairs)
    if (g.defined() || (v.initialized() && v.dtype().is_floating())) variables.push_back(v);
  build(variables);
  use_gradients(pairs, iterations.value());
  iterations.assign_add(1);
  for (const auto& [g, v] : pairs)
    if (const Ref<Projection>& p = variable_cell(v.handle()).projection; g.defined() && p)
      v.assign(p->project(v.value()));
}

// What is known already is worked with as plain numbers.
void RuleOptimizerImpl::update_variables(const GradientsAndVariables& pairs, const Tensor& calls,
                                         const Tensor& done) {
  Number lr = 0;
  if (is_tracing())
    lr = traced_rate(calls);
  else
    lr = rate_cell_.defined() ? rate_cell_.item<double>() : rate_.at(calls.item<std::int64_t>());
  const Number before = Number::of(done);
  Step step(before + 1);
  lr = changed_rate(lr, before);
  GradientsAndVariables other;
  if (changes_gradients()) other = changed(pairs);
  const GradientsAndVariables& used = changes_gradients() ? other : pairs;
  before_updates(used, lr);
  begin_step(step);
  for (const auto& [g, v] : used)
    if (g.defined()) update(v, g, lr, step);
  end_step();
}

namespace {

// A sparse gradient must fit its variable before anything changes.
void check_rows(const Variable& v, const TensorShape& shape, const IndexedSlices& s) {
  RILL_CHECK(shape.rank() > 0, invalid_argument,
             "[apply_gradients] variable \"{}\" is a scalar and has no rows for a sparse gradient",
             v.name());
  RILL_CHECK(s.indices.dtype() == int32 || s.indices.dtype() == int64, invalid_argument,
             "[apply_gradients] the indices of the gradient of variable \"{}\" are {}; expected "
             "int32 or int64",
             v.name(), s.indices.dtype());
  Dims want = shape.dims();
  want[0] = s.indices.shape().num_elements();
  RILL_CHECK(s.indices.shape().is_compatible_with(TensorShape(Dims{-1})) &&
                 s.values.shape().is_compatible_with(TensorShape(want)),
             invalid_argument,
             "[apply_gradients] variable \"{}\" of shape {} has a gradient of rows {} at indices "
             "{}; expected rows {} at a list of indices",
             v.name(), shape, s.values.shape(), s.indices.shape(), TensorShape(want));
  if (s.indices.is_symbolic()) return;  // the update itself looks at them
  const auto index = s.indices.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < index.size(); ++i)
    RILL_CHECK(
        index[i] >= 0 && index[i] < shape.dim(0), invalid_argument,
        "[apply_gradients] indices[{}] = {} of the gradient of variable \"{}\" is not in [0, {})",
        i, index[i], v.name(), shape.dim(0));
}

}  // namespace

// A variable of open shape may have been given another size since its slots were made.
void RuleOptimizerImpl::check_slots(const Variable& var, const TensorShape& shape) {
  if (var.shape().is_fully_defined()) return;
  std::lock_guard lock(mutex_);
  for (auto it = by_key_.lower_bound({var.id(), ""});
       it != by_key_.end() && it->first.first == var.id(); ++it)
    RILL_CHECK(it->second.shape().is_compatible_with(slot_shape(shape, it->first.second)),
               invalid_argument,
               "[apply_gradients] variable \"{}\" has shape {} now, but its slot \"{}\" was made "
               "for shape {}; use a new optimizer",
               var.name(), shape, it->second.name(), it->second.shape());
}

void RuleOptimizerImpl::apply(const GradientsAndVariables& pairs, const Variable& global_step) {
  bool any = false;
  std::string without;
  for (const auto& [g, v] : pairs) {
    if (!g.defined()) {
      without += (without.empty() ? "\"" : ", \"") + v.name() + "\"";
      continue;
    }
    any = true;
    RILL_CHECK(v.initialized(), failed_precondition,
               "[apply_gradients] variable \"{}\" has no value yet", v.name());
    RILL_CHECK(g.dtype() == v.dtype(), invalid_argument,
               "[apply_gradients] variable \"{}\" is {}, its gradient {}", v.name(), v.dtype(),
               g.dtype());
    RILL_CHECK(v.dtype().is_floating(), invalid_argument,
               "[apply_gradients] variable \"{}\" is {}; expected a floating-point variable",
               v.name(), v.dtype());
    const TensorShape shape = value_shape(v.handle());
    RILL_CHECK(shape.is_compatible_with(g.shape()), invalid_argument,
               "[apply_gradients] variable \"{}\" has shape {}, its gradient has shape {}",
               v.name(), shape, g.shape());
    if (g.is_sparse()) check_rows(v, shape, g.slices());
    check_slots(v, shape);
  }
  RILL_CHECK(any, invalid_argument,
             "[apply_gradients] no gradient is given for any of {} variables; why_none() of the "
             "tape says where the path is cut",
             pairs.size());
  if (!without.empty())
    RILL_LOG(warning,
             "[apply_gradients] there is no gradient for {}, which stay as they are; why_none() of "
             "the tape says where the path is cut",
             without);
  RILL_CHECK(!global_step.defined() || (global_step.dtype().is_integer() &&
                                        value_shape(global_step.handle()) == TensorShape::scalar()),
             invalid_argument,
             "[apply_gradients] global_step \"{}\" is {} of shape {}; expected an integer scalar",
             global_step.name(), global_step.dtype(), global_step.shape());
  StopRecordingScope no_tape;
  make_step(pairs);
  if (global_step.defined()) global_step.assign_add(1);
}

Config OptimizerImpl::config() const {
  RILL_FAIL(unimplemented,
            "[get_config] the optimizer \"{}\" has no configuration; those of "
            "keras::optimizers have",
            name);
}
void OptimizerImpl::exclude_from_weight_decay(const std::vector<Variable>&,
                                              const std::vector<std::string>&) {
  RILL_FAIL(unimplemented,
            "[exclude_from_weight_decay] the optimizer \"{}\" has no weight decay; "
            "those of keras::optimizers have",
            name);
}
void OptimizerImpl::finalize_variable_values(const std::vector<Variable>&) {}

Variable RuleOptimizerImpl::slot_variable(const Variable& var, const char* what, double initial,
                                          bool copy) {
  std::lock_guard lock(mutex_);
  auto& found = by_key_[{var.id(), what}];
  if (!found.defined()) {
    EagerScope now;  // a slot is made once, whether or not the step is traced
    std::string owner = var.name();
    owner = owner.substr(0, owner.find(':'));
    const Tensor value = var.value();
    const Tensor first =
        copy ? value : fill(slot_shape(value.shape(), what), scalar_for(var, initial));
    found = Variable(copy_to_device(first, value.device()),
                     {.trainable = false, .name = name + "/" + what + "/" + owner});
    slots.push_back(found);
    slot_made(var, what, found);
  }
  return found;
}

Variable RuleOptimizerImpl::state(const char* what, const std::function<Tensor()>& initial) {
  std::lock_guard lock(mutex_);
  auto& found = by_key_[{0, what}];
  if (!found.defined()) {
    EagerScope now;
    found = Variable(initial(), {.trainable = false, .name = name + "/" + what});
    slots.push_back(found);
    state_made(what, found);
  }
  return found;
}

Tensor scalar_for(const Variable& var, const Number& value) { return value.as(var.dtype()); }
Number Step::power_for(const Variable& var, double base) {
  if (var.dtype() != float64) base = static_cast<double>(static_cast<float>(base));
  for (const Power& p : powers_)
    if (p.base == base) return p.value;
  powers_.push_back({base, pow(base, count)});
  return powers_.back().value;
}

Number Step::value_of(const Variable& scalar) {
  for (const Read& r : reads_)
    if (r.variable == scalar.id()) return r.value;
  reads_.push_back({scalar.id(), Number::of(scalar)});
  return reads_.back().value;
}

IndexedSlices sum_duplicates(const IndexedSlices& s) {
  if (s.indices.is_symbolic()) {
    const UniqueResult rows = unique(s.indices);
    return {unsorted_segment_sum(s.values, rows.idx, size(rows.y)), rows.y, s.dense_shape};
  }
  const auto index = s.indices.to_vector<std::int64_t>();
  std::vector<std::int64_t> unique = index;
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  if (unique.size() == index.size()) return s;
  std::vector<std::int64_t> segment;
  for (std::int64_t i : index)
    segment.push_back(std::lower_bound(unique.begin(), unique.end(), i) - unique.begin());
  return {
      unsorted_segment_sum(s.values, constant(segment), static_cast<std::int64_t>(unique.size())),
      constant(unique), s.dense_shape};
}

Optimizer::Optimizer(OptimizerImpl* impl) : impl_(impl) {}
Variable Optimizer::apply_gradients(const GradientsAndVariables& pairs) {
  static const Variable none;
  if (!pairs.empty()) impl_->apply(pairs, none);
  return impl_->iterations;
}
void Optimizer::build(const std::vector<Variable>& variables) { impl_->build(variables); }
Variable Optimizer::iterations() const { return impl_->steps_taken(); }
double Optimizer::learning_rate() const { return impl_->learning_rate(); }
void Optimizer::set_learning_rate(const optimizers::LearningRate& rate) {
  impl_->set_learning_rate(rate);
}
const std::string& Optimizer::name() const { return impl_->name; }
std::string Optimizer::class_name() const { return impl_->class_name(); }
Config Optimizer::get_config() const { return impl_->config(); }
void Optimizer::exclude_from_weight_decay(const std::vector<Variable>& variables,
                                          const std::vector<std::string>& names) {
  impl_->exclude_from_weight_decay(variables, names);
}
void Optimizer::finalize_variable_values(const std::vector<Variable>& variables) {
  impl_->finalize_variable_values(variables);
}
Ref<TrackableNode> Optimizer::trackable() const {
  retain(impl_.get());
  return Ref<TrackableNode>(impl_.get());
}
std::vector<Variable> Optimizer::variables() const { return impl_->variables(); }
Tensor Optimizer::get_scaled_loss(const Tensor& loss) const { return impl_->scaled_loss(loss); }
Gradients Optimizer::get_unscaled_gradients(const Gradients& gradients) const {
  return impl_->unscaled_gradients(gradients);
}

}  // namespace keras
}  // namespace rill
