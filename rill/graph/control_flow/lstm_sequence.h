#pragma once
#include "rill/core/tensor.h"

namespace rill RILL_API {

// What an LSTM works on: x [time, batch, features], the states h and c [batch, units] before the
// first step, and the weights of the gates i, f, g and o side by side: kernel [features, 4 units],
// recurrent_kernel [units, 4 units], bias [4 units].
struct LstmArguments {
  Tensor x, h, c, kernel, recurrent_kernel, bias;
};
struct LstmResult {
  Tensor outputs;  // [time, batch, units]: h after each step
  Tensor h, c;     // after the last one
};

// c = sigmoid(f) c + sigmoid(i) tanh(g) and h = sigmoid(o) tanh(c), step after step, by one op: a
// device has kernels for the whole sequence. Gradients of any order.
LstmResult lstm_sequence(const LstmArguments& arguments);
// The same in ops that every runtime has: a copy of them for each step, or a loop of the graph
// where the number of steps is not known.
LstmResult lstm_by_steps(const LstmArguments& arguments);

}  // namespace RILL_API
