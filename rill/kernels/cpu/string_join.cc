// x + y of strings.
#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

void add_strings_cpu(KernelContext& c) noexcept {
  const BroadcastPlan p = plan_broadcast(c.in_shape(0), c.in_shape(1), c.out_shape());
  const std::string *a = c.in<std::string>(0), *b = c.in<std::string>(1);
  std::string* y = c.out<std::string>();
  if (c.out().size == 0) return;
  for_runs(p, 0, c.out().size / p.inner, [&](std::int64_t at, std::int64_t ia, std::int64_t ib) {
    for (std::int64_t i = 0; i < p.inner; ++i) y[at + i] = a[ia + (p.a_row ? i : 0)] + b[ib + (p.b_row ? i : 0)];
  });
}
RILL_KERNEL("Add", cpu, TypeSet{string}, add_strings_cpu);

}  // namespace
}  // namespace rill::cpu
