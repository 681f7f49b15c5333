// Boxes cut out of images.
#include "rill/kernels/cuda/runs.h"

namespace rill::cuda {
namespace {

using Index = std::int64_t;
constexpr TypeSet kCropTypes =
    kRealFloatTypes | TypeSet{float16, int8, uint8, int16, uint16, int32, int64};

// Where pixel i of n lies between two ends that are parts of size - 1.
RILL_FORCE_INLINE float place(float low, float high, Index i, Index n, Index size) {
  const float last = static_cast<float>(size - 1);
  if (n == 1) return 0.5f * (low + high) * last;
  const float step = (high - low) * last / static_cast<float>(n - 1);
  return low * last + static_cast<float>(i) * step;
}
// The same as the gradient of the boxes finds it: rounded elsewhere, which at a
// pixel's very centre decides between two slopes.
RILL_FORCE_INLINE float place_by_ratio(float low, float high, Index i, Index n, Index size) {
  const float last = static_cast<float>(size - 1);
  if (n == 1) return 0.5f * (low + high) * last;
  return low * last + static_cast<float>(i) * ((high - low) * (last / static_cast<float>(n - 1)));
}
// The pixels around a place of an axis.
struct Around {
  RILL_HOST_DEVICE Around(float at, Index size)
      : outside(!(at >= 0 && at <= static_cast<float>(size - 1))) {
    if (outside) return;
    low = static_cast<Index>(std::floor(at)), high = static_cast<Index>(std::ceil(at));
    near = static_cast<Index>(std::round(at)), part = at - static_cast<float>(low);
  }
  bool outside;
  Index low = 0, high = 0, near = 0;
  float part = 0;
};
struct Sizes {
  Index n, h, w, c, image_h, image_w;  // crops, images
};

template <class T>
struct CropBody {
  Sizes s;
  const T* image;
  const float* boxes;
  const std::int32_t* index;
  float* out;
  Index images;
  float beyond;
  bool linear;
  Reporter reporter;
  __device__ __forceinline__ float pixel(Index b, Index row, Index column, Index c) const {
    return static_cast<float>(
        static_cast<Computed<T>>(image[((b * s.image_h + row) * s.image_w + column) * s.c + c]));
  }
  __device__ __forceinline__ void operator()(Index at) const {
    const Index c = at % s.c, i = at / s.c % s.w, k = at / s.c / s.w % s.h,
                n = at / s.c / s.w / s.h, b = index[n];
    out[at] = beyond;
    if (b < 0 || b >= images) {
      report(reporter.error, reporter.op, Finding::out_of_range, reporter.what, n, b, images);
      return;
    }
    const float* box = boxes + 4 * n;
    const Around y(place(box[0], box[2], k, s.h, s.image_h), s.image_h),
        x(place(box[1], box[3], i, s.w, s.image_w), s.image_w);
    if (y.outside || x.outside) return;
    if (!linear) {
      out[at] = pixel(b, y.near, x.near, c);
      return;
    }
    const float a = pixel(b, y.low, x.low, c), d = pixel(b, y.high, x.low, c);
    const float top = a + (pixel(b, y.low, x.high, c) - a) * x.part,
                bottom = d + (pixel(b, y.high, x.high, c) - d) * x.part;
    out[at] = top + (bottom - top) * y.part;
  }
};
void crop_cuda(KernelContext& c) noexcept {
  const TensorShape &image = c.in_shape(0), &out = c.out_shape();
  const Sizes s{out.dim(0), out.dim(1), out.dim(2), out.dim(3), image.dim(1), image.dim(2)};
  dispatch_types<float, std::uint8_t, double, half, std::int8_t, std::int16_t, std::uint16_t,
                 std::int32_t, std::int64_t>(c.in(0).dtype, [&]<class T>() {
    launch_loops(c, c.out().size,
                 CropBody<T>{s,
                             c.in<T>(0),
                             c.in<float>(1),
                             c.in<std::int32_t>(2),
                             c.out<float>(),
                             image.dim(0),
                             static_cast<float>(c.float_attr("extrapolation_value")),
                             c.string_attr("method") == "bilinear",
                             {gpu_of(c).kernel_error(), &c.op(), "box_ind"}});
  });
}
RILL_KERNEL("CropAndResize", gpu, kCropTypes, crop_cuda);

// Each pixel of a crop adds to four pixels of the image, or to one: entry 4 * pixel + corner.
struct CornerBody {
  Sizes s;
  const float* boxes;
  const std::int32_t* index;
  std::int64_t* to;  // the pixel of the images; -1: none
  Index images;
  bool linear;
  Reporter reporter;
  __device__ __forceinline__ void operator()(Index at) const {
    const Index i = at % s.w, k = at / s.w % s.h, n = at / s.w / s.h, b = index[n];
    for (int corner = 0; corner < 4; ++corner) to[4 * at + corner] = -1;
    if (b < 0 || b >= images) {
      report(reporter.error, reporter.op, Finding::out_of_range, reporter.what, n, b, images);
      return;
    }
    const float* box = boxes + 4 * n;
    const Around y(place(box[0], box[2], k, s.h, s.image_h), s.image_h),
        x(place(box[1], box[3], i, s.w, s.image_w), s.image_w);
    if (y.outside || x.outside) return;
    const auto pixel = [&](Index row, Index column) {
      return (b * s.image_h + row) * s.image_w + column;
    };
    if (!linear) {
      to[4 * at] = pixel(y.near, x.near);
      return;
    }
    to[4 * at] = pixel(y.low, x.low), to[4 * at + 1] = pixel(y.low, x.high);
    to[4 * at + 2] = pixel(y.high, x.low), to[4 * at + 3] = pixel(y.high, x.high);
  }
};
template <class T>
struct AddCornersBody {
  Sizes s;
  Runs runs;
  const float *grads, *boxes;
  T* out;
  bool linear;
  __device__ __forceinline__ void operator()(Index at) const {
    using W = Computed<T>;
    const Index first = at / s.c, c = at % s.c;
    if (!runs.begins(first)) return;
    const Index end = runs.end(first);
    W sum = W(0);
    for (Index e = first; e < end; ++e) {
      const Index p = runs.row[e] / 4, corner = runs.row[e] % 4, i = p % s.w, k = p / s.w % s.h;
      const float* box = boxes + 4 * (p / s.w / s.h);
      float wy = 1, wx = 1;
      if (linear) {
        const Around y(place(box[0], box[2], k, s.h, s.image_h), s.image_h),
            x(place(box[1], box[3], i, s.w, s.image_w), s.image_w);
        wy = corner < 2 ? 1 - y.part : y.part, wx = corner % 2 == 0 ? 1 - x.part : x.part;
      }
      sum += static_cast<W>(wx * (wy * grads[p * s.c + c]));
    }
    out[static_cast<Index>(runs.place[first]) * s.c + c] = static_cast<T>(sum);
  }
};
void crop_grad_image_cuda(KernelContext& c) noexcept {
  const TensorShape &crops = c.in_shape(0), &out = c.out_shape();
  const Sizes s{crops.dim(0), crops.dim(1), crops.dim(2), crops.dim(3), out.dim(1), out.dim(2)};
  const Index pixels = s.n * s.h * s.w;
  const bool linear = c.string_attr("method") == "bilinear";
  auto* to = c.scratch<std::int64_t>(std::max<Index>(1, 4 * pixels));
  if (!to) return;
  cudaMemsetAsync(c.out().data, 0,
                  static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize(),
                  gpu_of(c).stream());
  launch_loops(c, pixels,
               CornerBody{s,
                          c.in<float>(1),
                          c.in<std::int32_t>(2),
                          to,
                          out.dim(0),
                          linear,
                          {gpu_of(c).kernel_error(), &c.op(), "box_ind"}});
  Runs runs;
  if (!make_runs(c, to, 4 * pixels, out.dim(0) * s.image_h * s.image_w, Outside::drop_negative,
                 "box_ind", runs))
    return;
  dispatch_types<float, double, half>(c.out().dtype, [&]<class T>() {
    launch_loops(c, runs.n * s.c,
                 AddCornersBody<T>{s, runs, c.in<float>(0), c.in<float>(1), c.out<T>(), linear});
  });
}
RILL_KERNEL("CropAndResizeGradImage", gpu, (kRealFloatTypes | TypeSet{float16}),
            crop_grad_image_cuda);

template <class T>
struct BoxSlopeBody {
  Sizes s;
  const float* grads;
  const T* image;
  const float* boxes;
  const std::int32_t* index;
  float* out;
  Index images;
  Reporter reporter;
  __device__ __forceinline__ float pixel(Index b, Index row, Index column, Index c) const {
    return static_cast<float>(
        static_cast<Computed<T>>(image[((b * s.image_h + row) * s.image_w + column) * s.c + c]));
  }
  __device__ __forceinline__ void operator()(Index n) const {
    const Index b = index[n];
    float dy1 = 0, dx1 = 0, dy2 = 0, dx2 = 0;
    const float* box = boxes + 4 * n;
    const float rows = static_cast<float>(s.image_h - 1),
                columns = static_cast<float>(s.image_w - 1);
    const bool known = b >= 0 && b < images;
    if (!known)
      report(reporter.error, reporter.op, Finding::out_of_range, reporter.what, n, b, images);
    for (Index k = 0; k < s.h && known; ++k) {
      const Around y(place_by_ratio(box[0], box[2], k, s.h, s.image_h), s.image_h);
      if (y.outside) continue;
      // How a place moves with the lower and the upper end.
      const float up = s.h > 1 ? static_cast<float>(k) * (rows / static_cast<float>(s.h - 1)) : 0;
      for (Index i = 0; i < s.w; ++i) {
        const Around x(place_by_ratio(box[1], box[3], i, s.w, s.image_w), s.image_w);
        if (x.outside) continue;
        const float across =
            s.w > 1 ? static_cast<float>(i) * (columns / static_cast<float>(s.w - 1)) : 0;
        for (Index j = 0; j < s.c; ++j) {
          const float g = grads[((n * s.h + k) * s.w + i) * s.c + j], a = pixel(b, y.low, x.low, j),
                      e = pixel(b, y.high, x.high, j), d = pixel(b, y.high, x.low, j),
                      f = pixel(b, y.low, x.high, j);
          const float gy = (1 - x.part) * (d - a) + x.part * (e - f);
          const float gx = (1 - y.part) * (f - a) + y.part * (e - d);
          const float to_y = g * gy, to_x = g * gx;
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
    out[4 * n] = dy1, out[4 * n + 1] = dx1, out[4 * n + 2] = dy2, out[4 * n + 3] = dx2;
  }
};
void crop_grad_boxes_cuda(KernelContext& c) noexcept {
  const TensorShape &crops = c.in_shape(0), &image = c.in_shape(1);
  const Sizes s{crops.dim(0), crops.dim(1), crops.dim(2), crops.dim(3), image.dim(1), image.dim(2)};
  dispatch_types<float, std::uint8_t, double, half, std::int8_t, std::int16_t, std::uint16_t,
                 std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class T>() {
    launch_loops(c, s.n,
                 BoxSlopeBody<T>{s,
                                 c.in<float>(0),
                                 c.in<T>(1),
                                 c.in<float>(2),
                                 c.in<std::int32_t>(3),
                                 c.out<float>(),
                                 image.dim(0),
                                 {gpu_of(c).kernel_error(), &c.op(), "box_ind"}});
  });
}
RILL_KERNEL("CropAndResizeGradBoxes", gpu, kCropTypes, crop_grad_boxes_cuda);

}  // namespace
}  // namespace rill::cuda
