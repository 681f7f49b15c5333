// The cells of SimpleRNN, GRU and LSTM: a kernel for the inputs, one for the states, and gates
// that lie side by side in them.
#include "rill/keras/layers/recurrent/gated_cells_impl.h"

#include "rill/base/check.h"
#include "rill/graph/control_flow/gru_sequence.h"
#include "rill/graph/control_flow/lstm_sequence.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

namespace {

using Kind = CellArguments::Kind;

const char* class_of(Kind kind) {
  return kind == Kind::simple ? "SimpleRNNCell" : kind == Kind::gru ? "GRUCell" : "LSTMCell";
}
int gates_of(Kind kind) { return kind == Kind::simple ? 1 : kind == Kind::gru ? 3 : 4; }

// What dropout keeps, scaled: for all gates, or for each; none where nothing is dropped.
struct DropoutMasks {
  std::vector<Tensor> inputs, states;
};

class GatedCell : public CellImpl {
 public:
  GatedCell(LayerOptions o, CellArguments a) : CellImpl(class_of(a.kind), std::move(o)) {
    a.check(class_name());
    a_ = std::move(a);
  }

  std::vector<TensorShape> state_size() const override {
    return std::vector<TensorShape>(a_.kind == Kind::lstm ? 2 : 1, TensorShape({a_.units}));
  }

  void build(const std::vector<TensorShape>& shapes) override {
    const std::int64_t in = shapes[0].has_rank() ? shapes[0].dim(-1) : -1;
    const std::int64_t wide = a_.units * gates_of(a_.kind);
    RILL_CHECK(in >= 0, invalid_argument,
               "[{}] the last dimension of the inputs to a {} should be defined; got an input of "
               "shape {}",
               name(), class_name(), shapes[0]);
    kernel_ = add_weight("kernel", {in, wide},
                         {.initializer = a_.kernel_initializer,
                          .regularizer = a_.kernel_regularizer,
                          .constraint = a_.kernel_constraint});
    recurrent_kernel_ = add_weight("recurrent_kernel", {a_.units, wide},
                                   {.initializer = a_.recurrent_initializer,
                                    .regularizer = a_.recurrent_regularizer,
                                    .constraint = a_.recurrent_constraint});
    if (a_.use_bias) {
      const bool two = a_.kind == Kind::gru && a_.reset_after;
      bias_ = add_weight("bias", two ? TensorShape({2, wide}) : TensorShape({wide}),
                         {.initializer = bias_initializer(),
                          .regularizer = a_.bias_regularizer,
                          .constraint = a_.bias_constraint});
    }
    input_spec.axes = {{-1, in}};
  }

  std::unique_ptr<CellRun> begin(const BatchSize& batch, const CallContext& context,
                                 Extent extent) override;
  void reset_dropout(bool inputs, bool states) override {
    if (inputs) kept_.inputs.clear();
    if (states) kept_.states.clear();
  }
  void add_config(Config& c) const override { write_fields<CellFields<CellArguments>>(a_, c); }

 private:
  friend class GatedRun;

  Initializer bias_initializer() const {
    return with_forget_bias(a_.bias_initializer, a_.units,
                            a_.kind == Kind::lstm && a_.unit_forget_bias);
  }

  // One mask for all gates, or one for each.
  std::vector<Tensor> draw(double rate, std::int64_t size, const BatchSize& batch) const {
    std::vector<Tensor> masks;
    const int count = a_.implementation == 1 ? gates_of(a_.kind) : 1;
    for (int i = 0; i < count; ++i)
      masks.push_back(nn::dropout(batch.ones({size}, policy.compute_dtype()), rate));
    return masks;
  }
  DropoutMasks masks_for(const BatchSize& batch, bool training, Extent extent) {
    DropoutMasks m;
    const auto acts = [&](double rate) { return training && rate > 0 && rate < 1; };
    if (extent == Extent::sequence) {
      if (acts(a_.dropout)) m.inputs = draw(a_.dropout, kernel_.shape().dim(0), batch);
      if (acts(a_.recurrent_dropout)) m.states = draw(a_.recurrent_dropout, a_.units, batch);
      return m;
    }
    if (!acts(a_.dropout) && !acts(a_.recurrent_dropout)) return m;
    // Kept masks serve further steps of the same batch in the same program.
    Graph* const here = TracingScope::current();
    if (kept_in_.get() != here || kept_batch_ != batch.known) kept_ = {};
    if (here) retain(here);
    kept_in_ = Ref<Graph>(here);
    kept_batch_ = batch.known;
    if (acts(a_.dropout) && kept_.inputs.empty())
      kept_.inputs = draw(a_.dropout, kernel_.shape().dim(0), batch);
    if (acts(a_.recurrent_dropout) && kept_.states.empty())
      kept_.states = draw(a_.recurrent_dropout, a_.units, batch);
    return kept_;
  }

  CellArguments a_;
  Variable kernel_, recurrent_kernel_, bias_;
  DropoutMasks kept_;
  Ref<Graph> kept_in_;  // null: eager
  std::int64_t kept_batch_ = -1;
};

class GatedRun : public CellRun {
 public:
  GatedRun(const GatedCell& cell, DropoutMasks masks)
      : a_(cell.a_),
        masks_(std::move(masks)),
        kernel_(cell.in_compute_dtype(cell.kernel_)),
        recurrent_(cell.in_compute_dtype(cell.recurrent_kernel_)) {
    if (a_.use_bias) {
      bias_ = cell.in_compute_dtype(cell.bias_);
      if (a_.kind == Kind::gru && a_.reset_after) {
        const std::vector<Tensor> both = unstack(bias_);
        bias_ = both[0];
        recurrent_bias_ = both[1];
      }
    }
    if (masks_.inputs.size() > 1) kernels_ = split(kernel_, gates_of(a_.kind), 1);
    const bool late_candidate = a_.kind == Kind::gru && !a_.reset_after;
    if (masks_.states.size() > 1) {
      recurrents_ = split(recurrent_, gates_of(a_.kind), 1);
    } else if (late_candidate) {
      const int n = static_cast<int>(a_.units);
      recurrents_ = split(recurrent_, {2 * n, n}, 1);
    }
  }

  Tensor project(const Tensor& x) override {
    if (masks_.inputs.size() > 1) {
      std::vector<Tensor> parts;
      for (std::size_t i = 0; i < kernels_.size(); ++i)
        parts.push_back(rows_times(x * masks_.inputs[i], kernels_[i]));
      return with_bias(concat(parts, -1), bias_);
    }
    return with_bias(rows_times(masks_.inputs.empty() ? x : x * masks_.inputs[0], kernel_), bias_);
  }

  StepResult advance(const Tensor& x, const States& states) override {
    switch (a_.kind) {
      case Kind::simple: {
        const Tensor h = a_.activation(x + from_state(states[0]));
        return {h, {h}};
      }
      case Kind::lstm: {
        const std::vector<Tensor> g = split(x + from_state(states[0]), 4, 1);
        const Tensor c = a_.recurrent_activation(g[1]) * states[1] +
                         a_.recurrent_activation(g[0]) * a_.activation(g[2]);
        const Tensor h = a_.recurrent_activation(g[3]) * a_.activation(c);
        return {h, {h, c}};
      }
      case Kind::gru:
        break;
    }
    return a_.reset_after ? gru_reset_after(x, states[0]) : gru_reset_before(x, states[0]);
  }

  // LSTMs and GRUs as Keras makes them by default, with dropout on their inputs or without.
  std::optional<WholeSequence> whole(const Tensor& inputs, const States& states) override {
    const bool gru = a_.kind == Kind::gru && a_.reset_after;
    if ((!gru && a_.kind != Kind::lstm) || !a_.use_bias || !a_.activation.is("tanh") ||
        !a_.recurrent_activation.is("sigmoid") || masks_.inputs.size() > 1 ||
        !masks_.states.empty())
      return std::nullopt;
    const Tensor x = masks_.inputs.empty() ? inputs : inputs * masks_.inputs[0];
    if (gru) {
      const GruResult r = gru_sequence({.x = x,
                                        .h = states[0],
                                        .kernel = kernel_,
                                        .recurrent_kernel = recurrent_,
                                        .bias = stack({bias_, recurrent_bias_})});
      return WholeSequence{r.outputs, {r.h}};
    }
    const LstmResult r = lstm_sequence({.x = x,
                                        .h = states[0],
                                        .c = states[1],
                                        .kernel = kernel_,
                                        .recurrent_kernel = recurrent_,
                                        .bias = bias_});
    return WholeSequence{r.outputs, {r.h, r.c}};
  }

 private:
  StepResult gru_reset_after(const Tensor& x, const Tensor& h) const {
    const std::vector<Tensor> in = split(x, 3, 1);
    const std::vector<Tensor> re = split(with_bias(from_state(h), recurrent_bias_), 3, 1);
    const Tensor z = a_.recurrent_activation(in[0] + re[0]);
    const Tensor r = a_.recurrent_activation(in[1] + re[1]);
    return updated(z, h, a_.activation(in[2] + r * re[2]));
  }
  StepResult gru_reset_before(const Tensor& x, const Tensor& h) const {
    const std::vector<Tensor> in = split(x, 3, 1);
    std::vector<Tensor> re;
    Tensor h_candidate = h;
    if (masks_.states.size() > 1) {
      for (int i = 0; i < 2; ++i)
        re.push_back(matmul(h * at(masks_.states, i), at(recurrents_, i)));
      h_candidate = h * masks_.states[2];
    } else {
      re = split(matmul(h, recurrents_[0]), 2, 1);
    }
    const Tensor z = a_.recurrent_activation(in[0] + re[0]);
    const Tensor r = a_.recurrent_activation(in[1] + re[1]);
    return updated(z, h, a_.activation(in[2] + matmul(r * h_candidate, recurrents_.back())));
  }
  static StepResult updated(const Tensor& z, const Tensor& h, const Tensor& candidate) {
    const Tensor next = z * h + (1 - z) * candidate;
    return {next, {next}};
  }

  // What the state adds to all gates.
  Tensor from_state(const Tensor& h) const {
    if (masks_.states.empty()) return matmul(h, recurrent_);
    if (masks_.states.size() == 1) return matmul(h * masks_.states[0], recurrent_);
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < recurrents_.size(); ++i)
      parts.push_back(matmul(h * masks_.states[i], recurrents_[i]));
    return concat(parts, -1);
  }
  static const Tensor& at(const std::vector<Tensor>& v, int i) {
    return v[static_cast<std::size_t>(i)];
  }
  static Tensor with_bias(const Tensor& x, const Tensor& bias) {
    return bias.defined() ? nn::bias_add(x, bias) : x;
  }
  // x [.., in] times a matrix, along the last axis.
  static Tensor rows_times(const Tensor& x, const Tensor& kernel) {
    if (x.ndim() == 2) return matmul(x, kernel);
    TensorShape to = x.shape();
    to.set_dim(to.rank() - 1, kernel.shape().dim(1));
    return reshape_to(matmul(reshape(x, {-1, kernel.shape().dim(0)}), kernel), to, x);
  }

  const CellArguments& a_;
  const DropoutMasks masks_;
  const Tensor kernel_, recurrent_;
  Tensor bias_, recurrent_bias_;
  std::vector<Tensor> kernels_, recurrents_;  // gate by gate, where dropout asks for it
};

std::unique_ptr<CellRun> GatedCell::begin(const BatchSize& batch, const CallContext& context,
                                          Extent extent) {
  return std::make_unique<GatedRun>(*this, masks_for(batch, context.training, extent));
}

const RegisterFields<CellFields<layers::SimpleRNNCellOptions>, layers::SimpleRNNCell> simple_cell(
    "SimpleRNNCell");
const RegisterFields<CellFields<layers::GRUCellOptions>, layers::GRUCell> gru_cell("GRUCell");
const RegisterFields<CellFields<layers::LSTMCellOptions>, layers::LSTMCell> lstm_cell("LSTMCell");

}  // namespace

CellImpl* make_gated_cell(LayerOptions o, CellArguments a) {
  return new GatedCell(std::move(o), std::move(a));
}

namespace layers {

SimpleRNNCell::SimpleRNNCell(SimpleRNNCellOptions o)
    : AbstractRNNCell(this, make_gated_cell(common(o), arguments_from(o))) {}
SimpleRNNCell::SimpleRNNCell(std::int64_t units, SimpleRNNCellOptions o)
    : SimpleRNNCell((o.units = units, std::move(o))) {}
GRUCell::GRUCell(GRUCellOptions o)
    : AbstractRNNCell(this, make_gated_cell(common(o), arguments_from(o))) {}
GRUCell::GRUCell(std::int64_t units, GRUCellOptions o) : GRUCell((o.units = units, std::move(o))) {}
LSTMCell::LSTMCell(LSTMCellOptions o)
    : AbstractRNNCell(this, make_gated_cell(common(o), arguments_from(o))) {}
LSTMCell::LSTMCell(std::int64_t units, LSTMCellOptions o)
    : LSTMCell((o.units = units, std::move(o))) {}

}  // namespace layers
}  // namespace rill::keras
