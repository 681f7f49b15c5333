#include "rill/base/check.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/layers/recurrent/cell_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

// ---- the size of a batch
BatchSize BatchSize::of(const Tensor& x, int axis) {
  const std::int64_t n = x.shape().has_rank() ? x.shape().dim(axis) : -1;
  return n >= 0 ? BatchSize{n} : BatchSize{-1, rill::shape(x)[axis]};
}
Tensor BatchSize::filled(double value, const TensorShape& each, DType dtype) const {
  const Tensor number = cast(constant(value), dtype);
  std::vector<std::int64_t> sizes{known};
  for (const std::int64_t n : each.as_list()) sizes.push_back(n);
  if (known >= 0) return fill(constant(sizes), number);
  std::vector<Tensor> parts{cast(scalar, int32)};
  for (const std::int64_t n : each.as_list()) parts.push_back(constant(static_cast<int>(n)));
  const Tensor t = fill(stack(parts), number);
  t.set_shape(TensorShape(sizes));
  return t;
}
Tensor BatchSize::zeros(const TensorShape& each, DType dtype) const {
  return filled(0, each, dtype);
}
Tensor BatchSize::ones(const TensorShape& each, DType dtype) const {
  return filled(1, each, dtype);
}

// ---- cells of the library
CellImpl::CellImpl(std::string_view class_name, LayerOptions o)
    : LayerImpl(class_name, std::move(o)) {
  input_spec.first_only = true;
}

namespace {

// x and the states of a call: (x, (states...)), or all in one list.
std::pair<Tensor, States> arguments_of(const Nest& inputs, const std::string& name,
                                       std::size_t num_states) {
  std::vector<Tensor> all = inputs.flatten();
  RILL_CHECK(all.size() == num_states + 1, invalid_argument,
             "[{}] a step takes an input and {} state(s); got {} tensors in all. Call it as "
             "cell(x, states), with get_initial_state() at first",
             name, num_states, all.size());
  const Tensor x = all[0];
  all.erase(all.begin());
  return {x, std::move(all)};
}
Nest as_nest(const StepResult& r) { return Nest::make({Nest(r.first), Nest(r.second)}); }

}  // namespace

Nest CellImpl::call_nest(const Nest& inputs, const CallContext& context) {
  const auto [x, states] = arguments_of(inputs, name(), state_size().size());
  const auto run = begin(BatchSize::of(x, 0), context, Extent::single_step);
  return as_nest(run->advance(run->project(x), states));
}

// ---- the facade
using layers::AbstractRNNCell;

StepResult AbstractRNNCell::operator()(const Operand& x, const States& states,
                                       CallOptions options) const {
  const Nest out = apply(Nest::make({Nest(to_tensor(x)), Nest(states)}), std::move(options));
  return {out[0].as_tensor(), out[1].flatten()};
}
std::vector<TensorShape> AbstractRNNCell::state_size() const {
  if (const auto* cell = dynamic_cast<const CellImpl*>(&impl())) return cell->state_size();
  RILL_FAIL(unimplemented,
            "[{}] the class {} has no state_size: override std::vector<tf::TensorShape> "
            "state_size() const, the shape of each state without the batch",
            name(), class_name());
}
TensorShape AbstractRNNCell::output_size() const {
  if (const auto* cell = dynamic_cast<const CellImpl*>(&impl())) return cell->output_size();
  return state_size().at(0);
}
StepResult AbstractRNNCell::step(const Tensor& x, const States& states,
                                 const CallContext& context) {
  auto* cell = dynamic_cast<CellImpl*>(&impl());
  RILL_CHECK(cell, unimplemented,
             "[{}] the class {} has no step: override std::pair<Tensor, States> step(const "
             "Tensor& x, const States& states, const keras::CallContext&)",
             name(), class_name());
  const auto run = cell->begin(BatchSize::of(x, 0), context, CellImpl::Extent::single_step);
  return run->advance(run->project(x), states);
}
Nest AbstractRNNCell::call_nest(const Nest& inputs, const CallContext& context) {
  const auto [x, states] = arguments_of(inputs, name(), state_size().size());
  return as_nest(step(x, states, context));
}
States AbstractRNNCell::get_initial_state(InitialStateOptions o) const {
  RILL_CHECK(o.inputs.defined() || o.batch_size >= 0, invalid_argument,
             "[{}] get_initial_state needs batch_size, or inputs, which have one", name());
  const BatchSize batch = o.inputs.defined() ? BatchSize::of(o.inputs, 0) : BatchSize{o.batch_size};
  States states;
  for (const TensorShape& each : state_size())
    states.push_back(batch.zeros(each, o.dtype.defined() ? o.dtype : compute_dtype()));
  return states;
}
void AbstractRNNCell::reset_dropout_mask() const {
  if (auto* cell = dynamic_cast<CellImpl*>(&impl())) cell->reset_dropout(true, false);
}
void AbstractRNNCell::reset_recurrent_dropout_mask() const {
  if (auto* cell = dynamic_cast<CellImpl*>(&impl())) cell->reset_dropout(false, true);
}

// ---- cells inside layers
AbstractRNNCell& as_cell(const LayerRef& layer, std::string_view where) {
  auto* cell = layer.defined() ? dynamic_cast<AbstractRNNCell*>(layer.operator->()) : nullptr;
  RILL_CHECK(cell, invalid_argument,
             "[{}] {} is not a cell; expected an LSTMCell, a GRUCell, a SimpleRNNCell, "
             "StackedRNNCells or a class derived from AbstractRNNCell",
             where, layer.defined() ? "a " + layer->class_name() : std::string("nothing"));
  return *cell;
}

void build_cell(const LayerRef& cell, const TensorShape& step_shape) {
  LayerObjects::introduce(*cell);
  const NameStack names(cell->name());
  LayerCalls::build(*cell, {step_shape});
}

namespace {

// A user's class: it takes whole steps, by its call.
class CallRun : public CellRun {
 public:
  CallRun(AbstractRNNCell& cell, const CallContext& context)
      : cell_(cell), training_(context.training), constants_(context.constants) {}
  Tensor project(const Tensor& x) override { return x; }
  StepResult advance(const Tensor& x, const States& states) override {
    return cell_(x, states, {.training = training_, .constants = constants_});
  }

 private:
  AbstractRNNCell& cell_;
  const int training_;
  const std::vector<Tensor> constants_;
};

}  // namespace

std::unique_ptr<CellRun> begin_run(const LayerRef& cell, const BatchSize& batch,
                                   const CallContext& context, CellImpl::Extent extent) {
  auto* impl = dynamic_cast<CellImpl*>(&cell->impl());
  if (impl && !LayerObjects::is_users_class(*cell)) return impl->begin(batch, context, extent);
  return std::make_unique<CallRun>(as_cell(cell, cell->name()), context);
}

bool takes_constants(const LayerRef& cell) {
  if (LayerObjects::is_users_class(*cell)) return true;
  const auto* impl = dynamic_cast<const CellImpl*>(&cell->impl());
  return impl && impl->takes_constants();
}

}  // namespace rill::keras
