#pragma once
#include "rill/kernels/cuda/pack.h"
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

// A pack of elements a thread. `whole`: every side may be read in packs.
template <class F, class T, class R>
struct UnaryBody {
  static constexpr int kSize = kPack<T, R>;
  F f;
  const T* x;
  R* y;
  std::int64_t n;
  bool whole;
  __device__ __forceinline__ R one(T v) const {
    return static_cast<R>(apply(f, static_cast<Computed<T>>(v)));
  }
  __device__ __forceinline__ void operator()(std::int64_t pack) const {
    const std::int64_t begin = pack * kSize;
    if (whole && begin + kSize <= n) {
      const auto in = load_pack<kSize>(x + begin);
      Pack<R, kSize> out;
#pragma unroll
      for (int k = 0; k < kSize; ++k) out.v[k] = one(in.v[k]);
      store_pack(y + begin, out);
    } else {
#pragma unroll 1
      for (std::int64_t i = begin; i < begin + kSize && i < n; ++i) y[i] = one(x[i]);
    }
  }
};

// One launch of a body that handles packs of Body::kSize elements.
template <class Body>
void launch_packs(KernelContext& c, const Body& body) {
  launch_loops(c, (body.n + Body::kSize - 1) / Body::kSize, body);
}

template <class F, class T, class R = T>
void unary(KernelContext& c, const F& f) {
  const T* x = c.in<T>(0);
  R* y = c.out<R>();
  launch_packs(c, UnaryBody<F, T, R>{f, x, y, c.out().size, aligned({x, y})});
}

// Integer division by zero, a negative power.
struct Refusal {
  KernelError* error = nullptr;
  const Op* op = nullptr;
  const char* what = "y";
  template <class F, class T>
  __device__ __forceinline__ void check(T b, std::int64_t place) const {
    if constexpr (std::is_integral_v<T> && requires(T t) { F::bad(t, t); })
      if (F::bad(T{1}, b))
        report(error, op, Finding::no_integer_result, what, place, static_cast<long long>(b), 0);
  }
};

// How a side of [rows, n] is walked: an element for each, or one for all, a column or a row.
enum class Repeat : int { none, all, columns, rows };

template <class T>
struct Side {
  const T* p = nullptr;
  Repeat repeat = Repeat::none;
  __device__ __forceinline__ std::int64_t place(std::int64_t i, const Divisor& n) const {
    if (repeat == Repeat::none) return i;
    if (repeat == Repeat::all) return 0;
    const auto small = static_cast<std::uint32_t>(i);
    const std::uint32_t row = n.of(small);
    return repeat == Repeat::columns ? row : small - row * n.divisor;
  }
  // Elements i .. i + N - 1, all in one row.
  template <int N>
  __device__ __forceinline__ Pack<T, N> pack(std::int64_t i, const Divisor& n) const {
    const std::int64_t at = place(i, n);
    if (repeat == Repeat::none || repeat == Repeat::rows) return load_pack<N>(p + at);
    Pack<T, N> out;
    const T v = p[at];
#pragma unroll
    for (int k = 0; k < N; ++k) out.v[k] = v;
    return out;
  }
};

template <class F, class T, class R>
struct BinaryBody {
  static constexpr int kSize = kPack<T, R>;
  F f;
  Side<T> a, b;
  Divisor row;  // the elements of a row
  R* y;
  std::int64_t n;
  bool whole;
  Refusal refusal;
  __device__ __forceinline__ R one(T left, T right) const {
    return static_cast<R>(
        apply(f, static_cast<Computed<T>>(left), static_cast<Computed<T>>(right)));
  }
  __device__ __forceinline__ void operator()(std::int64_t pack) const {
    const std::int64_t begin = pack * kSize;
    if (whole && begin + kSize <= n) {
      const auto left = a.template pack<kSize>(begin, row),
                 right = b.template pack<kSize>(begin, row);
      Pack<R, kSize> out;
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        refusal.check<F>(right.v[k], b.place(begin + k, row));
        out.v[k] = one(left.v[k], right.v[k]);
      }
      store_pack(y + begin, out);
    } else {
#pragma unroll 1
      for (std::int64_t i = begin; i < begin + kSize && i < n; ++i) {
        const T right = b.p[b.place(i, row)];
        refusal.check<F>(right, b.place(i, row));
        y[i] = one(a.p[a.place(i, row)], right);
      }
    }
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

// How one side of a walk over [rows, n] repeats; false: in another way.
inline bool repeat_of(const std::int64_t (&strides)[kMaxRank], std::int64_t n, Repeat& repeat) {
  const std::int64_t down = strides[0], along = strides[1];
  if (along == 1 && (down == n || down == 0))
    repeat = down ? Repeat::none : Repeat::rows;
  else if (along == 0 && (down == 1 || down == 0))
    repeat = down ? Repeat::columns : Repeat::all;
  else
    return false;
  return true;
}

template <class F, class T, class R>
void broadcast(KernelContext& c, const F& f, const T* a, const T* b, R* y, const Walk<2>& walk,
               const Refusal& refusal) {
  if (walk.rank == 2 && walk.size <= INT32_MAX) {
    const std::int64_t n = walk.dims[1];
    Side<T> left{a}, right{b};
    if (repeat_of(walk.strides[0], n, left.repeat) && repeat_of(walk.strides[1], n, right.repeat))
      return launch_packs(c,
                          BinaryBody<F, T, R>{f, left, right, walk.by[1], y, walk.size,
                                              n % kPack<T, R> == 0 && aligned({a, b, y}), refusal});
  }
  launch_elements(c, walk.size, BroadcastBody<F, T, R>{f, a, b, y, walk, refusal});
}

template <class F, class T, class R = T>
void binary(KernelContext& c, const F& f) {
  const std::int64_t n = c.out().size, na = c.in(0).size, nb = c.in(1).size;
  if (n == 0) return;
  const Refusal refusal{gpu_of(c).kernel_error(), &c.op()};
  const T *a = c.in<T>(0), *b = c.in<T>(1);
  R* y = c.out<R>();
  if ((na == n || na == 1) && (nb == n || nb == 1)) {
    const auto repeat = [n](std::int64_t size) { return size == n ? Repeat::none : Repeat::all; };
    const bool whole = (na != n || aligned({a})) && (nb != n || aligned({b})) && aligned({y});
    return launch_packs(
        c, BinaryBody<F, T, R>{f, {a, repeat(na)}, {b, repeat(nb)}, {}, y, n, whole, refusal});
  }
  Walk<2> walk;
  if (make_walk<2>(c, c.out_shape().dims(),
                   {broadcast_strides(c.in_shape(0), c.out_shape()),
                    broadcast_strides(c.in_shape(1), c.out_shape())},
                   walk))
    broadcast(c, f, a, b, y, walk, refusal);
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
