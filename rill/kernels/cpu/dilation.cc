#include <algorithm>
#include <limits>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"
#include "rill/ops/nn/windows.h"

namespace rill::cpu {
namespace {

// Where the largest sum under the window at (y, x) of an image is, in one
// channel: the first of equals.
struct Best {
  std::int64_t input = -1, filter = -1;  // -1: the window lies in the padding
};
template <class T>
Best largest(const WindowGeometry& g, const T* image, const T* filter, std::int64_t y,
             std::int64_t x, std::int64_t c, T* sum) {
  Best best;
  const Window &h = g.axes[1], &w = g.axes[2];
  for (std::int64_t i = 0; i < h.size; ++i) {
    const std::int64_t row = y * h.stride - h.before + i * h.dilation;
    if (row < 0 || row >= h.in) continue;
    for (std::int64_t j = 0; j < w.size; ++j) {
      const std::int64_t column = x * w.stride - w.before + j * w.dilation;
      if (column < 0 || column >= w.in) continue;
      const std::int64_t at = (row * w.in + column) * g.in_channels + c,
                         tap = (i * w.size + j) * g.in_channels + c;
      const T value = static_cast<T>(image[at] + filter[tap]);
      if (best.input < 0 || value > *sum) *sum = value, best = {at, tap};
    }
  }
  return best;
}

enum class Result { output, input, filter };

template <Result result>
void dilation_cpu(KernelContext& c) noexcept {
  const WindowGeometry g = dilation_geometry(c, c.in_shape(0), c.in_shape(1));
  const std::int64_t n = g.in_channels, height = g.axes[1].out, width = g.axes[2].out,
                     in = g.in_pixels() * n, out = g.out_pixels() * n;
  dispatch_reals(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    const W *image = widened<T>(c, 0), *filter = widened<T>(c, 1), *dy = nullptr;
    if constexpr (result != Result::output) dy = widened<T>(c, 2);
    W* to = wide_output<T>(c, 0);
    if (!image || !filter || !to || (result != Result::output && !dy)) return;
    if (result != Result::output) std::fill_n(to, c.out().size, W(0));
    auto one_image = [&](std::int64_t b) {
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
          for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t at = b * out + (y * width + x) * n + k;
            W sum = std::numeric_limits<W>::lowest();
            const Best best = largest(g, image + b * in, filter, y, x, k, &sum);
            if constexpr (result == Result::output)
              to[at] = sum;
            else if (best.input >= 0) {
              W& place = result == Result::input ? to[b * in + best.input] : to[best.filter];
              place = static_cast<W>(place + dy[at]);
            }
          }
    };
    // All images add to the one filter: in their order.
    if (result == Result::filter)
      for (std::int64_t b = 0; b < g.batch; ++b) one_image(b);
    else
      parallel_for(g.batch, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) one_image(b);
      });
    narrow_output<T>(c, 0, to);
  });
}
RILL_KERNEL("Dilation2D", cpu, kRealTypes, dilation_cpu<Result::output>);
RILL_KERNEL("Dilation2DBackpropInput", cpu, kRealTypes, dilation_cpu<Result::input>);
RILL_KERNEL("Dilation2DBackpropFilter", cpu, kRealTypes, dilation_cpu<Result::filter>);

}  // namespace
}  // namespace rill::cpu
