#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

// The discrete Fourier transform of one length, in double precision.
namespace rill::cpu {

class Fft {
 public:
  using Number = std::complex<double>;
  // y_k = sum over j of x_j e^(-2 pi i j k / n); with `inverse` e^(+..), not divided by n.
  Fft(std::int64_t n, bool inverse) : n_(n), sign_(inverse ? 1 : -1) {
    std::int64_t rest = n;
    for (const std::int64_t p : {4, 2, 3, 5})
      for (; rest % p == 0 && rest > 1; rest /= p) factors_.push_back(p);
    if (rest > 1) {  // another prime: by a convolution of a length that is a power of 2
      factors_.clear();
      std::int64_t m = 1;
      while (m < 2 * n - 1) m *= 2;
      inner_ = std::make_unique<Fft>(m, false);
      chirp_.resize(size(n));
      // k^2 mod 2n, so that large k keep their phase.
      for (std::int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), ++k)
        chirp_[size(k)] = turn(square, 2 * n);
      std::vector<Number> kernel(size(m));
      kernel[0] = 1;
      for (std::int64_t k = 1; k < n; ++k)
        kernel[size(k)] = kernel[size(m - k)] = std::conj(chirp_[size(k)]);
      spectrum_.resize(size(m));
      inner_->run(kernel.data(), spectrum_.data());
    } else {
      turns_.resize(size(n));
      for (std::int64_t k = 0; k < n; ++k) turns_[size(k)] = turn(k, n);
    }
  }

  // `in` and `out` have n elements each and do not overlap.
  void run(const Number* in, Number* out) const {
    if (n_ <= 1) {
      if (n_ == 1) out[0] = in[0];
    } else if (inner_) {
      convolve(in, out);
    } else {
      step(in, 1, out, n_, 0);
    }
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  // Complex products without the library's care for infinities.
  static Number mul(Number a, Number b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  Number turn(std::int64_t k, std::int64_t n) const {
    const double angle =
        sign_ * 2 * 3.14159265358979323846 * static_cast<double>(k) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
  }

  // out [n] = the transform of in[0], in[stride], ..: p transforms of n / p elements, joined.
  void step(const Number* in, std::int64_t stride, Number* out, std::int64_t n,
            std::size_t level) const {
    const std::int64_t p = factors_[level], m = n / p;
    if (m == 1)
      for (std::int64_t q = 0; q < p; ++q) out[q] = in[q * stride];
    else
      for (std::int64_t q = 0; q < p; ++q)
        step(in + q * stride, stride * p, out + q * m, m, level + 1);
    const Number* w = turns_.data();
    for (std::int64_t u = 0; u < m; ++u) {
      Number t[5];
      for (std::int64_t q = 0; q < p; ++q)
        t[q] = q * u == 0 ? out[u + q * m] : mul(out[u + q * m], w[q * u * stride]);
      if (p == 2) {
        out[u] = t[0] + t[1];
        out[u + m] = t[0] - t[1];
      } else if (p == 4) {
        const Number even = t[0] + t[2], odd = t[1] + t[3], a = t[0] - t[2], b = t[1] - t[3],
                     turned(-sign_ * b.imag(), sign_ * b.real());
        out[u] = even + odd;
        out[u + m] = a + turned;
        out[u + 2 * m] = even - odd;
        out[u + 3 * m] = a - turned;
      } else {
        for (std::int64_t r = 0; r < p; ++r) {
          Number sum = t[0];
          for (std::int64_t q = 1; q < p; ++q) sum += mul(t[q], w[q * r % p * m * stride]);
          out[u + r * m] = sum;
        }
      }
    }
  }

  // Bluestein: j k = (j^2 + k^2 - (k - j)^2) / 2 makes the sum a convolution.
  void convolve(const Number* in, Number* out) const {
    const std::size_t m = spectrum_.size(), n = size(n_);
    std::vector<Number> a(m), b(m);
    for (std::size_t k = 0; k < n; ++k) a[k] = mul(in[k], chirp_[k]);
    inner_->run(a.data(), b.data());
    // The way back is the same transform of the conjugate.
    for (std::size_t k = 0; k < m; ++k) b[k] = std::conj(mul(b[k], spectrum_[k]));
    inner_->run(b.data(), a.data());
    for (std::size_t k = 0; k < n; ++k)
      out[k] = mul(std::conj(a[k]), chirp_[k]) / static_cast<double>(m);
  }

  std::int64_t n_;
  double sign_;
  std::vector<std::int64_t> factors_;
  std::vector<Number> turns_;   // e^(-+2 pi i k / n)
  std::unique_ptr<Fft> inner_;  // of the convolution
  std::vector<Number> chirp_, spectrum_;
};

}  // namespace rill::cpu
