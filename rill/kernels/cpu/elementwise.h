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

// What differs between dtypes and functors is one run over contiguous elements.
// The rest of a kernel, which cuts the work and walks broadcasts, is compiled
// once, in elementwise.cc.
using UnaryRun = void (*)(const void* x, void* y, std::int64_t n);
// Each side is a row of n elements, or one element for all of them.
using BinaryRun = void (*)(const void* a, bool a_row, const void* b, bool b_row, void* y,
                           std::int64_t n);
void run_unary_kernel(KernelContext& c, std::int64_t in_bytes, std::int64_t out_bytes,
                      UnaryRun run) noexcept;
void run_binary_kernel(KernelContext& c, std::int64_t in_bytes, std::int64_t out_bytes,
                       BinaryRun run) noexcept;
// The same where the caller knows how the inputs are walked.
void run_broadcast(KernelContext& c, const BroadcastPlan& plan, std::int64_t in_bytes,
                   std::int64_t out_bytes, BinaryRun run) noexcept;

template <class F, class T, class R = T>
void unary_cpu(KernelContext& c) noexcept {
  run_unary_kernel(c, sizeof(T), sizeof(R), [](const void* x, void* y, std::int64_t n) {
    unary_loop<F>(static_cast<const T*>(x), static_cast<R*>(y), n);
  });
}

template <class F, class T, class R>
void binary_run(const void* left, bool a_row, const void* right, bool b_row, void* result,
                std::int64_t n) {
  const T *a = static_cast<const T*>(left), *b = static_cast<const T*>(right);
  R* y = static_cast<R*>(result);
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
  run_binary_kernel(c, sizeof(T), sizeof(R), binary_run<F, T, R>);
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
