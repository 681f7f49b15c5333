// LSTMs over images: the gates are convolutions of the input and of the state.
#include "rill/base/check.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/layers/convolutional/conv_impl.h"
#include "rill/keras/layers/recurrent/cell_arguments_impl.h"
#include "rill/keras/layers/recurrent/rnn_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

constexpr int kGates = 4;

struct ConvLstmFields {
  using Options = layers::ConvLSTMOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    SequenceFields::visit(f, o);
    f.required("filters", o.filters);
    f.required("kernel_size", o.kernel_size);
    f("strides", o.strides);
    f("padding", o.padding);
    f("data_format", o.data_format);
    f("dilation_rate", o.dilation_rate);
    f("activation", o.activation);
    f("recurrent_activation", o.recurrent_activation);
    f("use_bias", o.use_bias);
    f("kernel_initializer", o.kernel_initializer);
    f("recurrent_initializer", o.recurrent_initializer);
    f("bias_initializer", o.bias_initializer);
    f("unit_forget_bias", o.unit_forget_bias);
    f("kernel_regularizer", o.kernel_regularizer);
    f("recurrent_regularizer", o.recurrent_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    f("activity_regularizer", o.activity_regularizer);
    f("kernel_constraint", o.kernel_constraint);
    f("recurrent_constraint", o.recurrent_constraint);
    f("bias_constraint", o.bias_constraint);
    f("dropout", o.dropout);
    f("recurrent_dropout", o.recurrent_dropout);
  }
};

// The options with a number for each axis, and names as they are checked.
layers::ConvLSTMOptions checked(const std::string& class_name, int axes,
                                layers::ConvLSTMOptions o) {
  check_filters(class_name, o.filters);
  o.kernel_size = per_axis(class_name, "kernel_size", o.kernel_size, axes);
  o.strides = per_axis(class_name, "strides", o.strides, axes);
  o.dilation_rate = per_axis(class_name, "dilation_rate", o.dilation_rate, axes);
  o.padding = checked_padding(class_name, o.padding);
  o.data_format = data_format_name(is_channels_first(class_name, o.data_format));
  for (const double rate : {o.dropout, o.recurrent_dropout})
    RILL_CHECK(rate >= 0 && rate <= 1, invalid_argument,
               "[{}] a dropout rate is {}; expected a number from 0 to 1", class_name, rate);
  return o;
}

class ConvLstmCell : public CellImpl {
 public:
  ConvLstmCell(int axes, LayerOptions common, layers::ConvLSTMOptions o)
      : CellImpl("ConvLSTMCell", std::move(common)),
        axes_(axes),
        channels_first_(o.data_format == "channels_first"),
        o_(std::move(o)) {}

  std::vector<TensorShape> state_size() const override { return {state_, state_}; }

  void build(const std::vector<TensorShape>& shapes) override {
    const int axis = channels_first_ ? 1 : axes_ + 1;
    const std::int64_t in = shapes[0].rank() == axes_ + 2 ? shapes[0].dim(axis) : -1;
    RILL_CHECK(in >= 0, invalid_argument,
               "[{}] the channel dimension of the inputs should be defined; got images of shape {}",
               name(), shapes[0]);
    kernel_ = add_weight("kernel", kernel_shape(in),
                         {.initializer = o_.kernel_initializer,
                          .regularizer = o_.kernel_regularizer,
                          .constraint = o_.kernel_constraint});
    recurrent_kernel_ = add_weight("recurrent_kernel", kernel_shape(o_.filters),
                                   {.initializer = o_.recurrent_initializer,
                                    .regularizer = o_.recurrent_regularizer,
                                    .constraint = o_.recurrent_constraint});
    if (o_.use_bias)
      bias_ = add_weight(
          "bias", {kGates * o_.filters},
          {.initializer = with_forget_bias(o_.bias_initializer, o_.filters, o_.unit_forget_bias),
           .regularizer = o_.bias_regularizer,
           .constraint = o_.bias_constraint});
    state_ = state_shape(shapes[0]);
  }

  std::unique_ptr<CellRun> begin(const BatchSize& batch, const CallContext& context,
                                 Extent extent) override;
  void add_config(Config& c) const override { write_fields<ConvLstmFields>(o_, c); }

  // x [.., image] by a filter, as the inputs are convolved and as the states are.
  Tensor convolve_input(const Tensor& x, const Tensor& filter) const {
    return nn::convolution(x, filter, o_.strides, o_.padding == "same" ? "SAME" : "VALID",
                           {.data_format = op_format(), .dilations = o_.dilation_rate});
  }
  Tensor convolve_state(const Tensor& h, const Tensor& filter) const {
    return nn::convolution(h, filter, 1, "SAME", {.data_format = op_format()});
  }
  // Zeros of the shape of a state, for a batch of images of any size.
  Tensor zero_state(const Tensor& image) const {
    TensorShape filter = kernel_.shape();
    filter.set_dim(axes_ + 1, o_.filters);
    return convolve_input(zeros_like(image), zeros(filter, image.dtype()));
  }

 private:
  friend class ConvLstmRun;

  std::string op_format() const {
    static constexpr const char* kFirst[] = {"NCW", "NCHW", "NCDHW"};
    static constexpr const char* kLast[] = {"NWC", "NHWC", "NDHWC"};
    return (channels_first_ ? kFirst : kLast)[axes_ - 1];
  }
  // The axis of the gates, from the end.
  int gate_axis() const { return channels_first_ ? -1 - axes_ : -1; }
  TensorShape kernel_shape(std::int64_t in) const {
    TensorShape s = TensorShape::scalar();
    for (const int k : o_.kernel_size.list()) s.push_back(k);
    s.push_back(in);
    s.push_back(kGates * o_.filters);
    return s;
  }
  // Without the batch; -1 where the size of the images is not known.
  TensorShape state_shape(const TensorShape& image) const {
    TensorShape s = TensorShape::scalar();
    if (channels_first_) s.push_back(o_.filters);
    for (int i = 0; i < axes_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t n = image.dim(i + (channels_first_ ? 2 : 1)),
                         stride = o_.strides.list()[at],
                         window = (o_.kernel_size.list()[at] - 1) * o_.dilation_rate.list()[at];
      const std::int64_t covered = o_.padding == "same" ? n : n - window;
      s.push_back(n < 0 ? -1 : covered <= 0 ? 0 : (covered + stride - 1) / stride);
    }
    if (!channels_first_) s.push_back(o_.filters);
    return s;
  }

  int axes_;
  bool channels_first_;
  layers::ConvLSTMOptions o_;
  TensorShape state_ = {};
  Variable kernel_, recurrent_kernel_, bias_;
};

class ConvLstmRun : public CellRun {
 public:
  ConvLstmRun(const ConvLstmCell& cell, const BatchSize& batch, bool training)
      : cell_(cell),
        batch_(batch),
        kernel_(cell.in_compute_dtype(cell.kernel_)),
        recurrent_(cell.in_compute_dtype(cell.recurrent_kernel_)),
        drops_inputs_(training && cell.o_.dropout > 0),
        drops_states_(training && cell.o_.recurrent_dropout > 0) {
    if (cell.o_.use_bias) bias_ = cell.in_compute_dtype(cell.bias_);
  }

  Tensor project(const Tensor& x) override {
    const Tensor y = drops_inputs_ ? gate_by_gate(x, cell_.o_.dropout, input_masks_, kernel_, true)
                                   : cell_.convolve_input(x, kernel_);
    if (!bias_.defined()) return y;
    if (!cell_.channels_first_) return nn::bias_add(y, bias_);
    std::vector<int> sizes(static_cast<std::size_t>(cell_.axes_ + 1), 1);
    sizes[0] = -1;
    return y + reshape(bias_, constant(sizes));
  }

  StepResult advance(const Tensor& x, const States& states) override {
    const layers::ConvLSTMOptions& o = cell_.o_;
    const Tensor h = states[0];
    const Tensor sum =
        x + (drops_states_ ? gate_by_gate(h, o.recurrent_dropout, state_masks_, recurrent_, false)
                           : cell_.convolve_state(h, recurrent_));
    const std::vector<Tensor> g = split(sum, kGates, cell_.gate_axis());
    const Tensor c = o.recurrent_activation(g[1]) * states[1] +
                     o.recurrent_activation(g[0]) * o.activation(g[2]);
    const Tensor next = o.recurrent_activation(g[3]) * o.activation(c);
    return {next, {next, c}};
  }

 private:
  // Each gate sees what its own dropout keeps; masks are one for all steps.
  Tensor gate_by_gate(const Tensor& x, double rate, std::vector<Tensor>& masks,
                      const Tensor& kernel, bool input) {
    if (masks.empty()) {
      const int image = x.ndim() - cell_.axes_ - 1;  // where an image begins
      TensorShape each = TensorShape::scalar();
      for (int i = image; i < x.ndim(); ++i) each.push_back(x.shape().dim(i));
      RILL_CHECK(each.is_fully_defined(), invalid_argument,
                 "[{}] dropout needs images of known size; got inputs of shape {}", cell_.name(),
                 x.shape());
      for (int i = 0; i < kGates; ++i)
        masks.push_back(nn::dropout(batch_.ones(each, x.dtype()), rate));
    }
    const std::vector<Tensor> kernels = split(kernel, kGates, -1);
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      parts.push_back(input ? cell_.convolve_input(x * masks[i], kernels[i])
                            : cell_.convolve_state(x * masks[i], kernels[i]));
    return concat(parts, cell_.gate_axis());
  }

  const ConvLstmCell& cell_;
  const BatchSize batch_;
  const Tensor kernel_, recurrent_;
  Tensor bias_;
  const bool drops_inputs_, drops_states_;
  std::vector<Tensor> input_masks_, state_masks_;
};

std::unique_ptr<CellRun> ConvLstmCell::begin(const BatchSize& batch, const CallContext& context,
                                             Extent) {
  return std::make_unique<ConvLstmRun>(*this, batch, context.training);
}

class ConvLstmLayer : public RnnLayer {
 public:
  ConvLstmLayer(int axes, const layers::ConvLSTMOptions& given)
      : ConvLstmLayer(axes, format("ConvLSTM{}D", axes),
                      checked(format("ConvLSTM{}D", axes), axes, given)) {}

  States initial_state(const Tensor& x) const override {
    const Tensor zero = first_output(x);
    return {zero, zero};
  }
  Tensor first_output(const Tensor& x) const override {
    const Tensor step = x(all, 0);
    return cell_impl().zero_state(
        step.dtype() == policy.compute_dtype() ? step : cast(step, policy.compute_dtype()));
  }
  void add_config(Config& c) const override { write_fields<ConvLstmFields>(o_, c); }

 protected:
  void build_for_steps(const TensorShape& step) override {
    // As in Keras the weights carry the name of this layer alone: "conv_lstm2d/kernel".
    const RenamedScope for_now(cell()->impl(), name());
    LayerCalls::build(*cell(), {step});
  }

 private:
  ConvLstmLayer(int axes, const std::string& class_name, layers::ConvLSTMOptions o)
      : RnnLayer(class_name,
                 CellHandle(new ConvLstmCell(
                     axes, {.name = "cell", .dtype = o.dtype, .trainable = o.trainable}, o)),
                 {.return_sequences = o.return_sequences,
                  .return_state = o.return_state,
                  .go_backwards = o.go_backwards,
                  .stateful = o.stateful,
                  .unroll = o.unroll,
                  .input_shape = o.input_shape,
                  .batch_input_shape = o.batch_input_shape,
                  .name = o.name,
                  .dtype = o.dtype,
                  .trainable = o.trainable}),
        o_(std::move(o)) {
    activity_regularizer = o_.activity_regularizer;
    input_spec = {.ndim = axes + 3, .axes = {}, .first_only = true};
  }
  const ConvLstmCell& cell_impl() const { return static_cast<const ConvLstmCell&>(cell()->impl()); }

  layers::ConvLSTMOptions o_;
};

const RegisterFields<ConvLstmFields, layers::ConvLSTM<1>> conv_lstm1d("ConvLSTM1D");
const RegisterFields<ConvLstmFields, layers::ConvLSTM<2>> conv_lstm2d("ConvLSTM2D");
const RegisterFields<ConvLstmFields, layers::ConvLSTM<3>> conv_lstm3d("ConvLSTM3D");

}  // namespace

template <int axes>
layers::ConvLSTM<axes>::ConvLSTM(ConvLSTMOptions o) : RNN(this, new ConvLstmLayer(axes, o)) {}
template class layers::ConvLSTM<1>;
template class layers::ConvLSTM<2>;
template class layers::ConvLSTM<3>;

}  // namespace rill::keras
