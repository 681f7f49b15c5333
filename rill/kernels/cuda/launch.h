#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "rill/core/half.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cuda/gpu_device.h"

// How loops over elements are cut into threads.
namespace rill::cuda {

inline constexpr int kThreads = 256;
// Elements of a thread: some loads are under way while others are used.
inline constexpr int kUnroll = 4;

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;
// The type that elements of T are computed in.
template <class T>
using Computed = std::conditional_t<is_half_v<T>, float, T>;

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

// One launch of body(i), i < n. A body is a __device__ lambda or a struct.
template <class Body>
void launch_elements(KernelContext& c, std::int64_t n, const Body& body) {
  if (n == 0) return;
  GpuDevice& gpu = gpu_of(c);
  elements_kernel<<<blocks_of(n, kThreads * kUnroll), kThreads, 0, gpu.stream()>>>(n, body);
  check_launch(c);
}

}  // namespace rill::cuda
