#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

// Two passes: count, then write.
void where_cpu(KernelContext& c) noexcept {
  dispatch_plain(c.in(0).dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    const std::int64_t n = c.in(0).size;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) count += in[i] != T{};
    const Dims& dims = c.in_shape(0).dims();
    const std::size_t rank = dims.size();
    std::int64_t* out =
        c.allocate<std::int64_t>(0, TensorShape(Dims{count, static_cast<std::int64_t>(rank)}));
    if (!out) return;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!(in[i] != T{})) continue;
      std::int64_t rest = i;
      for (std::size_t k = rank; k-- > 0; rest /= dims[k]) out[k] = rest % dims[k];
      out += rank;
    }
  });
}
RILL_KERNEL("Where", cpu, kPlainTypes, where_cpu);

}  // namespace
}  // namespace rill::cpu
