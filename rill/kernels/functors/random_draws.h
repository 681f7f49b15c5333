#pragma once
#include <limits>
#include <type_traits>

#include "rill/kernels/functors/elementary.h"
#include "rill/kernels/functors/random_element.h"
#include "rill/ops/random/seeds.h"

// Numbers of distributions with parameters, drawn by rejection. For the same generator they are
// those of TensorFlow 2.15: it draws whole groups and uses most of them from the last number to
// the first. Each sample has a generator of its own, so that samples may be split over threads.
namespace rill::functors {

template <class T>
inline constexpr int kDrawn = sizeof(T) == 8 ? 2 : 4;

template <class T>
RILL_HOST_DEVICE std::array<T, kDrawn<T>> draw_uniform(Philox& gen) {
  const Philox::Group x = gen();
  if constexpr (sizeof(T) == 8)
    return {unit_double(x[0], x[1]), unit_double(x[2], x[3])};
  else
    return {unit_float(x[0]), unit_float(x[1]), unit_float(x[2]), unit_float(x[3])};
}
template <class T>
RILL_HOST_DEVICE std::array<T, kDrawn<T>> draw_normal(Philox& gen) {
  const Philox::Group x = gen();
  if constexpr (sizeof(T) == 8) {
    return box_muller(x[0], x[1], x[2], x[3]);
  } else {
    const auto a = box_muller(x[0], x[1]), b = box_muller(x[2], x[3]);
    return {a[0], a[1], b[0], b[1]};
  }
}

// One number after the other. `kNormal`: of the normal distribution, else uniform.
template <class T, bool kNormal>
class FromLast {
 public:
  RILL_HOST_DEVICE T operator()(Philox& gen) {
    if (left_ == 0) {
      if constexpr (kNormal)
        group_ = draw_normal<T>(gen);
      else
        group_ = draw_uniform<T>(gen);
      left_ = kDrawn<T>;
    }
    return group_[static_cast<std::size_t>(--left_)];
  }

 private:
  std::array<T, kDrawn<T>> group_{};
  int left_ = 0;
};
template <class T>
using Uniforms = FromLast<T, false>;
template <class T>
using Normals = FromLast<T, true>;

// The stream of sample number `index`.
RILL_HOST_DEVICE inline Philox own_stream(Philox gen, std::uint64_t index) {
  gen.skip(kReservedPerNumber * index);
  return gen;
}

// A count as an element; NaN has no integer.
template <class T>
RILL_HOST_DEVICE T as_count(double x) {
  if constexpr (std::is_integral_v<T>)
    return std::isnan(x) ? std::numeric_limits<T>::lowest() : static_cast<T>(x);
  else
    return static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(x));
}

// Marsaglia and Tsang, "A simple method for generating gamma variables".
RILL_HOST_DEVICE inline double sample_gamma(double alpha, Philox gen) {
  Uniforms<double> uniform;
  Normals<double> normal;
  if (alpha == 1) return -std::log1p(-uniform(gen));
  const bool small = alpha < 1;  // that of alpha + 1, scaled by a power
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  for (;;) {
    const double x = normal(gen), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = uniform(gen);
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v)))
      return small ? d * v * std::pow(uniform(gen), 1 / alpha) : d * v;
  }
}

// Small rates by Knuth's product of uniform numbers, others by Hoermann's transformed rejection
// (PTRS).
RILL_HOST_DEVICE inline double sample_poisson(double rate, Philox gen) {
  Uniforms<double> uniform;
  if (!std::isfinite(rate)) return std::numeric_limits<double>::quiet_NaN();
  if (rate < 10) {
    const double limit = std::exp(-rate);
    double product = 1, count = 0;
    while ((product = product * uniform(gen)) > limit) count += 1;
    return count;
  }
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    const double u = uniform(gen) - 0.5, v = uniform(gen);
    const double shifted = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    const double s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
    if (s <= -rate + k * log_rate - Lgamma::apply(k + 1)) return k;
  }
}

// How many geometric variables fit into `count`; for means up to 10.
RILL_HOST_DEVICE inline double binomial_by_inversion(double count, double prob, Philox gen) {
  Uniforms<double> uniform;
  double sum = 0, successes = 0;
  for (;; ++successes) {
    sum += std::ceil(std::log(uniform(gen)) / std::log1p(-prob));
    if (!(sum <= count)) return successes;
  }
}

// What Stirling's formula leaves out of log(k!).
RILL_HOST_DEVICE inline double stirling_tail(double k) {
  static constexpr double kTails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k <= 9) return kTails[static_cast<int>(k)];
  const double next = k + 1, square = next * next;
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / next;
}

// Hoermann's transformed rejection (BTRS); for means of 10 and more.
RILL_HOST_DEVICE inline double binomial_by_rejection(double count, double prob, Philox gen) {
  Uniforms<double> uniform;
  const double stddev = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * stddev, a = -0.0873 + 0.0248 * b + 0.01 * prob;
  const double c = count * prob + 0.5, v_r = 0.92 - 4.2 / b, r = prob / (1 - prob);
  const double alpha = (2.83 + 5.1 / b) * stddev, m = std::floor((count + 1) * prob);
  for (;;) {
    const double u = uniform(gen) - 0.5, v = uniform(gen);
    const double us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_tail(m) +
                         stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

// Sample number `index` of a binomial distribution. T: the type of the parameters.
template <class T>
RILL_HOST_DEVICE double sample_binomial(T count, T prob, const Philox& stream,
                                        std::uint64_t index) {
  const double n = static_cast<double>(count), p = static_cast<double>(prob);
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (!std::isfinite(n) || std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
  const bool often = p > 0.5;
  const T rare = often ? static_cast<T>(T(1) - prob) : prob;
  const bool many = static_cast<double>(static_cast<T>(count * rare)) >= 10;
  Philox gen = stream;
  gen.skip((many ? 256 : 42) * index);
  const double q = static_cast<double>(rare);
  const double k = many ? binomial_by_rejection(n, q, gen) : binomial_by_inversion(n, q, gen);
  return often ? n - k : k;
}

// Normal numbers between bounds: of the normal distribution itself where the bounds are far
// enough, else of a uniform one, or of an exponential one beyond a bound.
template <class T>
class BoundedNormal {
 public:
  BoundedNormal(T mean, T stddev, T low, T high)
      : mean_(mean),
        stddev_(stddev),
        valid_(stddev > T(0) && low < high && (std::isfinite(low) || std::isfinite(high))) {
    // A single bound is the lower one; two bounds on one side of the mean are above it.
    if ((std::isinf(low) && low < T(0)) || high < mean) std::swap(low, high), stddev_ = -stddev_;
    low_ = (low - mean) / stddev_;
    high_ = (high - mean) / stddev_;
  }
  bool valid() const { return valid_; }

  // n numbers, one after the other from the same generator; false after very many rejections.
  template <class Put>
  bool draw(Philox& gen, std::int64_t n, Put put) const {
    constexpr T kInside = T(1.3);
    const T root = std::sqrt(low_ * low_ + T(4));
    const T cutoff = T(2) * std::exp(T(0.5) + (low_ * (low_ - root)) / T(4)) / (low_ + root);
    if ((low_ < -kInside && high_ >= T(0)) || (high_ > kInside && low_ <= T(0)))
      return from_normal(gen, n, put);
    return high_ - low_ < cutoff ? from_uniform(gen, n, put) : from_exponential(gen, n, put);
  }

 private:
  // Takes what is accepted, until there is enough; gives up after very many rejections in a row.
  template <class Put>
  class Sink {
   public:
    Sink(const BoundedNormal& of, std::int64_t n, Put put) : of_(of), n_(n), put_(put) {}
    bool open() const { return count_ < n_ && rejected_ <= 1000; }
    bool full() const { return count_ == n_; }
    void offer(bool accepted, T z) {
      if (!open()) return;
      rejected_ = accepted ? 0 : rejected_ + 1;
      if (accepted) put_(count_++, z * of_.stddev_ + of_.mean_);
    }

   private:
    const BoundedNormal& of_;
    const std::int64_t n_;
    Put put_;
    std::int64_t count_ = 0;
    int rejected_ = 0;
  };

  template <class Put>
  bool from_normal(Philox& gen, std::int64_t n, Put put) const {
    Sink<Put> sink(*this, n, put);
    while (sink.open())
      for (const T x : draw_normal<T>(gen)) sink.offer(x >= low_ && x <= high_, x);
    return sink.full();
  }
  template <class Put>
  bool from_uniform(Philox& gen, std::int64_t n, Put put) const {
    const T diff = high_ - low_, plus = low_ < T(0) ? T(0) : low_ * low_;
    Sink<Put> sink(*this, n, put);
    while (sink.open()) {
      const auto places = draw_uniform<T>(gen), heights = draw_uniform<T>(gen);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const T z = places[i] * diff + low_;
        sink.offer(heights[i] <= std::exp((plus - z * z) / T(2)), z);
      }
    }
    return sink.full();
  }
  template <class Put>
  bool from_exponential(Philox& gen, std::int64_t n, Put put) const {
    const T alpha = (low_ + std::sqrt(low_ * low_ + T(4))) / T(2);
    Sink<Put> sink(*this, n, put);
    while (sink.open()) {
      const auto drawn = draw_uniform<T>(gen);
      for (std::size_t i = 0; i < drawn.size(); i += 2) {
        const T z = -std::log(drawn[i]) / alpha + low_;
        const T x = low_ < alpha ? alpha - z : low_ - alpha;
        sink.offer(drawn[i + 1] <= std::exp(-x * x / T(2)) && z < high_, z);
      }
    }
    return sink.full();
  }

  T mean_, stddev_, low_ = 0, high_ = 0;
  bool valid_;
};

}  // namespace rill::functors
