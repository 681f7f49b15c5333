#pragma once
#include <functional>

#include "rill/keras/engine/symbolic_impl.h"

// Calls of layers and ops in configurations of functional models, in the form of Keras 2:
// [["dense", 0, 0, {}]] of a layer, ["dense", 0, 0, {"y": 2.0, "name": null}] of an op.
namespace rill::keras {

// A tensor that stands for the value: itself, or the first of a composite that one call gave.
// Unimplemented for one that was put together of several.
Tensor whole_result(const Nest& value);

// ["dense", 0, 0]: the layer that makes a tensor, which of its calls, which of its results.
using TensorPlace = std::function<Config(const Tensor&)>;

// In the place of a layer's name: what follows is a constant.
inline constexpr const char* kConstantValue = "_CONSTANT_VALUE";
// Whether the numbers of a constant, in lists within lists, are integers.
bool only_whole(const Config& numbers);

// What "inbound_nodes" holds of one call. Unimplemented for an op or an argument for which there
// is no such form.
Config call_config(const KerasNode& node, const TensorPlace& place);

}  // namespace rill::keras
