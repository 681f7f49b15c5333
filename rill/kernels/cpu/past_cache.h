#pragma once
#include <cstdint>

#include "rill/kernels/cpu/isa.h"
#if RILL_X86_VARIANTS
#include <immintrin.h>
#endif

// Stores that go past the caches. An ordinary store reads the line it is about to
// overwrite, and keeps it in place of another. For a result too large to be found
// in a cache again both are wasted: a third of the memory traffic, and the lines
// that every row needs.
//
//   if (goes_past_cache(y, n, rows * n)) {
//     for each row: compute parts of it into a small array, copy_past_cache(it, y, count);
//     past_cache_fence();   // on each thread, at the end
//   }
namespace rill::cpu {

inline constexpr std::int64_t kPastCacheBytes = 32 << 20;  // more than most caches hold
inline constexpr std::int64_t kPastCacheUnit = 32;         // bytes of a store

// Whether rows of n elements, `size` elements from y on, should and can be stored so.
template <class T>
bool goes_past_cache(const T* y, std::int64_t n, std::int64_t size) {
  constexpr std::int64_t bytes = sizeof(T);
  return isa() != Isa::plain && size * bytes >= kPastCacheBytes &&
         n * bytes % kPastCacheUnit == 0 &&
         reinterpret_cast<std::uintptr_t>(y) % kPastCacheUnit == 0;
}

#if RILL_X86_VARIANTS
// x and y are aligned to kPastCacheUnit, and n elements are a multiple of it.
template <class T>
RILL_TARGET_AVX2 void copy_past_cache(const T* x, T* y, std::int64_t n) {
  constexpr std::int64_t step = kPastCacheUnit / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < n; i += step)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(y + i),
                        _mm256_load_si256(reinterpret_cast<const __m256i*>(x + i)));
}
// Such stores are not ordered by what threads synchronise with; this orders them.
inline void past_cache_fence() { _mm_sfence(); }
#else
template <class T>
void copy_past_cache(const T*, T*, std::int64_t) {}  // no machine goes past the cache
inline void past_cache_fence() {}
#endif

}  // namespace rill::cpu
