#include <algorithm>
#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

// Sorted as one of few types, together with the places.
template <class T>
using Key = std::conditional_t<
    std::is_same_v<T, double>, double,
    std::conditional_t<!std::is_integral_v<T>, float,
                       std::conditional_t<std::is_same_v<T, std::uint64_t>, T, std::int64_t>>>;
template <class K>
struct Entry {
  K key;
  std::int64_t place;
};
// Larger first, of equals the first, NaN last.
template <class K>
bool before(const Entry<K>& a, const Entry<K>& b) {
  if (a.key > b.key) return true;
  if (a.key < b.key) return false;
  if constexpr (std::is_floating_point_v<K>)
    if (std::isnan(a.key) != std::isnan(b.key)) return std::isnan(b.key);
  return a.place < b.place;
}
template <class K>
[[gnu::noinline]] void first_k(Entry<K>* row, std::int64_t n, std::int64_t k) {
  if (k == 1)
    std::iter_swap(row, std::min_element(row, row + n, before<K>));
  else if (k * 8 > n)
    std::sort(row, row + n, before<K>);
  else
    std::partial_sort(row, row + k, row + n, before<K>);
}

void top_k_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in_shape(0).dim(-1), k = c.out_shape().dim(-1);
  if (c.out().size == 0) return;
  const std::int64_t rows = c.in(0).size / n;
  const bool wide = c.out(1).dtype == int64;
  dispatch_reals(c.in(0).dtype, [&]<class T>() {
    using K = Key<T>;
    auto* entries = c.scratch<Entry<K>>(c.in(0).size);
    if (!entries) return;
    const T* x = c.in<T>(0);
    parallel_for(
        rows, std::max<std::int64_t>(1, (1 << 12) / n), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            Entry<K>* row = entries + r * n;
            for (std::int64_t i = 0; i < n; ++i) row[i] = {static_cast<K>(x[r * n + i]), i};
            first_k(row, n, k);
            for (std::int64_t i = 0; i < k; ++i) {
              c.out<T>(0)[r * k + i] = x[r * n + row[i].place];
              if (wide)
                c.out<std::int64_t>(1)[r * k + i] = row[i].place;
              else
                c.out<std::int32_t>(1)[r * k + i] = static_cast<std::int32_t>(row[i].place);
            }
          }
        });
  });
}
RILL_KERNEL("TopKV2", cpu, kRealTypes, top_k_cpu);

void in_top_k_cpu(KernelContext& c) noexcept {
  const std::int64_t rows = c.in_shape(0).dim(0), classes = c.in_shape(0).dim(1);
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    const std::int64_t k = *c.in<I>(2);
    parallel_for(rows, std::max<std::int64_t>(1, (1 << 15) / (classes + 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) {
                     const std::int64_t target = c.in<I>(1)[r];
                     const float* p = c.in<float>(0) + r * classes;
                     bool sure = target >= 0 && target < classes;
                     std::int64_t more = 0;
                     for (std::int64_t i = 0; i < classes && sure; ++i) {
                       sure = std::isfinite(p[i]);
                       more += p[i] > p[target];
                     }
                     c.out<bool>()[r] = sure && more < k;
                   }
                 });
  });
}
RILL_KERNEL("InTopKV2", cpu, kIndexTypes, in_top_k_cpu);

}  // namespace
}  // namespace rill::cpu
