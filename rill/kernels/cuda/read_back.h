#pragma once
#include <string>

#include "rill/base/error.h"
#include "rill/kernels/cuda/gpu_device.h"

namespace rill::cuda {

// Numbers of the device for the host, which waits for them. False, with the call failed, when
// an earlier kernel found something wrong.
inline bool read_back(KernelContext& c, void* to, const void* from, std::size_t bytes) {
  try {
    gpu_of(c).copy_to_host(to, from, bytes);
    return true;
  } catch (const errors::Error& e) {
    c.fail(e.code(), std::string(e.message()));
    return false;
  }
}

}  // namespace rill::cuda
