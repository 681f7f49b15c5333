#pragma once
#include "rill/core/op.h"

namespace rill {

// Which inputs of a call the op reads on the host. Arguments behind a list are
// moved by its length.
class HostInputs {
 public:
  HostInputs(const Op& op, std::size_t count) : mask_(op.host_inputs) {
    const std::size_t args = op.inputs.size();
    if (mask_ == 0 || count == args) return;
    while (list_ < args && !op.inputs[list_].is_list()) ++list_;
    behind_ = count + list_ + 1 - args;
  }
  bool contains(std::size_t i) const {
    if (behind_ != kNone) i = i < list_ ? i : i < behind_ ? list_ : i - behind_ + list_ + 1;
    return i < 32 && (mask_ >> i & 1);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::uint32_t mask_;
  std::size_t list_ = 0, behind_ = kNone;  // the list, and the first input behind it
};

}  // namespace rill
