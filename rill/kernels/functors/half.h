#pragma once
#include "rill/core/half.h"
#include "rill/kernels/functors/vector_math.h"

namespace rill {
namespace functors {

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

// Conversion between a half type and float; also any static_cast.
template <class To>
struct Convert : Exact {
  template <class T>
  RILL_FORCE_INLINE static To apply(T x) {
    return static_cast<To>(x);
  }
};

}  // namespace functors
}  // namespace rill
