#include "rill/keras/optimizers/optimizer.h"

#include <algorithm>
#include <cmath>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/eager/context.h"
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

OptimizerImpl::OptimizerImpl(std::string optimizer_name, optimizers::LearningRate rate)
    : name(std::move(optimizer_name)), learning_rate(std::move(rate)), iterations(step_counter()) {}

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
  want[0] = s.indices.size();
  RILL_CHECK(s.indices.ndim() == 1 && s.values.shape() == TensorShape(want), invalid_argument,
             "[apply_gradients] variable \"{}\" of shape {} has a gradient of rows {} at indices "
             "{}; expected rows {} at a list of indices",
             v.name(), shape, s.values.shape(), s.indices.shape(), TensorShape(want));
  const auto index = s.indices.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < index.size(); ++i)
    RILL_CHECK(
        index[i] >= 0 && index[i] < shape.dim(0), invalid_argument,
        "[apply_gradients] indices[{}] = {} of the gradient of variable \"{}\" is not in [0, {})",
        i, index[i], v.name(), shape.dim(0));
}

}  // namespace

// A variable of open shape may have been given another size since its slots were made.
void OptimizerImpl::check_slots(const Variable& var, const TensorShape& shape) {
  if (var.shape().is_fully_defined()) return;
  std::lock_guard lock(mutex_);
  for (auto it = by_key_.lower_bound({var.id(), ""});
       it != by_key_.end() && it->first.first == var.id(); ++it)
    RILL_CHECK(it->second.shape().is_compatible_with(shape), invalid_argument,
               "[apply_gradients] variable \"{}\" has shape {} now, but its slot \"{}\" was made "
               "for shape {}; use a new optimizer",
               var.name(), shape, it->second.name(), it->second.shape());
}

void OptimizerImpl::apply(const GradientsAndVariables& pairs, const Variable& global_step) {
  bool any = false;
  for (const auto& [g, v] : pairs) {
    if (!g.defined()) continue;
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
  RILL_CHECK(!global_step.defined() || (global_step.dtype().is_integer() &&
                                        value_shape(global_step.handle()) == TensorShape::scalar()),
             invalid_argument,
             "[apply_gradients] global_step \"{}\" is {} of shape {}; expected an integer scalar",
             global_step.name(), global_step.dtype(), global_step.shape());
  StopRecordingScope no_tape;
  const std::int64_t done = iterations.item<std::int64_t>();
  const double lr = learning_rate.at(done);
  begin_step(done + 1);
  for (const auto& [g, v] : pairs)
    if (g.defined()) update(v, g, lr, done + 1);
  iterations.assign_add(1);
  if (global_step.defined()) global_step.assign_add(1);
}

Tensor OptimizerImpl::slot(const Variable& var, const char* what, double initial) {
  std::lock_guard lock(mutex_);
  auto& found = by_key_[{var.id(), what}];
  if (!found.defined()) {
    std::string owner = var.name();
    owner = owner.substr(0, owner.find(':'));
    const Tensor value = var.value();
    found = Variable(copy_to_device(fill(value.shape(), scalar_for(var, initial)), value.device()),
                     {.trainable = false, .name = name + "/" + what + "/" + owner});
    slots.push_back(found);
  }
  return found.handle();
}

Tensor scalar_for(const Variable& var, double value) { return to_tensor(value, var.dtype()); }
double power_for(const Variable& var, double base, double t) {
  return std::pow(var.dtype() == float64 ? base : static_cast<double>(static_cast<float>(base)), t);
}

IndexedSlices sum_duplicates(const IndexedSlices& s) {
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
void Optimizer::apply_gradients(const GradientsAndVariables& pairs) {
  static const Variable none;
  impl_->apply(pairs, none);
}
Variable Optimizer::iterations() const { return impl_->iterations; }
double Optimizer::learning_rate() const {
  return impl_->learning_rate.at(impl_->iterations.item<std::int64_t>());
}
void Optimizer::set_learning_rate(const optimizers::LearningRate& rate) {
  impl_->learning_rate = rate;
}
const std::string& Optimizer::name() const { return impl_->name; }
std::vector<Variable> Optimizer::variables() const {
  std::vector<Variable> out{impl_->iterations};
  out.insert(out.end(), impl_->slots.begin(), impl_->slots.end());
  return out;
}

}  // namespace keras
}  // namespace rill
