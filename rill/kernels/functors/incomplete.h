#pragma once
#include <cmath>
#include <limits>

#include "rill/kernels/functors/elementary.h"

// The incomplete gamma and beta functions, computed in double: by series or by continued fractions,
// whichever converges fast.
namespace rill::functors::incomplete {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A number and its derivative by the parameter.
struct Dual {
  double v, d = 0;
  RILL_HOST_DEVICE friend Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
  RILL_HOST_DEVICE friend Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
  RILL_HOST_DEVICE friend Dual operator*(Dual a, Dual b) {
    return {a.v * b.v, a.v * b.d + a.d * b.v};
  }
  RILL_HOST_DEVICE friend Dual operator/(Dual a, Dual b) {
    return {a.v / b.v, (a.d - a.v / b.v * b.d) / b.v};
  }
};

RILL_HOST_DEVICE inline double log_gamma(double a) { return Lgamma::apply(a); }

// x^a e^-x / gamma(a + 1). For large a by Stirling's formula, for the terms of the plain form
// cancel.
RILL_HOST_DEVICE inline double gamma_front(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - log_gamma(a + 1));
  const double mu = (x - a) / a, z = 1 / (a * a);
  const double phi = std::fabs(mu) < 0.5 ? std::log1p(mu) - mu : std::log(x / a) - mu;
  const double stirling = (1 / 12. - z * (1 / 360. - z * (1 / 1260. - z / 1680.))) / a;
  return std::exp(a * phi - stirling) / std::sqrt(2 * 3.14159265358979323846 * a);
}

// P(a, x), or Q = 1 - P where `upper`, over front = gamma_front(a, x), and its derivative by a over
// the same. REQUIRES: a and x are positive and finite.
RILL_HOST_DEVICE inline Dual gamma_over_front(double a, double x, bool* upper) {
  // That of log(front) by a.
  const Dual front{1, std::log(x) - Digamma::apply(a + 1)};
  *upper = !(x < a + 1);
  if (!*upper) {  // P = front (1 + x / (a + 1) + ..)
    Dual term{1}, sum{1};
    for (int n = 1; n < 1000000; ++n) {
      term = term * Dual{x} / Dual{a + n, 1};
      sum = sum + term;
      if (term.v < 1e-17 * sum.v && std::fabs(term.d) <= 1e-17 * (std::fabs(sum.d) + sum.v)) break;
    }
    return front * sum;
  }
  // Q = front a / (x + 1 - a - ..): Lentz's method
  constexpr double kTiny = 1e-300;
  Dual b{x + 1 - a, -1}, c{1 / kTiny}, d = Dual{1} / b, h = d;
  for (int n = 1; n < 1000000; ++n) {
    const Dual an = Dual{double(n)} * Dual{a - n, 1};
    b = b + Dual{2};
    d = an * d + b;
    if (std::fabs(d.v) < kTiny) d.v = kTiny;
    c = b + an / c;
    if (std::fabs(c.v) < kTiny) c.v = kTiny;
    d = Dual{1} / d;
    const Dual step = d * c;
    h = h * step;
    if (std::fabs(step.v - 1) < 1e-16 && std::fabs(step.d) < 1e-16) break;
  }
  return front * Dual{a, 1} * h;
}

// P(a, x), or Q = 1 - P, and its derivative by a. Where there is no such number, what TensorFlow
// says: P(a, 0) is 0 for all a, of two infinities P and Q are 0.
RILL_HOST_DEVICE inline Dual gamma_ratio(double a, double x, bool upper) {
  if (x == 0 && !upper) return {0, 0};
  if (!(a > 0) || !(x >= 0)) return {kNaN, kNaN};
  if (x == 0) return {1, 0};
  if (std::isinf(x)) return {std::isinf(a) || upper ? 0. : 1., 0};
  if (std::isinf(a)) return {upper ? 1. : 0., 0};
  bool is_upper;
  const Dual y = Dual{gamma_front(a, x)} * gamma_over_front(a, x, &is_upper);
  return is_upper == upper ? y : Dual{1 - y.v, -y.d};
}

// The continued fraction of the incomplete beta function.
RILL_HOST_DEVICE inline double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double h = d;
  for (int m = 1; m < 100000; ++m) {
    double step = 1;
    for (int half = 0; half < 2; ++half) {
      const double t = half == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                 : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 + t * d;
      if (std::fabs(d) < kTiny) d = kTiny;
      c = 1 + t / c;
      if (std::fabs(c) < kTiny) c = kTiny;
      d = 1 / d;
      h *= step = d * c;
    }
    if (std::fabs(step - 1) < 1e-16) break;
  }
  return h;
}
RILL_HOST_DEVICE inline double beta_ratio(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) return kNaN;
  if (x == 0 || x == 1) return x;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace rill::functors::incomplete

namespace rill::functors {

struct Igamma : ExactScalar {
  template <class T>
  RILL_HOST_DEVICE static T apply(T a, T x) {
    return static_cast<T>(
        incomplete::gamma_ratio(static_cast<double>(a), static_cast<double>(x), false).v);
  }
};
struct Igammac : ExactScalar {
  template <class T>
  RILL_HOST_DEVICE static T apply(T a, T x) {
    return static_cast<T>(
        incomplete::gamma_ratio(static_cast<double>(a), static_cast<double>(x), true).v);
  }
};
// dP(a, x) / da
struct IgammaGradA : ExactScalar {
  template <class T>
  RILL_HOST_DEVICE static T apply(T a, T x) {
    return static_cast<T>(
        incomplete::gamma_ratio(static_cast<double>(a), static_cast<double>(x), false).d);
  }
};

// How a gamma variable of parameter alpha changes with it, at the same quantile: minus dP / da over
// the density, front a / x.
struct GammaSlope : ExactScalar {
  template <class T>
  RILL_HOST_DEVICE static T apply(T alpha, T sample) {
    const double a = static_cast<double>(alpha), x = static_cast<double>(sample);
    if (!(a > 0) || !(x >= 0) || std::isinf(a) || std::isinf(x))
      return static_cast<T>(incomplete::kNaN);
    if (x == 0) return T(0);
    bool upper;
    const double d = incomplete::gamma_over_front(a, x, &upper).d;
    return static_cast<T>((upper ? d : -d) * x / a);
  }
};

}  // namespace rill::functors
