// The entry point of librill_cuda.so.
#include "rill/core/plugin.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "rill/core/gpus.h"
#include "rill/kernels/cuda/gpu_device.h"
#include "rill/kernels/cuda/recording.h"

extern "C" RILL_API const char* rill_plugin_load(std::uint64_t abi) {
  static std::string reason;  // lives as long as its readers
  if (abi != rill::plugin_abi())
    return "the plug-in librill_cuda.so was built for another version of Rill; build both together";
  int count = 0;
  if (const cudaError_t e = cudaGetDeviceCount(&count); e != cudaSuccess) {
    reason = std::string("CUDA finds no device: ") + cudaGetErrorString(e);
    return reason.c_str();
  }
  if (count == 0) return "CUDA finds no device in this machine";
  rill::set_gpu_source({count, [](int index, int ordinal, std::size_t limit) {
                          return std::unique_ptr<rill::Device>(
                              std::make_unique<rill::cuda::GpuDevice>(index, ordinal, limit));
                        }});
  rill::cuda::install_recorder();
  rill::cuda::install_tracer();
  return nullptr;
}
