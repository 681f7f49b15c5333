#include "rill/kernels/cpu/apply_many.h"

namespace rill::cpu {
namespace {

void apply_many_cpu(KernelContext& c) noexcept {
  const Op& update = find_op(c.string_attr("update"));
  if (const ManyUpdatesFn fn = update.many_updates(DeviceType::cpu)) return fn(c, update);
  c.fail(Code::unimplemented,
         format("[{}] no update \"{}\" of many variables", c.tag(), update.name));
}
RILL_KERNEL("_ApplyMany", cpu, kFloatTypes, apply_many_cpu);

}  // namespace
}  // namespace rill::cpu
