// The entry point of librill_cuda.so.
#include "rill/core/plugin.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "rill/kernels/cuda/gpu_device.h"
#include "rill/kernels/cuda/recording.h"

extern "C" RILL_API const char* rill_plugin_load(std::uint64_t abi) {
  static std::string reason;  // lives as long as who reads it
  if (abi != rill::plugin_abi())
    return "the plug-in librill_cuda.so was built for another version of Rill; build both together";
  int count = 0;
  if (const cudaError_t e = cudaGetDeviceCount(&count); e != cudaSuccess) {
    reason = std::string("CUDA finds no device: ") + cudaGetErrorString(e);
    return reason.c_str();
  }
  try {
    for (int i = 0; i < count; ++i) rill::add_device(std::make_unique<rill::cuda::GpuDevice>(i));
  } catch (const std::exception& e) {
    reason = e.what();
    return reason.c_str();
  }
  rill::cuda::install_recorder();
  return count > 0 ? nullptr : "CUDA finds no device in this machine";
}
