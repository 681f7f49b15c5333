// Regular expressions, by RE2.
#include <re2/re2.h>

#include "rill/base/format.h"
#include "rill/core/kernel.h"

namespace rill::cpu {
namespace {

RE2::Options quiet() {
  RE2::Options o;
  o.set_log_errors(false);
  return o;
}
// False, with the failure reported, when input 1 is not a pattern.
bool check(KernelContext& c, const RE2& re) {
  if (!re.ok())
    c.fail(Code::invalid_argument,
           format("[{}] the pattern \"{}\" cannot be read: {}", c.tag(), re.pattern(), re.error()));
  return re.ok();
}

void replace_cpu(KernelContext& c) noexcept {
  const RE2 re(*c.in<std::string>(1), quiet());
  if (!check(c, re)) return;
  const std::string &rewrite = *c.in<std::string>(2), *in = c.in<std::string>(0);
  const bool global = c.bool_attr("replace_global");
  std::string* out = c.out<std::string>();
  // A rewrite that names a group which is not there changes nothing, as in TensorFlow.
  std::string error;
  const bool good = re.CheckRewriteString(rewrite, &error);
  for (std::int64_t i = 0; i < c.out().size; ++i) {
    out[i] = in[i];
    if (!good) continue;
    if (global)
      RE2::GlobalReplace(&out[i], re, rewrite);
    else
      RE2::Replace(&out[i], re, rewrite);
  }
}
RILL_KERNEL("RegexReplace", cpu, TypeSet{}, replace_cpu);

void full_match_cpu(KernelContext& c) noexcept {
  const RE2 re(*c.in<std::string>(1), quiet());
  if (!check(c, re)) return;
  const std::string* in = c.in<std::string>(0);
  for (std::int64_t i = 0; i < c.out().size; ++i) c.out<bool>()[i] = RE2::FullMatch(in[i], re);
}
RILL_KERNEL("RegexFullMatch", cpu, TypeSet{}, full_match_cpu);

}  // namespace
}  // namespace rill::cpu
