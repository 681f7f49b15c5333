#include "rill/base/check.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/recurrent/gated_cells_impl.h"
#include "rill/keras/layers/recurrent/rnn_impl.h"
#include "rill/keras/layers/recurrent/sequence_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"

namespace rill::keras {

RnnLayer::RnnLayer(std::string_view class_name, LayerRef cell, layers::RNNOptions o)
    : LayerImpl(class_name, common(o)), cell_(std::move(cell)), o_(std::move(o)) {
  as_cell(cell_, class_name);
  track_layer("cell", LayerObjects::impl_of(*cell_));
  supports_masking = true;
  stateful = o_.stateful;
  input_spec.min_ndim = 3;
  input_spec.first_only = true;
}

void RnnLayer::build(const std::vector<TensorShape>& shapes) {
  RILL_CHECK(shapes[0].has_rank() && shapes[0].rank() >= 3, invalid_argument,
             "[{}] the input has shape {}; expected [batch, time, features...]", name(), shapes[0]);
  TensorShape step = TensorShape::scalar();
  for (int i = 0; i < shapes[0].rank(); ++i)
    if (i != 1 - batch_axis()) step.push_back(shapes[0].dim(i));
  build_for_steps(step);
  input_spec = {.ndim = shapes[0].rank(), .axes = {}, .first_only = true};
  for (int i = 2; i < shapes[0].rank(); ++i)
    if (shapes[0].dim(i) >= 0) input_spec.axes.emplace_back(i, shapes[0].dim(i));
  if (!o_.stateful) return;
  std::int64_t batch = shapes[0].dim(batch_axis());
  if (batch < 0 && batch_input_shape.has_rank()) batch = batch_input_shape.dim(batch_axis());
  RILL_CHECK(batch >= 0, invalid_argument,
             "[{}] a stateful layer needs to know its batch size. Give batch_input_shape with the "
             "batch in front, or batch_size to keras::Input",
             name());
  for (const TensorShape& each : as_cell_().state_size())
    kept_.emplace_back(BatchSize{batch}.zeros(each, policy.compute_dtype()),
                       VariableOptions{.trainable = false, .name = name() + "/state"});
}

void RnnLayer::build_for_steps(const TensorShape& step) { build_cell(cell_, step); }

States RnnLayer::initial_state(const Tensor& x) const {
  const BatchSize batch = BatchSize::of(x, batch_axis());
  States states;
  for (const TensorShape& each : as_cell_().state_size())
    states.push_back(batch.zeros(each, policy.compute_dtype()));
  return states;
}

Tensor RnnLayer::first_output(const Tensor& x) const {
  return BatchSize::of(x, batch_axis()).zeros(as_cell_().output_size(), policy.compute_dtype());
}

void RnnLayer::expect_constants(std::size_t count) {
  RILL_CHECK(takes_constants(cell_), invalid_argument,
             "[{}] got {} constants, and the cell is a {}, which takes none; expected a cell of "
             "your own, whose step finds them in context.constants",
             name(), count, cell_->class_name());
  num_constants_ = count;
}

std::vector<Tensor> take_constants(std::vector<Tensor>& inputs, const CallContext& context,
                                   std::size_t count, const std::string& name) {
  if (!context.constants.empty() || count == 0) return context.constants;
  RILL_CHECK(inputs.size() > count, invalid_argument,
             "[{}] the layer takes {} constants, and the call has {} inputs in all. Give them as "
             ".constants, or behind the input and the states",
             name, count, inputs.size());
  const auto first = inputs.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<Tensor> constants(first, inputs.end());
  inputs.erase(first, inputs.end());
  return constants;
}

// Rows of steps, padded to the longest, with a mask; rows again where there are outputs of steps.
Nest RnnLayer::call_ragged(const Nest& inputs, const CallContext& context) {
  const RaggedTensor x = inputs.as_ragged();
  RILL_CHECK(x.ragged_rank() == 1 && !o_.time_major, invalid_argument,
             "[{}] the input is ragged, of shape {}; expected [batch, (time), features...]", name(),
             x.shape());
  RILL_CHECK(!context.mask.defined(), invalid_argument,
             "[{}] a mask for a ragged input; the rows say which steps there are", name());
  const Tensor lengths = x.row_lengths(), dense = x.to_tensor();
  CallContext padded = context;
  padded.mask = sequence_mask(lengths, shape(dense, lengths.dtype())[1]);
  padded.masks = {padded.mask};
  const Nest out = call_nest(dense, padded);
  if (!o_.return_sequences) return out;
  const auto rows = [&](const Tensor& y) {
    const RaggedTensor all =
        RaggedTensor::from_tensor(y, {.lengths = {lengths}, .row_splits_dtype = lengths.dtype()});
    Dims known{-1};
    for (int i = 2; i < y.ndim(); ++i) known.push_back(y.shape().dim(i));
    all.flat_values().set_shape(TensorShape(known));  // a drawing has to know it
    return all;
  };
  if (out.is_tensor()) return rows(out.as_tensor());
  std::vector<Nest> parts{rows(out.part(0).as_tensor())};
  for (std::size_t i = 1; i < out.size(); ++i) parts.push_back(out.part(i));
  return Nest::make(std::move(parts));
}

Nest RnnLayer::call_nest(const Nest& inputs, const CallContext& context) {
  if (inputs.composite_kind() == "ragged") return call_ragged(inputs, context);
  // (x, states..., constants...), as in a drawing where they are inputs, or x alone.
  std::vector<Tensor> leaves = inputs.flatten();
  CallContext of_cell = context;
  of_cell.constants = take_constants(leaves, context, num_constants_, name());
  for (Tensor& t : of_cell.constants)
    if (t.dtype().is_floating() && t.dtype() != policy.compute_dtype())
      t = cast(t, policy.compute_dtype());
  Tensor x = leaves.at(0);
  States states(leaves.begin() + 1, leaves.end());
  if (states.empty()) states = context.initial_state;
  layers::AbstractRNNCell& cell = as_cell_();
  const std::vector<TensorShape> sizes = cell.state_size();
  if (states.empty() && o_.stateful) {
    const std::int64_t batch = x.shape().dim(batch_axis()),
                       kept = kept_.empty() ? -1 : kept_[0].shape().dim(0);
    RILL_CHECK(batch < 0 || kept < 0 || batch == kept, invalid_argument,
               "[{}] the layer is stateful and was built for batches of {}; got one of {}. Batches "
               "of one size: dataset.batch({}, {{.drop_remainder = true}}), or batch_size = {}",
               name(), kept, batch, kept, kept);
    for (const Variable& v : kept_) states.push_back(v.value());
  } else if (states.empty()) {
    states = initial_state(x);
  }
  RILL_CHECK(states.size() == sizes.size(), invalid_argument,
             "[{}] got {} initial states; the cell has {}", name(), states.size(), sizes.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    Tensor& s = states[i];
    TensorShape want = TensorShape::scalar();
    want.push_back(-1);
    for (const std::int64_t n : sizes[i].as_list()) want.push_back(n);
    RILL_CHECK(s.shape().is_compatible_with(want), invalid_argument,
               "[{}] initial state {} has shape {}; expected {}", name(), i, s.shape(), want);
    if (s.dtype() != policy.compute_dtype()) s = cast(s, policy.compute_dtype());
  }

  const auto run =
      begin_run(cell_, BatchSize::of(x, batch_axis()), of_cell, CellImpl::Extent::sequence);
  const Tensor zero_output = first_output(x);
  Tensor mask = context.mask;
  if (mask.defined()) {
    RILL_CHECK(!mask.shape().has_rank() || mask.ndim() == 2, invalid_argument,
               "[{}] the mask has shape {}; expected a number for each step: [batch, time]", name(),
               mask.shape());
    if (mask.dtype() != bool_) mask = cast(mask, bool_);
    // In a function the mask may say less of its sizes than the sequence does.
    if (mask.is_symbolic() && !mask.shape().is_fully_defined()) {
      mask = identity(mask);
      mask.set_shape({Dim(x.shape()[0]), Dim(x.shape()[1])});
    }
    if (!o_.time_major) mask = transpose(mask, {1, 0});
  }
  if (!o_.time_major) {
    std::vector<int> axes{1, 0};
    for (int i = 2; i < x.ndim(); ++i) axes.push_back(i);
    x = transpose(x, axes);
  }
  SequenceResult r = run_sequence(*run, x, mask, states, zero_output,
                                  {.go_backwards = o_.go_backwards,
                                   .unroll = o_.unroll,
                                   .return_sequences = o_.return_sequences,
                                   .time_major = o_.time_major,
                                   .zero_output_for_mask = o_.zero_output_for_mask});
  for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i].assign(r.states[i]);
  if (!o_.return_state) return r.output;
  std::vector<Tensor> all{r.output};
  all.insert(all.end(), r.states.begin(), r.states.end());
  return Nest(std::move(all));
}

Tensor RnnLayer::compute_mask(const Nest&, const Tensor& mask) {
  return o_.return_sequences ? mask : Tensor();
}

void RnnLayer::add_sequence_config(Config& c) const {
  write_fields<SequenceFields>(o_, c);
  if (num_constants_ > 0) c.set("num_constants", static_cast<std::int64_t>(num_constants_));
}
void RnnLayer::add_config(Config& c) const {
  add_sequence_config(c);
  c.set("cell", layers::serialize(*cell_));
}

void RnnLayer::reset_states() {
  for (const Variable& v : kept_) v.assign(zeros_like(v.value()));
}
void RnnLayer::reset_states(const std::vector<Tensor>& values) {
  RILL_CHECK(o_.stateful && !kept_.empty(), failed_precondition, "[{}] reset_states: the layer {}",
             name(),
             o_.stateful ? "is not built yet: call it on data first"
                         : "is not stateful, so it keeps no states");
  RILL_CHECK(values.size() == kept_.size(), invalid_argument,
             "[{}] reset_states: got {} values; the layer keeps {} states", name(), values.size(),
             kept_.size());
  for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i].assign(values[i]);
}

// ---- SimpleRNN, GRU, LSTM: the arguments of the cell are the layer's own
namespace {

const char* layer_class(CellArguments::Kind kind) {
  using Kind = CellArguments::Kind;
  return kind == Kind::simple ? "SimpleRNN" : kind == Kind::gru ? "GRU" : "LSTM";
}

template <class O>
layers::RNNOptions sequence_options(const O& o) {
  return {.return_sequences = o.return_sequences,
          .return_state = o.return_state,
          .go_backwards = o.go_backwards,
          .stateful = o.stateful,
          .unroll = o.unroll,
          .time_major = o.time_major,
          .zero_output_for_mask = o.zero_output_for_mask,
          .input_shape = o.input_shape,
          .batch_input_shape = o.batch_input_shape,
          .name = o.name,
          .dtype = o.dtype,
          .trainable = o.trainable};
}

class GatedLayer : public RnnLayer {
 public:
  template <class O>
  static GatedLayer* of(const O& o) {
    CellArguments a = arguments_from(o);
    a.check(layer_class(a.kind));
    return new GatedLayer(std::move(a), sequence_options(o));
  }
  void add_config(Config& c) const override {
    add_sequence_config(c);
    write_fields<CellFields<CellArguments>>(a_, c);
  }

 private:
  GatedLayer(CellArguments a, const layers::RNNOptions& o)
      : RnnLayer(layer_class(a.kind), cell_of(a, o), o), a_(std::move(a)) {
    activity_regularizer = a_.activity_regularizer;
    input_spec = {.ndim = 3, .axes = {}, .first_only = true};
  }
  static LayerRef cell_of(const CellArguments& a, const layers::RNNOptions& o) {
    using Kind = CellArguments::Kind;
    const char* name = a.kind == Kind::simple ? "simple_rnn_cell"
                       : a.kind == Kind::gru  ? "gru_cell"
                                              : "lstm_cell";
    return CellHandle(
        make_gated_cell({.name = name, .dtype = o.dtype, .trainable = o.trainable}, a));
  }
  CellArguments a_;
};

template <class O>
struct RecurrentFields {
  using Options = O;
  template <class F, class Any>
  static void visit(F& f, Any& o) {
    SequenceFields::visit(f, o);
    visit_cell(f, o);
  }
};
const RegisterFields<RecurrentFields<layers::SimpleRNNOptions>, layers::SimpleRNN> simple(
    "SimpleRNN");
const RegisterFields<RecurrentFields<layers::GRUOptions>, layers::GRU> gru("GRU");
const RegisterFields<RecurrentFields<layers::LSTMOptions>, layers::LSTM> lstm("LSTM");
const RegisterWithFields<SequenceFields> rnn("RNN", [](const Config& c) -> LayerRef {
  const layers::RNN layer(layers::deserialize(c["cell"]), read_fields<SequenceFields>(c));
  if (!c.get("num_constants").is_null())
    layer.impl().expect_constants(static_cast<std::size_t>(c["num_constants"].as_int()));
  return layer;
});

RnnLayer& rnn_of(const Layer& l) { return static_cast<RnnLayer&>(l.impl()); }

}  // namespace

namespace layers {

RNN::RNN(LayerRef cell, RNNOptions o)
    : Layer(this, new RnnLayer("RNN", std::move(cell), std::move(o))) {}
RNN::RNN(std::vector<LayerRef> cells, RNNOptions o)
    : RNN(LayerRef(StackedRNNCells(std::move(cells))), std::move(o)) {}
LayerRef RNN::cell() const { return rnn_of(*this).cell(); }
std::vector<Tensor> RNN::states() const {
  std::vector<Tensor> values;
  for (const Variable& v : rnn_of(*this).kept_states()) values.push_back(v.value());
  return values;
}
void RNN::reset_states() { rnn_of(*this).reset_states(); }
void RNN::reset_states(const std::vector<Tensor>& values) { rnn_of(*this).reset_states(values); }
std::vector<Tensor> RNN::get_initial_state(const Tensor& inputs) const {
  return rnn_of(*this).initial_state(inputs);
}

SimpleRNN::SimpleRNN(SimpleRNNOptions o) : RNN(this, GatedLayer::of(o)) {}
SimpleRNN::SimpleRNN(std::int64_t units, SimpleRNNOptions o)
    : SimpleRNN((o.units = units, std::move(o))) {}
GRU::GRU(GRUOptions o) : RNN(this, GatedLayer::of(o)) {}
GRU::GRU(std::int64_t units, GRUOptions o) : GRU((o.units = units, std::move(o))) {}
LSTM::LSTM(LSTMOptions o) : RNN(this, GatedLayer::of(o)) {}
LSTM::LSTM(std::int64_t units, LSTMOptions o) : LSTM((o.units = units, std::move(o))) {}

}  // namespace layers
}  // namespace rill::keras
