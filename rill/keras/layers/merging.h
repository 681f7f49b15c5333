#pragma once
#include "rill/keras/engine/layer.h"
#include "rill/ops/nn_ops.h"

// Layers that make one tensor of several: Add()({a, b}), or add({a, b}) in one call. The result
// of tensors with masks counts where all of them do.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct MergeOptions {
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
enum class MergeKind { add, subtract, multiply, average, maximum, minimum };

// Element by element; sizes of 1 broadcast, and inputs of lower rank get axes after the batch.
// Subtract takes two inputs.
template <MergeKind kind>
class Merge : public Layer {
 public:
  Merge() : Merge(MergeOptions{}) {}
  explicit Merge(MergeOptions options);
};
using Add = Merge<MergeKind::add>;
using Subtract = Merge<MergeKind::subtract>;
using Multiply = Merge<MergeKind::multiply>;
using Average = Merge<MergeKind::average>;
using Maximum = Merge<MergeKind::maximum>;
using Minimum = Merge<MergeKind::minimum>;

struct ConcatenateOptions {
  int axis = -1;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// One after the other along the axis.
class Concatenate : public Layer {
 public:
  Concatenate();
  explicit Concatenate(ConcatenateOptions options);
};

struct DotOptions {
  nn::Sizes axes = {};  // of both inputs, or of each
  bool normalize = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// The products of two inputs summed along an axis, sample by sample: [b, i, k] and [b, k, j] with
// axes {2, 1} give [b, i, j]. normalize: of vectors of length 1, so that it is the cosine.
class Dot : public Layer {
 public:
  explicit Dot(DotOptions options);
  explicit Dot(int axes, DotOptions options = {});
  template <std::size_t n>
  requires(n == 2) explicit Dot(const int (&axes)[n], DotOptions o = {})
      : Dot((o.axes = std::vector<int>(axes, axes + n), std::move(o))) {}
};

// The layers in one call.
Tensor add(const std::vector<Tensor>& inputs, MergeOptions options = {});
Tensor subtract(const std::vector<Tensor>& inputs, MergeOptions options = {});
Tensor multiply(const std::vector<Tensor>& inputs, MergeOptions options = {});
Tensor average(const std::vector<Tensor>& inputs, MergeOptions options = {});
Tensor maximum(const std::vector<Tensor>& inputs, MergeOptions options = {});
Tensor minimum(const std::vector<Tensor>& inputs, MergeOptions options = {});
Tensor concatenate(const std::vector<Tensor>& inputs, ConcatenateOptions options = {});
Tensor dot(const std::vector<Tensor>& inputs, DotOptions options);

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
