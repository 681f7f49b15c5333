// A GRU along a sequence: products by cuBLAS, and one kernel a step for the gates. What is kept
// for the gradient is as the CPU keeps it: gates [time, batch, 3 units], then what the state gave
// to the candidate.
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/cuda/product.h"
#include "rill/kernels/cuda/reduce.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cuda {
namespace {

struct GruSizes {
  GruSizes(const TensorShape& x, const TensorShape& h)
      : time(x.dim(0)), batch(x.dim(1)), features(x.dim(2)), units(h.dim(1)) {}
  std::int64_t time, batch, features, units;
  std::int64_t rows() const { return time * batch; }
  std::int64_t state() const { return batch * units; }
};

// A unit of a sample. a: what x gives to the gates, which become the gates; re: what the state
// does.
template <class T>
struct GruBody {
  using W = Computed<T>;
  T* a;
  const T *re, *bias, *h_before;
  T *from_state, *h, *h_last;  // the last is null but at the last step
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t k) const {
    const std::int64_t j = k % n, at = (k / n) * 3 * n + j;
    const auto in = [&](int gate) {
      return static_cast<W>(a[at + gate * n]) + static_cast<W>(bias[gate * n + j]);
    };
    const auto of_state = [&](int gate) {
      return static_cast<W>(re[at + gate * n]) + static_cast<W>(bias[(3 + gate) * n + j]);
    };
    const W z = functors::Sigmoid::apply(in(0) + of_state(0)),
            r = functors::Sigmoid::apply(in(1) + of_state(1)), from = of_state(2),
            candidate = functors::Tanh::apply(in(2) + r * from);
    a[at] = static_cast<T>(z), a[at + n] = static_cast<T>(r);
    a[at + 2 * n] = static_cast<T>(candidate);
    from_state[k] = static_cast<T>(from);
    h[k] = static_cast<T>(z * static_cast<W>(h_before[k]) + (W(1) - z) * candidate);
    if (h_last) h_last[k] = h[k];
  }
};

void copy_gru_state(KernelContext& c, const void* from, void* to, std::int64_t n, DType dtype) {
  cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * dtype.itemsize(),
                  cudaMemcpyDeviceToDevice, gpu_of(c).stream());
  check_launch(c);
}

template <class T>
void gru(KernelContext& c) {
  const GruSizes s(c.in_shape(0), c.in_shape(1));
  const DType dtype = c.in(0).dtype;
  const std::int64_t n = s.units, wide = 3 * n;
  const T* h = c.in<T>(1);
  T *y = c.out<T>(0), *gates = c.out<T>(2), *from_state = gates + s.rows() * wide;
  if (s.time == 0) return copy_gru_state(c, h, c.out<T>(1), s.state(), dtype);
  T* re = c.scratch<T>(std::max<std::int64_t>(1, s.batch * wide));
  if (!re) return;
  product(c, dtype, {s.rows(), wide, s.features}, c.in<T>(0), c.in<T>(2), gates);
  for (std::int64_t t = 0; t < s.time && !c.failed(); ++t) {
    T* now = y + t * s.state();
    product(c, dtype, {.m = s.batch, .n = wide, .k = n}, h, c.in<T>(3), re);
    launch_loops(
        c, s.state(),
        GruBody<T>{gates + t * s.batch * wide, re, c.in<T>(4), h, from_state + t * s.state(), now,
                   t + 1 == s.time ? c.out<T>(1) : nullptr, n});
    h = now;
  }
}
void gru_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() { gru<T>(c); });
}
RILL_KERNEL("GRUSequence", gpu, kFloatTypes, gru_cuda);

// Backwards: dh_after comes from the step after it, dh is what goes straight to the state before;
// da and dre are the slopes of what x and the state give to the gates.
template <class T>
struct GruGradBody {
  using W = Computed<T>;
  const T *gates, *from_state, *h_before, *dy, *dh_after;
  T *dh, *da, *dre;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t k) const {
    const std::int64_t at = (k / n) * 3 * n + k % n;
    const W z = static_cast<W>(gates[at]), r = static_cast<W>(gates[at + n]),
            candidate = static_cast<W>(gates[at + 2 * n]);
    const W slope = static_cast<W>(dy[k]) + static_cast<W>(dh_after[k]);
    const W dc = slope * (W(1) - z) * (W(1) - candidate * candidate);
    da[at] = dre[at] =
        static_cast<T>(slope * (static_cast<W>(h_before[k]) - candidate) * (z * (W(1) - z)));
    da[at + n] = dre[at + n] =
        static_cast<T>(dc * static_cast<W>(from_state[k]) * (r * (W(1) - r)));
    da[at + 2 * n] = static_cast<T>(dc);
    dre[at + 2 * n] = static_cast<T>(dc * r);
    dh[k] = static_cast<T>(slope * z);
  }
};

template <class T>
void gru_grad(KernelContext& c) {
  const GruSizes s(c.in_shape(2), c.in_shape(3));
  const DType dtype = c.in(2).dtype;
  const std::int64_t n = s.units, wide = 3 * n;
  const T *gates = c.in<T>(8), *from_state = gates + s.rows() * wide, *h = c.in<T>(3),
          *y = c.in<T>(7);
  T* dh = c.out<T>(1);
  T* da = c.scratch<T>(std::max<std::int64_t>(1, s.rows() * wide));
  T* dre = c.scratch<T>(std::max<std::int64_t>(1, s.rows() * wide));
  if (!da || !dre) return;
  if (s.time == 0) copy_gru_state(c, c.in<T>(1), dh, s.state(), dtype);
  for (std::int64_t t = s.time; t-- > 0 && !c.failed();) {
    const std::int64_t at = t * s.batch;
    launch_loops(
        c, s.state(),
        GruGradBody<T>{gates + at * wide, from_state + at * n, t > 0 ? y + (at - s.batch) * n : h,
                       c.in<T>(0) + at * n, t + 1 == s.time ? c.in<T>(1) : dh, dh, da + at * wide,
                       dre + at * wide, n});
    product(c, dtype, {.m = s.batch, .n = n, .k = wide, .transpose_b = true, .add = true},
            dre + at * wide, c.in<T>(5), dh);
  }
  product(c, dtype, {.m = s.rows(), .n = s.features, .k = wide, .transpose_b = true}, da,
          c.in<T>(4), c.out<T>(0));
  product(c, dtype, {.m = s.features, .n = wide, .k = s.rows(), .transpose_a = true}, c.in<T>(2),
          da, c.out<T>(2));
  // The state before step t is y of step t - 1, and h before the first.
  product(c, dtype, {.m = n, .n = wide, .k = s.time > 0 ? s.batch : 0, .transpose_a = true}, h, dre,
          c.out<T>(3));
  if (s.time > 1)
    product(c, dtype,
            {.m = n, .n = wide, .k = s.rows() - s.batch, .transpose_a = true, .add = true}, y,
            dre + s.batch * wide, c.out<T>(3));
  for (const int i : {0, 1})
    reduce<SumOf, Computed<T>>(c, static_cast<const T*>(i == 0 ? da : dre), c.out<T>(4) + i * wide,
                               Dims{s.rows(), wide}, {1, 0}, CastTo<T>{});
}
void gru_grad_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(2).dtype, [&]<class T>() { gru_grad<T>(c); });
}
RILL_KERNEL("GRUSequenceGrad", gpu, kFloatTypes, gru_grad_cuda);

}  // namespace
}  // namespace rill::cuda
