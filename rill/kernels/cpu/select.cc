#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/strided_copy.h"

namespace rill::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 15;

// A run in which each side is a row (1) or one repeated element (0).
template <class T>
void select_run(const bool* c, bool c_row, const T* x, bool x_row, const T* y, bool y_row, T* out,
                std::int64_t n) {
  if (!c_row) {
    const T* from = *c ? x : y;
    if (*c ? x_row : y_row)
      std::copy_n(from, n, out);
    else
      std::fill_n(out, n, *from);
  } else if (x_row && y_row) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = c[i] ? x[i] : y[i];
  } else if (x_row) {
    const T y0 = *y;
    for (std::int64_t i = 0; i < n; ++i) out[i] = c[i] ? x[i] : y0;
  } else if (y_row) {
    const T x0 = *x;
    for (std::int64_t i = 0; i < n; ++i) out[i] = c[i] ? x0 : y[i];
  } else {
    const T x0 = *x, y0 = *y;
    for (std::int64_t i = 0; i < n; ++i) out[i] = c[i] ? x0 : y0;
  }
}

void select_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.out().size;
  if (n == 0) return;
  const std::int64_t sizes[3] = {c.in(0).size, c.in(1).size, c.in(2).size};
  const bool simple =
      std::all_of(sizes, sizes + 3, [&](std::int64_t s) { return s == n || s == 1; });
  dispatch_width(c.out().dtype, [&]<class T>() {
    const bool* condition = c.in<bool>(0);
    const T *x = c.in<T>(1), *y = c.in<T>(2);
    T* out = c.out<T>();
    if (simple) {
      const bool row[3] = {sizes[0] == n, sizes[1] == n, sizes[2] == n};
      parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
        select_run(condition + (row[0] ? begin : 0), row[0], x + (row[1] ? begin : 0), row[1],
                   y + (row[2] ? begin : 0), row[2], out + begin, end - begin);
      });
      return;
    }
    const Dims& dims = c.out_shape().dims();
    const std::size_t rank = dims.size();
    Dims strides[3];
    for (int k = 0; k < 3; ++k) {
      const Dims &own = c.in_shape(k).dims(), row = row_major(own);
      strides[k] = Dims(rank, 0);
      for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] != 1) strides[k][i + rank - own.size()] = row[i];
    }
    const std::int64_t inner = dims[rank - 1];
    parallel_for(n / inner, std::max<std::int64_t>(1, kGrain / inner),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) {
                     std::int64_t at[3] = {0, 0, 0}, rest = r;
                     for (std::size_t i = rank - 1; i-- > 0; rest /= dims[i])
                       for (int k = 0; k < 3; ++k) at[k] += rest % dims[i] * strides[k][i];
                     select_run(condition + at[0], strides[0][rank - 1] != 0, x + at[1],
                                strides[1][rank - 1] != 0, y + at[2], strides[2][rank - 1] != 0,
                                out + r * inner, inner);
                   }
                 });
  });
}
RILL_KERNEL("SelectV2", cpu, kAllTypes, select_cpu);

}  // namespace
}  // namespace rill::cpu
