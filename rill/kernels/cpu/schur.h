#pragma once
#include <cmath>
#include <limits>

#include "rill/kernels/cpu/householder.h"

// The Schur decomposition a = q t q', t upper triangular and q unitary, of any square matrix, and
// what is easy on triangles. In double precision.
namespace rill::cpu {

using Wide = std::complex<double>;
using WideMatrix = std::vector<Wide>;  // [n, n]

struct Schur {
  WideMatrix t, q;
  bool found = true;  // false: not finite, or it did not come to an end
};

// Rows i and i + 1 of the columns [first, n): g = [c' s'; -s c].
inline void rotate_rows(WideMatrix& a, std::int64_t n, std::int64_t i, std::int64_t first, Wide c,
                        Wide s) {
  Wide *x = a.data() + i * n, *y = x + n;
  for (std::int64_t j = first; j < n; ++j) {
    const Wide u = x[j], v = y[j];
    x[j] = times(std::conj(c), u) + times(std::conj(s), v);
    y[j] = times(c, v) - times(s, u);
  }
}
// Columns i and i + 1 of the first `rows` rows, by its adjoint.
inline void rotate_columns(WideMatrix& a, std::int64_t n, std::int64_t i, std::int64_t rows, Wide c,
                           Wide s) {
  for (std::int64_t r = 0; r < rows; ++r) {
    Wide* x = a.data() + r * n + i;
    const Wide u = x[0], v = x[1];
    x[0] = times(u, c) + times(v, s);
    x[1] = times(v, std::conj(c)) - times(u, std::conj(s));
  }
}

// Zeros below the first subdiagonal, by reflections from both sides.
inline void make_hessenberg(Schur& out, std::int64_t n) {
  WideMatrix v(static_cast<std::size_t>(n)), scratch(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k + 2 < n; ++k) {
    const std::int64_t len = n - k - 1;
    Wide* column = out.t.data() + (k + 1) * n + k;
    double beta;
    const Wide tau = make_reflection(column, len, n, &beta), back = std::conj(tau);
    v[0] = 1;
    for (std::int64_t i = 1; i < len; ++i) v[static_cast<std::size_t>(i)] = column[i * n];
    reflect_rows(column + 1, n, len, column, len, n, tau, scratch.data());
    column[0] = beta;
    for (std::int64_t i = 1; i < len; ++i) column[i * n] = 0;
    for (WideMatrix* m : {&out.t, &out.q})
      for (std::int64_t r = 0; r < n; ++r) {
        Wide *x = m->data() + r * n + k + 1, dot = 0;
        for (std::int64_t j = 0; j < len; ++j) dot += times(x[j], v[static_cast<std::size_t>(j)]);
        dot = times(dot, back);
        for (std::int64_t j = 0; j < len; ++j)
          x[j] -= times(dot, std::conj(v[static_cast<std::size_t>(j)]));
      }
  }
}

// The eigenvalue of the last 2 x 2 block of [.., last] that is nearer to its corner.
inline Wide wilkinson_shift(const WideMatrix& t, std::int64_t n, std::int64_t last) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return t[static_cast<std::size_t>(i * n + j)];
  };
  const Wide a = at(last - 1, last - 1), d = at(last, last),
             bc = times(at(last - 1, last), at(last, last - 1)), half = (a - d) * 0.5,
             root = std::sqrt(times(half, half) + bc);
  const Wide far = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return far == Wide(0) ? d : d - bc / far;
}

template <class T>
Schur schur_of(const T* matrix, std::int64_t n) {
  Schur out;
  out.t.assign(matrix, matrix + n * n);
  out.q.assign(static_cast<std::size_t>(n * n), 0);
  for (std::int64_t i = 0; i < n; ++i) out.q[static_cast<std::size_t>(i * n + i)] = 1;
  double size = 0;
  for (const Wide& x : out.t) size += std::abs(x);
  out.found = std::isfinite(size);
  if (!out.found || n < 2) return out;
  make_hessenberg(out, n);
  const auto at = [&](std::int64_t i, std::int64_t j) -> Wide& {
    return out.t[static_cast<std::size_t>(i * n + j)];
  };
  constexpr double eps = std::numeric_limits<double>::epsilon();
  std::vector<std::pair<Wide, Wide>> turns;
  int steps = 0;
  for (std::int64_t last = n - 1; last > 0;) {
    std::int64_t first = last;  // the block in which no subdiagonal is negligible
    for (; first > 0; --first) {
      double around = std::abs(at(first, first)) + std::abs(at(first - 1, first - 1));
      if (around == 0) around = size;
      if (std::abs(at(first, first - 1)) > eps * around) continue;
      at(first, first - 1) = 0;
      break;
    }
    if (first == last) {
      --last, steps = 0;
      continue;
    }
    if (++steps > 300) {
      out.found = false;
      return out;
    }
    // An odd shift now and then ends cycles.
    const Wide shift = steps % 10 ? wilkinson_shift(out.t, n, last)
                                  : at(last, last) + std::abs(at(last, last - 1));
    for (std::int64_t i = first; i <= last; ++i) at(i, i) -= shift;
    turns.clear();
    for (std::int64_t i = first; i < last; ++i) {
      const Wide a = at(i, i), b = at(i + 1, i);
      const double r = std::hypot(std::abs(a), std::abs(b));
      turns.emplace_back(r == 0 ? Wide(1) : a / r, r == 0 ? Wide(0) : b / r);
      rotate_rows(out.t, n, i, i, turns.back().first, turns.back().second);
      at(i + 1, i) = 0;
    }
    for (std::int64_t i = first; i < last; ++i) {
      const auto [c, s] = turns[static_cast<std::size_t>(i - first)];
      rotate_columns(out.t, n, i, i + 2, c, s);
      rotate_columns(out.q, n, i, n, c, s);
    }
    for (std::int64_t i = first; i <= last; ++i) at(i, i) += shift;
  }
  return out;
}

// The root of an upper triangular matrix, the eigenvalues with a positive real part.
inline WideMatrix triangular_root(const WideMatrix& t, std::int64_t n) {
  WideMatrix r(t.size());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i >= 0; --i) {
      Wide x = t[static_cast<std::size_t>(i * n + j)];
      if (i == j) {
        r[static_cast<std::size_t>(i * n + j)] = std::sqrt(x);
        continue;
      }
      for (std::int64_t k = i + 1; k < j; ++k)
        x -= times(r[static_cast<std::size_t>(i * n + k)], r[static_cast<std::size_t>(k * n + j)]);
      const Wide sum =
          r[static_cast<std::size_t>(i * n + i)] + r[static_cast<std::size_t>(j * n + j)];
      r[static_cast<std::size_t>(i * n + j)] = x == Wide(0) ? x : x / sum;
    }
  return r;
}

// q t q'
inline WideMatrix turned_back(const Schur& s, std::int64_t n) {
  WideMatrix left(s.t.size()), right(s.t.size()), out(s.t.size());
  gemm<Wide>(false, false, n, n, n, s.q.data(), s.t.data(), left.data());
  write_adjoint(s.q.data(), n, n, right.data());
  gemm<Wide>(false, false, n, n, n, left.data(), right.data(), out.data());
  return out;
}

}  // namespace rill::cpu
