#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include "rill/core/tensor.h"

// What a tensor holds, for those who look for numbers that are not finite.
namespace rill {

struct Contents {
  DType dtype;
  TensorShape shape;
  std::int64_t elements = 0, nans = 0, infinities = 0;
  std::int64_t first = -1;  // that is not finite
  double first_value = 0, least = INFINITY, largest = -INFINITY;
  bool finite() const { return nans + infinities == 0; }
};
// Only numbers with a fraction are counted. Waits for the device.
Contents contents_of(const Tensor& t);

// "float32 [2, 3], 1 NaN and 0 infinite of 6 elements, the first at [0, 2]: nan; .."
std::string contents_text(const Contents& c);
// "nan", "-inf", "0.5"
std::string number_text(double v);

}  // namespace rill
