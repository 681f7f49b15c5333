#include "rill/keras/dtype_policy.h"

#include "rill/base/check.h"

namespace rill::keras {

namespace {
DTypePolicy global;  // undefined: floatx
DType global_float = float32;
}  // namespace

DTypePolicy::DTypePolicy(DType both) : compute_(both), variable_(both) {}
DTypePolicy DTypePolicy::by_name(std::string_view name) {
  DTypePolicy p;
  if (name == "mixed_float16" || name == "mixed_bfloat16") {
    p.variable_ = float32;
    p.compute_ = name == "mixed_float16" ? float16 : bfloat16;
    return p;
  }
  const DType d = DType::from_name(name);
  RILL_CHECK(d.defined(), invalid_argument,
             "[dtype policy] unknown policy \"{}\"; expected a dtype, \"mixed_float16\" or "
             "\"mixed_bfloat16\"",
             name);
  return DTypePolicy(d);
}
std::string DTypePolicy::name() const {
  if (!defined()) return "";
  return compute_ == variable_ ? compute_.name() : "mixed_" + std::string(compute_.name());
}

DTypePolicy mixed_precision::global_policy() {
  return global.defined() ? global : DTypePolicy(global_float);
}
void mixed_precision::set_global_policy(const DTypePolicy& policy) { global = policy; }
DType backend::floatx() { return global_float; }
void backend::set_floatx(DType dtype) {
  RILL_CHECK(dtype.is_floating(), invalid_argument, "[set_floatx] got {}; expected a float dtype",
             dtype);
  global_float = dtype;
}
double backend::epsilon() { return 1e-7; }

}  // namespace rill::keras
