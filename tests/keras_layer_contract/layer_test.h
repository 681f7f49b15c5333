#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rill/keras/engine/layer.h"

// What every layer of Keras promises, asked of one layer by one call.
namespace rill::testing {

// Which mask the result carries when the inputs carry one.
enum class Mask { none, of_first_input, of_all_inputs };

// Which first inputs a built layer turns down, by an error that names it.
struct Rejects {
  bool lower_rank = false, higher_rank = false, more_features = false;
};
inline constexpr Rejects kNothing{};
inline constexpr Rejects kRank{.lower_rank = true, .higher_rank = true};
inline constexpr Rejects kAll{.lower_rank = true, .higher_rank = true, .more_features = true};

struct LayerTest {
  std::function<keras::LayerRef()> make;  // a fresh layer, the same at every call
  std::vector<TensorShape> input_shapes;  // with the batch in front; several: a list of inputs
  DType input_dtype = float32;            // int32: indices below index_limit
  int index_limit = 5;
  TensorShape expected_output_shape = {};  // of the first result, with the batch in front
  int expected_num_outputs = 1;
  int expected_num_trainable_weights = 0;
  int expected_num_non_trainable_weights = 0;
  int expected_num_losses = 0;  // of a call: those of regularizers, and what call adds
  Mask expected_mask = Mask::none;
  // The mask of a layer that makes its own; of inputs and their masks.
  std::function<Tensor(const std::vector<Tensor>& x, const std::vector<Tensor>& masks)>
      expected_own_mask = {};
  bool masks_fit = true;                // false: masks of these inputs cannot be joined
  bool mask_of_elements = false;        // masks have the shape of the input, not of its steps
  bool mask_of_steps = false;           // masks are [samples, steps], whatever a step is
  std::optional<Rejects> rejects = {};  // not given: errors must name the layer, whatever they are
  bool random_in_training = false;
  bool updates_by_call = false;  // a call in training changes weights, of a frozen layer too
  bool own_weights_in_compute_dtype = false;  // statistics that mixed precision keeps small too
  bool computes_in_float32 = false;           // also where its weights and results are float64
};

// Asks the layer for everything: shapes, weights, configuration, files, gradients, training,
// masks, mixed precision and errors.
void run_layer_test(const LayerTest& test);

}  // namespace rill::testing
