#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

constexpr TypeSet kImageTypes = kFloatTypes | TypeSet{int8, uint8, int16, uint16, int32, int64};

Input grads(const TensorShape& shape) { return random(float32, shape, -2, 2); }

// What every op on images and a size is asked.
Row& resize_row(std::string name, bool centers) {
  const Attr align{"align_corners", true}, half{"half_pixel_centers", true};
  Row& r = row(std::move(name));
  r.sample({x({1, 2, 2, 1}, -40, 40), i32({4, 4})})
      .sample({x({2, 5, 7, 3}, -90, 90), i32({3, 4})})
      .sample({x({2, 3, 4, 2}, -40, 40), i32({7, 9})}, {align})
      .sample({x({1, 4, 3, 1}), i32({1, 1})}, {align})
      .sample({x({1, 1, 1, 3}), i32({3, 2})})
      .sample({fixed(x({3, 16, 15, 5}, -90, 90)), i32({11, 31})})
      .sample({x({2, 4, 4, 2}), i32({4, 4})})
      .sample({x({0, 4, 4, 2}), i32({2, 3})});
  if (centers)
    r.sample({x({1, 2, 2, 1}, -40, 40), i32({4, 4})}, {half})
        .sample({x({2, 5, 7, 3}, -90, 90), i32({3, 4})}, {half})
        .sample({fixed(x({2, 6, 5, 17}, -90, 90)), i32({13, 11})}, {half})
        .sample({x({1, 1, 2, 1}), i32({5, 5})}, {half})
        .error({x({1, 2, 2, 1}), i32({2, 2})}, {align, half},
               "align_corners and half_pixel_centers are both true");
  r.dtypes(kImageTypes)
      .error({x({2, 2, 1}), i32({2, 2})}, {}, "images must have rank 4, got shape \\[2, 2, 1\\]")
      .error({x({1, 2, 2, 1}), i32({2, 2, 1})}, {}, "size has 3 elements; expected 2")
      .error({x({1, 2, 2, 1}), i32_scalar(2)}, {}, "size must have rank 1")
      .error({x({1, 2, 2, 1}), i32({0, 2})}, {},
             "size is \\[0, 2\\]; output dimensions must be positive")
      .error({x({1, 2, 2, 1}), i32({3, -1})}, {}, "output dimensions must be positive")
      .error({x({1, 0, 2, 1}), i32({2, 2})}, {},
             "shape \\[1, 0, 2, 1\\]; images must be of non-zero")
      .error({x({1, 2, 2, 0}), i32({2, 2})}, {}, "must have at least one channel");
  return r;
}
Row& resize_grad_row(std::string name) {
  const Attr align{"align_corners", true}, half{"half_pixel_centers", true};
  return row(std::move(name))
      .sample({grads({1, 4, 4, 1}), x({1, 2, 2, 1})})
      .sample({grads({2, 3, 4, 3}), x({2, 5, 7, 3})})
      .sample({grads({2, 7, 9, 2}), x({2, 3, 4, 2})}, {align})
      .sample({grads({2, 7, 9, 2}), x({2, 3, 4, 2})}, {half})
      .sample({grads({1, 3, 2, 5}), fixed(x({1, 16, 9, 5}))}, {half})
      .sample({grads({0, 4, 4, 1}), x({0, 2, 2, 1})})
      .error({grads({1, 4, 4}), x({1, 2, 2, 1})}, {}, "grads must have rank 4")
      .error({grads({1, 4, 4, 1}), x({2, 2, 1})}, {}, "original_image must have rank 4")
      .error({grads({1, 4, 4, 1}), x({2, 2, 2, 1})}, {}, "batches of grads and original_image")
      .error({grads({1, 4, 4, 1}), x({1, 2, 2, 3})}, {}, "channels of grads and original_image")
      .error({grads({1, 4, 4, 1}), x({1, 2, 2, 1})}, {align, half}, "are both true");
}

}  // namespace

// The gradients of those that give float32 are compared with the transpose of
// the op in image_ops_test.cc: finite differences need float64.
RILL_ROWS(image) {
  const Attr align{"align_corners", true}, half{"half_pixel_centers", true};
  resize_row("ResizeBilinear", true);
  resize_row("ResizeBicubic", true);
  resize_row("ResizeNearestNeighbor", true).tolerance(0);
  resize_row("ResizeArea", false);
  resize_grad_row("ResizeBilinearGrad").dtypes(kFloatTypes);
  resize_grad_row("ResizeBicubicGrad");
  row("ResizeNearestNeighborGrad")
      .sample({x({1, 4, 4, 1}), i32({2, 2})})
      .sample({x({2, 3, 4, 3}), i32({5, 7})})
      .sample({x({2, 7, 9, 2}), i32({3, 4})}, {align})
      .sample({x({2, 7, 9, 2}), i32({3, 4})}, {half})
      .sample({fixed(x({1, 3, 2, 5})), i32({16, 9})}, {half})
      .sample({x({0, 4, 4, 1}), i32({2, 2})})
      .dtypes(kFloatTypes | TypeSet{uint8, int8, int32})
      .error({x({1, 4, 4}), i32({2, 2})}, {}, "grads must have rank 4")
      .error({x({1, 4, 4, 1}), i32({2, 0})}, {}, "output dimensions must be positive")
      .error({x({1, 4, 4, 1}), i32({2})}, {}, "size has 1 elements; expected 2");

  const Input twice = values(float32, {2}, {2, 1.5}), third = values(float32, {2}, {0.35, 0.6}),
              still = values(float32, {2}, {0, 0}), moved = values(float32, {2}, {1.25, -0.5});
  Row& filtered = row("ScaleAndTranslate");
  for (const char* kernel : {"lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle",
                             "keyscubic", "mitchellcubic"})
    for (bool antialias : {true, false})
      filtered.sample({x({1, 6, 7, 2}), i32({4, 5}), third, still},
                      {{"kernel_type", kernel}, {"antialias", antialias}});
  filtered.sample({x({2, 3, 4, 3}), i32({7, 6}), twice, moved})
      .sample({fixed(x({2, 16, 15, 5})), i32({5, 9}), third, moved}, {{"kernel_type", "triangle"}})
      .sample({x({0, 3, 4, 3}), i32({7, 6}), twice, moved})
      .dtypes(kImageTypes)
      .error({x({3, 4, 3}), i32({7, 6}), twice, moved}, {}, "images must have rank 4")
      .error({x({1, 3, 4, 3}), i32({7, 6}), values(float32, {1}, {2}), moved}, {},
             "scale has 1 elements; expected 2")
      .error({x({1, 3, 4, 3}), i32({7, 6}), still, moved}, {},
             "an element of scale is 0; expected more than 0")
      .error({x({1, 3, 4, 3}), i32({7, 6}), twice, moved}, {{"kernel_type", "cubic"}},
             "kernel_type is \"cubic\"; expected lanczos1");
  row("ScaleAndTranslateGrad")
      .sample({x({1, 4, 5, 2}), x({1, 6, 7, 2}), third, still})
      .sample({x({1, 4, 5, 2}), x({1, 6, 7, 2}), third, moved}, {{"kernel_type", "triangle"}})
      .sample({x({2, 7, 6, 3}), x({2, 3, 4, 3}), twice, moved},
              {{"kernel_type", "keyscubic"}, {"antialias", false}})
      .dtypes(TypeSet{float32})
      .error({x({1, 4, 5, 2}), x({1, 6, 7, 3}), third, still}, {},
             "channels of grads and original_image");
}

RILL_ROWS(image_crop) {
  const TypeSet types =
      kRealFloatTypes | TypeSet{float16, int8, uint8, int16, uint16, int32, int64};
  const Attr nearest{"method", "nearest"};
  // Inside, beyond the border, upside down, a single line.
  const Input boxes = values(
                  float32, {4, 4},
                  {0.1, 0.2, 0.8, 0.9, -0.2, 0, 1.1, 1, 0.9, 1, 0.2, 0.1, 0.5, 0.3, 0.5, 0.7}),
              of = values(int32, {4}, {0, 1, 1, 0}), none = values(float32, {0, 4}, {}),
              whole = values(float32, {1, 4}, {0, 0, 1, 1}),
              part = values(float32, {1, 4}, {0.1, 0.2, 0.8, 0.9});
  row("CropAndResize")
      .sample({x({2, 5, 6, 3}), boxes, of, i32({3, 4})})
      .sample({x({2, 5, 6, 3}), boxes, of, i32({3, 4})}, {nearest, {"extrapolation_value", -3.5}})
      .sample({x({2, 5, 6, 1}), boxes, of, i32({1, 1})}, {{"extrapolation_value", 7.}})
      .sample({x({1, 1, 1, 2}), whole, i32({0}), i32({2, 3})})
      .sample({x({2, 5, 6, 1}), none, i32({}), i32({2, 2})})
      .dtypes(types)
      .error({x({5, 6, 3}), boxes, of, i32({3, 4})}, {}, "image must have rank 4")
      .error({x({2, 5, 6, 3}), values(float32, {1, 3}, {0, 0, 1}), i32({0}), i32({3, 4})}, {},
             "expected 4 columns")
      .error({x({2, 5, 6, 3}), whole, of, i32({3, 4})}, {}, "boxes and box_ind")
      .error({x({2, 5, 6, 3}), whole, i32({2}), i32({3, 4})}, {},
             "box_ind\\[0\\] is 2; expected values in \\[0, 2\\)")
      .error({x({2, 5, 6, 3}), whole, i32({0}), i32({0, 4})}, {},
             "crop dimensions must be positive")
      .error({x({2, 5, 6, 3}), whole, i32({0}), i32({3})}, {},
             "crop_size has 1 elements; expected 2")
      .error({x({2, 5, 6, 3}), whole, i32({0}), i32({3, 3})}, {{"method", "area"}},
             "method is \"area\"; expected bilinear or nearest");
  {
    // Moved by parts of pixels, turned, tilted; one transform for all; outside the picture.
    const Input moves =
                    values(float32, {2, 8},
                           {1, 0, -1.5, 0, 1, 2.25, 0, 0, 0.8, -0.6, 1, 0.6, 0.8, -2, 0.01, -0.02}),
                one = values(float32, {1, 8}, {0.5, 0, 7, 0, 1.5, -9, 0, 0}),
                fill = values(float32, {}, {1.25});
    Row& r = row("ImageProjectiveTransformV3");
    for (const char* mode : {"CONSTANT", "REFLECT", "WRAP", "NEAREST"})
      for (const char* pick : {"BILINEAR", "NEAREST"})
        r.sample({x({2, 5, 6, 2}, 0, 100), moves, i32({4, 7}), fill},
                 {{"fill_mode", mode}, {"interpolation", pick}})
            .sample({x({2, 5, 6, 1}, 0, 100), one, i32({5, 6}), fill},
                    {{"fill_mode", mode}, {"interpolation", pick}});
    r.dtypes({float32, float64, uint8, int32, int64})
        .tolerance(2e-5)
        .no_gradient_check(
            "TensorFlow's gradient is that of the inverse transform; keras_preprocessing")
        .error({x({5, 6, 2}), one, i32({5, 6}), fill}, {{"interpolation", "NEAREST"}},
               "images must have rank 4")
        .error({x({1, 5, 6, 2}), values(float32, {1, 7}, {1, 0, 0, 0, 1, 0, 0}), i32({5, 6}), fill},
               {{"interpolation", "NEAREST"}}, "expected 8 numbers")
        .error({x({1, 5, 6, 2}), one, i32({5, 6}), fill}, {{"interpolation", "CUBIC"}},
               "interpolation is \"CUBIC\"")
        .error({x({1, 5, 6, 2}), one, i32({5, 6}), fill},
               {{"interpolation", "NEAREST"}, {"fill_mode", "EDGE"}}, "fill_mode is \"EDGE\"")
        .error({x({1, 5, 6, 2}), one, i32({5, 0}), fill}, {{"interpolation", "NEAREST"}},
               "expected a positive height and width");
  }
  row("CropAndResizeGradImage")
      .sample({grads({4, 3, 4, 3}), boxes, of, i32({2, 5, 6, 3})}, {{"T", float32}})
      .sample({grads({4, 3, 4, 3}), boxes, of, i32({2, 5, 6, 3})}, {{"T", float32}, nearest})
      .sample({grads({4, 1, 1, 1}), boxes, of, i32({3, 5, 6, 1})}, {{"T", float64}})
      .sample({grads({1, 2, 2, 2}), part, i32({0}), i32({1, 7, 9, 2})}, {{"T", float16}})
      .dtypes(TypeSet{float32})
      .error({grads({4, 3, 4, 3}), boxes, of, i32({2, 5, 6})}, {{"T", float32}},
             "image_size has 3 elements; expected 4")
      .error({grads({4, 3, 4, 3}), boxes, of, i32({1, 5, 6, 3})}, {{"T", float32}},
             "box_ind\\[1\\] is 1")
      .error({grads({3, 3, 4, 3}), boxes, of, i32({2, 5, 6, 3})}, {{"T", float32}},
             "grads and boxes")
      .error({grads({4, 3, 4, 2}), boxes, of, i32({2, 5, 6, 3})}, {{"T", float32}},
             "channels of grads and image_size");
  row("CropAndResizeGradBoxes")
      .sample({grads({4, 3, 4, 3}), x({2, 5, 6, 3}), boxes, of})
      .sample({grads({4, 1, 1, 1}), x({2, 5, 6, 1}), boxes, of})
      .dtypes(types)
      .error({grads({4, 3, 4, 3}), x({1, 5, 6, 3}), boxes, of}, {}, "box_ind\\[1\\] is 1")
      .error({grads({4, 3, 4, 3}), x({2, 5, 6, 3}), boxes, of}, {nearest},
             "method is \"nearest\"; expected bilinear");
}

RILL_ROWS(image_composites) {
  const TypeSet some = kFloatTypes | TypeSet{uint8, int8, uint16, int32, int64};
  const TypeSet narrow = kRealFloatTypes | TypeSet{bfloat16, uint8, int8, uint16, int32, int64};
  auto turned = [](const char* name, const char* tf, Call call) {
    row(name)
        .sample({x({3, 4, 2})})
        .sample({x({2, 4, 3, 1})})
        .tf(tf)
        .call(std::move(call))
        .tolerance(0)
        .dtypes(kFloatTypes | TypeSet{uint8, int32})
        .error({x({4, 3})}, {}, "expected 3 or 4 dimensions");
  };
  turned("image.rot90", "tf.image.rot90(x0)",
         [](auto& in) { return std::vector{image::rot90(in[0])}; });
  turned("image.rot90_2", "tf.image.rot90(x0, 2)",
         [](auto& in) { return std::vector{image::rot90(in[0], 2)}; });
  turned("image.rot90_3", "tf.image.rot90(x0, 3)",
         [](auto& in) { return std::vector{image::rot90(in[0], -1)}; });
  turned("image.flip_left_right", "tf.image.flip_left_right(x0)",
         [](auto& in) { return std::vector{image::flip_left_right(in[0])}; });
  turned("image.flip_up_down", "tf.image.flip_up_down(x0)",
         [](auto& in) { return std::vector{image::flip_up_down(in[0])}; });
  turned("image.transpose", "tf.image.transpose(x0)",
         [](auto& in) { return std::vector{image::transpose(in[0])}; });
  turned("image.crop_to_bounding_box", "tf.image.crop_to_bounding_box(x0, 1, 0, 2, 3)",
         [](auto& in) { return std::vector{image::crop_to_bounding_box(in[0], 1, 0, 2, 3)}; });
  turned("image.pad_to_bounding_box", "tf.image.pad_to_bounding_box(x0, 1, 2, 6, 7)",
         [](auto& in) { return std::vector{image::pad_to_bounding_box(in[0], 1, 2, 6, 7)}; });
  turned("image.central_crop", "tf.image.central_crop(x0, 0.4)",
         [](auto& in) { return std::vector{image::central_crop(in[0], 0.4)}; });
  turned("image.resize_with_crop_or_pad", "tf.image.resize_with_crop_or_pad(x0, 2, 7)",
         [](auto& in) { return std::vector{image::resize_with_crop_or_pad(in[0], 2, 7)}; });

  for (auto [name, to] : {std::pair{"float32", float32},
                          {"float16", float16},
                          {"uint8", uint8},
                          {"int16", int16},
                          {"int32", int32}})
    for (bool saturate : {false, true})
      row(std::string("image.convert_image_dtype_") + name + (saturate ? "_saturate" : ""))
          .sample({x({2, 3, 1}, 0, saturate ? 2 : 0.9)})
          .tf(std::string("tf.image.convert_image_dtype(x0, tf.") + name +
              (saturate ? ", saturate=True)" : ")"))
          .call([to = to, saturate](auto& in) {
            return std::vector{image::convert_image_dtype(in[0], to, saturate)};
          })
          .dtypes(to == int32 ? narrow : some)  // the range of int32 is beyond float16
          .no_gradient_check("float64 becomes a narrower dtype");
  row("image.rgb_to_grayscale")
      .sample({x({2, 3, 3}, 0, 1)})
      .sample({x({2, 3, 4, 3}, 0, 100)})
      .tf("tf.image.rgb_to_grayscale(x0)")
      .call([](auto& in) { return std::vector{image::rgb_to_grayscale(in[0])}; })
      .dtypes(TypeSet{float32, uint8, float16, bfloat16})
      .error({x({2, 3, 4})}, {}, "expected 3 channels in the last axis");
  row("image.grayscale_to_rgb")
      .sample({x({2, 3, 1}, 0, 1)})
      .sample({x({2, 3, 4, 1}, 0, 100)})
      .tf("tf.image.grayscale_to_rgb(x0)")
      .call([](auto& in) { return std::vector{image::grayscale_to_rgb(in[0])}; })
      .dtypes(kFloatTypes | TypeSet{uint8, int32})
      .error({x({2, 3, 4})}, {}, "expected 1 channel in the last axis");
  row("image.adjust_brightness")
      .sample({x({2, 3, 1}, 0, 1)})
      .sample({x({2, 3, 4, 1}, 0, 200)})
      .tf("tf.image.adjust_brightness(x0, 0.3)")
      .call([](auto& in) { return std::vector{image::adjust_brightness(in[0], 0.3)}; })
      .dtypes(TypeSet{float32, float16, uint8});
  row("image.adjust_contrast")
      .sample({x({2, 3, 1}, 0, 1)})
      .sample({x({2, 3, 4, 2}, 0, 200)})
      .tf("tf.image.adjust_contrast(x0, 1.7)")
      .call([](auto& in) { return std::vector{image::adjust_contrast(in[0], 1.7)}; })
      .dtypes(TypeSet{float32, uint8})
      .error({x({2, 3})}, {}, "expected 3 dimensions or more");
  row("image.adjust_gamma")
      .sample({x({2, 3, 1}, 0.1, 1)})
      .sample({x({2, 3, 4, 1}, 1, 200)})
      .tf("tf.image.adjust_gamma(x0, 0.7, 1.2)")
      .call([](auto& in) { return std::vector{image::adjust_gamma(in[0], 0.7, 1.2)}; })
      .dtypes(TypeSet{float32, float16, uint8});
  row("image.per_image_standardization")
      .sample({x({2, 3, 3}, 0, 255)})
      .sample({x({2, 3, 4, 1}, -2, 2)})
      .sample({x({2, 2, 1}, {5, 5, 5, 5})})
      .tf("tf.image.per_image_standardization(x0)")
      .call([](auto& in) { return std::vector{image::per_image_standardization(in[0])}; })
      .dtypes(TypeSet{float32, uint8, int32})
      .error({x({2, 3})}, {}, "expected 3 dimensions or more");
  for (const char* method : {"bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5",
                             "gaussian", "mitchellcubic"})
    for (bool antialias : {false, true})
      row(format("image.resize_{}{}", method, antialias ? "_antialias" : ""))
          .sample({x({6, 5, 3})})
          .sample({x({2, 12, 11, 1})})
          .sample({x({1, 2, 3, 2})})
          .tf(format(
              "tf.image.resize(x0, [4, 5], method='{}', antialias={}, preserve_aspect_ratio={})",
              method, antialias ? "True" : "False", antialias ? "True" : "False"))
          .call([method, antialias](auto& in) {
            return std::vector{
                image::resize(in[0], {4, 5}, method,
                              {.preserve_aspect_ratio = antialias, .antialias = antialias})};
          })
          .dtypes(TypeSet{float32, uint8})
          .error({x({2, 3})}, {}, "expected 3 or 4 dimensions");
}

}  // namespace rill::conformance
