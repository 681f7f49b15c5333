#pragma once

// Code that runs on the host and in CUDA kernels alike. Other compilers see
// plain C++.
#ifdef __CUDACC__
#define RILL_HOST_DEVICE __host__ __device__
#define RILL_FORCE_INLINE __host__ __device__ __forceinline__
#else
#define RILL_HOST_DEVICE
#define RILL_FORCE_INLINE [[gnu::always_inline]] inline
#endif
