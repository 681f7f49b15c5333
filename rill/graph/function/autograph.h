#pragma once
#include "rill/graph/function/function.h"

namespace rill RILL_API {
namespace autograph {

std::string to_code(const detail::AnyFunction& f);

// The program of the trace that was used last, as source that a person can read: a
// line an op, with dtypes and shapes, and control flow as it would be written.
// FailedPrecondition when it was never called and has no input_signature.
template <class R, class... A>
std::string to_code(const Function<R, A...>& f) {
  return to_code(f.any());
}

}  // namespace autograph
}  // namespace RILL_API
