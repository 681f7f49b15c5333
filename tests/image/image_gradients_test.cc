// Gradients of rill/ops/image_ops.h.
#include <gtest/gtest.h>

#include "rill/base/parallel.h"
#include "rill/compat/v1/image.h"
#include "rill/eager/gradient_tape.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

Tensor noise(const TensorShape& shape) {
  return cast(random::uniform(shape, 0, 255, {.seed = 7}), float32);
}

// <resize(x), w> = <x, gradient of resize for w>: resizing is linear, so its
// gradient is its transpose. In small whole numbers times weights, in float64.
TEST(ResizeGradient, IsTheTranspose) {
  for (std::string_view method : {"bilinear", "bicubic", "nearest"})
    for (bool centers : {true, false})
      for (auto [h, w] : {std::pair{3, 4}, {9, 5}, {13, 17}}) {
        SCOPED_TRACE(format("{} {} {}x{}", method, centers, h, w));
        const Tensor x = cast(noise({2, 6, 7, 2}), float64);
        GradientTape tape;
        tape.watch(x);
        const Tensor y =
            centers ? image::resize(x, {h, w}, method)
                    : compat::v1::image::resize(x, {h, w}, method, {.align_corners = true});
        const Tensor weights = cast(noise(y.shape()), y.dtype());
        const Tensor left = reduce_sum(y * weights);
        const Tensor dx = tape.gradient(left, x);
        EXPECT_EQ(dx.dtype(), float64);
        EXPECT_EQ(dx.shape(), x.shape());
        const double a = reduce_sum(cast(y, float64) * cast(weights, float64)).item<double>();
        EXPECT_NEAR(reduce_sum(dx * x).item<double>() / a, 1, 1e-6);
        // and again: the gradient of the gradient, by the weights, is the resize
        GradientTape outer;
        outer.watch(weights);
        GradientTape inner;
        inner.watch(x);
        const Tensor again =
            centers ? image::resize(x, {h, w}, method)
                    : compat::v1::image::resize(x, {h, w}, method, {.align_corners = true});
        const Tensor slope = inner.gradient(reduce_sum(again * weights), x);
        const Tensor second = outer.gradient(reduce_sum(slope * x), weights);
        EXPECT_EQ(second.shape(), y.shape());
        const auto got = second.to_vector<double>(), want = y.to_vector<double>();
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-3);
      }
}

TEST(ResizeGradient, IsThereForHalfFloats) {
  for (DType d : {float16, bfloat16})
    for (std::string_view method : {"bilinear", "bicubic", "nearest"}) {
      const Tensor x = cast(noise({1, 4, 4, 1}), d);
      GradientTape tape;
      tape.watch(x);
      const Tensor y = image::resize(x, {8, 8}, method);
      const Tensor dx = tape.gradient(reduce_sum(y), x);
      EXPECT_EQ(dx.dtype(), d);
      EXPECT_NEAR(reduce_sum(cast(dx, float32)).item<float>(), 64,
                  0.5);  // each output pixel's weights sum to 1
    }
}

TEST(ResizeGradient, HasTheSameBitsAtEveryWidth) {
  for (std::string_view method : {"bilinear", "bicubic", "nearest", "lanczos3"}) {
    const Tensor x = noise({3, 61, 47, 3});
    auto at_width = [&](int width) {
      ComputeWidthScope scope(width);
      GradientTape tape;
      tape.watch(x);
      const Tensor y = image::resize(x, {97, 83}, method);
      return tape.gradient(reduce_sum(y * y), x).to_vector<float>();
    };
    EXPECT_EQ(at_width(1), at_width(4)) << method;
  }
}

TEST(ResizeGradient, OfFiltersIsTheTranspose) {
  for (std::string_view method :
       {"bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"}) {
    const Tensor x = noise({2, 9, 8, 3});
    GradientTape tape;
    tape.watch(x);
    const Tensor y = image::resize(x, {4, 11}, method, {.antialias = true});
    const Tensor weights = noise(y.shape());
    const Tensor sum = reduce_sum(y * weights);
    const Tensor dx = tape.gradient(sum, x);
    EXPECT_NEAR(
        reduce_sum(cast(dx, float64) * cast(x, float64)).item<double>() / sum.item<double>(), 1,
        1e-5)
        << method;
  }
}

TEST(CropAndResizeGradient, EqualsFiniteDifferences) {
  const Tensor images = noise({2, 6, 7, 2}) / 255, indices = constant({1, 0});
  const Tensor boxes =
      constant({0.11f, 0.23f, 0.83f, 0.94f, 0.9f, 0.07f, 0.13f, 0.77f}, float32, {2, 4});
  auto value = [&](const Tensor& x, const Tensor& b) {
    const Tensor crops = image::crop_and_resize(x, b, indices, {3, 4});
    return reduce_sum(cast(crops * crops, float64));
  };
  GradientTape tape;
  tape.watch(images), tape.watch(boxes);
  const Tensor sum = value(images, boxes);
  const Gradients grads = tape.gradient(sum, {images, boxes});
  constexpr double h = 1e-3;
  for (int which : {0, 1}) {
    const Tensor& at = which ? boxes : images;
    const auto got = Tensor(grads[static_cast<std::size_t>(which)]).to_vector<double>();
    for (std::int64_t i = 0; i < at.size(); i += which ? 1 : 5) {
      const Tensor step = reshape(one_hot(constant(i), at.size(), {.on_value = h}), at.shape());
      const Tensor up = at + step, down = at - step;
      const double slope =
          (which ? value(images, up) - value(images, down) : value(up, boxes) - value(down, boxes))
              .item<double>() /
          (2 * h);
      EXPECT_NEAR(got[static_cast<std::size_t>(i)], slope, 2e-3 * std::max(1.0, std::abs(slope)))
          << which << " " << i;
    }
  }
}

}  // namespace
}  // namespace rill
