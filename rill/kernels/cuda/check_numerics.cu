// Copies a tensor and refuses NaN and infinity.
#include <mutex>
#include <set>
#include <string>

#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

template <class T>
struct NumericsBody {
  const T* x;
  T* y;
  std::uint32_t* found;  // NaN, infinity
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const auto v = static_cast<Computed<T>>(x[i]);
    if (v != v)
      found[0] = 1;
    else if (v - v != Computed<T>(0))
      found[1] = 1;
    y[i] = x[i];
  }
};
struct NumericsFoundBody {
  const std::uint32_t* found;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t) const {
    if (const unsigned value = found[0] + 2 * found[1])
      report(reporter.error, reporter.op, Finding::not_finite, reporter.what, 0, value, 0);
  }
};

// A finding is read after the call, and a recording runs again: the text lives on.
const char* kept(std::string_view text) {
  static std::mutex mutex;
  static auto* all = new std::set<std::string, std::less<>>;
  std::lock_guard lock(mutex);
  auto it = all->find(text);
  if (it == all->end()) it = all->emplace(text).first;
  return it->c_str();
}

void check_numerics_cuda(KernelContext& c) noexcept {
  auto* found = c.scratch<std::uint32_t>(2);
  if (!found) return;
  GpuDevice& gpu = gpu_of(c);
  cudaMemsetAsync(found, 0, 2 * sizeof *found, gpu.stream());
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    launch_elements(c, c.out().size, NumericsBody<T>{c.in<T>(0), c.out<T>(), found});
  });
  launch_elements(
      c, 1,
      NumericsFoundBody{found, {gpu.kernel_error(), &c.op(), kept(c.string_attr("message"))}});
}
RILL_KERNEL("CheckNumerics", gpu, kFloatTypes, check_numerics_cuda);

}  // namespace
}  // namespace rill::cuda
