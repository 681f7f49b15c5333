// Roots, logarithms and exponentials of matrices. All are computed in double precision.
#include <numbers>

#include "rill/kernels/cpu/lu.h"
#include "rill/kernels/cpu/schur.h"

namespace rill::cpu {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

template <class T>
T narrowed(Wide x) {
  if constexpr (functors::is_complex_v<T>)
    return static_cast<T>(x);
  else
    return static_cast<T>(x.real());
}

// What f makes of the triangle of the Schur decomposition. A real matrix without a real result
// gives NaN.
template <class F>
void by_triangle(KernelContext& c, F f) {
  const Stack s(c.in_shape(0));
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(c, s.rows ? s.count : 0, std::min(s.rows, kBlockSize), "", [&](std::int64_t i) {
      Schur parts = schur_of(c.in<T>(0) + i * s.size(), s.rows);
      WideMatrix out;
      if (parts.found) {
        f(parts.t, s.rows);
        out = turned_back(parts, s.rows);
        double imaginary = 0, all = 0;
        for (const Wide& x : out) imaginary += std::abs(x.imag()), all += std::abs(x);
        parts.found = functors::is_complex_v<T> || imaginary <= 1e-7 * all;
      }
      if (!parts.found) out.assign(static_cast<std::size_t>(s.size()), Wide(kNoNumber));
      for (std::int64_t k = 0; k < s.size(); ++k)
        c.out<T>()[i * s.size() + k] = narrowed<T>(out[static_cast<std::size_t>(k)]);
      return true;
    });
  });
}

void matrix_root_cpu(KernelContext& c) noexcept {
  by_triangle(c, [](WideMatrix& t, std::int64_t n) { t = triangular_root(t, n); });
}
RILL_KERNEL("MatrixSquareRoot", cpu, kMatrixTypes, matrix_root_cpu);

// Gauss-Legendre points and weights on [0, 1]. With 8 of them the sum below is log(1 + x) to the
// last bit for |x| < 1/4.
constexpr int kPoints = 8;
struct Quadrature {
  double at[kPoints], weight[kPoints];
  Quadrature() {
    for (int i = 0; i < kPoints; ++i) {
      double z = std::cos(std::numbers::pi * (i + 0.75) / (kPoints + 0.5)), slope = 1;
      for (int step = 0; step < 100; ++step) {
        double p = 1, before = 0;
        for (int k = 1; k <= kPoints; ++k) {
          const double next = ((2 * k - 1) * z * p - (k - 1) * before) / k;
          before = p, p = next;
        }
        slope = kPoints * (z * p - before) / (z * z - 1);
        const double by = p / slope;
        z -= by;
        if (std::abs(by) < 1e-16) break;
      }
      at[i] = (1 - z) / 2, weight[i] = 1 / ((1 - z * z) * slope * slope);
    }
  }
};

// Roots are taken until the matrix is near 1.
void triangular_log(WideMatrix& t, std::int64_t n) {
  static const Quadrature rule;
  const WideMatrix whole = t;
  const auto index = [n](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * n + j);
  };
  double scale = 1;
  for (int roots = 0;; ++roots) {
    double distance = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double column = 0;
      for (std::int64_t i = 0; i <= j; ++i) column += std::abs(t[index(i, j)] - (i == j ? 1. : 0.));
      distance = std::max(distance, column);
    }
    if (distance < 0.25) break;
    if (roots == 100 || !std::isfinite(distance)) {  // an eigenvalue is 0
      t.assign(t.size(), Wide(kNoNumber));
      return;
    }
    t = triangular_root(t, n), scale *= 2;
  }
  for (std::int64_t i = 0; i < n; ++i) t[index(i, i)] -= 1;
  WideMatrix sum(t.size());
  for (int p = 0; p < kPoints; ++p) {
    // y (1 + at x) = weight x, row by row.
    WideMatrix y(t.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = i; j < n; ++j) {
        Wide v = t[index(i, j)];
        for (std::int64_t k = i; k < j; ++k)
          v -= rule.at[p] * times(y[index(i, k)], t[index(k, j)]);
        y[index(i, j)] = v / (1. + rule.at[p] * t[index(j, j)]);
        sum[index(i, j)] += rule.weight[p] * y[index(i, j)];
      }
  }
  for (Wide& x : sum) x *= scale;
  for (std::int64_t i = 0; i < n; ++i) sum[index(i, i)] = std::log(whole[index(i, i)]);
  t = std::move(sum);
}
void matrix_log_cpu(KernelContext& c) noexcept { by_triangle(c, triangular_log); }
RILL_KERNEL("MatrixLogarithm", cpu, kComplexTypes, matrix_log_cpu);

// Scaled until its norm is below 5.37, the quotient of polynomials of degree 13, squared again
// (Higham 2005).
template <class T, class W>
void exponential_of(KernelContext& c) noexcept {
  static constexpr double b[14] = {64764752532480000.,
                                   32382376266240000.,
                                   7771770303897600.,
                                   1187353796428800.,
                                   129060195264000.,
                                   10559470521600.,
                                   670442572800.,
                                   33522128640.,
                                   1323241920.,
                                   40840800.,
                                   960960.,
                                   16380.,
                                   182.,
                                   1.};
  const Stack s(c.in_shape(0));
  const std::int64_t n = s.rows;
  for_each_matrix(c, n ? s.count : 0, n, "", [&](std::int64_t i) {
    const auto count = static_cast<std::size_t>(s.size());
    using M = std::vector<W>;
    const T* in = c.in<T>(0) + i * s.size();
    M a(in, in + s.size());
    double norm = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double column = 0;
      for (std::int64_t r = 0; r < n; ++r)
        column += std::abs(a[static_cast<std::size_t>(r * n + j)]);
      norm = std::max(norm, column);
      if (!std::isfinite(column)) norm = column, j = n;
    }
    T* out = c.out<T>() + i * s.size();
    if (!std::isfinite(norm)) {
      std::fill_n(out, s.size(), T(static_cast<Real<T>>(kNoNumber)));
      return true;
    }
    const int halvings = norm > 5.37 ? static_cast<int>(std::ceil(std::log2(norm / 5.37))) : 0;
    for (W& x : a) x *= std::ldexp(1., -halvings);
    const auto product = [&](const M& x, const M& y) {
      M z(count);
      gemm<W>(false, false, n, n, n, x.data(), y.data(), z.data());
      return z;
    };
    const M a2 = product(a, a), a4 = product(a2, a2), a6 = product(a4, a2);
    const auto sum = [&](double of6, double of4, double of2, double of0) {
      M z(count);
      for (std::size_t k = 0; k < count; ++k) z[k] = of6 * a6[k] + of4 * a4[k] + of2 * a2[k];
      for (std::int64_t k = 0; k < n; ++k) z[static_cast<std::size_t>(k * n + k)] += of0;
      return z;
    };
    const auto add = [](M x, const M& y, double sign) {
      for (std::size_t k = 0; k < x.size(); ++k) x[k] += sign * y[k];
      return x;
    };
    const M odd = product(
                a, add(product(a6, sum(b[13], b[11], b[9], 0)), sum(b[7], b[5], b[3], b[1]), 1)),
            even = add(product(a6, sum(b[12], b[10], b[8], 0)), sum(b[6], b[4], b[2], b[0]), 1);
    M x = add(even, odd, 1);
    const M below = add(even, odd, -1);
    lu_solve(lu_decompose(below.data(), n), n, x.data(), n);
    for (int k = 0; k < halvings; ++k) x = product(x, x);
    for (std::size_t k = 0; k < count; ++k) out[k] = static_cast<T>(x[k]);
    return true;
  });
}
RILL_KERNEL("MatrixExponential", cpu, TypeSet{float32}, (exponential_of<float, double>));
RILL_KERNEL("MatrixExponential", cpu, TypeSet{float64}, (exponential_of<double, double>));
RILL_KERNEL("MatrixExponential", cpu, TypeSet{complex64},
            (exponential_of<std::complex<float>, Wide>));
RILL_KERNEL("MatrixExponential", cpu, TypeSet{complex128}, (exponential_of<Wide, Wide>));

// ---- eigenvalues of any matrix
void eig_cpu(KernelContext& c) noexcept {
  const Stack s(c.in_shape(0));
  const std::int64_t n = s.rows;
  const bool vectors = c.bool_attr("compute_v");
  const auto run = [&]<class T>() {
    using C = std::complex<Real<T>>;
    for_each_matrix(
        c, n ? s.count : 0, std::min(n, kBlockSize), "has an eigenvalue that was not found",
        [&](std::int64_t i) {
          const T* in = c.in<T>(0) + i * s.size();
          const bool finite = std::all_of(in, in + s.size(), [](T x) {
            return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
          });
          const Schur parts = schur_of(in, n);
          if (finite && !parts.found) return false;
          const auto at = [&](std::int64_t r, std::int64_t k) {
            return parts.t[static_cast<std::size_t>(r * n + k)];
          };
          double size = 0;
          for (const Wide& x : parts.t) size = std::max(size, std::abs(x));
          const double least = size * std::numeric_limits<double>::epsilon() + 1e-300;
          std::vector<Wide> x(static_cast<std::size_t>(n)), v(x.size());
          for (std::int64_t k = 0; k < n; ++k) {
            c.out<C>(0)[i * n + k] = finite ? static_cast<C>(at(k, k)) : C(kNoNumber);
            if (!vectors) continue;
            // Of the triangle: 1 at k, back from there; then turned.
            x[static_cast<std::size_t>(k)] = 1;
            for (std::int64_t r = k; r-- > 0;) {
              Wide sum = 0, gap = at(r, r) - at(k, k);
              for (std::int64_t j = r + 1; j <= k; ++j)
                sum += times(at(r, j), x[static_cast<std::size_t>(j)]);
              if (std::abs(gap) < least) gap = least;
              x[static_cast<std::size_t>(r)] = -sum / gap;
            }
            double square = 0;
            for (std::int64_t r = 0; r < n; ++r) {
              Wide sum = 0;
              for (std::int64_t j = 0; j <= k; ++j)
                sum += times(parts.q[static_cast<std::size_t>(r * n + j)],
                             x[static_cast<std::size_t>(j)]);
              v[static_cast<std::size_t>(r)] = sum, square += std::norm(sum);
            }
            for (std::int64_t r = 0; r < n; ++r)
              c.out<C>(1)[i * n * n + r * n + k] =
                  finite ? static_cast<C>(v[static_cast<std::size_t>(r)] / std::sqrt(square))
                         : C(kNoNumber);
          }
          return true;
        });
  };
  dispatch_matrix(c.in(0).dtype, run);
}
RILL_KERNEL("Eig", cpu, kMatrixTypes, eig_cpu);

}  // namespace
}  // namespace rill::cpu
