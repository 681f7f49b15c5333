// Filter gradients over images of few channels: a few hundred sums over 10^5 to 10^7 pixels. A
// thread holds the sums of all taps with a few output channels; groups of eight threads walk
// rows of the output, and what they found is added up in a fixed order.
#include "rill/core/float32_math.h"
#include "rill/kernels/cuda/conv.h"
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/cuda/pack.h"

namespace rill::cuda {
namespace {

constexpr int kGroup = 8, kBlock = 128, kGroups = kBlock / kGroup;

struct NarrowShape {
  int rows, in_rows, in_columns, out_rows, out_columns;  // `rows`: of all images together
  int channels, out_channels;
  int row_stride, column_stride, row_dilation, column_dilation, above, left;
};

// Sums of kSide x kSide taps with kOut output channels a thread, of one input channel, over the
// rows of this block: part [block.x][tap, in, out].
template <int kSide, int kOut>
__global__ void __launch_bounds__(kBlock)
    narrow_filter_kernel(const float* __restrict__ x, const float* __restrict__ dy, float* part,
                         const __grid_constant__ NarrowShape s) {
  constexpr int kTaps = kSide * kSide;
  const int lane = threadIdx.x % kGroup, group = threadIdx.x / kGroup;
  const int channel = blockIdx.y, out = (blockIdx.z * kGroup + lane) * kOut;
  const bool active = out < s.out_channels;
  float sums[kTaps][kOut] = {};
  for (int row = blockIdx.x * kGroups + group; active && row < s.rows; row += gridDim.x * kGroups) {
    const int image = row / s.out_rows, top = row % s.out_rows * s.row_stride - s.above;
    const float* lines[kSide];
    bool inside[kSide];
#pragma unroll
    for (int r = 0; r < kSide; ++r) {
      const int i = top + r * s.row_dilation;
      inside[r] = i >= 0 && i < s.in_rows;
      lines[r] =
          x + (std::int64_t{image} * s.in_rows + (inside[r] ? i : 0)) * s.in_columns * s.channels +
          channel;
    }
    const float* from = dy + std::int64_t{row} * s.out_columns * s.out_channels + out;
    for (int column = 0; column < s.out_columns; ++column, from += s.out_channels) {
      const auto g = load_pack<kOut>(from);
      const int begin = column * s.column_stride - s.left;
#pragma unroll
      for (int k = 0; k < kSide; ++k) {
        const int j = begin + k * s.column_dilation;
        const bool in_line = j >= 0 && j < s.in_columns;
#pragma unroll
        for (int r = 0; r < kSide; ++r) {
          const float v = in_line && inside[r] ? lines[r][j * s.channels] : 0.f;
#pragma unroll
          for (int o = 0; o < kOut; ++o)
            sums[r * kSide + k][o] = fmaf(v, g.v[o], sums[r * kSide + k][o]);
        }
      }
    }
  }
  // The groups of the block in their order.
  __shared__ float shared[kGroups][kGroup * kOut + 1];
  for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
    for (int o = 0; o < kOut; ++o) {
      float v = 0;
#pragma unroll
      for (int t = 0; t < kTaps; ++t) v = t == tap ? sums[t][o] : v;  // registers have no index
      shared[group][lane * kOut + o] = v;
    }
    __syncthreads();
    const int o = threadIdx.x, at = blockIdx.z * kGroup * kOut + o;
    if (o < kGroup * kOut && at < s.out_channels) {
      float sum = shared[0][o];
      for (int g = 1; g < kGroups; ++g) sum += shared[g][o];
      part[((std::int64_t{blockIdx.x} * kTaps + tap) * s.channels + channel) * s.out_channels +
           at] = sum;
    }
    __syncthreads();
  }
}

// Adds up parts: 32 elements a block, 32 threads each.
__global__ void __launch_bounds__(1024)
    add_parts_kernel(const float* part, float* to, int size, int parts) {
  __shared__ float shared[32][33];
  const int i = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (i < size)
    for (int p = threadIdx.y; p < parts; p += 32) sum += part[std::int64_t{p} * size + i];
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || i >= size) return;
  for (int p = 1; p < 32; ++p) sum += shared[p][threadIdx.x];
  to[i] = sum;
}

}  // namespace

bool narrow_filter_gradient(KernelContext& c, const WindowGeometry& g, DType dtype,
                            const ConvBuffers& b) {
  const Window &rows = g.axes[1], &columns = g.axes[2];
  const std::int64_t side = rows.size, pixels = g.batch * rows.out * columns.out;
  constexpr int per_thread = 4;
  if (dtype != float32 || tensor_float_32_allowed() || g.layout.spatial != 2 ||
      g.layout.channels_first || g.groups != 1 || g.in_channels > 4 || columns.size != side ||
      (side != 3 && side != 5) || g.out_channels % per_thread != 0 || pixels < 4096 ||
      pixels * g.out_channels > INT32_MAX || g.batch * g.in_pixels() * g.in_channels > INT32_MAX ||
      !aligned({b.output}))
    return false;
  const auto n = [](std::int64_t v) { return static_cast<int>(v); };
  const NarrowShape s{n(g.batch * rows.out), n(rows.in),       n(columns.in),       n(rows.out),
                      n(columns.out),        n(g.in_channels), n(g.out_channels),   n(rows.stride),
                      n(columns.stride),     n(rows.dilation), n(columns.dilation), n(rows.before),
                      n(columns.before)};
  GpuDevice& gpu = gpu_of(c);
  const unsigned blocks =
      std::min(blocks_of(s.rows, kGroups), static_cast<unsigned>(gpu.multiprocessors()) * 3);
  const dim3 grid(blocks, static_cast<unsigned>(s.channels),
                  blocks_of(s.out_channels, kGroup * per_thread));
  const std::int64_t size = g.taps() * g.in_channels * g.out_channels;
  auto* part = c.scratch<float>(size * blocks);
  if (!part) return false;
  const auto *x = static_cast<const float*>(b.input), *dy = static_cast<const float*>(b.output);
  if (side == 3)
    narrow_filter_kernel<3, per_thread><<<grid, kBlock, 0, gpu.stream()>>>(x, dy, part, s);
  else
    narrow_filter_kernel<5, per_thread><<<grid, kBlock, 0, gpu.stream()>>>(x, dy, part, s);
  add_parts_kernel<<<blocks_of(size, 32), dim3(32, 32), 0, gpu.stream()>>>(
      part, static_cast<float*>(b.filter), n(size), n(blocks));
  check_launch(c);
  return !c.failed();
}

}  // namespace rill::cuda
