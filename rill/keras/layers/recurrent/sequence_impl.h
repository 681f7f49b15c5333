#pragma once
#include "rill/keras/layers/recurrent/cell_impl.h"

namespace rill::keras {

struct SequenceOptions {
  bool go_backwards = false;
  bool unroll = false;
  bool return_sequences = false;
  bool time_major = false;            // of the result
  bool zero_output_for_mask = false;  // else a masked step repeats the output before it
};
struct SequenceResult {
  Tensor output;  // of all steps, in the order in which they ran, or of the last one
  States states;
};

// Takes a cell along x [time, batch, features]. mask: [time, batch], or undefined. One op does it
// all where there is one, and no mask. Else, eagerly and in functions for short sequences, one step
// after the other is run; otherwise it becomes a loop of the graph.
SequenceResult run_sequence(CellRun& run, const Tensor& x, const Tensor& mask, States states,
                            const Tensor& zero_output, const SequenceOptions& options);

}  // namespace rill::keras
