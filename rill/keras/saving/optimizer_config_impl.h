#pragma once
#include "rill/keras/optimizers/keras_optimizer_impl.h"

// Optimizers in configurations: {"class_name": "Adam", "config": {"learning_rate": 0.001, ..}}.
namespace rill::keras {

// Unimplemented for optimizers of TensorFlow 1.
Config serialize_optimizer(const Optimizer& optimizer);
// From a record, or a name as "adam". Unimplemented, by name, for what would change the numbers
// and is not there. `scaled`: the model will scale the loss itself, so that Keras 3 lets the
// optimizer not do it.
Optimizer deserialize_optimizer(const Config& config, bool scaled);
// An optimizer's record as Keras 3 writes it. `scaled` as above; Unimplemented for a scale that
// Keras 3 would change.
Config keras3_optimizer(const Config& record, bool scaled);

// The state, in the order in which Keras keeps it: the count of steps, then the slots.
struct OptimizerVariable {
  std::string name;  // "Adam/m/dense/kernel"
  Ref<TrackableNode> node;
};
// The product of momenta that Nadam keeps, which files of Keras 3 hold behind the slots. Null for
// another optimizer, and before there are slots.
Ref<TrackableNode> product_of_momenta(const Optimizer& optimizer);
// What it is after so many steps, for files of Keras 2, which do not hold it.
Tensor product_of_momenta_after(const Optimizer& optimizer, std::int64_t steps, int keras);
bool has_keras_state(const Optimizer& optimizer);  // not one of TensorFlow 1
// The record of the optimizer; of one that scales the loss, that of the one inside.
Config rule_record(const Optimizer& optimizer);
std::vector<OptimizerVariable> optimizer_variables(const Optimizer& optimizer);
// The same without momenta of an SGD that uses none.
std::vector<OptimizerVariable> kept_by_keras3(const Optimizer& optimizer);
// Names and values of these, as a file of Keras 2 or Keras 3 holds them.
std::vector<std::pair<std::string, Tensor>> optimizer_state(const Optimizer& optimizer,
                                                            int keras_version);
// What Keras 3 keeps of an optimizer that adapts the scale of the loss, before the state of the one
// inside: two values that say nothing, the good steps, the scale. Empty for any other.
std::vector<std::pair<std::string, Tensor>> state_of_scale(const Optimizer& optimizer);

}  // namespace rill::keras
