#pragma once
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace rill {

// In its scope, numbers so small that they have not all their digits (below 1.2e-38 in float32) are
// taken for 0, in operands and in results, as TensorFlow computes: many processors need a hundred
// times the time for them, and what decays, gradients and the means of optimizers, ends there.
// Threads that are made inside it inherit it.
class FlushDenormals {
#if defined(__SSE__)
  static constexpr unsigned kOperands = 0x0040, kResults = 0x8000, kBoth = kOperands | kResults;

 public:
  FlushDenormals() : before_(_mm_getcsr()) {
    if ((before_ & kBoth) != kBoth) _mm_setcsr(before_ | kBoth);
  }
  ~FlushDenormals() {
    if ((before_ & kBoth) != kBoth) _mm_setcsr(before_);
  }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  static constexpr unsigned long kBoth = 1ul << 24;

 public:
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" ::"r"(before_ | kBoth));
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(before_)); }

 private:
  unsigned long before_;
#else
 public:
  FlushDenormals() {}   // They are computed with.
  ~FlushDenormals() {}  // (Not trivial, so that a scope is not an unused variable.)
#endif

 public:
  FlushDenormals(const FlushDenormals&) = delete;
};

}  // namespace rill
