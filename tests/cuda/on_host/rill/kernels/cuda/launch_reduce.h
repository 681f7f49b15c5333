#pragma once
// Stands in for rill/kernels/cuda/launch_reduce.h: one loop after the other.
#include "rill/kernels/cuda/walk.h"

namespace rill::cuda {

struct Split {
  std::int64_t count, size;  // of parts, of elements a part
};
inline constexpr int kColumns = 32, kThreads = 256;
inline unsigned blocks_of(std::int64_t n, std::int64_t per_block) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, (n + per_block - 1) / per_block));
}

template <class F, class A, class X, class R, class Finish>
void launch_reduce(KernelContext&, X x, R* y, const Walk<1>& kept, const Walk<1>& gone, bool,
                   Split split, Finish finish) {
  for (std::int64_t part = 0; part < split.count; ++part)
    for (std::int64_t o = 0; o < kept.size; ++o) {
      A sum = F::template start<A>();
      const X from = x + kept.at(o);
      for (std::int64_t r = part * split.size; r < std::min((part + 1) * split.size, gone.size);
           ++r)
        sum = F::join(sum, F::template load<A>(from[gone.at(r)]));
      y[part * kept.size + o] = finish(sum);
    }
}

}  // namespace rill::cuda
