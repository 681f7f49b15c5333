#pragma once
#include <string>

#include "rill/core/operand.h"

namespace rill RILL_API {
namespace keras {

// In what a layer computes and in what it keeps its weights: a dtype for both, or
// "mixed_bfloat16", "mixed_float16": compute in that, keep float32.
class DTypePolicy {
 public:
  DTypePolicy() = default;  // not given: the global policy
  DTypePolicy(DType both);
  template <StringLike S>
  DTypePolicy(const S& name) : DTypePolicy(by_name(std::string_view(name))) {}

  bool defined() const { return variable_.defined(); }
  std::string name() const;  // "float32", "mixed_bfloat16"
  DType compute_dtype() const { return compute_; }
  DType variable_dtype() const { return variable_; }

 private:
  static DTypePolicy by_name(std::string_view name);  // InvalidArgument for another one
  DType compute_ = {}, variable_ = {};
};

namespace mixed_precision {
using Policy = DTypePolicy;
// The policy of layers that are given none: float32 at first.
DTypePolicy global_policy();
void set_global_policy(const DTypePolicy& policy);
}  // namespace mixed_precision

namespace backend {
// The float dtype of layers and inputs that are given none.
DType floatx();
void set_floatx(DType dtype);
double epsilon();  // 1e-7
}  // namespace backend
}  // namespace keras
}  // namespace RILL_API
