#include "rill/kernels/cuda/sort.h"

namespace rill::cuda {
namespace {

// Keys whose ascending order has the largest element first, NaN last.
template <class T>
RILL_FORCE_INLINE std::uint64_t descending_bits(T x) {
  constexpr std::uint64_t kAll = kKeyBits<T> == 64 ? ~std::uint64_t{0} : 0xffffffffu;
  if constexpr (!std::is_integral_v<T>)
    if (static_cast<Computed<T>>(x) != static_cast<Computed<T>>(x)) return kAll;
  return kAll - ordered_bits(x);
}

// Narrow elements are sorted once, with the row above the element in the key; wide ones
// twice, by element and then by row.
template <class T>
struct KeyBody {
  const T* x;
  std::uint64_t* key;
  std::uint32_t* order;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    key[i] = descending_bits(x[i]);
    if constexpr (kKeyBits<T> == 32) key[i] |= static_cast<std::uint64_t>(i / n) << 32;
    order[i] = static_cast<std::uint32_t>(i);
  }
};
struct RowBody {
  std::uint64_t* key;
  const std::uint32_t* order;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    key[i] = static_cast<std::uint64_t>(order[i] / n);
  }
};
template <class T, class I>
struct FirstBody {
  const T* x;
  const std::uint32_t* order;
  T* values;
  I* places;
  std::int64_t n, k;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t from = order[i / k * n + i % k];
    values[i] = x[from];
    places[i] = static_cast<I>(from % n);
  }
};

template <class T>
void top_k(KernelContext& c) {
  const std::int64_t n = c.in_shape(0).dim(-1), k = c.out_shape().dim(-1), size = c.in(0).size,
                     rows = size / n;
  auto* key = c.scratch<std::uint64_t>(size);
  auto* order = c.scratch<std::uint32_t>(size);
  if (!key || !order) return;
  launch_elements(c, size, KeyBody<T>{c.in<T>(0), key, order, n});
  if (!sort_pairs(c, key, order, size,
                  kKeyBits<T> == 64 ? 64
                  : rows > 1        ? 32 + bits_for(rows)
                                    : 32))
    return;
  if (kKeyBits<T> == 64 && rows > 1) {
    launch_elements(c, size, RowBody{key, order, n});
    if (!sort_pairs(c, key, order, size, bits_for(rows))) return;
  }
  dispatch_types<std::int32_t, std::int64_t>(c.out(1).dtype, [&]<class I>() {
    launch_elements(c, c.out().size,
                    FirstBody<T, I>{c.in<T>(0), order, c.out<T>(0), c.out<I>(1), n, k});
  });
}
void top_k_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  dispatch_reals(c.in(0).dtype, [&]<class T>() { top_k<T>(c); });
}
RILL_KERNEL("TopKV2", gpu, kRealTypes, top_k_cuda);

template <class I>
struct InTopKBody {
  const float* predictions;
  const I* targets;
  const I* k;
  bool* out;
  std::int64_t classes;
  __device__ __forceinline__ void operator()(std::int64_t r) const {
    const auto target = static_cast<std::int64_t>(targets[r]);
    const float* p = predictions + r * classes;
    bool sure = target >= 0 && target < classes;
    std::int64_t more = 0;
    for (std::int64_t i = 0; i < classes && sure; ++i) {
      sure = std::isfinite(p[i]);
      more += p[i] > p[target];
    }
    out[r] = sure && more < static_cast<std::int64_t>(*k);
  }
};
void in_top_k_cuda(KernelContext& c) noexcept {
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    launch_loops(
        c, c.in_shape(0).dim(0),
        InTopKBody<I>{c.in<float>(0), c.in<I>(1), c.in<I>(2), c.out<bool>(), c.in_shape(0).dim(1)});
  });
}
RILL_KERNEL("InTopKV2", gpu, kIndexTypes, in_top_k_cuda);

}  // namespace
}  // namespace rill::cuda
