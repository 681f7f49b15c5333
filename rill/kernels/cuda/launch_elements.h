#pragma once
#include "rill/kernels/cuda/gpu_device.h"

// How loops over elements are cut into threads.
namespace rill::cuda {

inline constexpr int kThreads = 256;
// Elements of a thread: some loads are under way while others are used.
inline constexpr int kUnroll = 4;

inline unsigned blocks_of(std::int64_t n, std::int64_t per_block) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, (n + per_block - 1) / per_block));
}

// Calls body(i) for each element i < n of this thread. Neighbouring threads have
// neighbouring elements.
template <class F>
__device__ __forceinline__ void for_elements(std::int64_t n, const F& body) {
  std::int64_t i = std::int64_t{blockIdx.x} * (kThreads * kUnroll) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kUnroll; ++k, i += kThreads)
    if (i < n) body(i);
}

// __grid_constant__: a body is read where it came, and never copied to a thread's memory.
template <class Body>
__global__ void __launch_bounds__(kThreads)
    elements_kernel(std::int64_t n, const __grid_constant__ Body body) {
  for_elements(n, body);
}
// The same, an element a thread, where each element is its own loop.
template <class Body>
__global__ void __launch_bounds__(kThreads)
    long_elements_kernel(std::int64_t n, const __grid_constant__ Body body) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) body(i);
}

// One launch of body(i), i < n. A body is a __device__ lambda or a struct.
template <class Body>
void launch_elements(KernelContext& c, std::int64_t n, const Body& body) {
  if (n == 0 || is_refreshing()) return;
  GpuDevice& gpu = gpu_of(c);
  elements_kernel<<<blocks_of(n, kThreads * kUnroll), kThreads, 0, gpu.stream()>>>(n, body);
  check_launch(c);
}
// For bodies that are loops: as many threads as there are elements.
template <class Body>
void launch_loops(KernelContext& c, std::int64_t n, const Body& body) {
  if (n == 0 || is_refreshing()) return;
  GpuDevice& gpu = gpu_of(c);
  long_elements_kernel<<<blocks_of(n, kThreads), kThreads, 0, gpu.stream()>>>(n, body);
  check_launch(c);
}

}  // namespace rill::cuda
