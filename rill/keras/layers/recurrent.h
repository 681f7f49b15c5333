#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "rill/keras/activations/activation.h"
#include "rill/keras/engine/layer.h"
#include "rill/ops/nn_ops.h"

// Cells, which take one step, and layers that take a cell along a sequence.
namespace rill RILL_API {
namespace keras {
namespace layers {

// Which states to make: for this many samples, or as many as inputs (batch first) has.
struct InitialStateOptions {
  Tensor inputs = {};
  std::int64_t batch_size = -1;
  DType dtype = {};  // that in which the cell computes, when not given
};

// A step of a recurrence: from an input [batch, features] and the states of the step before to
// an output and the new states.
//
//   keras::layers::LSTMCell cell(256);
//   auto state = cell.get_initial_state({.batch_size = 50});
//   Tensor output;
//   for (int t = 0; t < length; ++t)
//     std::tie(output, state) = cell(inputs(tf::all, t, tf::all), state);
//
// A user-defined cell derives from it and overrides state_size and step, and build, where it
// makes its weights, as every layer does.
class AbstractRNNCell : public Layer {
 public:
  using States = std::vector<Tensor>;
  std::pair<Tensor, States> operator()(const Operand& x, const States& states,
                                       CallOptions options = {}) const;
  // The shape of each state and of the output, of one sample: {256} and {256} for an LSTM.
  virtual std::vector<TensorShape> state_size() const;
  virtual TensorShape output_size() const;  // that of the first state, unless overridden
  virtual std::pair<Tensor, States> step(const Tensor& x, const States& states,
                                         const CallContext& context);
  // Zeros.
  States get_initial_state(InitialStateOptions options = {}) const;
  // Dropout of a cell that is called step by step stays the same until this is called, so that
  // it is one for a whole sequence; layers call it for each batch.
  void reset_dropout_mask() const;
  void reset_recurrent_dropout_mask() const;

  Nest call_nest(const Nest& inputs, const CallContext& context) override;

 protected:
  AbstractRNNCell() = default;
  explicit AbstractRNNCell(LayerOptions options) : Layer(std::move(options)) {}
  template <class L>
  AbstractRNNCell(const L* self, LayerImpl* impl) : Layer(self, impl, typeid(AbstractRNNCell)) {}
  explicit AbstractRNNCell(Ref<LayerImpl> impl) : Layer(std::move(impl)) {}
};

struct SimpleRNNCellOptions {
  std::int64_t units = 0;
  keras::Activation activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;  // of the inputs, of the states
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// h' = activation(x kernel + h recurrent_kernel + bias); the output is h'.
class SimpleRNNCell : public AbstractRNNCell {
 public:
  explicit SimpleRNNCell(SimpleRNNCellOptions options);
  explicit SimpleRNNCell(std::int64_t units, SimpleRNNCellOptions options = {});
};

struct GRUCellOptions {
  std::int64_t units = 0;
  keras::Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool reset_after = true;  // the reset gate acts after the product with the recurrent kernel
  int implementation = 2;   // 1: dropout apart for each gate
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// A gated recurrent unit; gates in the order update, reset, candidate.
class GRUCell : public AbstractRNNCell {
 public:
  explicit GRUCell(GRUCellOptions options);
  explicit GRUCell(std::int64_t units, GRUCellOptions options = {});
};

struct LSTMCellOptions {
  std::int64_t units = 0;
  keras::Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;  // the bias of the forget gate starts as 1
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  int implementation = 2;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// A long short-term memory; gates in the order input, forget, candidate, output; states h and c.
class LSTMCell : public AbstractRNNCell {
 public:
  explicit LSTMCell(LSTMCellOptions options);
  explicit LSTMCell(std::int64_t units, LSTMCellOptions options = {});
};

// Cells of which each takes the output of the one before. Their states are one list.
class StackedRNNCells : public AbstractRNNCell {
 public:
  explicit StackedRNNCells(std::vector<LayerRef> cells, LayerOptions options = {});
};

// ---- layers over sequences [batch, time, features]
struct RNNOptions {
  bool return_sequences = false;      // the output of every step, not of the last one
  bool return_state = false;          // the last states after the output: use apply
  bool go_backwards = false;          // from the last step to the first; outputs in that order
  bool stateful = false;              // a batch starts with the states that the one before left
  bool unroll = false;                // in a function: always one copy of the cell for each step
  bool time_major = false;            // inputs and outputs are [time, batch, features]
  bool zero_output_for_mask = false;  // a masked step gives zeros, not the output before it
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// A cell along a sequence. A masked step leaves states and output as they were.
//
//   auto [output, h, c] = keras::layers::LSTM(64, {.return_state = true}).apply(x).unpack<3>();
//   auto next = decoder(y, {.initial_state = {h, c}});
//
// .constants go to a user-defined cell at every step, which finds them in its context.
//
// In a traced function short sequences become one copy of the cell for each step, long ones and
// those of unknown length a loop; the results are the same.
class RNN : public Layer {
 public:
  explicit RNN(LayerRef cell, RNNOptions options = {});
  explicit RNN(std::vector<LayerRef> cells, RNNOptions options = {});  // stacked
  LayerRef cell() const;
  // Of a stateful layer: the states as they are now; set to zero, or to these values.
  std::vector<Tensor> states() const;
  void reset_states();
  void reset_states(const std::vector<Tensor>& values);
  // Zeros for the batch of these inputs.
  std::vector<Tensor> get_initial_state(const Tensor& inputs) const;

 protected:
  template <class L>
  RNN(const L* self, LayerImpl* impl) : Layer(self, impl, typeid(RNN)) {}
};

struct SimpleRNNOptions {
  std::int64_t units = 0;
  keras::Activation activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false;
  bool time_major = false, zero_output_for_mask = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
class SimpleRNN : public RNN {
 public:
  explicit SimpleRNN(SimpleRNNOptions options);
  explicit SimpleRNN(std::int64_t units, SimpleRNNOptions options = {});
};

struct GRUOptions {
  std::int64_t units = 0;
  keras::Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false;
  bool time_major = false, reset_after = true;
  int implementation = 2;
  bool zero_output_for_mask = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
class GRU : public RNN {
 public:
  explicit GRU(GRUOptions options);
  explicit GRU(std::int64_t units, GRUOptions options = {});
};

struct LSTMOptions {
  std::int64_t units = 0;
  keras::Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false;
  bool time_major = false, unroll = false;
  int implementation = 2;
  bool zero_output_for_mask = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
class LSTM : public RNN {
 public:
  explicit LSTM(LSTMOptions options);
  explicit LSTM(std::int64_t units, LSTMOptions options = {});
};

struct ConvLSTMOptions {
  std::int64_t filters = 0;
  nn::Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid", data_format = "channels_last";
  nn::Sizes dilation_rate = 1;
  keras::Activation activation = "tanh", recurrent_activation = "hard_sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false;
  double dropout = 0, recurrent_dropout = 0;
  bool unroll = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// An LSTM whose products are convolutions, over sequences of images of one to three axes:
// [batch, time, axes.., channels], or [batch, time, channels, axes..] with data_format
// "channels_first". Strides, padding and dilation act on the inputs; the states, [batch, axes..,
// filters], are convolved with padding "same". Weights: kernel [kernel_size.., in, 4 filters],
// recurrent_kernel [kernel_size.., filters, 4 filters], bias [4 filters]; gates as those of an
// LSTM.
template <int axes>
class ConvLSTM : public RNN {
 public:
  explicit ConvLSTM(ConvLSTMOptions options);
  ConvLSTM(std::int64_t filters, ConvLSTMOptions o)
      : ConvLSTM((o.filters = filters, std::move(o))) {}
  ConvLSTM(std::int64_t filters, int kernel_size, ConvLSTMOptions o = {})
      : ConvLSTM((o.filters = filters, o.kernel_size = kernel_size, std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1)
      ConvLSTM(std::int64_t filters, const int (&kernel_size)[n], ConvLSTMOptions o = {})
      : ConvLSTM((o.filters = filters,
                  o.kernel_size = std::vector<int>(kernel_size, kernel_size + n), std::move(o))) {}
};
using ConvLSTM1D = ConvLSTM<1>;
using ConvLSTM2D = ConvLSTM<2>;
using ConvLSTM3D = ConvLSTM<3>;

// ---- wrappers
struct BidirectionalOptions {
  std::string merge_mode = "concat";  // or "sum", "mul", "ave"; "": both outputs, apart
  LayerRef backward_layer = {};       // one like `layer` that goes the other way, unless given
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// A recurrent layer from both ends. The results are in the order of time; with return_state
// those of the forward layer come first. initial_state: half for each.
class Bidirectional : public Layer {
 public:
  explicit Bidirectional(LayerRef layer, BidirectionalOptions options = {});
};

struct TimeDistributedOptions {
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// A layer on each step of [batch, time, ...] alike.
class TimeDistributed : public Layer {
 public:
  explicit TimeDistributed(LayerRef layer, TimeDistributedOptions options = {});
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
