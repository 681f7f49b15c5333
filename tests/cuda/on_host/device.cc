// Makes the stand-in known before the tests ask for a GPU, and has neither cuDNN nor cuBLAS.
#include <memory>

#include "rill/core/half.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cuda/conv.h"
#include "rill/kernels/cuda/gpu_device.h"
#include "rill/kernels/cuda/product.h"

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
void product(KernelContext&, DType dtype, const Product& p, const void* a, const void* b, void* y) {
  dispatch_floats(dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        T& to = static_cast<T*>(y)[i * p.n + j];
        double sum = p.add ? static_cast<double>(to) : 0;
        for (std::int64_t k = 0; k < p.k; ++k)
          sum += static_cast<double>(
                     static_cast<const T*>(a)[p.transpose_a ? k * p.m + i : i * p.k + k]) *
                 static_cast<double>(
                     static_cast<const T*>(b)[p.transpose_b ? j * p.k + k : k * p.n + j]);
        to = static_cast<T>(sum);
      }
  });
}

}  // namespace rill::cuda
