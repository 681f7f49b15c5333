#pragma once
#include <string>

#include "rill/keras/config.h"

// Keras 3 has ops of its own, which stand in a model beside the layers: {"module":
// "keras.src.ops.numpy", "class_name": "Multiply", ..}. Here they are told as calls of TensorFlow's
// functions, which Keras 2 writes and Rill draws.
namespace rill::keras {

// Whether the record of a layer is that of such an op; of those that are called as layers are, only
// the configuration tells.
bool is_keras3_op(const Config& record);

struct Keras3Call {
  std::string function;  // "math.multiply"
  Config first;          // the first argument: a tensor, a constant or a list of tensors
  Config arguments;      // the others by the names that TensorFlow gives them
};
// Unimplemented for an op, or an argument, for which there is no such function.
Keras3Call keras3_call(const std::string& class_name, const Config& op, const Config& call);

}  // namespace rill::keras
