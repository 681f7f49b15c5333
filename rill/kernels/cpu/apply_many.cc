#include "rill/kernels/cpu/apply_many.h"

#include <map>
#include <string>

namespace rill::cpu {
namespace {

std::map<std::string, ManyFn, std::less<>>& table() {
  static auto* t = new std::map<std::string, ManyFn, std::less<>>;
  return *t;
}

void apply_many_cpu(KernelContext& c) noexcept {
  const std::string_view update = c.string_attr("update");
  if (const ManyFn fn = many_of(update)) return fn(c, find_op(update));
  c.fail(Code::unimplemented, format("[{}] no update \"{}\" of many variables", c.tag(), update));
}
RILL_KERNEL("_ApplyMany", cpu, kFloatTypes, apply_many_cpu);

}  // namespace

ManyRegistration::ManyRegistration(const char* update, ManyFn fn) { table()[update] = fn; }

ManyFn many_of(std::string_view update) {
  const auto it = table().find(update);
  return it == table().end() ? nullptr : it->second;
}

}  // namespace rill::cpu
