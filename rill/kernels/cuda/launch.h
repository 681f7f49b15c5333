#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "rill/core/half.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cuda/launch_elements.h"

// What kernels of elements share: the type they compute in, and how they are launched.
namespace rill::cuda {

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;
// The type that elements of T are computed in.
template <class T>
using Computed = std::conditional_t<is_half_v<T>, float, T>;

// Calls body.operator()<T>() with an integer of so many bytes, for what only moves elements.
template <class F>
void by_bytes(std::size_t bytes, F body) {
  switch (bytes) {
    case 1:
      return body.template operator()<std::uint8_t>();
    case 2:
      return body.template operator()<std::uint16_t>();
    case 4:
      return body.template operator()<std::uint32_t>();
    case 8:
      return body.template operator()<std::uint64_t>();
    default:
      return body.template operator()<Bytes16>();
  }
}
template <class F>
void by_width(DType dtype, F body) {
  by_bytes(dtype.itemsize(), body);
}

}  // namespace rill::cuda
