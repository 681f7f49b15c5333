// Local response normalisation over the channels of a pixel.
#include <algorithm>
#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

template <class T>
struct Response {
  explicit Response(const KernelContext& c, int i)
      : n(c.in_shape(i).dim(-1)),
        radius(std::min(c.int_attr("depth_radius"), n)),
        bias(static_cast<T>(c.float_attr("bias"))),
        alpha(static_cast<T>(c.float_attr("alpha"))),
        beta(static_cast<T>(c.float_attr("beta"))) {}
  std::int64_t n, radius;
  T bias, alpha, beta;
  // bias + alpha * sum of squares around channel j.
  T norm(const T* x, std::int64_t j) const {
    T sum = 0;
    for (std::int64_t k = std::max<std::int64_t>(0, j - radius); k < std::min(n, j + radius + 1);
         ++k)
      sum += x[k] * x[k];
    return bias + alpha * sum;
  }
};

void lrn_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  dispatch_floats(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    const W* x = widened<T>(c, 0);
    W* y = wide_output<T>(c, 0);
    if (!x || !y) return;
    const Response<W> f(c, 0);
    parallel_for(c.out().size / f.n, std::max<std::int64_t>(1, (1 << 11) / f.n),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin * f.n; i < end * f.n; i += f.n)
                     for (std::int64_t j = 0; j < f.n; ++j)
                       y[i + j] = x[i + j] * std::pow(f.norm(x + i, j), -f.beta);
                 });
    narrow_output<T>(c, 0, y);
  });
}
RILL_KERNEL("LRN", cpu, kFloatTypes, lrn_cpu);

// dx_k = dy_k n_k^-beta - 2 alpha beta x_k sum over j near k of dy_j y_j / n_j
void lrn_grad_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  dispatch_floats(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    const W *dy = widened<T>(c, 0), *x = widened<T>(c, 1), *y = widened<T>(c, 2);
    W* dx = wide_output<T>(c, 0);
    if (!dy || !x || !y || !dx) return;
    const Response<W> f(c, 0);
    parallel_for(c.out().size / f.n, std::max<std::int64_t>(1, (1 << 11) / f.n),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin * f.n; i < end * f.n; i += f.n) {
                     for (std::int64_t k = 0; k < f.n; ++k) dx[i + k] = 0;
                     for (std::int64_t j = 0; j < f.n; ++j) {
                       const W norm = f.norm(x + i, j),
                               back = 2 * f.alpha * f.beta * dy[i + j] * y[i + j] / norm;
                       dx[i + j] += dy[i + j] * std::pow(norm, -f.beta);
                       for (std::int64_t k = std::max<std::int64_t>(0, j - f.radius);
                            k < std::min(f.n, j + f.radius + 1); ++k)
                         dx[i + k] -= back * x[i + k];
                     }
                   }
                 });
    narrow_output<T>(c, 0, dx);
  });
}
RILL_KERNEL("LRNGrad", cpu, kFloatTypes, lrn_grad_cpu);

}  // namespace
}  // namespace rill::cpu
