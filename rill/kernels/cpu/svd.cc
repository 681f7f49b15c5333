// Singular values: reflections make the matrix bidiagonal, rotations diagonal
// (Golub and Reinsch). float is computed in double.
#include <limits>

#include "rill/kernels/cpu/householder.h"

namespace rill::cpu {
namespace {

// The bidiagonal matrix with diagonal d and e above it becomes diagonal, d its
// values, the largest first; ut [.., m] and vt [.., n] take part in every
// rotation (empty: not wanted). False when it does not come to an end.
template <class T>
bool diagonalize(std::vector<double>& d, std::vector<double>& e, std::vector<T>& ut, std::int64_t m,
                 std::vector<T>& vt, std::int64_t n) {
  constexpr double eps = std::numeric_limits<double>::epsilon(), tiny = 1e-290;
  auto at = [](std::vector<double>& list, std::int64_t i) -> double& {
    return list[static_cast<std::size_t>(i)];
  };
  std::int64_t steps = 0;
  const auto count = static_cast<std::int64_t>(d.size());
  for (std::int64_t p = count; p > 0;) {
    // The block [k, p) at the end in which no e is negligible.
    std::int64_t k = p - 1;
    for (; k > 0; --k)
      if (std::abs(at(e, k - 1)) <= tiny + eps * (std::abs(at(d, k - 1)) + std::abs(at(d, k)))) {
        at(e, k - 1) = 0;
        break;
      }
    if (k == p - 1) {  // one value is found
      if (at(d, k) < 0) {
        at(d, k) = -at(d, k);
        for (std::int64_t j = 0; j < n && !vt.empty(); ++j)
          vt[static_cast<std::size_t>(k * n + j)] = -vt[static_cast<std::size_t>(k * n + j)];
      }
      --p, steps = 0;
      continue;
    }
    if (++steps > 100) return false;
    // A d that is negligible splits the block: rotations take e beside it away.
    std::int64_t zero = p - 1;
    for (; zero >= k; --zero) {
      const double beside =
          (zero < p - 1 ? std::abs(at(e, zero)) : 0) + (zero > k ? std::abs(at(e, zero - 1)) : 0);
      if (std::abs(at(d, zero)) <= tiny + eps * beside) break;
    }
    if (zero == p - 1) {
      at(d, zero) = 0;
      double f = at(e, p - 2);
      at(e, p - 2) = 0;
      for (std::int64_t j = p - 2; j >= k; --j) {
        const double t = std::hypot(at(d, j), f), cs = at(d, j) / t, sn = f / t;
        at(d, j) = t;
        if (j > k) f = -sn * at(e, j - 1), at(e, j - 1) *= cs;
        rotate(vt, n, j, p - 1, cs, sn);
      }
      continue;
    }
    if (zero >= k) {
      at(d, zero) = 0;
      double f = at(e, zero);
      at(e, zero) = 0;
      for (std::int64_t j = zero + 1; j < p; ++j) {
        const double t = std::hypot(at(d, j), f), cs = at(d, j) / t, sn = f / t;
        at(d, j) = t;
        if (j < p - 1) f = -sn * at(e, j), at(e, j) *= cs;
        rotate(ut, m, j, zero, cs, sn);
      }
      continue;
    }
    // One step of QR with the shift of the last 2 x 2.
    const double scale = std::max({std::abs(at(d, p - 1)), std::abs(at(d, p - 2)),
                                   std::abs(at(e, p - 2)), std::abs(at(d, k)), std::abs(at(e, k))});
    const double sp = at(d, p - 1) / scale, sq = at(d, p - 2) / scale, eq = at(e, p - 2) / scale,
                 sk = at(d, k) / scale, ek = at(e, k) / scale;
    const double b = ((sq + sp) * (sq - sp) + eq * eq) / 2, c = sp * eq * (sp * eq);
    double shift = 0;
    if (b != 0 || c != 0) shift = c / (b + std::copysign(std::sqrt(b * b + c), b));
    double f = (sk + sp) * (sk - sp) + shift, g = sk * ek;
    for (std::int64_t j = k; j < p - 1; ++j) {
      double t = std::hypot(f, g), cs = f / t, sn = g / t;
      if (j > k) at(e, j - 1) = t;
      f = cs * at(d, j) + sn * at(e, j);
      at(e, j) = cs * at(e, j) - sn * at(d, j);
      g = sn * at(d, j + 1);
      at(d, j + 1) *= cs;
      rotate(vt, n, j, j + 1, cs, sn);
      t = std::hypot(f, g), cs = f / t, sn = g / t;
      at(d, j) = t;
      f = cs * at(e, j) + sn * at(d, j + 1);
      at(d, j + 1) = cs * at(d, j + 1) - sn * at(e, j);
      if (j < p - 2) g = sn * at(e, j + 1), at(e, j + 1) *= cs;
      rotate(ut, m, j, j + 1, cs, sn);
    }
    at(e, p - 2) = f;
  }
  return true;
}

template <class T>
struct Result {
  std::vector<double> s;
  std::vector<T> ut, vt;  // vectors as rows
};

// a [m, n] with m >= n; u [m, columns].
template <class T>
bool decompose(std::vector<T> a, std::int64_t m, std::int64_t n, std::int64_t columns, bool vectors,
               Result<T>& out) {
  std::vector<double> d, e;
  std::vector<T> left, right, scratch(static_cast<std::size_t>(std::max(m, n)));
  auto at = [&](std::int64_t i, std::int64_t j) { return a.data() + i * n + j; };
  for (std::int64_t k = 0; k < n; ++k) {
    double beta;
    left.push_back(make_reflection(at(k, k), m - k, n, &beta));
    d.push_back(beta);
    reflect_rows(at(k, k + 1), n, n - k - 1, at(k, k), m - k, n, left.back(), scratch.data());
    if (k + 1 == n) break;
    // Row k from k + 1 on, conjugated, is turned to a real multiple of the first.
    const std::int64_t len = n - k - 1;
    T* row = at(k, k + 1);
    for (std::int64_t j = 0; j < len; ++j) row[j] = conjugate(row[j]);
    right.push_back(make_reflection(row, len, 1, &beta));
    e.push_back(beta);
    const T tau = conjugate(right.back());
    if (tau != T(0))
      for (std::int64_t i = k + 1; i < m; ++i) {  // a_i -= tau (a_i v) v'
        T* x = at(i, k + 1);
        T dot = x[0];
        for (std::int64_t j = 1; j < len; ++j) dot += times(x[j], row[j]);
        dot = times(dot, tau);
        x[0] -= dot;
        for (std::int64_t j = 1; j < len; ++j) x[j] -= times(dot, conjugate(row[j]));
      }
  }
  if (vectors) {
    std::vector<T> u(static_cast<std::size_t>(m * columns)), v(static_cast<std::size_t>(n * n));
    scratch.resize(static_cast<std::size_t>(std::max(columns, n)));
    write_q(u.data(), m, columns, a.data(), n + 1, n, left, 0, scratch.data());
    write_q(v.data(), n, n, a.data() + 1, n + 1, 1, right, 1, scratch.data());
    out.ut = turned(u, m, columns);
    out.vt = turned(v, n, n);
  }
  if (!diagonalize(d, e, out.ut, m, out.vt, n)) return false;
  // The largest first.
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < n; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t k) {
    return d[static_cast<std::size_t>(i)] > d[static_cast<std::size_t>(k)];
  });
  auto reorder = [&](std::vector<T>& rows, std::int64_t width) {
    std::vector<T> old = rows;
    for (std::size_t i = 0; i < order.size() && !rows.empty(); ++i)
      std::copy_n(old.data() + order[i] * width, width,
                  rows.data() + static_cast<std::int64_t>(i) * width);
  };
  reorder(out.ut, m);
  reorder(out.vt, n);
  for (std::int64_t i : order) out.s.push_back(d[static_cast<std::size_t>(i)]);
  return true;
}

// W is T in double.
template <class T, class W>
void svd_of(KernelContext& c) noexcept {
  const Stack a(c.in_shape(0));
  const bool vectors = c.bool_attr("compute_uv"), full = c.bool_attr("full_matrices"),
             wide = a.rows < a.cols;
  const std::int64_t k = std::min(a.rows, a.cols), m = std::max(a.rows, a.cols);
  for_each_matrix(
      c, a.count, std::min(m, kBlockSize), "has a singular value that was not found",
      [&](std::int64_t i) {
        std::vector<W> matrix(c.in<T>(0) + i * a.size(), c.in<T>(0) + (i + 1) * a.size());
        const bool finite = std::all_of(matrix.begin(), matrix.end(), [](const W& x) {
          return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
        });
        if (wide) {  // a' = v s u'
          std::vector<W> adjoint(matrix.size());
          write_adjoint(matrix.data(), a.rows, a.cols, adjoint.data());
          matrix.swap(adjoint);
        }
        Result<W> r;
        const std::int64_t columns = full ? m : k;
        if (!finite) {
          const double nan = std::numeric_limits<double>::quiet_NaN();
          r.s.assign(static_cast<std::size_t>(k), nan);
          r.ut.assign(static_cast<std::size_t>(m * columns), W(nan));
          r.vt.assign(static_cast<std::size_t>(k * k), W(nan));
        } else if (!decompose(std::move(matrix), m, k, columns, vectors, r)) {
          return false;
        }
        for (std::int64_t j = 0; j < k; ++j)
          c.out<T>(0)[i * k + j] = T(static_cast<Real<T>>(r.s[static_cast<std::size_t>(j)]));
        if (!vectors) return true;
        auto write = [&](int output, const std::vector<W>& rows, std::int64_t count,
                         std::int64_t width) {
          T* to = c.out<T>(output) + i * count * width;
          for (std::int64_t p = 0; p < width; ++p)
            for (std::int64_t q = 0; q < count; ++q)
              to[p * count + q] = static_cast<T>(rows[static_cast<std::size_t>(q * width + p)]);
        };
        write(wide ? 2 : 1, r.ut, columns, m);
        write(wide ? 1 : 2, r.vt, k, k);
        return true;
      });
}
RILL_KERNEL("Svd", cpu, TypeSet{float32}, (svd_of<float, double>));
RILL_KERNEL("Svd", cpu, TypeSet{float64}, (svd_of<double, double>));
RILL_KERNEL("Svd", cpu, TypeSet{complex64}, (svd_of<std::complex<float>, std::complex<double>>));
RILL_KERNEL("Svd", cpu, TypeSet{complex128}, (svd_of<std::complex<double>, std::complex<double>>));

}  // namespace
}  // namespace rill::cpu
