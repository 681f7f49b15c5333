#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "rill/kernels/cpu/isa.h"
#include "rill/kernels/functors/half.h"
#include "rill/kernels/functors/vector_math.h"

// Loops of an element functor (rill/kernels/functors) over arrays, vectorised
// for the machine they run on.
//
//   unary_loop<functors::Exp>(x, y, n);                   y[i] = f(x[i])
//   binary_loop<functors::Add>(a, b, y, n);               y[i] = f(a[i], b[i])
//   binary_loop_scalar_left<functors::Sub>(a, b, y, n);   y[i] = f(a, b[i])
//   binary_loop_scalar_right<functors::Sub>(a, b, y, n);  y[i] = f(a[i], b)
//
// T is the element type of the operands, R that of the result. The output may
// be one of the inputs (same type, same start), but must not overlap one
// otherwise. No alignment is required. One thread: callers split the range,
// and an element's bits depend neither on its place nor on the split (of two
// NaN operands, which one's payload survives is left open). Half types are
// computed in float. A functor with state is passed as the last argument.
//
// Build with -O3 -ffp-contract=off -fopenmp-simd: contraction would make the
// vector and the scalar code differ.
namespace rill::cpu {

namespace detail {

using functors::is_complex_v;
using functors::is_half_v;

// Scalar and vector code give the same bits: a loop may end in scalar steps.
template <class F, class T>
constexpr bool exact() {
  if constexpr (is_complex_v<T>)
    return true;  // one variant, opaque libm calls
  else if constexpr (requires { F::template exact<T>; })
    return F::template exact<T>;
  else
    return false;
}

// Vector variants are made for the types that programs are full of; the other
// integers get the plain loop, which costs a third to compile.
template <class F, class T>
constexpr bool one_variant() {
  constexpr bool common = !std::is_integral_v<T> || std::is_same_v<T, std::int32_t> ||
                          std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint8_t>;
  if constexpr (is_complex_v<T> || !common)
    return true;
  else if constexpr (requires { F::template scalar<T>; })
    return F::template scalar<T>;
  else
    return false;
}

// Loops of a functor that is not exact run on whole blocks: a multiple of the
// vector length of every ISA.
template <class T>
inline constexpr std::int64_t kBlock = 64 / sizeof(T);

template <class F, class T>
RILL_FORCE_INLINE std::int64_t steps(std::int64_t n) {
  return exact<F, T>() ? n : n & -kBlock<T>;  // tells GCC that no scalar epilogue is needed
}

template <class F>
inline constexpr bool fusable = requires {
  F::fusable;
};

template <class A, class F, class T>
RILL_FORCE_INLINE auto call(const F& f, T x) {
  if constexpr (fusable<F>)
    return f.template apply<T, A>(x);
  else
    return f.apply(x);
}
template <class A, class F, class T>
RILL_FORCE_INLINE auto call(const F& f, T a, T b) {
  if constexpr (fusable<F>)
    return f.template apply<T, A>(a, b);
  else
    return f.apply(a, b);
}

enum class Sides { both, left_scalar, right_scalar };

// RILL_LOOPS defines the loops of one ISA. The functor arrives as a void
// pointer, so that the half tiles below are not instantiated for each; its copy
// on the stack lets GCC hoist its state.
#define RILL_LOOPS(Name, target, A)                                                              \
  template <class F, class T, class R>                                                           \
  target void Name##_unary(const T* x, R* y, std::int64_t n, const void* functor) {              \
    const F f = *static_cast<const F*>(functor);                                                 \
    const std::int64_t m = steps<F, T>(n);                                                       \
    _Pragma("omp simd") for (std::int64_t i = 0; i < m; ++i) y[i] = call<A>(f, x[i]);            \
  }                                                                                              \
  template <class F, Sides sides, class T, class R>                                              \
  target void Name##_binary(const T* a, const T* b, R* y, std::int64_t n, const void* functor) { \
    const F f = *static_cast<const F*>(functor);                                                 \
    const std::int64_t m = steps<F, T>(n);                                                       \
    if constexpr (sides == Sides::left_scalar) {                                                 \
      const T a0 = *a;                                                                           \
      _Pragma("omp simd") for (std::int64_t i = 0; i < m; ++i) y[i] = call<A>(f, a0, b[i]);      \
    } else if constexpr (sides == Sides::right_scalar) {                                         \
      const T b0 = *b;                                                                           \
      _Pragma("omp simd") for (std::int64_t i = 0; i < m; ++i) y[i] = call<A>(f, a[i], b0);      \
    } else {                                                                                     \
      _Pragma("omp simd") for (std::int64_t i = 0; i < m; ++i) y[i] = call<A>(f, a[i], b[i]);    \
    }                                                                                            \
  }

RILL_LOOPS(plain, , functors::math::Unfused)
#if RILL_X86_VARIANTS
RILL_LOOPS(avx2, RILL_TARGET_AVX2, functors::math::Fused)
RILL_LOOPS(avx512, RILL_TARGET_AVX512, functors::math::Fused)
// Integers gain little over AVX2; a variant less to compile.
#define RILL_DISPATCH(call, ...)                                 \
  if constexpr (!one_variant<F, T>()) {                          \
    if constexpr (std::is_floating_point_v<T>) {                 \
      if (set == Isa::avx512) return avx512_##call<__VA_ARGS__>; \
    }                                                            \
    if (set != Isa::plain) return avx2_##call<__VA_ARGS__>;      \
  }                                                              \
  return plain_##call<__VA_ARGS__>;
#else
#define RILL_DISPATCH(call, ...) return plain_##call<__VA_ARGS__>;
#endif

#undef RILL_LOOPS

template <class T, class R>
using UnaryFn = void (*)(const T*, R*, std::int64_t, const void*);
template <class T, class R>
using BinaryFn = void (*)(const T*, const T*, R*, std::int64_t, const void*);

template <class F, class T, class R>
RILL_FORCE_INLINE UnaryFn<T, R> unary_variant([[maybe_unused]] Isa set) {
  RILL_DISPATCH(unary, F, T, R)
}
template <class F, Sides sides, class T, class R>
RILL_FORCE_INLINE BinaryFn<T, R> binary_variant([[maybe_unused]] Isa set) {
  RILL_DISPATCH(binary, F, sides, T, R)
}

#undef RILL_DISPATCH

// Copies n < kBlock elements into a block; the rest repeats the first, a value
// that the loop meets anyhow.
template <class T>
void pad(T* block, const T* x, std::int64_t n) {
  for (std::int64_t i = 0; i < kBlock<T>; ++i) block[i] = x[i < n ? i : 0];
}

// A loop over any n from one over whole blocks.
template <class T, class R>
void unary_blocks(UnaryFn<T, R> loop, const T* x, R* y, std::int64_t n, const void* f) {
  const std::int64_t whole = n & -kBlock<T>, rest = n - whole;
  if (whole > 0) loop(x, y, whole, f);
  if (rest == 0) return;
  alignas(64) T in[kBlock<T>];
  alignas(64) R out[kBlock<T>];
  pad(in, x + whole, rest);
  loop(in, out, kBlock<T>, f);
  std::copy_n(out, rest, y + whole);
}

template <class T, class R>
void binary_blocks(BinaryFn<T, R> loop, const T* a, const T* b, R* y, std::int64_t n,
                   const void* f) {
  const std::int64_t whole = n & -kBlock<T>, rest = n - whole;
  if (whole > 0) loop(a, b, y, whole, f);
  if (rest == 0) return;
  alignas(64) T left[kBlock<T>], right[kBlock<T>];
  alignas(64) R out[kBlock<T>];
  pad(left, a + whole, rest);
  pad(right, b + whole, rest);
  loop(left, right, out, kBlock<T>, f);
  std::copy_n(out, rest, y + whole);
}

template <class F, class T, class R>
[[gnu::noinline]] void run_unary(Isa set, const T* x, R* y, std::int64_t n, const void* f) {
  const auto loop = unary_variant<F, T, R>(set);
  if constexpr (exact<F, T>())
    loop(x, y, n, f);
  else
    unary_blocks<T, R>(loop, x, y, n, f);
}

inline constexpr std::int64_t kTile = 256;  // elements held on the stack, for the forms below

template <class F, Sides sides, class T, class R>
[[gnu::noinline]] void run_binary(Isa set, const T* a, const T* b, R* y, std::int64_t n,
                                  const void* f) {
  if constexpr (exact<F, T>() && (sides == Sides::both || std::is_floating_point_v<T>)) {
    binary_variant<F, sides, T, R>(set)(a, b, y, n, f);
  } else if constexpr (sides == Sides::both) {
    binary_blocks<T, R>(binary_variant<F, sides, T, R>(set), a, b, y, n, f);
  } else {
    // A repeated scalar in an array. Of a functor that is not exact, a loop over
    // the scalar itself would hoist what depends on it alone: a scalar libm call
    // with other bits. For the integers it only saves instantiations.
    constexpr bool left = sides == Sides::left_scalar;
    alignas(64) T tile[kTile];
    std::fill_n(tile, std::min(kTile, n), left ? *a : *b);
    for (std::int64_t i = 0; i < n; i += kTile) {
      run_binary<F, Sides::both, T, R>(set, left ? tile : a + i, left ? b + i : tile, y + i,
                                       std::min(kTile, n - i), f);
    }
  }
}

// Half types: tiles of floats.
template <class H>
void widen(Isa set, const H* x, float* y, std::int64_t n) {
  run_unary<functors::Convert<float>, H, float>(set, x, y, n, &set);
}
template <class H>
void narrow(Isa set, const float* x, H* y, std::int64_t n) {
  run_unary<functors::Convert<H>, float, H>(set, x, y, n, &set);
}

template <class R>
using FloatResult = std::conditional_t<is_half_v<R>, float, R>;

template <class H, class R>
void half_unary(Isa set, void (*run)(Isa, const float*, FloatResult<R>*, std::int64_t, const void*),
                const H* x, R* y, std::int64_t n, const void* f) {
  alignas(64) float tile[kTile];
  for (std::int64_t i = 0; i < n; i += kTile) {
    const std::int64_t m = std::min(kTile, n - i);
    widen(set, x + i, tile, m);
    if constexpr (is_half_v<R>) {
      run(set, tile, tile, m, f);
      narrow(set, tile, y + i, m);
    } else {
      run(set, tile, y + i, m, f);
    }
  }
}

template <Sides sides, class H, class R>
void half_binary(Isa set,
                 void (*run)(Isa, const float*, const float*, FloatResult<R>*, std::int64_t,
                             const void*),
                 const H* a, const H* b, R* y, std::int64_t n, const void* f) {
  alignas(64) float left[kTile], right[kTile];
  if constexpr (sides == Sides::left_scalar) left[0] = *a;
  if constexpr (sides == Sides::right_scalar) right[0] = *b;
  float* const out = sides == Sides::left_scalar ? right : left;
  for (std::int64_t i = 0; i < n; i += kTile) {
    const std::int64_t m = std::min(kTile, n - i);
    if constexpr (sides != Sides::left_scalar) widen(set, a + i, left, m);
    if constexpr (sides != Sides::right_scalar) widen(set, b + i, right, m);
    if constexpr (is_half_v<R>) {
      run(set, left, right, out, m, f);
      narrow(set, out, y + i, m);
    } else {
      run(set, left, right, y + i, m, f);
    }
  }
}

// GCC 12 vectorises bytes where it does not vectorise bool.
RILL_FORCE_INLINE const std::uint8_t* bytes(const bool* x) {
  return reinterpret_cast<const std::uint8_t*>(x);
}

template <class F, class T, class R>
RILL_FORCE_INLINE void unary(Isa set, const T* x, R* y, std::int64_t n, const F& f) {
  if constexpr (std::is_same_v<T, bool>) {
    run_unary<F, std::uint8_t, R>(set, bytes(x), y, n, &f);
  } else if constexpr (is_half_v<T>) {
    half_unary<T, R>(set, run_unary<F, float, FloatResult<R>>, x, y, n, &f);
  } else {
    run_unary<F, T, R>(set, x, y, n, &f);
  }
}

template <Sides sides, class F, class T, class R>
RILL_FORCE_INLINE void binary(Isa set, const T* a, const T* b, R* y, std::int64_t n, const F& f) {
  if constexpr (std::is_same_v<T, bool>) {
    run_binary<F, sides, std::uint8_t, R>(set, bytes(a), bytes(b), y, n, &f);
  } else if constexpr (is_half_v<T>) {
    half_binary<sides, T, R>(set, run_binary<F, sides, float, FloatResult<R>>, a, b, y, n, &f);
  } else {
    run_binary<F, sides, T, R>(set, a, b, y, n, &f);
  }
}

// One element of an exact functor costs no more than its scalar code.
template <class F, class T>
constexpr bool direct() {
  return exact<F, T>() && !fusable<F> && !is_half_v<T>;
}

}  // namespace detail

template <class F, class T, class R = T>
void unary_loop(const T* x, R* y, std::int64_t n, const F& f = {}) {
  if constexpr (detail::direct<F, T>()) {
    if (n == 1) return void(*y = f.apply(*x));
  }
  detail::unary(isa(), x, y, n, f);
}

template <class F, class T, class R = T>
void binary_loop(const T* a, const T* b, R* y, std::int64_t n, const F& f = {}) {
  if constexpr (detail::direct<F, T>()) {
    if (n == 1) return void(*y = f.apply(*a, *b));
  }
  detail::binary<detail::Sides::both>(isa(), a, b, y, n, f);
}

template <class F, class T, class R = T>
void binary_loop_scalar_left(T a, const T* b, R* y, std::int64_t n, const F& f = {}) {
  if constexpr (detail::direct<F, T>()) {
    if (n == 1) return void(*y = f.apply(a, *b));
  }
  detail::binary<detail::Sides::left_scalar>(isa(), &a, b, y, n, f);
}

template <class F, class T, class R = T>
void binary_loop_scalar_right(const T* a, T b, R* y, std::int64_t n, const F& f = {}) {
  if constexpr (detail::direct<F, T>()) {
    if (n == 1) return void(*y = f.apply(*a, b));
  }
  detail::binary<detail::Sides::right_scalar>(isa(), a, &b, y, n, f);
}

}  // namespace rill::cpu
