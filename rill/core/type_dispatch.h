#pragma once
#include <complex>
#include <cstdint>
#include <string>

#include "rill/base/check.h"
#include "rill/core/dtype.h"
#include "rill/core/half.h"

namespace rill {

// The C++ type of a dtype's elements, and back.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, half>)
    return float16;
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return bfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return float32;
  else if constexpr (std::is_same_v<T, double>)
    return float64;
  else if constexpr (std::is_same_v<T, bool>)
    return bool_;
  else if constexpr (std::is_same_v<T, std::string>)
    return string;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return complex128;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1 ? int8 : sizeof(T) == 2 ? int16 : sizeof(T) == 4 ? int32 : int64;
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 1 ? uint8 : sizeof(T) == 2 ? uint16 : sizeof(T) == 4 ? uint32 : uint64;
  else
    return DType();
}

// Calls body.template operator()<T>() with the element type of `dtype`:
//   dispatch_types<float, double>(dtype, [&]<class T>() { ... });
// Internal when dtype is none of the listed: a kernel lists what it registers.
template <class... Ts, class F>
void dispatch_types(DType dtype, F&& body) {
  const bool found =
      ((dtype == dtype_of<Ts>() ? (body.template operator()<Ts>(), true) : false) || ...);
  RILL_INTERNAL_CHECK(found);
}

template <class F>
void dispatch_floats(DType dtype, F&& body) {
  dispatch_types<float, double, half, bfloat16_t>(dtype, body);
}
template <class F>
void dispatch_integers(DType dtype, F&& body) {
  dispatch_types<std::int32_t, std::int64_t, std::uint8_t, std::int8_t, std::int16_t, std::uint16_t,
                 std::uint32_t, std::uint64_t>(dtype, body);
}
template <class F>
void dispatch_reals(DType dtype, F&& body) {
  if (dtype.is_floating())
    dispatch_floats(dtype, body);
  else
    dispatch_integers(dtype, body);
}
template <class F>
void dispatch_numeric(DType dtype, F&& body) {
  if (dtype.is_complex())
    dispatch_types<std::complex<float>, std::complex<double>>(dtype, body);
  else
    dispatch_reals(dtype, body);
}
// Every dtype whose elements are plain bytes.
template <class F>
void dispatch_plain(DType dtype, F&& body) {
  if (dtype == bool_)
    dispatch_types<bool>(dtype, body);
  else
    dispatch_numeric(dtype, body);
}
template <class F>
void dispatch_all(DType dtype, F&& body) {
  if (dtype == string)
    dispatch_types<std::string>(dtype, body);
  else
    dispatch_plain(dtype, body);
}
// Only the width matters (copies, gathers): one of 1, 2, 4, 8, 16 bytes, or strings.
struct Bytes16 {
  std::uint64_t v[2];
};
template <class F>
void dispatch_width(DType dtype, F&& body) {
  if (dtype == string) return body.template operator()<std::string>();
  switch (dtype.itemsize()) {
    case 1:
      return body.template operator()<std::uint8_t>();
    case 2:
      return body.template operator()<std::uint16_t>();
    case 4:
      return body.template operator()<std::uint32_t>();
    case 8:
      return body.template operator()<std::uint64_t>();
    case 16:
      return body.template operator()<Bytes16>();
  }
  RILL_INTERNAL_CHECK(false);
}

}  // namespace rill
