#pragma once
#include <cmath>
#include <limits>

#include "rill/kernels/functors/elementary.h"

// The zeta and polygamma functions.
namespace rill::functors {

// The sum of (q + n)^-s over n >= 0: the first terms as they are, the rest by
// Euler and Maclaurin's formula. A negative q needs a term for each integer up
// to 0; below a million of them the answer is NaN.
RILL_HOST_DEVICE inline double hurwitz(double s, double q) {
  if (s == 1) return std::numeric_limits<double>::infinity();
  if (!(s > 1)) return std::numeric_limits<double>::quiet_NaN();
  if (q <= 0) {
    if (q == std::floor(q))  // a pole; of odd powers its sides differ in sign
      return std::fmod(s, 2) == 0 ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    if (s != std::floor(s) || q < -1e6) return std::numeric_limits<double>::quiet_NaN();
  }
  double sum = 0;
  for (; q < 12; q += 1) sum += std::pow(q, -s);
  sum += std::pow(q, 1 - s) / (s - 1) + 0.5 * std::pow(q, -s);
  // Bernoulli numbers B2k / (2k)!
  constexpr double kB[] = {8.3333333333333333e-2,  -1.3888888888888889e-3,  3.3068783068783069e-5,
                           -8.2671957671957672e-7, 2.0876756987868099e-8,   -5.2841901386874932e-10,
                           1.3382536530684679e-11, -3.3896802963225829e-13, 8.5860620562778446e-15};
  double factor = s * std::pow(q, -s - 1);
  for (int k = 0; k < 9; ++k) {
    sum += kB[k] * factor;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
  }
  return sum;
}

struct Zeta : ExactScalar {
  template <class T>
  RILL_HOST_DEVICE static T apply(T s, T q) {
    return static_cast<T>(hurwitz(static_cast<double>(s), static_cast<double>(q)));
  }
};
struct Polygamma : ExactScalar {
  template <class T>
  RILL_HOST_DEVICE static T apply(T a, T x) {
    const double n = static_cast<double>(a), v = static_cast<double>(x);
    if (n == 0) return Digamma::apply(x);
    if (!(n > 0) || n != std::floor(n)) return std::numeric_limits<T>::quiet_NaN();
    const double size = std::tgamma(n + 1) * hurwitz(n + 1, v);
    return static_cast<T>(std::fmod(n, 2) == 0 ? -size : size);
  }
};

}  // namespace rill::functors
