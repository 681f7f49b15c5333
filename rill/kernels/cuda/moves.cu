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

// Where one side is contiguous along another axis than the other side: a tile goes through
// shared memory, and both sides are walked in rows.
template <class T>
inline constexpr int kTile = sizeof(T) <= 4 ? 64 : 32;
struct Tiles {
  std::int64_t in_axis, out_axis;   // sizes of the axes along which a side is contiguous
  std::int64_t in_step, out_step;   // of the input along out_axis, of the output along in_axis
  std::int64_t across, per_matrix;  // tiles along in_axis, of one matrix
  Walk<2> others;                   // where matrices begin
};
template <class T>
__global__ void __launch_bounds__(kThreads)
    transpose_kernel(const T* in, T* out, const __grid_constant__ Tiles s) {
  constexpr int kSize = kTile<T>, kLines = kThreads / kSize;
  __shared__ T tile[kSize][kSize + 1];  // one more: a column is then in different banks
  const std::int64_t matrix = blockIdx.x / s.per_matrix, t = blockIdx.x % s.per_matrix;
  const std::int64_t i0 = t % s.across * kSize, o0 = t / s.across * kSize;
  const int lane = threadIdx.x % kSize, line = threadIdx.x / kSize;
  std::int64_t begin[2];
  s.others.at(matrix, begin);
  const T* from = in + begin[0] + i0 + lane;
  T* to = out + begin[1] + o0 + lane;
  T v[kSize / kLines];
#pragma unroll
  for (int k = 0; k < kSize / kLines; ++k) {
    const std::int64_t o = o0 + k * kLines + line;
    if (i0 + lane < s.in_axis && o < s.out_axis) v[k] = from[o * s.in_step];
  }
#pragma unroll
  for (int k = 0; k < kSize / kLines; ++k) tile[k * kLines + line][lane] = v[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSize / kLines; ++k) {
    const std::int64_t i = i0 + k * kLines + line;
    if (o0 + lane < s.out_axis && i < s.in_axis) to[i * s.out_step] = tile[lane][k * kLines + line];
  }
}

// False: no two axes are worth tiles.
template <class T>
bool make_tiles(KernelContext& c, const Walk<2>& walk, Tiles& s) {
  constexpr std::int64_t kLeast = 16;
  int in = -1, out = -1;
  for (int d = 0; d < walk.rank; ++d) {
    if (walk.strides[0][d] == 1) in = d;
    if (walk.strides[1][d] == 1) out = d;
  }
  if (in < 0 || out < 0 || in == out || walk.dims[in] < kLeast || walk.dims[out] < kLeast)
    return false;
  s.in_axis = walk.dims[in], s.out_axis = walk.dims[out];
  s.in_step = walk.strides[0][out], s.out_step = walk.strides[1][in];
  s.across = (s.in_axis + kTile<T> - 1) / kTile<T>;
  s.per_matrix = s.across * ((s.out_axis + kTile<T> - 1) / kTile<T>);
  Dims dims, in_strides, out_strides;
  for (int d = 0; d < walk.rank; ++d)
    if (d != in && d != out) {
      dims.push_back(walk.dims[d]);
      in_strides.push_back(walk.strides[0][d]);
      out_strides.push_back(walk.strides[1][d]);
    }
  return make_walk<2>(c, dims, {in_strides, out_strides}, s.others) &&
         s.others.size * s.per_matrix <= INT32_MAX;
}

// Elements of the last axis that are moved as one, where both sides have them side by side.
std::size_t widen(Walk<2>& walk, std::size_t width, const void* in, const void* out) {
  const int last = walk.rank - 1;
  const auto bits = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
  if (last < 0 || walk.strides[0][last] != 1 || walk.strides[1][last] != 1) return width;
  const auto even = [&] {
    bool ok = width < 16 && bits % (2 * width) == 0 && walk.dims[last] % 2 == 0;
    for (int d = 0; d < last; ++d)
      ok = ok && walk.strides[0][d] % 2 == 0 && walk.strides[1][d] % 2 == 0;
    return ok;
  };
  for (; even(); width *= 2) {
    walk.dims[last] /= 2;
    walk.size /= 2;
    for (int d = 0; d < last; ++d) walk.strides[0][d] /= 2, walk.strides[1][d] /= 2;
  }
  if (walk.size <= INT32_MAX)
    for (int d = 0; d < walk.rank; ++d)
      walk.by[d] = Divisor(static_cast<std::uint32_t>(walk.dims[d]));
  return width;
}

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
  by_bytes(widen(walk, dtype.itemsize(), in, out), [&]<class T>() {
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    Tiles tiles;
    if (row && walk.strides[0][0] == 0) {
      launch_elements(c, walk.size, RepeatBody<T>{from, to});
    } else if (make_tiles<T>(c, walk, tiles)) {
      transpose_kernel<<<blocks_of(tiles.others.size * tiles.per_matrix, 1), kThreads, 0,
                         gpu_of(c).stream()>>>(from, to, tiles);
      check_launch(c);
    } else {
      launch_loops(c, walk.size, CopyBody<T>{from, to, walk});
    }
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
