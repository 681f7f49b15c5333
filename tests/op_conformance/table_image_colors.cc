// Colours, changes by lot, and measures of images.
#include "rill/ops/image_measures.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/image_random_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(image_colors) {
  // Each order of the channels, gray, black, and equal ones at the top and below.
  const std::vector<double> orders{0.1, 0.2, 0.3, 0.1, 0.3, 0.2, 0.2, 0.1, 0.3, 0.3, 0.1, 0.2,
                                   0.2, 0.3, 0.1, 0.3, 0.2, 0.1, 0.5, 0.5, 0.5, 0,   0,   0,
                                   0.7, 0.7, 0.2, 0.2, 0.7, 0.7, 0.7, 0.2, 0.2, 1,   0,   1};
  row("RGBToHSV")
      .sample({x({2, 3, 5, 3}, 0.01, 1)})
      .sample({fixed(x({12, 3}, orders))})
      .sample({fixed(x({2, 3, 3}, -2, 300))})
      .sample({x({0, 3})})
      .dtypes(kFloatTypes)
      .tolerance(4e-6)
      .error({x({3, 4})}, {}, "expected 3 channels in the last axis")
      .error({x({})}, {}, "expected 1 dimensions or more");
  row("HSVToRGB")
      .sample({x({2, 3, 5, 3}, 0, 1)})
      .sample(
          {x({6, 3}, {0, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.9, 0, 0.7, 0.3, 1, 0, 0.66, 0.2, 0.9})})
      .dtypes(kFloatTypes)
      .tolerance(4e-6)
      .error({x({3, 4})}, {}, "expected 3 channels in the last axis");
  for (const char* name : {"AdjustHue", "AdjustSaturation"})
    row(name)
        .sample({x({2, 3, 5, 3}, 0, 1), random(float32, {}, 0.3, 0.3)})
        .sample({x({12, 1, 3}, orders), random(float32, {}, 0.8, 0.8)})
        .sample({x({12, 1, 3}, orders), random(float32, {}, 1.7, 1.7)})
        .sample({x({0, 1, 3}), random(float32, {}, 1.7, 1.7)})
        .dtypes(TypeSet{float16, float32})
        .tolerance(4e-6)
        .error({x({2, 3}), random(float32, {}, 0.3, 0.3)}, {}, "expected 3 dimensions or more")
        .error({x({2, 3, 4}), random(float32, {}, 0.3, 0.3)}, {}, "expected 3 channels")
        .error({x({2, 3, 3}), random(float32, {1}, 0.3, 0.3)}, {}, "must have rank 0");
  const TypeSet some = TypeSet{float16, float32, uint8};
  auto adjusting = [&](const char* name, const char* tf, Call call) -> Row& {
    return row(name)
        .sample({x({4, 5, 3}, 0, 1)})
        .sample({x({2, 4, 5, 3}, 0, 250)})
        .tf(tf)
        .call(std::move(call))
        .dtypes(some)
        .no_gradient_check("TensorFlow has none either");
  };
  adjusting("image.adjust_hue",
            "tf.image.adjust_hue(tf.cast(x0, tf.float32) if x0.dtype == "
            "tf.float16 else x0, 0.35)",
            [](auto& in) { return std::vector{image::adjust_hue(in[0], 0.35)}; })
      .dtypes(TypeSet{float32, uint8})
      .error({x({4, 5, 2})}, {}, "expected 3 channels");
  adjusting("image.adjust_saturation", "tf.image.adjust_saturation(x0, 0.4)", [](auto& in) {
    return std::vector{image::adjust_saturation(in[0], 0.4)};
  }).dtypes(TypeSet{float32, uint8});
  for (auto [name, function] : {std::pair{"rgb_to_yiq", &image::rgb_to_yiq},
                                {"yiq_to_rgb", image::yiq_to_rgb},
                                {"rgb_to_yuv", image::rgb_to_yuv},
                                {"yuv_to_rgb", image::yuv_to_rgb}})
    row(std::string("image.") + name)
        .sample({x({2, 5, 3}, 0, 1)})
        .sample({x({2, 2, 5, 3}, 0, 1)})
        .tf(std::string("tf.image.") + name + "(x0)")
        .call([function = function](auto& in) { return std::vector{function(in[0])}; })
        .error({x({2, 5, 4})}, {}, "expected 3 channels in the last axis");
}

RILL_ROWS(image_random) {
  auto drawn = [](const char* name, const char* tf, Call call, TypeSet types) -> Row& {
    return row(std::string("image.stateless_random_") + name)
        .sample({x({4, 5, 3}, 0, 1), i32({1, 2})})
        .sample({x({4, 5, 3}, 0, 250), values(int64, {2}, {-7, 123456789})})
        .tf(std::string("tf.image.stateless_random_") + name + tf)
        .call(std::move(call))
        .dtypes(types)
        .tolerance(2e-5)  // of values to 250
        .no_gradient_check("the same op with a number that is drawn");
  };
  const TypeSet some{float32, uint8};
  drawn(
      "brightness", "(x0, 0.4, x1)",
      [](auto& in) { return std::vector{image::stateless_random_brightness(in[0], 0.4, in[1])}; },
      some);
  drawn(
      "contrast", "(x0, 0.2, 1.9, x1)",
      [](auto& in) {
        return std::vector{image::stateless_random_contrast(in[0], 0.2, 1.9, in[1])};
      },
      some);
  drawn(
      "hue", "(x0, 0.45, x1)",
      [](auto& in) { return std::vector{image::stateless_random_hue(in[0], 0.45, in[1])}; }, some);
  drawn(
      "saturation", "(x0, 0.2, 1.9, x1)",
      [](auto& in) {
        return std::vector{image::stateless_random_saturation(in[0], 0.2, 1.9, in[1])};
      },
      some);
  drawn(
      "jpeg_quality", "(x0, 5, 95, x1)",
      [](auto& in) {
        return std::vector{image::stateless_random_jpeg_quality(in[0], 5, 95, in[1])};
      },
      some);
  drawn(
      "crop", "(x0, [2, 3, 3], x1)",
      [](auto& in) {
        return std::vector{image::stateless_random_crop(in[0], {2, 3, 3}, in[1])};
      },
      some | TypeSet{int32, float64})
      .error({x({4, 2, 3}), i32({1, 2})}, {}, "a crop of .* of a value of shape \\[4, 2, 3\\]");
  for (auto [name, function] :
       {std::pair{"flip_left_right", &image::stateless_random_flip_left_right},
        {"flip_up_down", image::stateless_random_flip_up_down}}) {
    Row& flip = drawn(
        name, "(x0, x1)",
        [function = function](auto& in) { return std::vector{function(in[0], in[1])}; },
        some | TypeSet{int32, float64, float16});
    for (double seed = 3; seed < 7; ++seed) flip.sample({x({3, 4, 2}), i32({seed, 1})});
    flip.sample({x({6, 3, 4, 2}, 0, 9), i32({5, 5})})
        .error({x({3, 4}), i32({1, 2})}, {}, "expected 3 or 4 dimensions");
  }
}

RILL_ROWS(image_measures) {
  const Input a = x({2, 13, 12, 2}, 0, 1), b = random(float32, {2, 13, 12, 2}, 0, 1);
  auto alike = [&](const char* name, const char* tf, Call call) -> Row& {
    return row(std::string("image.") + name)
        .tf(std::string("tf.image.") + name + tf)
        .call(std::move(call))
        .dtypes({float32})
        .tolerance(2e-5)
        .no_gradient_check("float32 alone; image_gradients_test.cc");
  };
  alike("psnr", "(x0, x1, 1.0)",
        [](auto& in) { return std::vector{image::psnr(in[0], in[1], 1.0)}; })
      .sample({a, b})
      .sample({x({3, 4, 1}, 0, 1), random(float32, {3, 4, 1}, 0, 1)})
      .error({x({3, 4}), random(float32, {3, 4}, 0, 1)}, {}, "expected 3 dimensions or more")
      .error({x({3, 4, 1}), random(float32, {3, 5, 1}, 0, 1)}, {}, "the same height, width");
  row("image.psnr_uint8")
      .sample({random(uint8, {2, 5, 4, 3}, 0, 255), random(uint8, {5, 4, 3}, 0, 255)})
      .tf("[tf.image.psnr(x0, x1, 255), tf.image.psnr(x0, x1, 100)]")
      .call([](auto& in) {
        return std::vector{image::psnr(in[0], in[1], 255), image::psnr(in[0], in[1], 100)};
      })
      .dtypes({float32})
      .tolerance(2e-5);
  alike("ssim", "(x0, x1, 1.0)",
        [](auto& in) { return std::vector{image::ssim(in[0], in[1], 1.0)}; })
      .sample({a, b})
      .sample({x({12, 11, 3}, 0, 1), random(float32, {12, 11, 3}, 0, 1)})
      .sample({random(uint8, {1, 2, 14, 12, 1}, 0, 255), random(uint8, {1, 2, 14, 12, 1}, 0, 255)})
      .error({x({3, 14, 1}), random(float32, {3, 14, 1}, 0, 1)}, {}, "11 pixels a side at least");
  row("image.ssim_map")
      .sample({a, b})
      .tf("tf.image.ssim(x0, x1, 2.0, filter_size=4, filter_sigma=0.9, k1=0.02, k2=0.05, "
          "return_index_map=True)")
      .call([](auto& in) {
        return std::vector{image::ssim(in[0], in[1], 2.0,
                                       {.filter_size = 4,
                                        .filter_sigma = 0.9,
                                        .k1 = 0.02,
                                        .k2 = 0.05,
                                        .return_index_map = true})};
      })
      .dtypes({float32})
      .tolerance(2e-5)
      .no_gradient_check("float32 alone; image_gradients_test.cc");
  alike("ssim_multiscale", "(x0, x1, 1.0, power_factors=(0.3, 0.3, 0.4), filter_size=3)",
        [](auto& in) {
          return std::vector{image::ssim_multiscale(
              in[0], in[1], 1.0, {.power_factors = {0.3, 0.3, 0.4}, .filter_size = 3})};
        })
      .sample({a, b})
      .sample({x({23, 14, 1}, 0, 1), random(float32, {23, 14, 1}, 0.3, 0.6)})
      .sizes_must_be_known("an odd side is mirrored")
      .error({x({3, 14, 1}), random(float32, {3, 14, 1}, 0, 1)}, {}, "3 pixels a side at least");
  row("image.total_variation")
      .sample({x({4, 5, 2})})
      .sample({x({2, 4, 5, 2})})
      .tf("tf.image.total_variation(x0)")
      .call([](auto& in) { return std::vector{image::total_variation(in[0])}; })
      .dtypes(kRealFloatTypes | TypeSet{int32})
      .error({x({4, 5})}, {}, "expected 3 or 4 dimensions");
  row("image.image_gradients")
      .sample({x({2, 4, 5, 2})})
      .sample({x({1, 1, 1, 1})})
      .tf("list(tf.image.image_gradients(x0))")
      .call([](auto& in) {
        const Tensors<2> out = image::image_gradients(in[0]);
        return std::vector{out.t[0], out.t[1]};
      })
      .dtypes(kRealFloatTypes | TypeSet{int32})
      .error({x({4, 5, 2})}, {}, "expected 4 dimensions");
  row("image.sobel_edges")
      .sample({x({2, 4, 5, 3})})
      .sample({x({1, 2, 2, 1})})
      .tf("tf.image.sobel_edges(x0)")
      .call([](auto& in) { return std::vector{image::sobel_edges(in[0])}; })
      .error({x({4, 5, 2})}, {}, "expected 4 dimensions");
  for (bool antialias : {false, true})
    row(std::string("image.resize_with_pad") + (antialias ? "_antialias" : ""))
        .sample({x({6, 9, 2})})
        .sample({x({2, 9, 4, 1})})
        .sample({x({3, 3, 1})})
        .tf(std::string("tf.image.resize_with_pad(x0, 7, 5, antialias=") +
            (antialias ? "True" : "False") + ")")
        .call([antialias](auto& in) {
          return std::vector{image::resize_with_pad(in[0], 7, 5, "bilinear", antialias)};
        })
        .dtypes(TypeSet{float32, uint8})
        .error({x({3, 3})}, {}, "expected 3 or 4 dimensions");
}

}  // namespace rill::conformance
