#include <limits>

#include "rill/kernels/cuda/runs.h"
#include "rill/ops/nn/windows.h"

namespace rill::cuda {
namespace {

// What is computed, and where gradients go.
enum class Result { output, input, filter };

// The largest sum under each window, the first of equals; or where it is.
template <Result result, class T>
struct DilationBody {
  Window h, w;
  std::int64_t channels;
  const T *image, *filter;
  T* out;
  std::int64_t* place;
  __device__ __forceinline__ void operator()(std::int64_t at) const {
    using W = Computed<T>;
    const std::int64_t c = at % channels, x = at / channels % w.out,
                       y = at / channels / w.out % h.out, b = at / channels / w.out / h.out;
    W sum = std::numeric_limits<W>::lowest();
    std::int64_t best = -1;
    for (std::int64_t i = 0; i < h.size; ++i) {
      const std::int64_t row = y * h.stride - h.before + i * h.dilation;
      if (row < 0 || row >= h.in) continue;
      for (std::int64_t j = 0; j < w.size; ++j) {
        const std::int64_t column = x * w.stride - w.before + j * w.dilation;
        if (column < 0 || column >= w.in) continue;
        const std::int64_t from = ((b * h.in + row) * w.in + column) * channels + c,
                           tap = (i * w.size + j) * channels + c;
        const W value = static_cast<W>(static_cast<W>(image[from]) + static_cast<W>(filter[tap]));
        if (best < 0 || value > sum) sum = value, best = result == Result::input ? from : tap;
      }
    }
    if constexpr (result == Result::output)
      out[at] = static_cast<T>(sum);
    else
      place[at] = best;
  }
};
template <class T>
struct SlopeAt {
  const T* dy;
  __device__ __forceinline__ Computed<T> operator()(std::int64_t i) const {
    return static_cast<Computed<T>>(dy[i]);
  }
};

template <Result result, class T>
void dilation(KernelContext& c) {
  const WindowGeometry g = dilation_geometry(c, c.in_shape(0), c.in_shape(1));
  const std::int64_t n = g.batch * g.out_pixels() * g.in_channels;
  DilationBody<result, T> body{g.axes[1],  g.axes[2],  g.in_channels, c.in<T>(0),
                               c.in<T>(1), c.out<T>(), nullptr};
  if constexpr (result != Result::output) {
    body.place = c.scratch<std::int64_t>(std::max<std::int64_t>(1, n));
    if (!body.place) return;
  }
  launch_loops(c, n, body);
  if constexpr (result != Result::output) {
    cudaMemsetAsync(c.out().data, 0,
                    static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize(),
                    gpu_of(c).stream());
    Runs runs;
    if (make_runs(c, body.place, n, c.out().size, Outside::drop_negative, "windows", runs))
      launch_loops(c, n, SumRunsBody<T, SlopeAt<T>>{runs, {c.in<T>(2)}, c.out<T>()});
  }
}
template <Result result>
void dilation_cuda(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() { dilation<result, T>(c); });
}
RILL_KERNEL("Dilation2D", gpu, kRealTypes, dilation_cuda<Result::output>);
RILL_KERNEL("Dilation2DBackpropInput", gpu, kRealTypes, dilation_cuda<Result::input>);
RILL_KERNEL("Dilation2DBackpropFilter", gpu, kRealTypes, dilation_cuda<Result::filter>);

}  // namespace
}  // namespace rill::cuda
