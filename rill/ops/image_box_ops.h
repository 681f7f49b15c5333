#pragma once
#include <limits>
#include <string>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Boxes in images, for detection. A box is y1, x1, y2, x2; where it says so, in parts of the
// height and width. Names, arguments and defaults are TensorFlow's.
namespace rill RILL_API {

namespace image {

// Images [batch, height, width, 1, 3 or 4] with the borders of boxes [batch, n, 4], in parts of
// height - 1 and width - 1. colors [m, channels] are taken in turn; none: ten colours of its own.
// float32 and float16; of float images the colours are 0 .. 1.
Tensor draw_bounding_boxes(const Operand& images, const Operand& boxes);
Tensor draw_bounding_boxes(const Operand& images, const Operand& boxes, const Operand& colors);

struct NonMaxSuppressionOptions {
  double iou_threshold = 0.5;  // a box that shares more than this with a better one is left out
  double score_threshold = -std::numeric_limits<double>::infinity();
};
// Which of boxes [n, 4] with scores [n] to keep, best first: int32 [m], m <= max_output_size.
Tensor non_max_suppression(const Operand& boxes, const Operand& scores,
                           const Operand& max_output_size,
                           const NonMaxSuppressionOptions& options = {});

struct NonMaxSuppressionWithScoresOptions {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
  double soft_nms_sigma = 0;  // more than 0: scores of boxes that overlap are lowered instead
};
// {indices, scores after that}.
Tensors<2> non_max_suppression_with_scores(const Operand& boxes, const Operand& scores,
                                           const Operand& max_output_size,
                                           const NonMaxSuppressionWithScoresOptions& options = {});

struct NonMaxSuppressionPaddedOptions {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
  bool pad_to_max_output_size = false;  // with zeros; must be true for batches
  bool sorted_input = false;  // boxes come by falling score: they are taken in their order
  bool canonicalized_coordinates = false;  // accepted: corners may be in any order
  std::int64_t tile_size = 512;            // accepted: it changes no result
};
// {indices, how many of them are valid}. Boxes may be [..., n, 4], and scores [..., n].
Tensors<2> non_max_suppression_padded(const Operand& boxes, const Operand& scores,
                                      const Operand& max_output_size,
                                      const NonMaxSuppressionPaddedOptions& options = {});

struct NonMaxSuppressionOverlapsOptions {
  double overlap_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
};
// By overlaps [n, n] of any kind instead of boxes.
Tensor non_max_suppression_overlaps(const Operand& overlaps, const Operand& scores,
                                    const Operand& max_output_size,
                                    const NonMaxSuppressionOverlapsOptions& options = {});

struct CombinedNonMaxSuppressionOptions {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
  bool pad_per_class = false;  // to max_output_size_per_class * classes, where that is less
  bool clip_boxes = true;      // to 0 .. 1
};
// For each image and class, then the best of all classes: boxes [batch, n, 1 or classes, 4], scores
// [batch, n, classes] -> {boxes [batch, m, 4], scores [batch, m], classes [batch, m], how many are
// valid [batch]}.
Tensors<4> combined_non_max_suppression(const Operand& boxes, const Operand& scores,
                                        const Operand& max_output_size_per_class,
                                        const Operand& max_total_size,
                                        const CombinedNonMaxSuppressionOptions& options = {});

struct SampleDistortedBoundingBoxOptions {
  double min_object_covered = 0.1;  // of one of the boxes, at least
  std::vector<double> aspect_ratio_range = {0.75, 1.33};
  std::vector<double> area_range = {0.05, 1};  // of the image
  int max_attempts = 100;                      // then the whole image
  bool use_image_if_no_bounding_boxes = false;
};
// A random crop of an image of image_size [3] that covers enough of one of bounding_boxes
// [1, n, 4], in parts of the image: {begin, size} for slice, and the box [1, 1, 4] for
// draw_bounding_boxes. Without a seed another one at each call.
Tensors<3> sample_distorted_bounding_box(const Operand& image_size, const Operand& bounding_boxes,
                                         std::int64_t seed = 0,
                                         const SampleDistortedBoundingBoxOptions& options = {});
// The same numbers for the same seed, two integers.
Tensors<3> stateless_sample_distorted_bounding_box(
    const Operand& image_size, const Operand& bounding_boxes, const Operand& seed,
    const SampleDistortedBoundingBoxOptions& options = {});

}  // namespace image

}  // namespace RILL_API
