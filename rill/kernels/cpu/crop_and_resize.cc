// Boxes cut out of images. Crops, or where a gradient adds images, are divided
// among threads; an image is summed in the order of its boxes.
#include <algorithm>
#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/widen.h"

namespace rill::cpu {
namespace {

using Index = std::int64_t;

// Where pixel i of n lies between two ends that are parts of size - 1.
float place(float low, float high, Index i, Index n, Index size) {
  const float last = static_cast<float>(size - 1);
  if (n == 1) return 0.5f * (low + high) * last;
  const float step = (high - low) * last / static_cast<float>(n - 1);
  return low * last + static_cast<float>(i) * step;
}
// The pixels around a place of an axis.
struct Around {
  Around(float at, Index size) : outside(!(at >= 0 && at <= static_cast<float>(size - 1))) {
    if (outside) return;
    low = static_cast<Index>(std::floor(at)), high = static_cast<Index>(std::ceil(at));
    near = static_cast<Index>(std::round(at)), part = at - static_cast<float>(low);
  }
  bool outside;
  Index low = 0, high = 0, near = 0;
  float part = 0;
};
// The same as the gradient of the boxes finds it: rounded elsewhere, which at a
// pixel's very centre decides between two slopes.
float place_by_ratio(float low, float high, Index i, Index n, Index size) {
  const float last = static_cast<float>(size - 1);
  if (n == 1) return 0.5f * (low + high) * last;
  return low * last + static_cast<float>(i) * ((high - low) * (last / static_cast<float>(n - 1)));
}
struct Sizes {
  Index n, h, w, c, image_h, image_w;  // crops, images
};
// The indices must name images.
bool in_range(KernelContext& c, const TensorView& indices, Index batch) {
  const auto* index = static_cast<const std::int32_t*>(indices.data);
  for (Index i = 0; i < indices.size; ++i)
    if (index[i] < 0 || index[i] >= batch) {
      c.fail(Code::out_of_range, format("[{}] box_ind[{}] is {}; expected values in [0, {})",
                                        c.tag(), i, index[i], batch));
      return false;
    }
  return true;
}
// The image as float32: itself, or converted.
const float* as_float(KernelContext& c, int i) {
  if (c.in(i).dtype == float32) return c.in<float>(i);
  float* to = c.scratch<float>(c.in(i).size);
  if (to)
    dispatch_types<std::uint8_t, double, half, std::int8_t, std::int16_t, std::uint16_t,
                   std::int32_t, std::int64_t>(c.in(i).dtype, [&]<class T>() {
      parallel_for(c.in(i).size, 1 << 15, [&](Index begin, Index end) {
        unary_loop<functors::Convert<float>, T, float>(c.in<T>(i) + begin, to + begin, end - begin);
      });
    });
  return to;
}

void crop_cpu(KernelContext& c) noexcept {
  const TensorShape &image = c.in_shape(0), &out = c.out_shape();
  const Sizes s{out.dim(0), out.dim(1), out.dim(2), out.dim(3), image.dim(1), image.dim(2)};
  if (!in_range(c, c.in(2), image.dim(0))) return;
  const float* from = as_float(c, 0);
  if (!from && c.in(0).size > 0) return;
  const float *boxes = c.in<float>(1),
              beyond = static_cast<float>(c.float_attr("extrapolation_value"));
  const bool linear = c.string_attr("method") == "bilinear";
  parallel_for(
      s.n * s.h, std::max<Index>(1, (1 << 13) / std::max<Index>(1, s.w * s.c)),
      [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
          const float* box = boxes + r / s.h * 4;
          const float* pixels = from + c.in<std::int32_t>(2)[r / s.h] * s.image_h * s.image_w * s.c;
          float* to = c.out<float>() + r * s.w * s.c;
          const Around y(place(box[0], box[2], r % s.h, s.h, s.image_h), s.image_h);
          for (Index i = 0; i < s.w; ++i, to += s.c) {
            const Around x(place(box[1], box[3], i, s.w, s.image_w), s.image_w);
            if (y.outside || x.outside) {
              std::fill_n(to, s.c, beyond);
              continue;
            }
            auto at = [&](Index row, Index column) {
              return pixels + (row * s.image_w + column) * s.c;
            };
            if (!linear) {
              std::copy_n(at(y.near, x.near), s.c, to);
              continue;
            }
            const float *a = at(y.low, x.low), *b = at(y.low, x.high), *d = at(y.high, x.low),
                        *e = at(y.high, x.high);
            const float px = x.part, py = y.part;
            _Pragma("omp simd") for (Index j = 0; j < s.c; ++j) {
              const float top = a[j] + (b[j] - a[j]) * px, bottom = d[j] + (e[j] - d[j]) * px;
              to[j] = top + (bottom - top) * py;
            }
          }
        }
      });
}
RILL_KERNEL("CropAndResize", cpu,
            (kRealFloatTypes | TypeSet{float16, int8, uint8, int16, uint16, int32, int64}),
            crop_cpu);

void crop_grad_image_cpu(KernelContext& c) noexcept {
  const TensorShape &crops = c.in_shape(0), &out = c.out_shape();
  const Sizes s{crops.dim(0), crops.dim(1), crops.dim(2), crops.dim(3), out.dim(1), out.dim(2)};
  if (!in_range(c, c.in(2), out.dim(0))) return;
  const float *grads = c.in<float>(0), *boxes = c.in<float>(1);
  const std::int32_t* index = c.in<std::int32_t>(2);
  const bool linear = c.string_attr("method") == "bilinear";
  dispatch_types<float, double, half>(c.out().dtype, [&]<class T>() {
    using W = Wide<T>;
    W* whole = wide_output<T>(c, 0);
    if (!whole) return;
    const Index size = s.image_h * s.image_w * s.c;
    parallel_for(out.dim(0), 1, [&](Index begin, Index end) {
      std::fill(whole + begin * size, whole + end * size, W(0));
      for (Index n = 0; n < s.n; ++n) {
        if (index[n] < begin || index[n] >= end) continue;
        W* pixels = whole + index[n] * size;
        const float* box = boxes + 4 * n;
        for (Index k = 0; k < s.h; ++k) {
          const Around y(place(box[0], box[2], k, s.h, s.image_h), s.image_h);
          if (y.outside) continue;
          for (Index i = 0; i < s.w; ++i) {
            const Around x(place(box[1], box[3], i, s.w, s.image_w), s.image_w);
            if (x.outside) continue;
            const float* g = grads + ((n * s.h + k) * s.w + i) * s.c;
            auto add = [&](Index row, Index column, float wy, float wx) {
              W* to = pixels + (row * s.image_w + column) * s.c;
              _Pragma("omp simd") for (Index j = 0; j < s.c; ++j) to[j] +=
                  static_cast<W>(wx * (wy * g[j]));
            };
            if (!linear) {
              add(y.near, x.near, 1, 1);
              continue;
            }
            add(y.low, x.low, 1 - y.part, 1 - x.part);
            add(y.low, x.high, 1 - y.part, x.part);
            add(y.high, x.low, y.part, 1 - x.part);
            add(y.high, x.high, y.part, x.part);
          }
        }
      }
    });
    narrow_output<T>(c, 0, whole);
  });
}
RILL_KERNEL("CropAndResizeGradImage", cpu, (kRealFloatTypes | TypeSet{float16}),
            crop_grad_image_cpu);

void crop_grad_boxes_cpu(KernelContext& c) noexcept {
  const TensorShape &crops = c.in_shape(0), &image = c.in_shape(1);
  const Sizes s{crops.dim(0), crops.dim(1), crops.dim(2), crops.dim(3), image.dim(1), image.dim(2)};
  if (!in_range(c, c.in(3), image.dim(0))) return;
  const float *grads = c.in<float>(0), *from = as_float(c, 1), *boxes = c.in<float>(2);
  if (!from && c.in(1).size > 0) return;
  const float rows = static_cast<float>(s.image_h - 1), columns = static_cast<float>(s.image_w - 1);
  parallel_for(s.n, 1, [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const float* box = boxes + 4 * n;
      const float* pixels = from + c.in<std::int32_t>(3)[n] * s.image_h * s.image_w * s.c;
      float dy1 = 0, dx1 = 0, dy2 = 0, dx2 = 0;
      for (Index k = 0; k < s.h; ++k) {
        const Around y(place_by_ratio(box[0], box[2], k, s.h, s.image_h), s.image_h);
        if (y.outside) continue;
        // How a place moves with the lower and the upper end.
        const float up = s.h > 1 ? static_cast<float>(k) * (rows / static_cast<float>(s.h - 1)) : 0;
        for (Index i = 0; i < s.w; ++i) {
          const Around x(place_by_ratio(box[1], box[3], i, s.w, s.image_w), s.image_w);
          if (x.outside) continue;
          const float across =
              s.w > 1 ? static_cast<float>(i) * (columns / static_cast<float>(s.w - 1)) : 0;
          const float* g = grads + ((n * s.h + k) * s.w + i) * s.c;
          auto at = [&](Index row, Index column) {
            return pixels + (row * s.image_w + column) * s.c;
          };
          const float *a = at(y.low, x.low), *b = at(y.low, x.high), *d = at(y.high, x.low),
                      *e = at(y.high, x.high);
          for (Index j = 0; j < s.c; ++j) {
            const float gy = (1 - x.part) * (d[j] - a[j]) + x.part * (e[j] - b[j]);
            const float gx = (1 - y.part) * (b[j] - a[j]) + y.part * (e[j] - d[j]);
            const float to_y = g[j] * gy, to_x = g[j] * gx;
            if (s.h > 1)
              dy1 += to_y * (rows - up), dy2 += to_y * up;
            else
              dy1 += to_y * 0.5f * rows, dy2 += to_y * 0.5f * rows;
            if (s.w > 1)
              dx1 += to_x * (columns - across), dx2 += to_x * across;
            else
              dx1 += to_x * 0.5f * columns, dx2 += to_x * 0.5f * columns;
          }
        }
      }
      float* to = c.out<float>() + 4 * n;
      to[0] = dy1, to[1] = dx1, to[2] = dy2, to[3] = dx2;
    }
  });
}
RILL_KERNEL("CropAndResizeGradBoxes", cpu,
            (kRealFloatTypes | TypeSet{float16, int8, uint8, int16, uint16, int32, int64}),
            crop_grad_boxes_cpu);

}  // namespace
}  // namespace rill::cpu
