// Images whose pixels are taken from where a projective transform says. Rows are divided among
// threads.
#include "rill/kernels/functors/projective_transform.h"

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

using functors::Outside, functors::Picture;

void transform_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const TensorShape &in = c.in_shape(0), &out = c.out_shape();
  const Outside mode = functors::outside_of(c.string_attr("fill_mode"));
  const bool bilinear = c.string_attr("interpolation") == "BILINEAR";
  const std::int64_t rows = out.dim(1), columns = out.dim(2), channels = out.dim(3);
  const bool one = c.in_shape(1).dim(0) == 1;
  if (in.dim(1) == 0 || in.dim(2) == 0)
    return c.fail(Code::invalid_argument,
                  format("[{}] images has shape {}; expected pixels", c.tag(), in));
  dispatch_types<float, double, half, bfloat16_t, std::uint8_t, std::int32_t, std::int64_t>(
      c.in(0).dtype, [&]<class T>() {
        const T fill = functors::as_pixel<T>(c.in<float>(3)[0]);
        parallel_for(out.dim(0) * rows, 8, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t image = r / rows;
            const auto oy = static_cast<float>(r % rows);
            const float* t = c.in<float>(1) + (one ? 0 : image * 8);
            const Picture<T> from{c.in<T>(0) + image * in.dim(1) * in.dim(2) * channels, in.dim(1),
                                  in.dim(2), channels, fill};
            T* to = c.out<T>() + r * columns * channels;
            for (std::int64_t column = 0; column < columns; ++column, to += channels)
              functors::transformed_pixel(from, t, oy, static_cast<float>(column), mode, bilinear,
                                          to);
          }
        });
      });
}
RILL_KERNEL("ImageProjectiveTransformV3", cpu, kFloatTypes | (TypeSet{uint8, int32, int64}),
            transform_cpu);

}  // namespace
}  // namespace rill::cpu
