// Boxes in images: drawing them, choosing among them, drawing one by lot.
#include "rill/ops/array_ops.h"
#include "rill/ops/image_box_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/random_helpers.h"
#include "rill/ops/random/seeds.h"

namespace rill {
namespace {

std::int64_t dim_of(const TensorShape& s, int axis) { return s.has_rank() ? s.dim(axis) : -1; }
void require_four(const ShapeContext& c, int i, std::string_view name) {
  const std::int64_t n = dim_of(c.input(i), -1);
  RILL_CHECK(n < 0 || n == 4, invalid_argument,
             "[{}] {} has shape {}; expected 4 in the last axis: y1, x1, y2, x2", c.tag(), name,
             c.input(i));
}
void require_scalars(const ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i)
    require_rank(c, i, 0, c.op().inputs[static_cast<std::size_t>(i)].name);
}

// ---- drawing
void draw_boxes_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "images");
  require_rank(c, 1, 3, "boxes");
  require_four(c, 1, "boxes");
  merge_dims(dim_of(c.input(0), 0), dim_of(c.input(1), 0), c.tag(), "images and boxes");
  const std::int64_t channels = dim_of(c.input(0), 3);
  RILL_CHECK(channels < 0 || channels == 1 || channels == 3 || channels == 4, invalid_argument,
             "[{}] images has shape {}; expected 1, 3 or 4 channels", c.tag(), c.input(0));
  if (c.num_inputs() == 3) {
    require_rank(c, 2, 2, "colors");
    RILL_CHECK(channels < 0 || dim_of(c.input(2), 1) < 0 || dim_of(c.input(2), 1) >= channels,
               invalid_argument, "[{}] colors has shape {}; expected {} numbers a colour at least",
               c.tag(), c.input(2), channels);
  }
  unchanged_shape(c);
}
OpBuilder drawing_op(const char* name) {
  OpBuilder b(name, "image.draw_bounding_boxes");
  b.input("images: T").input("boxes: float32");
  return b;
}
const Op& draw_boxes_op = drawing_op("DrawBoundingBoxes")
                              .output("output: T")
                              .type("T", TypeSet{float32, float16}, float32)
                              .doc("Images with the borders of boxes, in ten colours.")
                              .shape(draw_boxes_shape)
                              .no_gradient()
                              .define();
const Op& draw_boxes_v2_op = drawing_op("DrawBoundingBoxesV2")
                                 .input("colors: float32")
                                 .output("output: T")
                                 .type("T", TypeSet{float32, float16}, float32)
                                 .doc("Images with the borders of boxes.")
                                 .shape(draw_boxes_shape)
                                 .no_gradient()
                                 .define();

// ---- choosing
void selection_shape(ShapeContext& c) {
  const std::string& name = c.op().inputs[0].name;
  const bool boxes = name == "boxes";
  require_rank(c, 0, 2, name);
  require_rank(c, 1, 1, "scores");
  require_scalars(c, 2);
  std::int64_t n = merge_dims(dim_of(c.input(0), 0), dim_of(c.input(1), 0), c.tag(),
                              boxes ? "boxes and scores" : "overlaps and scores");
  if (boxes)
    require_four(c, 0, "boxes");
  else
    merge_dims(n, dim_of(c.input(0), 1), c.tag(), "rows and columns of overlaps");
  std::int64_t most = -1;
  if (c.input_as_int(2, &most))
    RILL_CHECK(most >= 0, invalid_argument, "[{}] max_output_size is {}; expected 0 or more",
               c.tag(), most);
  const AttrValue* padded = c.find_attr("pad_to_max_output_size");
  const TensorShape chosen(Dims{padded && padded->as_bool() ? most : -1});
  c.set_output(0, chosen);
  const int last = c.num_outputs() - 1;
  if (last == 2) c.set_output(1, chosen);
  if (last > 0) c.set_output(last, TensorShape::scalar());
}
OpBuilder selection_op(const char* name, const char* tag) {
  OpBuilder b(name, tag);
  b.shape(selection_shape).no_gradient().doc("Which boxes to keep, best first.");
  return b;
}
constexpr TypeSet kBoxTypes{float16, float32};
const Op& nms_op = selection_op("NonMaxSuppression", "image.non_max_suppression")
                       .input("boxes: float32")
                       .input("scores: float32")
                       .input("max_output_size: int32")
                       .output("selected_indices: int32")
                       .attr("iou_threshold: float = 0.5")
                       .define();
const Op& nms_v2_op = selection_op("NonMaxSuppressionV2", "image.non_max_suppression")
                          .input("boxes: T")
                          .input("scores: T")
                          .input("max_output_size: int32")
                          .input("iou_threshold: T_threshold")
                          .output("selected_indices: int32")
                          .type("T", kBoxTypes, float32)
                          .type("T_threshold", kBoxTypes, float32)
                          .define();
const Op& nms_v3_op = selection_op("NonMaxSuppressionV3", "image.non_max_suppression")
                          .input("boxes: T")
                          .input("scores: T")
                          .input("max_output_size: int32")
                          .input("iou_threshold: T_threshold")
                          .input("score_threshold: T_threshold")
                          .output("selected_indices: int32")
                          .type("T", kBoxTypes, float32)
                          .type("T_threshold", kBoxTypes, float32)
                          .define();
const Op& nms_v4_op = selection_op("NonMaxSuppressionV4", "image.non_max_suppression_padded")
                          .input("boxes: T")
                          .input("scores: T")
                          .input("max_output_size: int32")
                          .input("iou_threshold: T_threshold")
                          .input("score_threshold: T_threshold")
                          .output("selected_indices: int32")
                          .output("valid_outputs: int32")
                          .type("T", kBoxTypes, float32)
                          .type("T_threshold", kBoxTypes, float32)
                          .attr("pad_to_max_output_size: bool = false")
                          .host("max_output_size")
                          .define();
const Op& nms_v5_op = selection_op("NonMaxSuppressionV5", "image.non_max_suppression_with_scores")
                          .input("boxes: T")
                          .input("scores: T")
                          .input("max_output_size: int32")
                          .input("iou_threshold: T")
                          .input("score_threshold: T")
                          .input("soft_nms_sigma: T")
                          .output("selected_indices: int32")
                          .output("selected_scores: T")
                          .output("valid_outputs: int32")
                          .type("T", kBoxTypes, float32)
                          .attr("pad_to_max_output_size: bool = false")
                          .host("max_output_size")
                          .define();
const Op& nms_overlaps_op =
    selection_op("NonMaxSuppressionWithOverlaps", "image.non_max_suppression_overlaps")
        .input("overlaps: float32")
        .input("scores: float32")
        .input("max_output_size: int32")
        .input("overlap_threshold: float32")
        .input("score_threshold: float32")
        .output("selected_indices: int32")
        .define();

void combined_shape(ShapeContext& c) {
  require_rank(c, 0, 4, "boxes");
  require_rank(c, 1, 3, "scores");
  require_four(c, 0, "boxes");
  require_scalars(c, 2);
  const TensorShape &boxes = c.input(0), &scores = c.input(1);
  const std::int64_t batch =
      merge_dims(dim_of(boxes, 0), dim_of(scores, 0), c.tag(), "boxes and scores");
  merge_dims(dim_of(boxes, 1), dim_of(scores, 1), c.tag(), "boxes and scores");
  const std::int64_t classes = dim_of(scores, 2);
  if (dim_of(boxes, 2) != 1)
    merge_dims(dim_of(boxes, 2), classes, c.tag(), "boxes and scores (or one box for all classes)");
  std::int64_t each = -1, total = -1;
  for (int i : {2, 3}) {
    std::int64_t* size = i == 2 ? &each : &total;
    if (c.input_as_int(i, size))
      RILL_CHECK(*size > 0, invalid_argument, "[{}] {} is {}; expected 1 or more", c.tag(),
                 c.op().inputs[static_cast<std::size_t>(i)].name, *size);
  }
  std::int64_t n = total;
  if (c.bool_attr("pad_per_class"))
    n = each < 0 || total < 0 || classes < 0 ? -1 : std::min(total, each * classes);
  c.set_output(0, TensorShape(Dims{batch, n, 4}));
  c.set_output(1, TensorShape(Dims{batch, n}));
  c.set_output(2, TensorShape(Dims{batch, n}));
  c.set_output(3, TensorShape(Dims{batch}));
}
const Op& combined_op = OpBuilder("CombinedNonMaxSuppression", "image.combined_non_max_suppression")
                            .input("boxes: float32")
                            .input("scores: float32")
                            .input("max_output_size_per_class: int32")
                            .input("max_total_size: int32")
                            .input("iou_threshold: float32")
                            .input("score_threshold: float32")
                            .output("nmsed_boxes: float32")
                            .output("nmsed_scores: float32")
                            .output("nmsed_classes: float32")
                            .output("valid_detections: int32")
                            .attr("pad_per_class: bool = false")
                            .attr("clip_boxes: bool = true")
                            .doc("The best boxes of each image, chosen class by class.")
                            .shape(combined_shape)
                            .no_gradient()
                            .host("max_output_size_per_class max_total_size")
                            .define();

// ---- by lot
void sample_box_shape(ShapeContext& c) {
  require_rank(c, 0, 1, "image_size");
  RILL_CHECK(dim_of(c.input(0), 0) < 0 || c.input(0).dim(0) == 3, invalid_argument,
             "[{}] image_size has {} elements; expected 3: height, width, channels", c.tag(),
             c.input(0).dim(0));
  require_rank(c, 1, 3, "bounding_boxes");
  require_four(c, 1, "bounding_boxes");
  if (c.num_inputs() > 2) require_rank(c, 2, 0, "min_object_covered");
  if (c.num_inputs() > 3) require_two_words(c, 3);
  for (const char* name : {"aspect_ratio_range", "area_range"}) {
    const auto range = c.floats_attr(name);
    const double most = name[1] == 'r' ? 1 : std::numeric_limits<double>::infinity();
    RILL_CHECK(
        range.size() == 2 && range[0] > 0 && range[1] > 0 && range[0] <= most && range[1] <= most,
        invalid_argument, "[{}] {} has {} numbers; expected 2, {}", c.tag(), name, range.size(),
        most == 1 ? "in (0, 1]" : "more than 0");
  }
  RILL_CHECK(c.int_attr("max_attempts") > 0, invalid_argument,
             "[{}] max_attempts is {}; expected 1 or more", c.tag(), c.int_attr("max_attempts"));
  c.set_output(0, {3});
  c.set_output(1, {3});
  c.set_output(2, {1, 1, 4});
}
// TensorFlow's defaults, as it rounds them to float.
OpBuilder& sampling(OpBuilder& b) {
  return b.output("begin: T")
      .output("size: T")
      .output("bboxes: float32")
      .type("T", TypeSet{uint8, int8, int16, int32, int64})
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false")
      .doc("A random part of an image that covers enough of a box.")
      .shape(sample_box_shape)
      .no_gradient();
}
const Op& sample_box_op = []() -> const Op& {
  OpBuilder b("SampleDistortedBoundingBoxV2", "image.sample_distorted_bounding_box");
  b.input("image_size: T").input("bounding_boxes: float32").input("min_object_covered: float32");
  return sampling(b)
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("_offset: int = 0")
      .random()
      .host("image_size bounding_boxes min_object_covered")
      .define();
}();
const Op& sample_box_v1_op = []() -> const Op& {
  OpBuilder b("SampleDistortedBoundingBox", "image.sample_distorted_bounding_box");
  b.input("image_size: T").input("bounding_boxes: float32");
  return sampling(b)
      .attr("min_object_covered: float = 0.1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("_offset: int = 0")
      .random()
      .host("image_size bounding_boxes")
      .define();
}();
const Op& stateless_sample_box_op = []() -> const Op& {
  OpBuilder b("StatelessSampleDistortedBoundingBox",
              "image.stateless_sample_distorted_bounding_box");
  b.input("image_size: T")
      .input("bounding_boxes: float32")
      .input("min_object_covered: float32")
      .input("seed: Tseed");
  return sampling(b)
      .type("Tseed", kIndexTypes)
      .host("image_size bounding_boxes min_object_covered seed")
      .define();
}();

Tensor number(double v) { return constant(static_cast<float>(v)); }

}  // namespace

namespace image {

Tensor draw_bounding_boxes(const Operand& images, const Operand& boxes) {
  return execute(draw_boxes_op, {Arg(images), Arg(boxes, float32)});
}
Tensor draw_bounding_boxes(const Operand& images, const Operand& boxes, const Operand& colors) {
  return execute(draw_boxes_v2_op, {Arg(images), Arg(boxes, float32), Arg(colors, float32)});
}
Tensor non_max_suppression(const Operand& boxes, const Operand& scores,
                           const Operand& max_output_size, const NonMaxSuppressionOptions& o) {
  return execute(nms_v3_op, {Arg(boxes, float32), Arg(scores, float32), Arg(max_output_size, int32),
                             number(o.iou_threshold), number(o.score_threshold)});
}
Tensors<2> non_max_suppression_with_scores(const Operand& boxes, const Operand& scores,
                                           const Operand& max_output_size,
                                           const NonMaxSuppressionWithScoresOptions& o) {
  const Arg b(boxes, float32), s(scores, float32), n(max_output_size, int32);
  const DType d = b->dtype();
  auto as = [&](double v) { return cast(number(v), d); };
  const Tensor iou = as(o.iou_threshold), least = as(o.score_threshold),
               sigma = as(o.soft_nms_sigma);
  std::vector<Tensor> out = execute_all(nms_v5_op, {b, s, n, iou, least, sigma});
  return {{out[0], out[1]}};
}
// Of a batch of any size: boxes [b, n, 4], scores [b, n] -> {indices [b, m], how many [b]}. The op
// for classes gives scores back, so the boxes' ranks, which are all different, take their place.
Tensors<2> select_by_rank(const Tensor& boxes, const Tensor& scores, const Tensor& most,
                          const Tensor& iou, const Tensor& least, bool sorted) {
  const Tensor n = shape(scores)[1], places = range(n);
  const Tensor order =
      sorted ? zeros_like(scores, int32) + places : argsort(scores, -1, "DESCENDING");
  const GatherOptions rows{.axis = 1, .batch_dims = 1};
  const Tensor good = greater(gather(scores, order, rows), least);
  const Tensor ranks = where(good, cast(n - places, float32), zeros({}, float32));
  // One at least is asked for, as that op wants it.
  const Tensor asked = maximum(most, 1);
  const std::vector<Tensor> chosen =
      execute_all(combined_op,
                  {expand_dims(gather(boxes, order, rows), 2), expand_dims(ranks, 2), asked, asked,
                   iou, zeros({}, float32)},
                  {{"pad_per_class", false}, {"clip_boxes", false}});
  const Tensor is_valid = greater(chosen[1], 0.f);
  // What no box fills reads the place behind the last one.
  const Tensor place = where(is_valid, n - cast(chosen[1], int32), n);
  const Tensor with_end = pad(order, {{0, 0}, {0, 1}});
  return {{gather(with_end, place, rows)(all, slice(0, most)), minimum(chosen[3], most)}};
}
Tensors<2> non_max_suppression_padded(const Operand& boxes, const Operand& scores,
                                      const Operand& max_output_size,
                                      const NonMaxSuppressionPaddedOptions& o) {
  const Arg b(boxes, float32), s(scores, float32), n(max_output_size, int32);
  const Tensor iou = number(o.iou_threshold), least = number(o.score_threshold);
  auto one = [&](const Tensor& box, const Tensor& score) {
    std::vector<Tensor> out = execute_all(nms_v4_op, {box, score, n, iou, least},
                                          {{"pad_to_max_output_size", o.pad_to_max_output_size}});
    return Tensors<2>{{out[0], out[1]}};
  };
  const TensorShape& known = b->shape();
  const bool batches = known.has_rank() && known.rank() > 2;
  if (!batches && !o.sorted_input) return one(*b, *s);
  constexpr std::string_view tag = "image.non_max_suppression_padded";
  RILL_CHECK(o.pad_to_max_output_size || !batches, invalid_argument,
             "[{}] boxes has shape {}; pad_to_max_output_size must be true for batches", tag,
             known);
  const TensorShape& score_shape = s->shape();
  RILL_CHECK(
      !known.has_rank() || (score_shape.has_rank() && score_shape.rank() == known.rank() - 1),
      invalid_argument, "[{}] boxes has shape {} and scores {}; expected [..., n, 4] and [..., n]",
      tag, known, score_shape);
  const Tensor sizes = shape(*b), outer = sizes(slice(None, -2)), inner = sizes(slice(-2, None)),
               batch = reshape(reduce_prod(outer), {1});
  const Tensors<2> flat =
      select_by_rank(reshape(cast(*b, float32), concat({batch, inner}, 0)),
                     reshape(cast(*s, float32), concat({batch, inner(slice(0, 1))}, 0)), *n, iou,
                     least, o.sorted_input);
  const Tensor valid = reshape(flat.t[1], outer);
  if (!o.pad_to_max_output_size) return {{flat.t[0](0, slice(0, valid)), valid}};
  return {{reshape(flat.t[0], concat({outer, reshape(*n, {1})}, 0)), valid}};
}
Tensor non_max_suppression_overlaps(const Operand& overlaps, const Operand& scores,
                                    const Operand& max_output_size,
                                    const NonMaxSuppressionOverlapsOptions& o) {
  return execute(nms_overlaps_op,
                 {Arg(overlaps, float32), Arg(scores, float32), Arg(max_output_size, int32),
                  number(o.overlap_threshold), number(o.score_threshold)});
}
Tensors<4> combined_non_max_suppression(const Operand& boxes, const Operand& scores,
                                        const Operand& max_output_size_per_class,
                                        const Operand& max_total_size,
                                        const CombinedNonMaxSuppressionOptions& o) {
  const Arg b(boxes, float32), s(scores, float32), each(max_output_size_per_class, int32),
      total(max_total_size, int32);
  const Tensor iou = number(o.iou_threshold), least = number(o.score_threshold);
  std::vector<Tensor> out =
      execute_all(combined_op, {b, s, each, total, iou, least},
                  {{"pad_per_class", o.pad_per_class}, {"clip_boxes", o.clip_boxes}});
  return {{out[0], out[1], out[2], out[3]}};
}

Tensors<3> sample_distorted_bounding_box(const Operand& image_size, const Operand& bounding_boxes,
                                         std::int64_t seed,
                                         const SampleDistortedBoundingBoxOptions& o) {
  const Arg size(image_size, int32), boxes(bounding_boxes, float32);
  const Tensor covered = number(o.min_object_covered);
  // Seed 0 is none, as TensorFlow has it here. An attempt takes four numbers at most, mostly.
  const std::int64_t op_seed = seed == 0 ? -1 : seed;
  const RandomStream s =
      call_context().executor ? graph_stream(op_seed) : next_stream(op_seed, o.max_attempts);
  std::vector<Tensor> out =
      execute_all(sample_box_op, {size, boxes, covered},
                  {{"aspect_ratio_range", AttrValue(std::span<const double>(o.aspect_ratio_range))},
                   {"area_range", AttrValue(std::span<const double>(o.area_range))},
                   {"max_attempts", o.max_attempts},
                   {"use_image_if_no_bounding_boxes", o.use_image_if_no_bounding_boxes},
                   {"seed", s.seed},
                   {"seed2", s.seed2},
                   {"_offset", s.offset}});
  return {{out[0], out[1], out[2]}};
}
Tensors<3> stateless_sample_distorted_bounding_box(const Operand& image_size,
                                                   const Operand& bounding_boxes,
                                                   const Operand& seed,
                                                   const SampleDistortedBoundingBoxOptions& o) {
  const Arg size(image_size, int32), boxes(bounding_boxes, float32), words(seed);
  const Tensor covered = number(o.min_object_covered);
  std::vector<Tensor> out =
      execute_all(stateless_sample_box_op, {size, boxes, covered, words},
                  {{"aspect_ratio_range", AttrValue(std::span<const double>(o.aspect_ratio_range))},
                   {"area_range", AttrValue(std::span<const double>(o.area_range))},
                   {"max_attempts", o.max_attempts},
                   {"use_image_if_no_bounding_boxes", o.use_image_if_no_bounding_boxes}});
  return {{out[0], out[1], out[2]}};
}

}  // namespace image
}  // namespace rill
