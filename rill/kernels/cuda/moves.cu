// Transpose, slice, pad, tile, broadcast, reverse, split, concat, fill: one loop by strides.
#include "rill/kernels/functors/blocks.h"

#include "rill/kernels/cuda/copy.h"
#include "rill/kernels/cuda/walk.h"

namespace rill::cuda {
namespace {

template <class T>
struct CopyBody {
  const T* in;
  T* out;
  Walk<2> walk;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    std::int64_t place[2];
    walk.at(i, place);
    out[place[1]] = in[place[0]];
  }
};
template <class T>
struct RepeatBody {
  const T* in;
  T* out;
  __device__ __forceinline__ void operator()(std::int64_t i) const { out[i] = *in; }
};

}  // namespace

void strided_copy(KernelContext& c, DType dtype, const void* in, void* out,
                  const StridedCopy& copy) {
  Walk<2> walk;
  if (!make_walk<2>(c, copy.dims, {copy.in_strides, copy.out_strides}, walk) || walk.size == 0)
    return;
  const bool row = walk.rank <= 1 && (walk.rank == 0 || walk.strides[1][0] == 1);
  if (row && (walk.rank == 0 || walk.strides[0][0] == 1)) {
    cudaMemcpyAsync(out, in, static_cast<std::size_t>(walk.size) * dtype.itemsize(),
                    cudaMemcpyDeviceToDevice, gpu_of(c).stream());
    return check_launch(c);
  }
  by_width(dtype, [&]<class T>() {
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    if (row && walk.strides[0][0] == 0)
      launch_elements(c, walk.size, RepeatBody<T>{from, to});
    else
      launch_elements(c, walk.size, CopyBody<T>{from, to, walk});
  });
}

namespace {

struct OnGpu {
  static void copy(KernelContext& c, DType dtype, const void* in, void* out,
                   const StridedCopy& copy) {
    strided_copy(c, dtype, in, out, copy);
  }
  static void zero(KernelContext& c, const TensorView& v) {
    cudaMemsetAsync(v.data, 0, static_cast<std::size_t>(v.size) * v.dtype.itemsize(),
                    gpu_of(c).stream());
    check_launch(c);
  }
};
RILL_MOVES(gpu, OnGpu, kPlainTypes);
RILL_BLOCK_MOVES(gpu, OnGpu);

}  // namespace
}  // namespace rill::cuda
