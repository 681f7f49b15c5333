#pragma once
#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"

// The updates of many variables in one loop: those that are too small to be shared out to the
// threads one by one are shared out together.
namespace rill::cpu {

// Update k of the many, by itself, for rules that read its numbers.
class OneOfMany final : public KernelContext {
 public:
  OneOfMany(const Op& update, const KernelContext& many, int k)
      : KernelContext(
            update, many.attrs(),
            std::span(&many.in(k * static_cast<int>(update.inputs.size())), update.inputs.size()),
            {}, many.device()) {}
  void* allocate_output(int, const TensorShape&) override { return nullptr; }
};

// Shares out the elements of all variables (every `each`th input) to the threads. A thread runs
// body(parts); parts(f) calls f(k, begin, end) for its parts of the variables.
template <class F>
void for_elements_of_many(const KernelContext& c, int each, F body) noexcept {
  // As many elements as make a thread worth waking.
  constexpr std::int64_t kBlock = 1 << 12;
  // Variables stand one behind the other, each from a multiple of this on: a cut between two
  // threads does not move its elements off the borders of cache lines.
  auto room_for = [](std::int64_t n) { return (n + 63) / 64 * 64; };
  const int count = c.num_inputs() / each;
  std::int64_t total = 0;
  for (int k = 0; k < count; ++k) total += room_for(c.in(k * each).size);
  parallel_for(total, kBlock, [&](std::int64_t begin, std::int64_t end) {
    body([&](auto&& part) {
      std::int64_t at = 0;
      for (int k = 0; k < count && at < end; ++k) {
        const std::int64_t size = c.in(k * each).size;
        const std::int64_t from = std::max<std::int64_t>(0, begin - at),
                           to = std::min(size, end - at);
        if (from < to) part(k, from, to);
        at += room_for(size);
      }
    });
  });
}

}  // namespace rill::cpu
