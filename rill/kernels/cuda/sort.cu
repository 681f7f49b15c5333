#include "rill/kernels/cuda/sort.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace rill::cuda {
namespace {

// CUB asks for memory first and runs then.
template <class F>
bool with_space(KernelContext& c, F run) {
  std::size_t bytes = 0;
  cudaError_t e = run(nullptr, bytes);
  if (e == cudaSuccess) {
    void* space = c.scratch(bytes ? bytes : 1);
    if (!space) return false;
    e = run(space, bytes);
  }
  if (e != cudaSuccess)
    c.fail(Code::internal, format("[{}] sorting failed on {}: {}", c.tag(), c.device().name(),
                                  cudaGetErrorString(e)));
  return e == cudaSuccess;
}
bool countable(KernelContext& c, std::int64_t n) {
  if (n > INT32_MAX)
    c.fail(Code::unimplemented, format("[{}] got {} elements; on a GPU at most {} are sorted or "
                                       "counted. Split them, or call it on the CPU",
                                       c.tag(), n, INT32_MAX));
  return n <= INT32_MAX;
}

}  // namespace

bool sort_pairs(KernelContext& c, std::uint64_t* keys, std::uint32_t* order, std::int64_t n,
                int bits) {
  if (!countable(c, n)) return false;
  if (n < 2 || is_refreshing()) return true;
  GpuDevice& gpu = gpu_of(c);
  auto* other_keys = c.scratch<std::uint64_t>(n);
  auto* other_order = c.scratch<std::uint32_t>(n);
  if (!other_keys || !other_order) return false;
  cub::DoubleBuffer<std::uint64_t> k(keys, other_keys);
  cub::DoubleBuffer<std::uint32_t> o(order, other_order);
  if (!with_space(c, [&](void* space, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(space, bytes, k, o, static_cast<int>(n), 0, bits,
                                               gpu.stream());
      }))
    return false;
  const auto count = static_cast<std::size_t>(n);
  if (k.Current() != keys)
    cudaMemcpyAsync(keys, k.Current(), count * sizeof(*keys), cudaMemcpyDeviceToDevice,
                    gpu.stream());
  if (o.Current() != order)
    cudaMemcpyAsync(order, o.Current(), count * sizeof(*order), cudaMemcpyDeviceToDevice,
                    gpu.stream());
  check_launch(c);
  return !c.failed();
}

bool count_before(KernelContext& c, const std::uint32_t* in, std::int64_t* out, std::int64_t n) {
  if (!countable(c, n)) return false;
  GpuDevice& gpu = gpu_of(c);
  cudaMemsetAsync(out, 0, sizeof(*out), gpu.stream());
  if (n == 0) return true;
  return with_space(c, [&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(space, bytes, in, out + 1,
                                          ::cuda::std::plus<std::int64_t>{}, static_cast<int>(n),
                                          gpu.stream());
  });
}

}  // namespace rill::cuda
