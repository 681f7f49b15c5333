#pragma once
#include <string>

#include "rill/keras/config.h"

// Keras 3 has ops of its own, which stand in a model beside the layers: {"module":
// "keras.src.ops.numpy", "class_name": "Multiply", ..}. Here they are told as calls of TensorFlow's
// functions, which Keras 2 writes and Rill draws, and made of those.
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

// The way back: the record of a call of TensorFlow's function (a TFOpLambda, places as they are in
// Keras 3) as that of Keras 3's op. Unimplemented for a function, or an argument, that Keras 3 has
// no op for.
Config keras3_op_record(const Config& record);
// The place of a tensor, ["dense", 0, 0], as Keras 3 writes it.
Config keras3_tensor(const Config& place);

}  // namespace rill::keras
