// A GRU along a sequence: a product for the inputs of all steps, then one a step for the state.
// Gates are kept as they are after their activation, [time, batch, 3 units], and behind them what
// the state gave to the candidate, [time, batch, units].
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

// One sample of one step: a holds what x gives to the gates, re what the state does.
template <class T>
void gru_row(T* a, const T* re, const T* h_before, T* from_state, T* h, std::int64_t n) {
  for (std::int64_t j = 0; j < 2 * n; ++j) a[j] += re[j];
  unary_loop<functors::Sigmoid>(a, a, 2 * n);
  const T *z = a, *r = a + n;
  T* candidate = a + 2 * n;
  for (std::int64_t j = 0; j < n; ++j) {
    from_state[j] = re[2 * n + j];
    candidate[j] += r[j] * from_state[j];
  }
  unary_loop<functors::Tanh>(candidate, candidate, n);
  for (std::int64_t j = 0; j < n; ++j) h[j] = z[j] * h_before[j] + (T(1) - z[j]) * candidate[j];
}

template <class T>
void gru(KernelContext& c) {
  using W = Wide<T>;
  const SequenceSizes s(c.in_shape(0), c.in_shape(1));
  const W *x = widened<T>(c, 0), *h = widened<T>(c, 1), *kernel = widened<T>(c, 2),
          *recurrent = widened<T>(c, 3), *bias = widened<T>(c, 4);
  W *y = wide_output<T>(c, 0), *h_last = wide_output<T>(c, 1), *kept = wide_output<T>(c, 2);
  const std::int64_t n = s.units, wide = 3 * n;
  W* re = c.scratch<W>(std::max<std::int64_t>(1, s.batch * wide));
  if (!x || !h || !kernel || !recurrent || !bias || !y || !h_last || !kept || !re) return;
  W *gates = kept, *from_state = kept + s.rows() * wide;
  repeat_rows(bias, wide, gates, s.rows());
  gemm<W>(false, false, s.rows(), wide, s.features, x, kernel, gates, W(1));
  for_blocks_of_samples(s, [&](std::int64_t begin, std::int64_t end) {
    const W* before = h;
    for (std::int64_t t = 0; t < s.time; ++t) {
      W *a = gates + t * s.batch * wide, *from = from_state + t * s.state(),
        *now = y + t * s.state();
      repeat_rows(bias + wide, wide, re + begin * wide, end - begin);
      gemm<W>(false, false, end - begin, wide, n, before + begin * n, recurrent, re + begin * wide,
              W(1));
      for_samples(s, begin, end, [&](std::int64_t b) {
        gru_row(a + b * wide, re + b * wide, before + b * n, from + b * n, now + b * n, n);
      });
      before = now;
    }
  });
  std::copy_n(s.time > 0 ? y + (s.time - 1) * s.state() : h, s.state(), h_last);
  narrow_output<T>(c, 0, y);
  narrow_output<T>(c, 1, h_last);
  narrow_output<T>(c, 2, kept);
}
void gru_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() { gru<T>(c); });
}
RILL_KERNEL("GRUSequence", cpu, kFloatTypes, gru_cpu);

// One sample of one step, backwards. dh comes from the step after it; what goes straight to the
// state before replaces it. da and dre: the slopes of what x and the state give to the gates.
#define RILL_GRU_SLOPES(Name, target)                                                   \
  template <class T>                                                                    \
  target void Name##_gru_slopes(const T* gates, const T* from_state, const T* h_before, \
                                const T* dy, T* dh, T* da, T* dre, std::int64_t n) {    \
    const T *z = gates, *r = gates + n, *candidate = gates + 2 * n;                     \
    _Pragma("omp simd") for (std::int64_t j = 0; j < n; ++j) {                          \
      const T slope = dy[j] + dh[j],                                                    \
              dc = slope * (T(1) - z[j]) * (T(1) - candidate[j] * candidate[j]);        \
      da[j] = dre[j] = slope * (h_before[j] - candidate[j]) * (z[j] * (T(1) - z[j]));   \
      da[n + j] = dre[n + j] = dc * from_state[j] * (r[j] * (T(1) - r[j]));             \
      da[2 * n + j] = dc;                                                               \
      dre[2 * n + j] = dc * r[j];                                                       \
      dh[j] = slope * z[j];                                                             \
    }                                                                                   \
  }
RILL_GRU_SLOPES(plain, )
#if RILL_X86_VARIANTS
RILL_GRU_SLOPES(avx2, RILL_TARGET_AVX2)
RILL_GRU_SLOPES(avx512, RILL_TARGET_AVX512)
#endif
#undef RILL_GRU_SLOPES

template <class T>
void gru_grad(KernelContext& c) {
  using W = Wide<T>;
  const SequenceSizes s(c.in_shape(2), c.in_shape(3));
  const W *dy = widened<T>(c, 0), *dh_last = widened<T>(c, 1), *x = widened<T>(c, 2),
          *h = widened<T>(c, 3), *kernel = widened<T>(c, 4), *recurrent = widened<T>(c, 5),
          *y = widened<T>(c, 7), *kept = widened<T>(c, 8);
  W *dx = wide_output<T>(c, 0), *dh = wide_output<T>(c, 1), *dkernel = wide_output<T>(c, 2),
    *drecurrent = wide_output<T>(c, 3), *dbias = wide_output<T>(c, 4);
  const std::int64_t n = s.units, wide = 3 * n, step = spread_row_step(wide);
  W* da = c.scratch<W>(std::max<std::int64_t>(1, s.rows() * step));
  W* dre = c.scratch<W>(std::max<std::int64_t>(1, s.rows() * step));
  const TransposedMatrix<W> back(c, recurrent, n, wide);
  if (!dy || !dh_last || !x || !h || !kernel || !recurrent || !y || !kept || !dx || !dh ||
      !dkernel || !drecurrent || !dbias || !da || !dre || !back.data)
    return;
  const W *gates = kept, *from_state = kept + s.rows() * wide;
  std::copy_n(dh_last, s.state(), dh);
  for_blocks_of_samples(s, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = s.time; t-- > 0;) {
      const W* before = t > 0 ? y + (t - 1) * s.state() : h;
      const std::int64_t at = t * s.batch;
      for_samples(s, begin, end, [&](std::int64_t b) {
        RILL_BY_ISA(, gru_slopes, gates + (at + b) * wide, from_state + (at + b) * n,
                    before + b * n, dy + (at + b) * n, dh + b * n, da + (at + b) * step,
                    dre + (at + b) * step, n);
      });
      gemm<W>(false, false, end - begin, n, wide, dre + (at + begin) * step, back.data,
              dh + begin * n, W(1), {step, back.step, n});
    }
  });
  gemm<W>(false, true, s.rows(), s.features, wide, da, kernel, dx, W(0), {step, wide, s.features});
  gemm<W>(true, false, s.features, wide, s.rows(), x, da, dkernel, W(0), {s.features, step, wide});
  // The state before step t is y of step t - 1, and h before the first.
  gemm<W>(true, false, n, wide, s.time > 0 ? s.batch : 0, h, dre, drecurrent, W(0),
          {n, step, wide});
  if (s.time > 1)
    gemm<W>(true, false, n, wide, s.rows() - s.batch, y, dre + s.batch * step, drecurrent, W(1),
            {n, step, wide});
  sum_columns(da, s.rows(), wide, step, dbias);
  sum_columns(dre, s.rows(), wide, step, dbias + wide);
  narrow_output<T>(c, 0, dx);
  narrow_output<T>(c, 1, dh);
  narrow_output<T>(c, 2, dkernel);
  narrow_output<T>(c, 3, drecurrent);
  narrow_output<T>(c, 4, dbias);
}
void gru_grad_cpu(KernelContext& c) noexcept {
  dispatch_floats(c.in(2).dtype, [&]<class T>() { gru_grad<T>(c); });
}
RILL_KERNEL("GRUSequenceGrad", cpu, kFloatTypes, gru_grad_cpu);

}  // namespace
}  // namespace rill::cpu
