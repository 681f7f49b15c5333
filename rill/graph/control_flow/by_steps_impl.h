#pragma once
#include <vector>

#include "rill/core/grad_context.h"

// For ops that do all steps of a recurrence: what they compute, written out in ops that have
// gradients, is how theirs are differentiated and how files for other runtimes hold them.
namespace rill {

using BySteps = std::vector<Tensor> (*)(const std::vector<Tensor>& arguments);

// The gradients of the arguments, where `slopes` are those of the results.
std::vector<Tensor> gradients_by_steps(BySteps steps, const std::vector<Tensor>& arguments,
                                       const std::vector<Tensor>& slopes);
// The gradient of the op that computes these: its inputs are the slopes, then the arguments.
// Unimplemented where the number of steps, the first dimension of the first argument, is unknown.
void differentiate_gradients(GradContext& g, BySteps steps, int num_results, int num_arguments);

}  // namespace rill
