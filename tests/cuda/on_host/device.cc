// Makes the stand-in known before the tests ask for a GPU, and has no cuDNN.
#include <memory>

#include "rill/kernels/cuda/conv.h"
#include "rill/kernels/cuda/gpu_device.h"

namespace rill::cuda {
namespace {

[[maybe_unused]] const Device& on_host = add_device(std::make_unique<GpuDevice>(0));

}  // namespace

bool cudnn_conv(KernelContext&, ConvPass, const WindowGeometry&, DType, const ConvBuffers&) {
  return false;
}
bool narrow_filter_gradient(KernelContext&, const WindowGeometry&, DType, const ConvBuffers&) {
  return false;
}

}  // namespace rill::cuda
