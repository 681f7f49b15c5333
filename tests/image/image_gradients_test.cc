// Gradients of rill/ops/image_ops.h.
#include <gtest/gtest.h>

#include "rill/base/parallel.h"
#include "rill/eager/gradient_tape.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

Tensor noise(const TensorShape& shape) { return cast(random::uniform(shape, 0, 255, {.seed = 7}), float32); }

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
        const Tensor y = centers ? image::resize(x, {h, w}, method) : compat::v1::image::resize(x, {h, w}, method, {.align_corners = true});
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
        const Tensor again = centers ? image::resize(x, {h, w}, method) : compat::v1::image::resize(x, {h, w}, method, {.align_corners = true});
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
      EXPECT_NEAR(reduce_sum(cast(dx, float32)).item<float>(), 64, 0.5);  // each output pixel's weights sum to 1
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

}  // namespace
}  // namespace rill
