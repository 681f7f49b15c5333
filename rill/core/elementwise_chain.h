#pragma once
#include <cstdint>
#include <span>

#include "rill/core/kernel.h"

namespace rill RILL_API {

// Elementwise ops of which each takes what those before it gave, over arrays of one size and
// dtype: a device may compute them in one kernel, so that they cost one launch.
struct ElementwiseChain {
  // Where an operand or a result is: in memory, or kept within the kernel.
  struct Side {
    void* data = nullptr;     // null: kept, at `place`
    std::int64_t period = 0;  // elements in memory, which repeat: `elements`, 1, or between
    std::int32_t place = 0;
  };
  struct Member {
    const Op* op = nullptr;
    std::int32_t num_in = 0;
    Side in[2], out;
  };
  std::int64_t elements = 0;
  std::span<const Member> members;
};

// How devices of a type do that.
struct ChainRunner {
  bool (*can)(const Op& op, DType dtype);
  // Reports by the context, whose op is that of the last member.
  void (*run)(KernelContext& c, const ElementwiseChain& chain);
  std::size_t most_members, most_places;
  std::int64_t most_elements;  // more: the memory is the limit, not the launch
};
// REQUIRES: it lives as long as the process.
void set_chain_runner(DeviceType type, const ChainRunner* runner);
const ChainRunner* chain_runner(const Device& device);  // null: none

}  // namespace RILL_API
