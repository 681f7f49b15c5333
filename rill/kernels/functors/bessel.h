#pragma once
#include <cmath>
#include <limits>

#include "rill/kernels/functors/elementary.h"

// Bessel functions of the orders 0 and 1, and some integrals that no elementary function gives. All
// are computed in double: power series near 0, asymptotic series far away, and between them
// integrals by the trapezoidal rule, which converges exponentially for what decays on both sides.
namespace rill::functors::special {

inline constexpr double kEuler = 0.57721566490153286061, kPi = 3.14159265358979323846,
                        kInfinity = std::numeric_limits<double>::infinity(),
                        kNaN = std::numeric_limits<double>::quiet_NaN();

// sum over k of (x^2 / 4)^k / (k! (k + order)!); all terms are positive.
RILL_HOST_DEVICE inline double i_series(double x, int order) {
  const double z = x * x / 4;
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17; ++k) sum += term *= z / (k * (k + order));
  return sum;
}
// Hankel's expansion: the sum of the coefficients of order `n` times (sign / x)^k.
RILL_HOST_DEVICE inline double hankel(double x, int n, double sign) {
  const double mu = 4. * n * n;
  double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1, next = term * sign * (mu - odd * odd) / (k * 8 * x);
    if (!(std::fabs(next) < std::fabs(term)) || std::fabs(next) < 1e-18 * std::fabs(sum)) break;
    sum += term = next;
  }
  return sum;
}
// e^-|x| I_n(x)
RILL_HOST_DEVICE inline double scaled_i(double x, int n) {
  const double a = std::fabs(x);
  double y;
  if (a != a) return a;
  if (a == kInfinity)
    y = 0;
  else if (a < 30)
    y = std::exp(-a) * i_series(a, n) * (n == 0 ? 1 : a / 2);
  else
    y = hankel(a, n, -1) / std::sqrt(2 * kPi * a);
  return n == 1 && x < 0 ? -y : y;
}
// I_n(x); two factors, for e^x is infinite before I_n is.
RILL_HOST_DEVICE inline double bessel_i(double x, int n) {
  const double half = std::exp(std::fabs(x) / 2), y = scaled_i(x, n);
  return half == kInfinity ? (x < 0 && n == 1 ? -kInfinity : kInfinity) : y * half * half;
}
// e^x K_n(x)
RILL_HOST_DEVICE inline double scaled_k(double x, int n) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNaN;
  if (x > 30) return x == kInfinity ? 0 : std::sqrt(kPi / (2 * x)) * hankel(x, n, 1);
  if (x <= 2) {
    const double z = x * x / 4;
    double term = 1, harmonic = 0, sum = 0;
    if (n == 0) {
      for (int k = 1; k < 40; ++k)
        term *= z / (double(k) * k), harmonic += 1. / k, sum += term * harmonic;
      return std::exp(x) * (sum - (std::log(x / 2) + kEuler) * i_series(x, 0));
    }
    for (int k = 0; k < 40; ++k) {
      if (k > 0) term *= z / (k * (k + 1.)), harmonic += 1. / k;
      sum += term * (2 * harmonic + 1. / (k + 1) - 2 * kEuler);
    }
    return std::exp(x) * (1 / x + std::log(x / 2) * (x / 2) * i_series(x, 1) - x / 4 * sum);
  }
  // The integral of exp(-x (cosh t - 1)) cosh(n t) from 0.
  constexpr double h = 0.125;
  double sum = 0.5;
  for (int k = 1;; ++k) {
    const double c = std::cosh(k * h), e = std::exp(-x * (c - 1)) * (n == 0 ? 1 : c);
    sum += e;
    if (e < 1e-18) return sum * h;
  }
}

// Dawson's integral: e^-x^2 times the integral of e^t^2 from 0 to x.
RILL_HOST_DEVICE inline double dawson(double x) {
  const double a = std::fabs(x);
  if (a != a) return a;
  double y;
  if (a < 1) {
    double term = a;
    y = a;
    for (int k = 1; k < 40; ++k) y += term *= -2 * a * a / (2 * k + 1);
  } else if (a > 12) {
    const double z = 1 / (2 * a * a);
    double term = 1;
    y = 1;
    for (int k = 1; k < 20; ++k) y += term *= (2 * k - 1) * z;
    y /= 2 * a;
  } else {  // Rybicki: the sum of e^-(x - n h)^2 / n over odd n
    constexpr double h = 0.25;
    const int middle = 2 * static_cast<int>(a / (2 * h)) + 1;
    y = 0;
    for (int n = middle - 52; n <= middle + 52; n += 2) {
      const double d = a - n * h;
      y += std::exp(-d * d) / n;
    }
    y /= std::sqrt(kPi);
  }
  return x < 0 ? -y : y;
}

// The exponential integral Ei(x) of positive x.
RILL_HOST_DEVICE inline double exponential_integral(double x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNaN;
  if (x == kInfinity) return x;
  double term = 1, sum = 0;
  if (x < 40) {
    for (int k = 1; k < 200 && (k < x || term > 1e-18 * sum); ++k) sum += (term *= x / k) / k;
    return kEuler + std::log(x) + sum;
  }
  sum = 1;
  for (int k = 1; k < x && term > 1e-18; ++k) sum += term *= k / x;
  return std::exp(x) / x * sum;
}

// The integrals of cos and sin of pi t^2 / 2 from 0 to x.
RILL_HOST_DEVICE inline double fresnel(double x, bool sine) {
  const double a = std::fabs(x);
  if (a != a) return a;
  double y;
  if (a == kInfinity) {
    y = 0.5;
  } else if (a < 1.5) {
    const double z = kPi / 2 * a * a;
    double term = sine ? z * a : a;
    y = sine ? term / 3 : term;
    for (int k = 1; k < 30; ++k) {
      const int m = 2 * k + (sine ? 1 : 0);
      term *= -z * z / (m * (m - 1.));
      y += term / (2 * m + 1);
    }
  } else {
    double f, g;
    if (a <
        4) {  // (sqrt(2) / pi) times integrals of e^(-pi x^2 u^2 / 2) / (1 + u^4) and of u^2 that
      constexpr double h = 0.1;
      f = 0.5, g = 0;
      for (int k = 1; k < 60; ++k) {
        const double u = k * h, e = std::exp(-kPi / 2 * a * a * u * u) / (1 + u * u * u * u);
        f += e, g += u * u * e;
      }
      f *= h * std::sqrt(2.) / kPi, g *= h * std::sqrt(2.) / kPi;
    } else {
      const double z = 1 / (kPi * a * a);
      double tf = 1, tg = 1;
      f = g = 1;
      for (int k = 1; k < 12; ++k) {
        f += tf *= -(4 * k - 3.) * (4 * k - 1.) * z * z;
        g += tg *= -(4 * k - 1.) * (4 * k + 1.) * z * z;
      }
      f /= kPi * a, g *= z / (kPi * a);
    }
    // x^2 / 2 beyond its whole turns, so that large x keep their phase.
    const double turns = a * a / 4, phase = 2 * kPi * (turns - std::floor(turns));
    const double c = std::cos(phase), s = std::sin(phase);
    y = sine ? 0.5 - f * c - g * s : 0.5 + f * s - g * c;
  }
  return x < 0 ? -y : y;
}

// Spence's function: the integral of log(t) / (1 - t) from 1 to x.
RILL_HOST_DEVICE inline double spence(double x) {
  if (!(x >= 0)) return kNaN;
  if (x == 0) return kPi * kPi / 6;
  if (x == kInfinity) return -kInfinity;
  if (x > 1.5) {
    const double l = std::log(x);
    return -l * l / 2 - spence(1 / x);
  }
  if (x < 0.5) return kPi * kPi / 6 - std::log(x) * std::log1p(-x) - spence(1 - x);
  // With u = -log(x): the sum of B_n u^(n + 1) / (n + 1)!
  const double u = -std::log(x), z = u * u;
  constexpr double kB[] = {1 / 36.,           -1 / 3600.,     1 / 211680.,
                           -1 / 10886400.,    1 / 526901760., -691 / 16999766784000.,
                           1 / 1120863744000.};
  double sum = 0, power = u * z;
  for (const double b : kB) sum += b * power, power *= z;
  return u - z / 4 + sum;
}

}  // namespace rill::functors::special

namespace rill::functors {

#define RILL_SPECIAL(Name, ...)                    \
  struct Name : ExactScalar {                      \
    template <class T>                             \
    RILL_HOST_DEVICE static T apply(T value) {     \
      const double x = static_cast<double>(value); \
      return static_cast<T>(__VA_ARGS__);          \
    }                                              \
  };
RILL_SPECIAL(BesselI0, special::bessel_i(x, 0))
RILL_SPECIAL(BesselI1, special::bessel_i(x, 1))
RILL_SPECIAL(BesselI0e, special::scaled_i(x, 0))
RILL_SPECIAL(BesselI1e, special::scaled_i(x, 1))
RILL_SPECIAL(BesselK0, std::exp(-x) * special::scaled_k(x, 0))
RILL_SPECIAL(BesselK1, std::exp(-x) * special::scaled_k(x, 1))
RILL_SPECIAL(BesselK0e, special::scaled_k(x, 0))
RILL_SPECIAL(BesselK1e, special::scaled_k(x, 1))
RILL_SPECIAL(BesselJ0, ::j0(x))
RILL_SPECIAL(BesselJ1, ::j1(x))
RILL_SPECIAL(BesselY0, x < 0 ? special::kNaN : ::y0(x))
RILL_SPECIAL(BesselY1, x < 0 ? special::kNaN : ::y1(x))
RILL_SPECIAL(Dawsn, special::dawson(x))
RILL_SPECIAL(Expint, special::exponential_integral(x))
RILL_SPECIAL(FresnelCos, special::fresnel(x, false))
RILL_SPECIAL(FresnelSin, special::fresnel(x, true))
RILL_SPECIAL(Spence, special::spence(x))
#undef RILL_SPECIAL

}  // namespace rill::functors
