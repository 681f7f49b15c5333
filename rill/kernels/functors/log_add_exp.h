#pragma once
#include <cmath>

#include "rill/base/host_device.h"

namespace rill::functors {

// log(e^a + e^b)
struct LogAddExp {
  template <class A>
  RILL_HOST_DEVICE static A apply(A a, A b) {
    const A high = a < b ? b : a, low = a < b ? a : b;
    return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  }
};

}  // namespace rill::functors
