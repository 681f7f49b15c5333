// Boxes in images, and windows of them.
#include "rill/ops/array_ops.h"
#include "rill/ops/image_box_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

constexpr TypeSet kBoxDtypes{float16, float32};

// Ten boxes, two of which are upside down; scores with ties.
Input ten_boxes() {
  return x({10, 4},
           {0, 0,   1, 1,   0, 0.1, 1, 1.1, 0,   -0.1,  1, 0.9,   0, 10,  1, 11,  0, 10.1, 1, 11.1,
            0, 100, 1, 101, 1, 1,   0, 0,   0.5, 10.75, 0, 10.25, 0, 0.4, 1, 1.4, 5, 5,    5, 7});
}
Input ten_scores() { return x({10}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.75, 0.2, 0.75, 0.99}); }
Input f(double v) { return x({}, std::vector<double>{v}); }
Input most(double n) { return i32_scalar(n); }
Input f32(const TensorShape& shape, std::vector<double> v) {
  return values(float32, shape, std::move(v));
}

}  // namespace

RILL_ROWS(image_selection) {
  row("NonMaxSuppression")
      .sample({random(float32, {20, 4}, 0, 1), random(float32, {20}, 0, 1), most(6)})
      .sample({random(float32, {30, 4}, 0, 1), random(float32, {30}, -1, 1), most(100)},
              {{"iou_threshold", 0.2}})
      .sample({f32({0, 4}, {}), f32({0}, {}), most(3)})
      .dtypes({float32})
      .error({f32({1, 4}, {0, 0, 1, 1}), f32({1}, {1}), most(3)}, {{"iou_threshold", 1.5}},
             "iou_threshold is 1.5; expected a number in \\[0, 1\\]")
      .error({f32({1, 4}, {0, 0, 1, 1}), f32({2}, {1, 2}), most(3)}, {}, "boxes and scores")
      .error({f32({1, 3}, {0, 0, 1}), f32({1}, {1}), most(3)}, {}, "expected 4 in the last axis")
      .error({f32({1, 4}, {0, 0, 1, 1}), f32({1}, {1}), most(-3)}, {},
             "max_output_size is -3; expected 0 or more");
  row("NonMaxSuppressionV2")
      .sample({ten_boxes(), ten_scores(), most(3), f(0.5)})
      .sample({ten_boxes(), ten_scores(), most(30), f(0)})
      .dtypes(kBoxDtypes)
      .error({ten_boxes(), ten_scores(), most(3), f(-1)}, {}, "iou_threshold is -1");
  row("NonMaxSuppressionV3")
      .sample({ten_boxes(), ten_scores(), most(3), f(0.5), f(0)})
      .sample({ten_boxes(), ten_scores(), most(30), f(1), f(0.55)})
      .sample({ten_boxes(), ten_scores(), most(0), f(0.5), f(0)})
      .dtypes(kBoxDtypes)
      .error({ten_boxes(), ten_scores(), most(3), x({1}, {0.5}), f(0)}, {},
             "iou_threshold must have rank 0");
  row("NonMaxSuppressionV4")
      .sample({ten_boxes(), ten_scores(), most(3), f(0.5), f(0)})
      .sample({ten_boxes(), ten_scores(), most(8), f(0.3), f(0.4)},
              {{"pad_to_max_output_size", true}})
      .sample({ten_boxes(), ten_scores(), most(0), f(0.3), f(0.4)},
              {{"pad_to_max_output_size", true}})
      .dtypes(kBoxDtypes)
      .error({ten_boxes(), x({9}), most(3), f(0.5), f(0)}, {}, "boxes and scores");
  row("NonMaxSuppressionV5")
      .sample({ten_boxes(), ten_scores(), most(5), f(0.5), f(0), f(0)})
      .sample({ten_boxes(), ten_scores(), most(8), f(0.5), f(0.1), f(0.5)})
      .sample({ten_boxes(), ten_scores(), most(12), f(1), f(0.001), f(0.25)},
              {{"pad_to_max_output_size", true}})
      .dtypes(kBoxDtypes)
      .error({ten_boxes(), ten_scores(), most(5), f(0.5), f(0), f(-1)}, {},
             "soft_nms_sigma is -1; expected 0 or more");
  row("NonMaxSuppressionWithOverlaps")
      .sample({random(float32, {12, 12}, 0, 1), random(float32, {12}, 0, 1), most(5),
               f32({}, {0.8}), f32({}, {0.2})})
      .sample({random(float32, {12, 12}, -1, 9), random(float32, {12}, 0, 1), most(50),
               f32({}, {7}), f32({}, {-1})})
      .dtypes({float32})
      .error({random(float32, {3, 4}, 0, 1), random(float32, {3}, 0, 1), most(5), f32({}, {0.8}),
              f32({}, {0.2})},
             {}, "rows and columns of overlaps");
  const Input iou = f32({}, {0.5}), least = f32({}, {0.1});
  row("CombinedNonMaxSuppression")
      .sample({random(float32, {2, 12, 1, 4}, -0.2, 1.2), random(float32, {2, 12, 3}, 0, 1),
               most(3), most(5), iou, least})
      .sample({random(float32, {2, 12, 3, 4}, -0.2, 1.2), random(float32, {2, 12, 3}, 0, 1),
               most(2), most(10), iou, f32({}, {0.8})},
              {{"clip_boxes", false}})
      .sample({random(float32, {1, 5, 1, 4}, 0, 1), random(float32, {1, 5, 2}, 0, 1), most(3),
               most(50), iou, least},
              {{"pad_per_class", true}})
      .dtypes({float32})
      .error({random(float32, {2, 12, 2, 4}, 0, 1), random(float32, {2, 12, 3}, 0, 1), most(3),
              most(5), iou, least},
             {}, "one box for all classes")
      .error({random(float32, {2, 12, 1, 4}, 0, 1), random(float32, {2, 12, 3}, 0, 1), most(0),
              most(5), iou, least},
             {}, "max_output_size_per_class is 0; expected 1 or more")
      .error({random(float32, {2, 12, 1, 4}, 0, 1), random(float32, {2, 12, 3}, 0, 1), most(3),
              most(5), f32({}, {2}), least},
             {}, "iou_threshold is 2");
  row("image.non_max_suppression_padded")
      .sample({random(float32, {2, 9, 4}, 0, 1), random(float32, {2, 9}, 0.1, 1), most(6)})
      .sample({random(float32, {2, 2, 7, 4}, 0, 1), random(float32, {2, 2, 7}, 0.1, 1), most(9)})
      .dtypes({float32})
      .call([](auto& in) {
        // Corners in order, so that TensorFlow's tiles see boxes as this one does.
        const Tensor a = in[0];
        const std::vector<Tensor> y = split(a, 4, -1);
        const Tensor boxes = concat({y[0], y[1], y[0] + 0.1 + y[2], y[1] + 0.1 + y[3]}, -1);
        const Tensors<2> out = image::non_max_suppression_padded(
            boxes, in[1], in[2], {.iou_threshold = 0.4, .pad_to_max_output_size = true});
        // Taken in their order, whatever the scores.
        const Tensors<2> in_order =
            image::non_max_suppression_padded(boxes, in[1], in[2],
                                              {.iou_threshold = 0.4,
                                               .score_threshold = 0.3,
                                               .pad_to_max_output_size = true,
                                               .sorted_input = true,
                                               .canonicalized_coordinates = true,
                                               .tile_size = 4});
        const Tensors<2> one = image::non_max_suppression_padded(
            reshape(boxes, {-1, 4}), reshape(in[1], {-1}), in[2],
            {.iou_threshold = 0.4, .score_threshold = 0.3, .sorted_input = true});
        return std::vector{out.t[0], out.t[1], in_order.t[0], in_order.t[1], one.t[0], one.t[1]};
      })
      .tf("(lambda f, r, y, s, n: (lambda b: list(f(b, s, n, 0.4, pad_to_max_output_size=True)) + "
          "list(f(b, s, n, 0.4, 0.3, pad_to_max_output_size=True, sorted_input=True, "
          "canonicalized_coordinates=True, tile_size=4)) + list(f(r(b, [-1, 4]), r(s, [-1]), n, "
          "0.4, 0.3, sorted_input=True)))(tf.concat([y[0], y[1], y[0] + 0.1 + y[2], y[1] + 0.1 + "
          "y[3]], -1)))(tf.image.non_max_suppression_padded, tf.reshape, tf.split(x0, 4, -1), x1, "
          "x2)")
      .error({random(float32, {2, 9, 4}, 0, 1), random(float32, {9}, 0, 1), most(6)}, {},
             "expected \\[..., n, 4\\] and \\[..., n\\]");
}

RILL_ROWS(image_boxes) {
  // Inside, over the border, outside, upside down, one pixel.
  const Input boxes = f32({2, 3, 4}, {0.1, 0.2, 0.8, 0.9, -0.5, 0.3, 0.5, 1.5, 2, 2, 3, 3,
                                      0.9, 0.9, 0.1, 0.1, 0.5,  0.5, 0.5, 0.5, 0, 0, 1, 1});
  for (const char* name : {"DrawBoundingBoxes", "DrawBoundingBoxesV2"}) {
    const bool own = name[17] == 0;
    auto with = [&](std::vector<Input> in, const Input& colors) {
      if (!own) in.push_back(colors);
      return in;
    };
    const Input two = f32({2, 4}, {0.25, 0.5, 0.75, 1, 0, 1, 0, 0.5}), none = f32({0, 4}, {});
    row(name)
        .sample(with({x({2, 9, 8, 3}), boxes}, two))
        .sample(with({x({2, 9, 8, 1}), boxes}, two))
        .sample(with({x({2, 5, 20, 4}), boxes}, none))
        .sample(with({x({1, 9, 8, 3}), random(float32, {1, 13, 4}, -0.1, 1.1)}, two))
        .sample(with({x({0, 9, 8, 3}), f32({0, 2, 4}, {})}, two))
        .dtypes(kBoxDtypes)
        .error(with({x({2, 9, 8, 2}), boxes}, two), {}, "expected 1, 3 or 4 channels")
        .error(with({x({3, 9, 8, 3}), boxes}, two), {}, "images and boxes")
        .error(with({x({9, 8, 3}), boxes}, two), {}, "images must have rank 4");
  }
  const Input size = i32({40, 61, 3}),
              some = f32({1, 2, 4}, {0.1, 0.2, 0.8, 0.9, 0.3, 0.3, 0.5, 0.5}),
              covered = f32({}, {0.4}), empty = f32({1, 0, 4}, {});
  Row& sample = row("StatelessSampleDistortedBoundingBox").dtypes({float32});
  for (double seed = 1; seed < 9; ++seed)
    sample.sample({size, some, covered, i32({seed, 2})})
        .sample({size, some, f32({}, {0}), i32({-seed, 7})}, {{"max_attempts", 1}});
  static constexpr double kRatios[] = {1.5, 2.5}, kAreas[] = {0.3, 0.4}, kBad[] = {0.1};
  sample
      .sample({size, some, covered, i32({3, 4})},
              {{"aspect_ratio_range", std::span<const double>(kRatios)},
               {"area_range", std::span<const double>(kAreas)}})
      .sample({values(int64, {3}, {400, 300, 1}), empty, covered, i32({3, 4})},
              {{"use_image_if_no_bounding_boxes", true}})
      .error({size, empty, covered, i32({3, 4})}, {}, "there are no bounding boxes")
      .error({size, f32({1, 1, 4}, {0, 0, 2, 1}), covered, i32({3, 4})}, {}, "bounding box 0 has 2")
      .error({size, some, f32({}, {-1}), i32({3, 4})}, {}, "min_object_covered is -1")
      .error({i32({1, 2}), some, covered, i32({3, 4})}, {}, "image_size has 2 elements; expected 3")
      .error({i32({-1, 2, 3}), some, covered, i32({3, 4})}, {}, "image_size has a side of -1")
      .error({size, some, covered, i32({3, 4})}, {{"area_range", std::span<const double>(kBad)}},
             "area_range has 1 numbers; expected 2")
      .error({size, some, covered, i32({3, 4})}, {{"max_attempts", 0}}, "max_attempts is 0");
  for (const char* name : {"SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"}) {
    std::vector<Input> in{size, some};
    if (std::string_view(name).ends_with("V2")) in.push_back(covered);
    row(name)
        .sample(in, {{"seed", 3}, {"seed2", 5}})
        .sample(in, {{"seed", 0}, {"seed2", 9}})
        .dtypes({float32})
        .error({in.size() == 2 ? std::vector<Input>{i32({1, 2}), some}
                               : std::vector<Input>{i32({1, 2}), some, covered}},
               {{"seed", 3}}, "image_size has 2 elements");
  }
}

RILL_ROWS(image_patches) {
  static const std::vector<std::int64_t> one{1, 1, 1, 1}, two{1, 2, 3, 1}, three{1, 3, 2, 1},
      four{1, 2, 2, 1}, bad{1, 0, 2, 1};
  row("ExtractImagePatches")
      .sample({x({2, 5, 6, 2})},
              {{"ksizes", two}, {"strides", one}, {"rates", one}, {"padding", "VALID"}})
      .sample({x({2, 5, 6, 2})},
              {{"ksizes", three}, {"strides", two}, {"rates", one}, {"padding", "SAME"}})
      .sample({x({1, 7, 6, 1})},
              {{"ksizes", two}, {"strides", one}, {"rates", four}, {"padding", "SAME"}})
      .sample({x({1, 7, 8, 3})},
              {{"ksizes", four}, {"strides", four}, {"rates", four}, {"padding", "VALID"}})
      .sample({x({1, 2, 2, 1})},
              {{"ksizes", three}, {"strides", one}, {"rates", one}, {"padding", "VALID"}})
      .dtypes(kFloatTypes | TypeSet{uint8, int32, int64, bool_, complex64})
      .error({x({5, 6, 2})},
             {{"ksizes", two}, {"strides", one}, {"rates", one}, {"padding", "VALID"}},
             "images must have rank 4")
      .error({x({1, 5, 6, 2})},
             {{"ksizes", bad}, {"strides", one}, {"rates", one}, {"padding", "VALID"}},
             "ksizes is \\[1, 0, 2, 1\\]; expected \\[1, rows, columns, 1\\]")
      .error({x({1, 5, 6, 2})},
             {{"ksizes", two}, {"strides", one}, {"rates", one}, {"padding", "FULL"}},
             "padding is \"FULL\"; expected \"SAME\" or \"VALID\"");
  const Attr zero{"noise", "zero"}, no_uniform{"uniform_noise", false};
  const Input places = random(float32, {3, 2}, -0.9, 0.9),
              far = values(float32, {3, 2}, {3, 3, -1.2, 0.1, 0, 0}),
              pixels = values(float32, {3, 2}, {2, 3, 0, 0, 7.5, 9.25});
  auto images = [] { return random(float32, {3, 9, 12, 2}, 0, 1); };
  row("ExtractGlimpseV2")
      .sample({images(), i32({3, 4}), places}, {zero, no_uniform})
      .sample({images(), i32({5, 5}), far}, {zero, no_uniform})
      .sample({images(), i32({4, 5}), pixels},
              {zero, no_uniform, {"centered", false}, {"normalized", false}})
      .sample({images(), i32({20, 30}), places}, {zero, no_uniform, {"normalized", false}})
      .sample({images(), i32({3, 4}), places}, {zero, no_uniform, {"centered", false}})
      .dtypes({float32})
      .error({images(), i32({3, 4}), random(float32, {2, 2}, 0, 1)}, {}, "input and offsets")
      .error({images(), i32({0, 4}), places}, {}, "size is 0 x 4; expected 1 or more")
      .error({images(), i32({3}), places}, {}, "size has 1 elements; expected 2")
      .error({images(), i32({3, 4}), places}, {{"noise", "pink"}}, "noise is \"pink\"");
}

}  // namespace rill::conformance
