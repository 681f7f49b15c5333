#include "rill/kernels/cuda/rows.h"

namespace rill::cuda {
namespace {

// One side of a broadcast to [batch, classes].
struct Side {
  std::int64_t row, column;  // strides
};
Side side_of(const TensorShape& s) {
  const std::int64_t rows = s.rank() >= 2 ? s.dim(0) : 1, columns = s.rank() >= 1 ? s.dim(-1) : 1;
  return {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

// loss = sum labels * (log sum exp(x) - x), backprop = softmax(x) - labels
template <int kLanes, class T>
__global__ void __launch_bounds__(kThreads)
    softmax_xent_kernel(const T* x, Side xs, const T* labels, Side zs, T* loss, T* back,
                        std::int64_t batch, std::int64_t n) {
  using W = Computed<T>;
  __shared__ W shared[kThreads];
  const int lane = threadIdx.x % kLanes;
  const std::int64_t i = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const bool active = i < batch;
  const T *xi = x + (active ? i * xs.row : 0), *zi = labels + (active ? i * zs.row : 0);
  const auto at = [xi, xs](std::int64_t j) { return static_cast<W>(xi[j * xs.column]); };
  const RowPeak<W> p = row_peak<kLanes, W>(at, n, active, shared);
  const W log_sum = std::log(p.sum), factor = W(1) / p.sum;
  W sum = 0;
  for (std::int64_t j = lane; active && j < n; j += kLanes) {
    const W v = at(j) - p.max, z = static_cast<W>(zi[j * zs.column]);
    sum += z * (log_sum - v);
    back[i * n + j] = static_cast<T>(exp_of<W>(v) * factor - z);
  }
  sum = sum_lanes<kLanes>(sum, shared);
  if (active && lane == 0) loss[i] = static_cast<T>(sum);
}

void softmax_xent_cuda(KernelContext& c) noexcept {
  const std::int64_t batch = c.out_shape(1).dim(0), n = c.out_shape(1).dim(1);
  if (batch == 0) return;
  GpuDevice& gpu = gpu_of(c);
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    for_rows(batch, n, [&]<int kLanes>(unsigned blocks) {
      softmax_xent_kernel<kLanes><<<blocks, kThreads, 0, gpu.stream()>>>(
          c.in<T>(0), side_of(c.in_shape(0)), c.in<T>(1), side_of(c.in_shape(1)), c.out<T>(0),
          c.out<T>(1), batch, n);
    });
  });
  check_launch(c);
}
RILL_KERNEL("SoftmaxCrossEntropyWithLogits", gpu, kFloatTypes, softmax_xent_cuda);

// A label that is not a class is reported, and its row is NaN.
template <int kLanes, class T, class I>
__global__ void __launch_bounds__(kThreads)
    sparse_xent_kernel(const T* x, const I* labels, T* loss, T* back, std::int64_t batch,
                       std::int64_t n, KernelError* error, const Op* op, const char* what) {
  using W = Computed<T>;
  __shared__ W shared[kThreads];
  const int lane = threadIdx.x % kLanes;
  const std::int64_t i = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const bool active = i < batch;
  const T* xi = x + (active ? i * n : 0);
  const auto at = [xi](std::int64_t j) { return static_cast<W>(xi[j]); };
  const RowPeak<W> p = row_peak<kLanes, W>(at, n, active, shared);
  if (!active) return;
  const std::int64_t label = static_cast<std::int64_t>(labels[i]);
  const bool known = label >= 0 && label < n;
  const W nan = static_cast<W>(NAN), factor = known ? W(1) / p.sum : nan;
  for (std::int64_t j = lane; j < n; j += kLanes)
    back[i * n + j] =
        static_cast<T>(exp_of<W>(at(j) - p.max) * factor - (j == label ? W(1) : W(0)));
  if (lane != 0) return;
  if (!known) report(error, op, Finding::out_of_range, what, i, label, n);
  loss[i] = static_cast<T>(known ? std::log(p.sum) - (at(label) - p.max) : nan);
}

void sparse_xent_cuda(KernelContext& c) noexcept {
  const std::int64_t batch = c.out_shape(1).dim(0), n = c.out_shape(1).dim(1);
  if (batch == 0) return;
  GpuDevice& gpu = gpu_of(c);
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    dispatch_floats(c.in(0).dtype, [&]<class T>() {
      for_rows(batch, n, [&]<int kLanes>(unsigned blocks) {
        sparse_xent_kernel<kLanes><<<blocks, kThreads, 0, gpu.stream()>>>(
            c.in<T>(0), c.in<I>(1), c.out<T>(0), c.out<T>(1), batch, n, gpu.kernel_error(), &c.op(),
            "labels");
      });
    });
  });
  check_launch(c);
}
RILL_KERNEL("SparseSoftmaxCrossEntropyWithLogits", gpu, kFloatTypes, sparse_xent_cuda);

}  // namespace
}  // namespace rill::cuda
