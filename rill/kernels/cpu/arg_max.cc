#include <limits>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

// [outer, n, inner], strips of inner elements at a time. NaN is never chosen.
template <bool kMax>
void arg_cpu(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  std::int64_t axis = c.in(1).dtype == int64 ? *c.in<std::int64_t>(1) : *c.in<std::int32_t>(1);
  if (axis < 0) axis += shape.rank();
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  if (outer * inner == 0) return;
  const std::int64_t n = shape.dim(static_cast<int>(axis));
  constexpr std::int64_t kStrip = 128;
  const std::int64_t strip = std::min(inner, kStrip), strips = (inner + strip - 1) / strip;
  const bool wide = c.out().dtype == int64;
  auto scan = [&]<class T>() {
    using A = Wide<T>;
    const T* x = c.in<T>(0);
    auto first_best = [](const T* row, std::int64_t count) {
      A top = kMax ? std::numeric_limits<A>::lowest() : std::numeric_limits<A>::max();
      std::int64_t at = 0;
      for (std::int64_t k = 0; k < count; ++k)
        if (const A v = static_cast<A>(row[k]); kMax ? v > top : v < top) top = v, at = k;
      return at;
    };
    parallel_for(
        outer * strips, std::max<std::int64_t>(1, (1 << 15) / (n * strip)),
        [&](std::int64_t begin, std::int64_t end) {
          A best[kStrip];
          std::int64_t place[kStrip];
          for (std::int64_t t = begin; t < end; ++t) {
            const std::int64_t row = t / strips, off = t % strips * strip,
                               width = std::min(strip, inner - off);
            if (inner == 1) {
              place[0] = first_best(x + row * n, n);
              if (wide)
                c.out<std::int64_t>()[row] = place[0];
              else
                c.out<std::int32_t>()[row] = static_cast<std::int32_t>(place[0]);
              continue;
            }
            std::fill_n(best, width,
                        kMax ? std::numeric_limits<A>::lowest() : std::numeric_limits<A>::max());
            std::fill_n(place, width, 0);
            for (std::int64_t k = 0; k < n; ++k) {
              const T* from = x + (row * n + k) * inner + off;
              for (std::int64_t j = 0; j < width; ++j) {
                const A v = static_cast<A>(from[j]);
                const bool better = kMax ? v > best[j] : v < best[j];
                best[j] = better ? v : best[j];
                place[j] = better ? k : place[j];
              }
            }
            for (std::int64_t j = 0; j < width; ++j)
              if (wide)
                c.out<std::int64_t>()[row * inner + off + j] = place[j];
              else
                c.out<std::int32_t>()[row * inner + off + j] = static_cast<std::int32_t>(place[j]);
          }
        });
  };
  if (c.in(0).dtype == bool_) return scan.template operator()<std::uint8_t>();
  dispatch_reals(c.in(0).dtype, scan);
}
RILL_KERNEL("ArgMax", cpu, (kRealTypes | TypeSet{bool_}), arg_cpu<true>);
RILL_KERNEL("ArgMin", cpu, (kRealTypes | TypeSet{bool_}), arg_cpu<false>);

}  // namespace
}  // namespace rill::cpu
