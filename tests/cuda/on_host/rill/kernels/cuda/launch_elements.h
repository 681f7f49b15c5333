#pragma once
// Stands in for rill/kernels/cuda/launch_elements.h: element by element, the last first, so
// that a body that reads what another element wrote is seen.
#include <cstdint>

#include "rill/kernels/cuda/gpu_device.h"

namespace rill::cuda {

template <class Body>
void launch_elements(KernelContext&, std::int64_t n, const Body& body) {
  for (std::int64_t i = n; i-- > 0;) body(i);
}
template <class Body>
void launch_loops(KernelContext& c, std::int64_t n, const Body& body) {
  launch_elements(c, n, body);
}

}  // namespace rill::cuda
