#include "rill/kernels/functors/cast.h"
#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

void cast_cpu(KernelContext& c) noexcept {
  dispatch_plain(c.in(0).dtype, [&]<class From>() {
    dispatch_plain(c.out().dtype, [&]<class To>() {
      const From* in = c.in<From>(0);
      To* out = c.out<To>();
      parallel_for(c.out().size, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = functors::convert<To>(in[i]);
      });
    });
  });
}
RILL_KERNEL("Cast", cpu, kPlainTypes, cast_cpu);

}  // namespace
}  // namespace rill::cpu
