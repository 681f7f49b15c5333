#pragma once
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rill/kernels/functors/half.h"

// One element of one dtype as another, for every device.
namespace rill::functors {

template <class To, class From>
RILL_HOST_DEVICE inline To convert(From x) {
  if constexpr (is_half_v<From>)
    return convert<To>(static_cast<float>(x));
  else if constexpr (is_complex_v<From> && !is_complex_v<To>)
    return convert<To>(x.real());
  else if constexpr (std::is_same_v<To, bool>)
    return x != From{};
  else if constexpr (is_half_v<To>)
    return To(static_cast<float>(x));
  else if constexpr (is_complex_v<To> && is_complex_v<From>)
    return To(x);
  else if constexpr (is_complex_v<To>)
    return To(static_cast<typename To::value_type>(x));
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // Out of range is undefined in C++; x86 gives the smallest value, and so do we everywhere.
    constexpr From low = static_cast<From>(std::numeric_limits<std::int64_t>::min());
    if (!(x >= low && x < -low)) {
      if constexpr (std::is_same_v<To, std::uint64_t>) {
        if (x >= -low && x < -low * 2) return static_cast<To>(x);
      }
      return sizeof(To) >= 4 ? static_cast<To>(std::numeric_limits<std::make_signed_t<To>>::min())
                             : To{0};
    }
    if constexpr (std::is_same_v<To, std::int32_t>) {
      if (!(x > static_cast<From>(-2147483649.0) && x < static_cast<From>(2147483648.0)))
        return std::numeric_limits<To>::min();
    }
    return static_cast<To>(static_cast<std::int64_t>(x));
  } else
    return static_cast<To>(x);
}

}  // namespace rill::functors
