#pragma once
#include "rill/core/tensor.h"

namespace rill RILL_API {

// What a GRU works on: x [time, batch, features], the state h [batch, units] before the first
// step, and the weights of the gates z, r and h side by side: kernel [features, 3 units],
// recurrent_kernel [units, 3 units], bias [2, 3 units], of the inputs and of the state.
struct GruArguments {
  Tensor x, h, kernel, recurrent_kernel, bias;
};
struct GruResult {
  Tensor outputs;  // [time, batch, units]: h after each step
  Tensor h;        // after the last one
};

// h = sigmoid(z) h + (1 - sigmoid(z)) tanh(x's part + sigmoid(r) h's part), step after step, by one
// op: reset_after, as Keras says. Gradients of any order.
GruResult gru_sequence(const GruArguments& arguments);
// The same in ops that every runtime has.
GruResult gru_by_steps(const GruArguments& arguments);

}  // namespace RILL_API
