#pragma once
#include <vector>

#include "rill/ops/math_ops.h"

namespace rill {

// The pieces of the derivative of a normalisation's gradient. With g the
// gradient of z = (x - mean) * r and P(g) = r (g - mean(g) - z mean(g z)), which
// is its own transpose: for the cotangent u of P(h), and v that of z by other ways,
//   d/dx = -K r^2 z / N + P(v - r (mean(u z) h + mean(h z) u)),
//   K = sum(u h) - N mean(u) mean(h) - N mean(u z) mean(h z).
struct Normalizer {
  Tensor z, r;
  std::vector<int> axes;
  Tensor mean(const Tensor& t) const { return reduce_mean(t, axes, {.keepdims = true}); }
  Tensor project(const Tensor& g) const { return r * (g - mean(g) - z * mean(g * z)); }
  Tensor second(const Tensor& u, const Tensor& h, const Tensor& v) const {
    const Tensor uz = mean(u * z), hz = mean(h * z);
    const Tensor k = mean(u * h) - mean(u) * mean(h) - uz * hz;
    return project(v - r * (uz * h + hz * u)) - k * square(r) * z;
  }
};

}  // namespace rill
