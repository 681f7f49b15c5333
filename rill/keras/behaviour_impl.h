#pragma once

// Keras 2 and Keras 3 give one name to things that differ: masks of merged tensors, "hard_sigmoid",
// the moving variance of a batch normalization. A layer behaves as the Keras whose file it came
// from, and as Keras 2 where it came from none.
namespace rill::keras {

// As which Keras, 2 or 3, layers and activations behave that this thread makes now, and steps of
// optimizers that it takes.
int keras_behaviour();

class BehaviourScope {
 public:
  explicit BehaviourScope(int keras);
  ~BehaviourScope();
  BehaviourScope(const BehaviourScope&) = delete;

 private:
  const int before_;
};

}  // namespace rill::keras
