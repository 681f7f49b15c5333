#pragma once
#include "rill/keras/layer.h"

// Layers that act only in training.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct DropoutOptions {
  double rate = 0;
  TensorShape noise_shape = {};  // sizes of 1 (or None as in the input) share what is dropped
  std::int64_t seed = -1;        // -1: as tf::random::set_seed says
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
};
// In training each element is 0 with probability rate, else scaled by 1 / (1 - rate).
class Dropout : public Layer {
 public:
  explicit Dropout(DropoutOptions options);
  explicit Dropout(double rate, DropoutOptions options = {});
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
