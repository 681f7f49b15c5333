#pragma once
#include "rill/graph/function/graph_function.h"

namespace rill {

// Traces callables as bodies that take the same inputs: what any of them uses
// from outside.
struct TracedBranches {
  std::vector<Ref<GraphFunction>> bodies;
  std::vector<Tensor> inputs;
};
// Makes bodies of finished graphs: each gets an argument for every value that one
// of them captured.
TracedBranches close_over(std::vector<Ref<Graph>> graphs, std::size_t own_args);

std::vector<DType> dtypes_of(std::span<const Tensor> tensors);
std::vector<DType> result_dtypes(const GraphFunction& f);

// Zeros like an input of a body: of a variable, like its value; of a list, a list.
Tensor zeros_of(const Tensor& t);
// A gradient as one dense tensor; zeros like `of` where there is none.
Tensor dense_or_zeros(const Gradient& g, const Tensor& of);

// The tapes of this thread that record now.
std::vector<Ref<TapeImpl>> recording_tapes_of_thread();
// Whether what is saved for the way back must have a way back itself: another tape
// records too, or such a function is being made.
bool must_close();
void record_on_tapes(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                     const CustomGradFn& back);

}  // namespace rill
