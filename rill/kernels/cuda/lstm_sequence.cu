// An LSTM along a sequence: products by cuBLAS, and one kernel a step for the gates. What is kept
// for the gradient is as the CPU keeps it: gates [time, batch, 4 units], then c of all steps.
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/cuda/product.h"
#include "rill/kernels/cuda/reduce.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cuda {
namespace {

struct LstmSizes {
  LstmSizes(const TensorShape& x, const TensorShape& h)
      : time(x.dim(0)), batch(x.dim(1)), features(x.dim(2)), units(h.dim(1)) {}
  std::int64_t time, batch, features, units;
  std::int64_t rows() const { return time * batch; }
  std::int64_t state() const { return batch * units; }
};

// A unit of a sample. z: the sums of the gates, which become the gates.
template <class T>
struct LstmBody {
  using W = Computed<T>;
  T* z;
  const T *bias, *c_before;
  T *c, *h, *c_last, *h_last;  // the last two are null but at the last step
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t k) const {
    const std::int64_t j = k % n;
    T* const at = z + (k / n) * 4 * n + j;
    const auto sum = [&](int gate) {
      return static_cast<W>(at[gate * n]) + static_cast<W>(bias[gate * n + j]);
    };
    const W i = functors::Sigmoid::apply(sum(0)), f = functors::Sigmoid::apply(sum(1)),
            g = functors::Tanh::apply(sum(2)), o = functors::Sigmoid::apply(sum(3));
    const W cell = f * static_cast<W>(c_before[k]) + i * g, out = o * functors::Tanh::apply(cell);
    at[0] = static_cast<T>(i), at[n] = static_cast<T>(f);
    at[2 * n] = static_cast<T>(g), at[3 * n] = static_cast<T>(o);
    c[k] = static_cast<T>(cell), h[k] = static_cast<T>(out);
    if (h_last) c_last[k] = c[k], h_last[k] = h[k];
  }
};

void copy_state(KernelContext& c, const void* from, void* to, std::int64_t n, DType dtype) {
  cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * dtype.itemsize(),
                  cudaMemcpyDeviceToDevice, gpu_of(c).stream());
  check_launch(c);
}

template <class T>
void lstm(KernelContext& c) {
  const LstmSizes s(c.in_shape(0), c.in_shape(1));
  const DType dtype = c.in(0).dtype;
  const std::int64_t n = s.units, wide = 4 * n;
  const T *h = c.in<T>(1), *cell = c.in<T>(2);
  T *y = c.out<T>(0), *gates = c.out<T>(3), *cells = gates + s.rows() * wide;
  if (s.time == 0) {
    copy_state(c, h, c.out<T>(1), s.state(), dtype);
    return copy_state(c, cell, c.out<T>(2), s.state(), dtype);
  }
  product(c, dtype, {s.rows(), wide, s.features}, c.in<T>(0), c.in<T>(3), gates);
  for (std::int64_t t = 0; t < s.time && !c.failed(); ++t) {
    T *z = gates + t * s.batch * wide, *c_now = cells + t * s.state(), *h_now = y + t * s.state();
    const bool last = t + 1 == s.time;
    product(c, dtype, {.m = s.batch, .n = wide, .k = n, .add = true}, h, c.in<T>(4), z);
    launch_loops(c, s.state(),
                 LstmBody<T>{z, c.in<T>(5), cell, c_now, h_now, last ? c.out<T>(2) : nullptr,
                             last ? c.out<T>(1) : nullptr, n});
    h = h_now, cell = c_now;
  }
}
void lstm_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() { lstm<T>(c); });
}
RILL_KERNEL("LSTMSequence", gpu, kFloatTypes, lstm_cuda);

// Backwards: dh and dc_after come from the step after it, dc goes to the one before it, dz are
// the slopes of the gates' sums.
template <class T>
struct LstmGradBody {
  using W = Computed<T>;
  const T *z, *c_before, *c, *dy, *dh, *dc_after;
  T *dc, *dz;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t k) const {
    const std::int64_t at = (k / n) * 4 * n + k % n;
    const W i = static_cast<W>(z[at]), f = static_cast<W>(z[at + n]),
            g = static_cast<W>(z[at + 2 * n]), o = static_cast<W>(z[at + 3 * n]);
    const W tanh_c = functors::Tanh::apply(static_cast<W>(c[k]));
    const W slope = static_cast<W>(dy[k]) + static_cast<W>(dh[k]);
    const W cell = static_cast<W>(dc_after[k]) + slope * o * (W(1) - tanh_c * tanh_c);
    dz[at] = static_cast<T>(cell * g * (i * (W(1) - i)));
    dz[at + n] = static_cast<T>(cell * static_cast<W>(c_before[k]) * (f * (W(1) - f)));
    dz[at + 2 * n] = static_cast<T>(cell * i * (W(1) - g * g));
    dz[at + 3 * n] = static_cast<T>(slope * tanh_c * (o * (W(1) - o)));
    dc[k] = static_cast<T>(cell * f);
  }
};

template <class T>
void lstm_grad(KernelContext& c) {
  const LstmSizes s(c.in_shape(3), c.in_shape(4));
  const DType dtype = c.in(3).dtype;
  const std::int64_t n = s.units, wide = 4 * n;
  const T *gates = c.in<T>(10), *cells = gates + s.rows() * wide, *h = c.in<T>(4);
  T *dh = c.out<T>(1), *dc = c.out<T>(2);
  T* slopes = c.scratch<T>(std::max<std::int64_t>(1, s.rows() * wide));
  if (!slopes) return;
  if (s.time == 0) {
    copy_state(c, c.in<T>(1), dh, s.state(), dtype);
    copy_state(c, c.in<T>(2), dc, s.state(), dtype);
  }
  for (std::int64_t t = s.time; t-- > 0 && !c.failed();) {
    const bool last = t + 1 == s.time;
    const T *z = gates + t * s.batch * wide, *c_now = cells + t * s.state();
    T* dz = slopes + t * s.batch * wide;
    launch_loops(c, s.state(),
                 LstmGradBody<T>{z, t > 0 ? c_now - s.state() : c.in<T>(5), c_now,
                                 c.in<T>(0) + t * s.state(), last ? c.in<T>(1) : dh,
                                 last ? c.in<T>(2) : dc, dc, dz, n});
    product(c, dtype, {.m = s.batch, .n = n, .k = wide, .transpose_b = true}, dz, c.in<T>(7), dh);
  }
  product(c, dtype, {.m = s.rows(), .n = s.features, .k = wide, .transpose_b = true}, slopes,
          c.in<T>(6), c.out<T>(0));
  product(c, dtype, {.m = s.features, .n = wide, .k = s.rows(), .transpose_a = true}, c.in<T>(3),
          slopes, c.out<T>(3));
  // The state before step t is y of step t - 1, and h before the first.
  product(c, dtype, {.m = n, .n = wide, .k = s.time > 0 ? s.batch : 0, .transpose_a = true}, h,
          slopes, c.out<T>(4));
  if (s.time > 1)
    product(c, dtype,
            {.m = n, .n = wide, .k = s.rows() - s.batch, .transpose_a = true, .add = true},
            c.in<T>(9), slopes + s.batch * wide, c.out<T>(4));
  reduce<SumOf, Computed<T>>(c, static_cast<const T*>(slopes), c.out<T>(5), Dims{s.rows(), wide},
                             {1, 0}, CastTo<T>{});
}
void lstm_grad_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(3).dtype, [&]<class T>() { lstm_grad<T>(c); });
}
RILL_KERNEL("LSTMSequenceGrad", gpu, kFloatTypes, lstm_grad_cuda);

}  // namespace
}  // namespace rill::cuda
