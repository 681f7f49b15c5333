#pragma once
#include <cstdint>
#include <string>

#include "rill/core/kernel.h"

// Kernels and devices in libraries of their own, such as librill_cuda.so. A
// plug-in links against librill.so and has one entry point:
//
//   extern "C" const char* rill_plugin_load(std::uint64_t abi);
//
// It says how devices are made (set_gpu_source; its kernels have registered themselves when it
// was loaded) and returns null, or says in a sentence why there are none.
namespace rill {

using PluginEntry = const char* (*)(std::uint64_t abi);
inline constexpr const char* kPluginEntry = "rill_plugin_load";

// What both sides must agree on. A change of meaning that leaves every size as
// it is takes a new revision.
constexpr std::uint64_t plugin_abi() {
  constexpr std::uint64_t kRevision = 2;
  std::uint64_t h = kRevision;
  for (std::uint64_t part :
       {sizeof(Device), sizeof(Op), sizeof(KernelContext), sizeof(TensorView), sizeof(TensorShape),
        sizeof(AttrValue), std::size_t{kDeviceTypes}, std::size_t{DType::kCount}})
    h = h * 1099511628211u + part;
  return h;
}

// Looks for librill_cuda.so in the folders of $RILL_PLUGIN_PATH and beside
// librill.so, once, on the first call: starting a GPU takes a while, and a program that
// does not ask for one does not pay. Returns why there is no GPU; "" when there is. Devices
// are made by start_gpus (gpus.h), which calls this.
const std::string& load_gpu_plugin();

}  // namespace rill
