#pragma once
#include "rill/core/kernel.h"
#include "rill/ops/nn/windows.h"

namespace rill::cpu {

// Which of the three tensors of a convolution is computed from the other two.
enum class ConvPass { output, input, filter };

template <class T>
struct ConvBuffers {
  T *input, *filter, *output;
};

// By oneDNN, on the tensors where they lie: float32 or bfloat16, but the gradient
// of a filter always float32. `bias` (null: none) is added to each pixel of an output.
// False when it has nothing better than its reference loops, or is not there.
bool onednn_conv(KernelContext& c, ConvPass pass, const WindowGeometry& g, DType dtype,
                 const ConvBuffers<void>& b, const void* bias = nullptr);
// By products of matrices, or directly where there are groups.
template <class T>
void plain_conv(KernelContext& c, ConvPass pass, const WindowGeometry& g, const ConvBuffers<T>& b);

}  // namespace rill::cpu
