#pragma once
#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/simd_loop.h"

// CPU kernels from functors. One line an op:
//
//   const UnaryKernels<functors::Exp, float, double, half, bfloat16_t> exp("Exp");
//   const BinaryKernels<functors::Add, float, double, std::int32_t> add("AddV2");
//   const CompareKernels<functors::Less, float, ...> less("Less");   // bool result
namespace rill::cpu {

inline constexpr std::int64_t kElementGrain = 1 << 15;

// How two broadcast inputs are walked: outer axes by strides, then an inner
// run in which each side is a row (1) or one repeated element (0).
struct BroadcastPlan {
  Dims outer, a_strides, b_strides;
  std::int64_t inner = 1;
  bool a_row = true, b_row = true;
};
BroadcastPlan plan_broadcast(const TensorShape& a, const TensorShape& b, const TensorShape& out);
// Calls body(out_offset, a_offset, b_offset) for each inner run in [begin, end).
template <class F>
void for_runs(const BroadcastPlan& p, std::int64_t begin, std::int64_t end, F&& body) {
  const std::size_t rank = p.outer.size();
  SmallVector<std::int64_t, 8> index(rank, 0);
  std::int64_t rest = begin, a = 0, b = 0;
  for (std::size_t i = rank; i-- > 0;) {
    index[i] = rest % p.outer[i];
    rest /= p.outer[i];
    a += index[i] * p.a_strides[i];
    b += index[i] * p.b_strides[i];
  }
  for (std::int64_t k = begin; k < end; ++k) {
    body(k * p.inner, a, b);
    for (std::size_t i = rank; i-- > 0;) {
      a += p.a_strides[i];
      b += p.b_strides[i];
      if (++index[i] < p.outer[i]) break;
      a -= p.a_strides[i] * p.outer[i];
      b -= p.b_strides[i] * p.outer[i];
      index[i] = 0;
    }
  }
}

template <class F, class T, class R = T>
void unary_cpu(KernelContext& c) noexcept {
  const T* x = c.in<T>(0);
  R* y = c.out<R>();
  parallel_for(c.out().size, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    unary_loop<F>(x + begin, y + begin, end - begin);
  });
}

template <class F, class T, class R>
void binary_run(const T* a, bool a_row, const T* b, bool b_row, R* y, std::int64_t n) {
  if (a_row && b_row)
    binary_loop<F>(a, b, y, n);
  else if (b_row)
    binary_loop_scalar_left<F>(*a, b, y, n);
  else if (a_row)
    binary_loop_scalar_right<F>(a, *b, y, n);
  else {
    binary_loop<F>(a, b, y, 1);
    for (std::int64_t i = 1; i < n; ++i) y[i] = y[0];
  }
}

// Fails the call when an integer op has no result: division by zero, a negative power.
template <class F, class T>
bool refuse(KernelContext& c) {
  if constexpr (std::is_integral_v<T> && requires(T t) { F::bad(t, t); }) {
    const T* b = c.in<T>(1);
    for (std::int64_t i = 0; i < c.in(1).size; ++i)
      if (F::bad(T{1}, b[i])) {
        c.fail(Code::invalid_argument,
               format("[{}] no integer result: element {} of y is {}{}", c.tag(), i, b[i],
                      b[i] == T{0} ? " (integer division by zero)"
                                   : "; a negative power is a fraction"));
        return true;
      }
  }
  return false;
}

template <class F, class T, class R = T>
void binary_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0 || refuse<F, T>(c)) return;
  const T *a = c.in<T>(0), *b = c.in<T>(1);
  R* y = c.out<R>();
  const std::int64_t na = c.in(0).size, nb = c.in(1).size, n = c.out().size;
  // Same shape, or one side a single element: no plan needed.
  if ((na == n || na == 1) && (nb == n || nb == 1)) {
    const bool a_row = na == n, b_row = nb == n;
    parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      binary_run<F>(a_row ? a + begin : a, a_row, b_row ? b + begin : b, b_row, y + begin,
                    end - begin);
    });
    return;
  }
  const BroadcastPlan p = plan_broadcast(c.in_shape(0), c.in_shape(1), c.out_shape());
  parallel_for(n / p.inner, std::max<std::int64_t>(1, kElementGrain / p.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for_runs(p, begin, end, [&](std::int64_t at, std::int64_t ia, std::int64_t ib) {
                   binary_run<F>(a + ia, p.a_row, b + ib, p.b_row, y + at, p.inner);
                 });
               });
}

template <class F, class... Ts>
struct UnaryKernels {
  explicit UnaryKernels(const char* op) {
    (KernelRegistration(op, DeviceType::cpu, {dtype_of<Ts>()}, unary_cpu<F, Ts>), ...);
  }
};
template <class F, class... Ts>
struct BinaryKernels {
  explicit BinaryKernels(const char* op) {
    (KernelRegistration(op, DeviceType::cpu, {dtype_of<Ts>()}, binary_cpu<F, Ts>), ...);
  }
};
template <class F, class... Ts>
struct CompareKernels {
  explicit CompareKernels(const char* op) {
    (KernelRegistration(op, DeviceType::cpu, {dtype_of<Ts>()}, binary_cpu<F, Ts, bool>), ...);
  }
};
template <class F, class... Ts>
struct PredicateKernels {  // x -> bool
  explicit PredicateKernels(const char* op) {
    (KernelRegistration(op, DeviceType::cpu, {dtype_of<Ts>()}, unary_cpu<F, Ts, bool>), ...);
  }
};

// Lists of element types for the lines above.
#define RILL_FLOATS float, double, ::rill::half, ::rill::bfloat16_t
#define RILL_INTS                                                                     \
  std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, \
      std::uint32_t, std::uint64_t
#define RILL_COMPLEX std::complex<float>, std::complex<double>

}  // namespace rill::cpu
