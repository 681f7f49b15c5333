#pragma once
#include <algorithm>
#include <cmath>

#include "rill/base/host_device.h"

namespace rill::functors {

// Numbers rounded to the steps of few bits, between limits that are moved so that 0 is one of
// the steps.
struct QuantSteps {
  RILL_HOST_DEVICE QuantSteps(float low, float high, int bits, bool narrow) {
    const float first = narrow ? 1.f : 0.f, last = static_cast<float>((1 << bits) - 1);
    scale = (high - low) / (last - first);
    const float zero = std::min(std::max(std::round(first - low / scale), first), last);
    min = (first - zero) * scale;
    max = (last - zero) * scale;
    inverse = 1.0f / scale;
    zero_step = std::floor(-min * inverse + 0.5f);
    empty = low == 0 && high == 0;
  }
  RILL_HOST_DEVICE float apply(float x) const {
    if (empty) return 0;
    const float inside = std::max(std::min(x, max), min) - min;
    return std::floor(inside * inverse - zero_step + 0.5f) * scale;
  }
  RILL_HOST_DEVICE bool below(float x) const { return !empty && x < min; }
  RILL_HOST_DEVICE bool above(float x) const { return !empty && x > max; }

  float min, max, scale, inverse, zero_step;
  bool empty;
};

}  // namespace rill::functors
