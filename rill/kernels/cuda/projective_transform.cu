// Images whose pixels are taken from where a projective transform says.
#include "rill/kernels/functors/projective_transform.h"

#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

template <class T>
struct TransformBody {
  const T* in;
  const float *transforms, *fill;
  T* out;
  std::int64_t height, width, channels, rows, columns;
  bool one, bilinear;
  functors::Outside mode;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t column = i % columns, row = i / columns % rows, image = i / columns / rows;
    functors::transformed_pixel(functors::Picture<T>{in + image * height * width * channels, height,
                                                     width, channels, functors::as_pixel<T>(*fill)},
                                transforms + (one ? 0 : image * 8), static_cast<float>(row),
                                static_cast<float>(column), mode, bilinear, out + i * channels);
  }
};

void transform_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const TensorShape &in = c.in_shape(0), &out = c.out_shape();
  if (in.dim(1) == 0 || in.dim(2) == 0)
    return c.fail(Code::invalid_argument,
                  format("[{}] images has shape {}; expected pixels", c.tag(), in));
  dispatch_types<float, double, half, bfloat16_t, std::uint8_t, std::int32_t, std::int64_t>(
      c.in(0).dtype, [&]<class T>() {
        launch_loops(c, c.out().size / out.dim(3),
                     TransformBody<T>{c.in<T>(0), c.in<float>(1), c.in<float>(3), c.out<T>(),
                                      in.dim(1), in.dim(2), out.dim(3), out.dim(1), out.dim(2),
                                      c.in_shape(1).dim(0) == 1,
                                      c.string_attr("interpolation") == "BILINEAR",
                                      functors::outside_of(c.string_attr("fill_mode"))});
      });
}
RILL_KERNEL("ImageProjectiveTransformV3", gpu, kFloatTypes | (TypeSet{uint8, int32, int64}),
            transform_cuda);

}  // namespace
}  // namespace rill::cuda
