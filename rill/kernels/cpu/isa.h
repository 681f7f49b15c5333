#pragma once

// Run-time choice of the instruction set, for loops that are compiled once per
// set with [[gnu::target]]. Off x86-64 there is only `plain`.
namespace rill::cpu {

enum class Isa { plain, avx2, avx512 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define RILL_X86_VARIANTS 1
#define RILL_TARGET_AVX2 [[gnu::target("avx2,fma")]]
#define RILL_TARGET_AVX512 \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]]
#else
#define RILL_X86_VARIANTS 0
#endif

// A loop that is there as plain_name, avx2_name and avx512_name: the best of them
// for this machine. `scope` is empty, or ends in "::".
#if RILL_X86_VARIANTS
#define RILL_BY_ISA(scope, name, ...)                                                \
  (::rill::cpu::isa() == ::rill::cpu::Isa::avx512 ? scope avx512_##name(__VA_ARGS__) \
   : ::rill::cpu::isa() == ::rill::cpu::Isa::avx2 ? scope avx2_##name(__VA_ARGS__)   \
                                                  : scope plain_##name(__VA_ARGS__))
#else
#define RILL_BY_ISA(scope, name, ...) scope plain_##name(__VA_ARGS__)
#endif

// The best set this machine has; the same for the whole life of the process.
inline Isa isa() {
#if RILL_X86_VARIANTS
  static const Isa best = [] {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::plain;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      return Isa::avx512;
    }
    return Isa::avx2;
  }();
  return best;
#else
  return Isa::plain;
#endif
}

}  // namespace rill::cpu
