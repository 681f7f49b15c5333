#pragma once
#include "rill/kernels/cuda/walk.h"
#include "rill/kernels/functors/vector_math.h"

// GPU kernels from the functors that the CPU has too. One line an op:
//
//   const UnaryKernels<functors::Exp, RILL_GPU_FLOATS> exp("Exp");
//   const BinaryKernels<functors::Add, RILL_GPU_FLOATS, RILL_GPU_INTS> add("AddV2");
//   const CompareKernels<functors::Less, ...> less("Less");  // bool result
namespace rill::cuda {

// A functor's float code with fused products, as on a CPU that has them.
template <class F, class W, class... Ws>
__device__ __forceinline__ auto apply(const F& f, W x, Ws... rest) {
  if constexpr (requires { F::fusable; })
    return F::template apply<W, functors::math::Fused>(x, rest...);
  else
    return f.apply(x, rest...);
}

template <class F, class T, class R>
struct UnaryBody {
  F f;
  const T* x;
  R* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i] = static_cast<R>(apply(f, static_cast<Computed<T>>(x[i])));
  }
};

template <class F, class T, class R = T>
void unary(KernelContext& c, const F& f) {
  launch_elements(c, c.out().size, UnaryBody<F, T, R>{f, c.in<T>(0), c.out<R>()});
}

// Integer division by zero, a negative power.
struct Refusal {
  Trouble* trouble = nullptr;
  const Op* op = nullptr;
  const char* what = "y";
  template <class F, class T>
  __device__ __forceinline__ void check(T b, std::int64_t place) const {
    if constexpr (std::is_integral_v<T> && requires(T t) { F::bad(t, t); })
      if (F::bad(T{1}, b))
        report(trouble, op, Finding::no_integer_result, what, place, static_cast<long long>(b), 0);
  }
};

// Each side a row (1) or one repeated element (0).
template <class F, class T, class R>
struct BinaryBody {
  F f;
  const T *a, *b;
  std::int64_t a_step, b_step;
  R* y;
  Refusal refusal;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const T right = b[i * b_step];
    refusal.check<F>(right, i * b_step);
    y[i] = static_cast<R>(
        apply(f, static_cast<Computed<T>>(a[i * a_step]), static_cast<Computed<T>>(right)));
  }
};

template <class F, class T, class R>
struct BroadcastBody {
  F f;
  const T *a, *b;
  R* y;
  Walk<2> walk;
  Refusal refusal;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    std::int64_t place[2];
    walk.at(i, place);
    const T right = b[place[1]];
    refusal.check<F>(right, place[1]);
    y[i] = static_cast<R>(
        apply(f, static_cast<Computed<T>>(a[place[0]]), static_cast<Computed<T>>(right)));
  }
};

template <class F, class T, class R = T>
void binary(KernelContext& c, const F& f) {
  const std::int64_t n = c.out().size, na = c.in(0).size, nb = c.in(1).size;
  if (n == 0) return;
  const Refusal refusal{gpu_of(c).trouble(), &c.op()};
  const T *a = c.in<T>(0), *b = c.in<T>(1);
  R* y = c.out<R>();
  if ((na == n || na == 1) && (nb == n || nb == 1))
    return launch_elements(c, n, BinaryBody<F, T, R>{f, a, b, na == n, nb == n, y, refusal});
  Walk<2> walk;
  if (make_walk<2>(c, c.out_shape().dims(),
                   {broadcast_strides(c.in_shape(0), c.out_shape()),
                    broadcast_strides(c.in_shape(1), c.out_shape())},
                   walk))
    launch_elements(c, n, BroadcastBody<F, T, R>{f, a, b, y, walk, refusal});
}

template <class F, class T, class R = T>
void unary_cuda(KernelContext& c) noexcept {
  unary<F, T, R>(c, F{});
}
template <class F, class T, class R = T>
void binary_cuda(KernelContext& c) noexcept {
  binary<F, T, R>(c, F{});
}

template <class F, class... Ts>
struct UnaryKernels {
  explicit UnaryKernels(const char* op) {
    (KernelRegistration(op, DeviceType::gpu, {dtype_of<Ts>()}, unary_cuda<F, Ts>), ...);
  }
};
template <class F, class... Ts>
struct BinaryKernels {
  explicit BinaryKernels(const char* op) {
    (KernelRegistration(op, DeviceType::gpu, {dtype_of<Ts>()}, binary_cuda<F, Ts>), ...);
  }
};
template <class F, class... Ts>
struct CompareKernels {
  explicit CompareKernels(const char* op) {
    (KernelRegistration(op, DeviceType::gpu, {dtype_of<Ts>()}, binary_cuda<F, Ts, bool>), ...);
  }
};
template <class F, class... Ts>
struct PredicateKernels {  // x -> bool
  explicit PredicateKernels(const char* op) {
    (KernelRegistration(op, DeviceType::gpu, {dtype_of<Ts>()}, unary_cuda<F, Ts, bool>), ...);
  }
};

#define RILL_GPU_FLOATS float, double, ::rill::half, ::rill::bfloat16_t
#define RILL_GPU_INTS                                                                 \
  std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, \
      std::uint32_t, std::uint64_t

}  // namespace rill::cuda
