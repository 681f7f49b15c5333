#pragma once
#include <array>

#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/functors/strided_copy.h"

namespace rill::cuda {

inline constexpr int kMaxRank = 12;

// Division of numbers below 2^31 by a fixed one: a product and a shift.
struct Divisor {
  std::uint32_t divisor = 1, factor = 1, shift = 0;
  Divisor() = default;
  explicit Divisor(std::uint32_t d) : divisor(d) {
    while (shift < 31 && (1u << shift) < d) ++shift;
    factor = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) * ((1u << shift) - d)) / d + 1);
  }
  __device__ __forceinline__ std::uint32_t of(std::uint32_t n) const {
    return (__umulhi(n, factor) + n) >> shift;
  }
};

// The elements of an array of `dims`, and where N tensors have theirs: strides
// in elements, 0 where one is repeated. Passed to kernels by value.
template <int N>
struct Walk {
  int rank = 0;
  std::int64_t size = 1;
  std::int64_t dims[kMaxRank];
  std::int64_t strides[N][kMaxRank];
  Divisor by[kMaxRank];  // dims again, when size is below 2^31

  __device__ __forceinline__ void at(std::int64_t i, std::int64_t (&place)[N]) const {
    for (int k = 0; k < N; ++k) place[k] = 0;
    if (size <= INT32_MAX) {  // divisions of 64 bits are slow
      auto rest = static_cast<std::uint32_t>(i);
      for (int d = rank; d-- > 0;) {
        const std::uint32_t q = by[d].of(rest), r = rest - q * by[d].divisor;
        for (int k = 0; k < N; ++k) place[k] += r * strides[k][d];
        rest = q;
      }
    } else {
      for (int d = rank; d-- > 0; i /= dims[d])
        for (int k = 0; k < N; ++k) place[k] += i % dims[d] * strides[k][d];
    }
  }
  __device__ __forceinline__ std::int64_t at(std::int64_t i) const {
    if (rank == 1) return i * strides[0][0];
    std::int64_t place[N];
    at(i, place);
    return place[0];
  }
};

// Drops axes of size 1 and joins axes that every side walks as one. False, with
// the call failed, when more than kMaxRank are left.
template <int N>
bool make_walk(KernelContext& c, const Dims& dims, const std::array<Dims, N>& strides,
               Walk<N>& walk) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t n = dims[i];
    walk.size *= n;
    if (n == 1) continue;
    bool joins = walk.rank > 0;
    for (std::size_t k = 0; k < N && joins; ++k)
      joins = walk.strides[k][walk.rank - 1] == strides[k][i] * n;
    if (!joins && walk.rank == kMaxRank) {
      c.fail(Code::unimplemented, format("[{}] {} axes that cannot be joined; on a GPU at most {}",
                                         c.tag(), dims.size(), kMaxRank));
      return false;
    }
    if (!joins) walk.dims[walk.rank++] = 1;
    walk.dims[walk.rank - 1] *= n;
    for (std::size_t k = 0; k < N; ++k) walk.strides[k][walk.rank - 1] = strides[k][i];
  }
  if (walk.size > 0 && walk.size <= INT32_MAX)
    for (int d = 0; d < walk.rank; ++d)
      walk.by[d] = Divisor(static_cast<std::uint32_t>(walk.dims[d]));
  return true;
}

// How `shape` is walked along the axes of `out` that it is broadcast to.
inline Dims broadcast_strides(const TensorShape& shape, const TensorShape& out) {
  const Dims own = row_major(shape.dims());
  Dims full(out.size(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape.dims()[i] != 1) full[i + out.size() - shape.size()] = own[i];
  return full;
}

}  // namespace rill::cuda
