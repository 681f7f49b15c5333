#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "rill/kernels/cuda/gpu_device.h"  // or the stand-in for it on the host

// Neighbouring elements that a thread loads or stores by one instruction: memory is kept
// busy by fewer threads.
namespace rill::cuda {

template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T v[N];
};

// As many as 16 bytes hold, and no more than 4: bodies are unrolled over them.
template <class... Ts>
inline constexpr int kPack = static_cast<int>(
    std::min<std::size_t>(4, std::max<std::size_t>(1, 16 / std::max({sizeof(Ts)...}))));

// Whether packs may begin there; a slice of a tensor may lie anywhere.
inline bool aligned(std::initializer_list<const void*> pointers) {
  return std::all_of(pointers.begin(), pointers.end(),
                     [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; });
}

template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* p) {
  return *reinterpret_cast<const Pack<T, N>*>(p);
}
template <int N, class T>
__device__ __forceinline__ void store_pack(T* p, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(p) = pack;
}

}  // namespace rill::cuda
