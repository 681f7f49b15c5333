#pragma once
#include "rill/kernels/cuda/gpu_device.h"
#include "rill/ops/nn/windows.h"

namespace rill::cuda {

// Which of the three tensors of a convolution is computed from the other two.
enum class ConvPass { output, input, filter };
struct ConvBuffers {
  void *input, *filter, *output;
};

// By cuDNN, where it is found and has a deterministic algorithm for the geometry. False: it
// has none, with the reason noted; the plain kernels then do it.
bool cudnn_conv(KernelContext& c, ConvPass pass, const WindowGeometry& g, DType dtype,
                const ConvBuffers& b);

// The gradient of a filter of 3 or 5 taps a side over images of few channels, in float32:
// sums over very many pixels for which cuDNN has no quick engine that is deterministic. False:
// not of that kind.
bool narrow_filter_gradient(KernelContext& c, const WindowGeometry& g, DType dtype,
                            const ConvBuffers& b);

}  // namespace rill::cuda
