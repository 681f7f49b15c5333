// Copies a tensor and refuses NaN and infinity.
#include <atomic>
#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

void check_numerics_cpu(KernelContext& c) noexcept {
  std::atomic<bool> nan{false}, infinite{false};
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    T* out = c.out<T>();
    parallel_for(c.out().size, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
      bool is_nan = false, is_infinite = false;
      for (std::int64_t i = begin; i < end; ++i) {
        const Wide<T> v = static_cast<Wide<T>>(in[i]);
        is_nan |= std::isnan(v), is_infinite |= std::isinf(v);
        out[i] = in[i];
      }
      if (is_nan) nan = true;
      if (is_infinite) infinite = true;
    });
  });
  if (!nan && !infinite) return;
  const char* what = nan && infinite ? "Inf and NaN" : nan ? "NaN" : "Inf";
  c.fail(Code::invalid_argument,
         format("{} : Tensor had {} values", c.string_attr("message"), what));
}
RILL_KERNEL("CheckNumerics", cpu, kFloatTypes, check_numerics_cpu);

}  // namespace
}  // namespace rill::cpu
