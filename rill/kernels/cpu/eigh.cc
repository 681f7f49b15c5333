// Eigenvalues of self-adjoint matrices: reflections make the matrix real and
// tridiagonal, rotations diagonal (implicit QL). float is computed in double.
#include <limits>

#include "rill/kernels/cpu/householder.h"

namespace rill::cpu {
namespace {

double& at(std::vector<double>& list, std::int64_t i) { return list[static_cast<std::size_t>(i)]; }

// Diagonal d, e beside it (e[i] between i and i + 1); zt takes part in every
// rotation (empty: not wanted). False when it does not come to an end.
template <class T>
bool diagonalize(std::vector<double>& d, std::vector<double>& e, std::vector<T>& zt) {
  const auto n = static_cast<std::int64_t>(d.size());
  constexpr double eps = std::numeric_limits<double>::epsilon(), tiny = 1e-290;
  for (std::int64_t first = 0; first < n; ++first)
    for (int steps = 0;; ++steps) {
      std::int64_t last = first;  // the block [first, last] in which no e is negligible
      while (last + 1 < n && std::abs(at(e, last)) >
                                 tiny + eps * (std::abs(at(d, last)) + std::abs(at(d, last + 1))))
        ++last;
      if (last == first) break;
      if (steps == 100) return false;
      double g = (at(d, first + 1) - at(d, first)) / (2 * at(e, first));
      g = at(d, last) - at(d, first) + at(e, first) / (g + std::copysign(std::hypot(g, 1.0), g));
      double sn = 1, cs = 1, p = 0;
      std::int64_t i = last - 1;
      for (; i >= first; --i) {
        const double f = sn * at(e, i), b = cs * at(e, i), r = std::hypot(f, g);
        if (i + 1 < last) at(e, i + 1) = r;
        if (r == 0) {  // the block splits here
          at(d, i + 1) -= p;
          break;
        }
        sn = f / r, cs = g / r;
        g = at(d, i + 1) - p;
        const double t = (at(d, i) - g) * sn + 2 * cs * b;
        p = sn * t;
        at(d, i + 1) = g + p;
        g = cs * t - b;
        rotate(zt, n, i + 1, i, cs, sn);
      }
      if (i >= first) continue;
      at(d, first) -= p;
      at(e, first) = g;
    }
  return true;
}

// W is T in double.
template <class T, class W>
void eigh_of(KernelContext& c) noexcept {
  const Stack s(c.in_shape(0));
  const std::int64_t n = s.rows;
  const bool vectors = c.bool_attr("compute_v");
  for_each_matrix(
      c, s.count, std::min(n, kBlockSize), "has an eigenvalue that was not found",
      [&](std::int64_t i) {
        const T* in = c.in<T>(0) + i * s.size();
        std::vector<W> a(static_cast<std::size_t>(n * n)), taus,
            scratch(static_cast<std::size_t>(n)), zt;
        auto el = [&](std::int64_t row, std::int64_t col) { return a.data() + row * n + col; };
        bool finite = true;
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t k = 0; k <= r; ++k) {
            const W x(in[r * n + k]);
            finite = finite && std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
            *el(r, k) = x, *el(k, r) = r == k ? W(std::real(x)) : conjugate(x);
          }
        std::vector<double> d(static_cast<std::size_t>(n)), e(static_cast<std::size_t>(n));
        if (finite) {
          for (std::int64_t k = 0; k < n; ++k) {
            at(d, k) = std::real(*el(k, k));
            if (k + 1 == n) break;
            // h a h' on what is left.
            const std::int64_t len = n - k - 1;
            taus.push_back(make_reflection(el(k + 1, k), len, n, &at(e, k)));
            reflect_rows(el(k + 1, k + 1), n, len, el(k + 1, k), len, n, taus.back(),
                         scratch.data());
            const W tau = conjugate(taus.back());
            for (std::int64_t r = k + 1; r < n && tau != W(0); ++r) {
              W* x = el(r, k + 1);
              W dot = x[0];
              for (std::int64_t j = 1; j < len; ++j) dot += times(x[j], *el(k + 1 + j, k));
              dot = times(dot, tau);
              x[0] -= dot;
              for (std::int64_t j = 1; j < len; ++j)
                x[j] -= times(dot, conjugate(*el(k + 1 + j, k)));
            }
          }
          if (vectors) {
            std::vector<W> z(a.size());
            write_q(z.data(), n, n, a.data() + n, n + 1, n, taus, 1, scratch.data());
            zt = turned(z, n, n);
          }
          if (!diagonalize(d, e, zt)) return false;
        } else {
          std::fill(d.begin(), d.end(), std::numeric_limits<double>::quiet_NaN());
          zt.assign(a.size(), W(std::numeric_limits<double>::quiet_NaN()));
        }
        // The smallest first.
        std::vector<std::int64_t> order;
        for (std::int64_t k = 0; k < n; ++k) order.push_back(k);
        if (finite)
          std::stable_sort(order.begin(), order.end(),
                           [&](std::int64_t j, std::int64_t k) { return at(d, j) < at(d, k); });
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t from = order[static_cast<std::size_t>(k)];
          c.out<T>(0)[i * n + k] = T(static_cast<Real<T>>(at(d, from)));
          for (std::int64_t r = 0; r < n && vectors; ++r)
            c.out<T>(1)[i * n * n + r * n + k] =
                static_cast<T>(zt[static_cast<std::size_t>(from * n + r)]);
        }
        return true;
      });
}
RILL_KERNEL("SelfAdjointEigV2", cpu, TypeSet{float32}, (eigh_of<float, double>));
RILL_KERNEL("SelfAdjointEigV2", cpu, TypeSet{float64}, (eigh_of<double, double>));
RILL_KERNEL("SelfAdjointEigV2", cpu, TypeSet{complex64},
            (eigh_of<std::complex<float>, std::complex<double>>));
RILL_KERNEL("SelfAdjointEigV2", cpu, TypeSet{complex128},
            (eigh_of<std::complex<double>, std::complex<double>>));

}  // namespace
}  // namespace rill::cpu
