#include "rill/kernels/cuda/kernel_error.h"

#include "rill/base/format.h"

namespace rill::cuda {

std::string message_of(const KernelError& t) {
  const std::string found = format("[{}] {}[{}] = {}", t.op->tag, t.what, t.index, t.value);
  switch (t.finding) {
    case Finding::out_of_range:
      return format("{} is not in [0, {})", found, t.limit);
    case Finding::not_below:
      return format("{} is not below {}", found, t.limit);
    case Finding::negative:
      return format("{} is negative; expected numbers from 0 on", found);
    case Finding::unsorted:
      return format("{} is less than {}; expected sorted ids from 0 on", found, t.limit);
    case Finding::no_integer_result:
      return format(
          "[{}] no integer result: element {} of {} is {}{}", t.op->tag, t.index, t.what, t.value,
          t.value == 0 ? " (integer division by zero)" : "; a negative power is a fraction");
    case Finding::not_finite:
      return format("{} : Tensor had {} values", t.what,
                    t.value == 3   ? "Inf and NaN"
                    : t.value == 1 ? "NaN"
                                   : "Inf");
    case Finding::not_a_number:
      return format("[{}] {}[{}] is not a number", t.op->tag, t.what, t.index);
    case Finding::empty_range:
      return format("[{}] {}: expected the lower number first", t.op->tag, t.what);
  }
  return "?";
}

}  // namespace rill::cuda
