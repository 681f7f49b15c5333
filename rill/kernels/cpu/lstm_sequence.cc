// An LSTM along a sequence: a product for the inputs of all steps, then one a step for the
// states. Gates are kept as they are after their activation, [time, batch, 4 units], and behind
// them c, [time, batch, units].
#include <algorithm>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/gemm.h"
#include "rill/kernels/cpu/isa.h"
#include "rill/kernels/cpu/recurrence.h"
#include "rill/kernels/cpu/widen.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cpu {
namespace {

// One sample of one step: z holds the sums of its gates.
template <class T>
void lstm_row(T* z, const T* c_before, T* c, T* h, std::int64_t n) {
  unary_loop<functors::Sigmoid>(z, z, 2 * n);
  unary_loop<functors::Tanh>(z + 2 * n, z + 2 * n, n);
  unary_loop<functors::Sigmoid>(z + 3 * n, z + 3 * n, n);
  const T *i = z, *f = z + n, *g = z + 2 * n, *o = z + 3 * n;
  for (std::int64_t j = 0; j < n; ++j) c[j] = f[j] * c_before[j] + i[j] * g[j];
  unary_loop<functors::Tanh>(c, h, n);
  for (std::int64_t j = 0; j < n; ++j) h[j] *= o[j];
}

template <class T>
void lstm(KernelContext& c) {
  using W = Wide<T>;
  const SequenceSizes s(c.in_shape(0), c.in_shape(1));
  const W *x = widened<T>(c, 0), *h = widened<T>(c, 1), *cell = widened<T>(c, 2),
          *kernel = widened<T>(c, 3), *recurrent = widened<T>(c, 4), *bias = widened<T>(c, 5);
  W *y = wide_output<T>(c, 0), *h_last = wide_output<T>(c, 1), *c_last = wide_output<T>(c, 2),
    *kept = wide_output<T>(c, 3);
  if (!x || !h || !cell || !kernel || !recurrent || !bias || !y || !h_last || !c_last || !kept)
    return;
  const std::int64_t n = s.units, wide = 4 * n;
  W *gates = kept, *cells = kept + s.rows() * wide;
  repeat_rows(bias, wide, gates, s.rows());
  gemm<W>(false, false, s.rows(), wide, s.features, x, kernel, gates, W(1));
  for_blocks_of_samples(s, [&](std::int64_t begin, std::int64_t end) {
    const W *h_before = h, *c_before = cell;
    for (std::int64_t t = 0; t < s.time; ++t) {
      W *z = gates + t * s.batch * wide, *c_now = cells + t * s.state(), *h_now = y + t * s.state();
      gemm<W>(false, false, end - begin, wide, n, h_before + begin * n, recurrent, z + begin * wide,
              W(1));
      for_samples(s, begin, end, [&](std::int64_t b) {
        lstm_row(z + b * wide, c_before + b * n, c_now + b * n, h_now + b * n, n);
      });
      h_before = h_now, c_before = c_now;
    }
  });
  const std::int64_t last = (s.time - 1) * s.state();
  std::copy_n(s.time > 0 ? y + last : h, s.state(), h_last);
  std::copy_n(s.time > 0 ? cells + last : cell, s.state(), c_last);
  narrow_output<T>(c, 0, y);
  narrow_output<T>(c, 1, h_last);
  narrow_output<T>(c, 2, c_last);
  narrow_output<T>(c, 3, kept);
}
void lstm_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() { lstm<T>(c); });
}
RILL_KERNEL("LSTMSequence", cpu, kFloatTypes, lstm_cpu);

// One sample of one step, backwards: dh and dc come from the step after it, dc goes to the one
// before, and dz are the slopes of the gates' sums. The first of them holds tanh(c) until then.
#define RILL_LSTM_SLOPES(Name, target)                                                           \
  template <class T>                                                                             \
  target void Name##_lstm_slopes(const T* z, const T* c_before, const T* dy, const T* dh, T* dc, \
                                 T* dz, std::int64_t n) {                                        \
    const T *i = z, *f = z + n, *g = z + 2 * n, *o = z + 3 * n;                                  \
    _Pragma("omp simd") for (std::int64_t j = 0; j < n; ++j) {                                   \
      const T tanh_c = dz[j], dh_now = dy[j] + dh[j],                                            \
              dc_now = dc[j] + dh_now * o[j] * (T(1) - tanh_c * tanh_c);                         \
      dz[j] = dc_now * g[j] * (i[j] * (T(1) - i[j]));                                            \
      dz[n + j] = dc_now * c_before[j] * (f[j] * (T(1) - f[j]));                                 \
      dz[2 * n + j] = dc_now * i[j] * (T(1) - g[j] * g[j]);                                      \
      dz[3 * n + j] = dh_now * tanh_c * (o[j] * (T(1) - o[j]));                                  \
      dc[j] = dc_now * f[j];                                                                     \
    }                                                                                            \
  }
RILL_LSTM_SLOPES(plain, )
#if RILL_X86_VARIANTS
RILL_LSTM_SLOPES(avx2, RILL_TARGET_AVX2)
RILL_LSTM_SLOPES(avx512, RILL_TARGET_AVX512)
#endif
#undef RILL_LSTM_SLOPES

template <class T>
void lstm_grad(KernelContext& c) {
  using W = Wide<T>;
  const SequenceSizes s(c.in_shape(3), c.in_shape(4));
  const W *dy = widened<T>(c, 0), *dh_last = widened<T>(c, 1), *dc_last = widened<T>(c, 2),
          *x = widened<T>(c, 3), *h = widened<T>(c, 4), *cell = widened<T>(c, 5),
          *kernel = widened<T>(c, 6), *recurrent = widened<T>(c, 7), *y = widened<T>(c, 9),
          *kept = widened<T>(c, 10);
  W *dx = wide_output<T>(c, 0), *dh = wide_output<T>(c, 1), *dc = wide_output<T>(c, 2),
    *dkernel = wide_output<T>(c, 3), *drecurrent = wide_output<T>(c, 4),
    *dbias = wide_output<T>(c, 5);
  const std::int64_t n = s.units, wide = 4 * n, step = spread_row_step(wide);
  W* slopes = c.scratch<W>(std::max<std::int64_t>(1, s.rows() * step));
  const TransposedMatrix<W> back(c, recurrent, n, wide);
  if (!dy || !dh_last || !dc_last || !x || !h || !cell || !kernel || !recurrent || !y || !kept ||
      !dx || !dh || !dc || !dkernel || !drecurrent || !dbias || !slopes || !back.data)
    return;
  const W *gates = kept, *cells = kept + s.rows() * wide;
  std::copy_n(dh_last, s.state(), dh);
  std::copy_n(dc_last, s.state(), dc);
  for_blocks_of_samples(s, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = s.time; t-- > 0;) {
      const W *z = gates + t * s.batch * wide, *c_now = cells + t * s.state(),
              *c_before = t > 0 ? c_now - s.state() : cell, *dy_now = dy + t * s.state();
      W* dz = slopes + t * s.batch * step;
      for_samples(s, begin, end, [&](std::int64_t b) {
        unary_loop<functors::Tanh>(c_now + b * n, dz + b * step, n);
        RILL_BY_ISA(, lstm_slopes, z + b * wide, c_before + b * n, dy_now + b * n, dh + b * n,
                    dc + b * n, dz + b * step, n);
      });
      gemm<W>(false, false, end - begin, n, wide, dz + begin * step, back.data, dh + begin * n,
              W(0), {step, back.step, n});
    }
  });
  gemm<W>(false, true, s.rows(), s.features, wide, slopes, kernel, dx, W(0),
          {step, wide, s.features});
  gemm<W>(true, false, s.features, wide, s.rows(), x, slopes, dkernel, W(0),
          {s.features, step, wide});
  // The state before step t is y of step t - 1, and h before the first.
  gemm<W>(true, false, n, wide, s.time > 0 ? s.batch : 0, h, slopes, drecurrent, W(0),
          {n, step, wide});
  if (s.time > 1)
    gemm<W>(true, false, n, wide, s.rows() - s.batch, y, slopes + s.batch * step, drecurrent, W(1),
            {n, step, wide});
  sum_columns(slopes, s.rows(), wide, step, dbias);
  narrow_output<T>(c, 0, dx);
  narrow_output<T>(c, 1, dh);
  narrow_output<T>(c, 2, dc);
  narrow_output<T>(c, 3, dkernel);
  narrow_output<T>(c, 4, drecurrent);
  narrow_output<T>(c, 5, dbias);
}
void lstm_grad_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(3).dtype, [&]<class T>() { lstm_grad<T>(c); });
}
RILL_KERNEL("LSTMSequenceGrad", cpu, kFloatTypes, lstm_grad_cpu);

}  // namespace
}  // namespace rill::cpu
