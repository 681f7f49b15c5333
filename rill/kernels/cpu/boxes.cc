// Boxes in images: drawing them, choosing among them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

using Index = std::int64_t;

// ---- drawing
constexpr float kColors[][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};
constexpr Index kNumColors = std::size(kColors);

// The pixel of a place, cut towards 0; far outside for what no integer holds.
Index pixel_of(float part, Index size) {
  const float v = part * static_cast<float>(size - 1);
  constexpr float kFar = 1e9f;
  return std::isnan(v) ? -1 : static_cast<Index>(std::clamp(v, -kFar, kFar));
}
template <class T>
class Canvas {
 public:
  Canvas(T* at, Index height, Index width, Index channels)
      : at_(at), height_(height), width_(width), channels_(channels) {}
  // Lines that lie outside are not drawn, those of a box wholly outside never.
  void border(const float* box, const float* color, bool gray) {
    const Index top = pixel_of(box[0], height_), left = pixel_of(box[1], width_),
                bottom = pixel_of(box[2], height_), right = pixel_of(box[3], width_);
    if (top > bottom || left > right || bottom < 0 || right < 0 || top >= height_ || left >= width_)
      return;
    const Index y0 = std::max<Index>(top, 0), y1 = std::min(bottom, height_ - 1),
                x0 = std::max<Index>(left, 0), x1 = std::min(right, width_ - 1);
    for (Index x = x0; x <= x1; ++x) {
      if (top >= 0) pixel(top, x, color, gray);
      if (bottom < height_) pixel(bottom, x, color, gray);
    }
    for (Index y = y0; y <= y1; ++y) {
      if (left >= 0) pixel(y, left, color, gray);
      if (right < width_) pixel(y, right, color, gray);
    }
  }

 private:
  void pixel(Index y, Index x, const float* color, bool gray) {
    T* p = at_ + (y * width_ + x) * channels_;
    for (Index i = 0; i < channels_; ++i) p[i] = static_cast<T>(gray ? 1.f : color[i]);
  }
  T* at_;
  Index height_, width_, channels_;
};
void draw_boxes_cpu(KernelContext& c) noexcept {
  const TensorShape& s = c.in_shape(0);
  const Index batch = s.dim(0), pixels = s.dim(1) * s.dim(2) * s.dim(3),
              boxes = c.in_shape(1).dim(1);
  const bool own = c.num_inputs() < 3 || c.in(2).size == 0;
  const float* colors = own ? kColors[0] : c.in<float>(2);
  const Index num_colors = own ? kNumColors : c.in_shape(2).dim(0),
              width = own ? 4 : c.in_shape(2).dim(1);
  dispatch_types<float, half>(c.in(0).dtype, [&]<class T>() {
    if (c.in(0).size > 0)
      std::memcpy(c.out<T>(), c.in<T>(0), static_cast<std::size_t>(c.in(0).size) * sizeof(T));
    if (pixels == 0) return;
    for (Index b = 0; b < batch; ++b) {
      Canvas<T> canvas(c.out<T>() + b * pixels, s.dim(1), s.dim(2), s.dim(3));
      for (Index k = 0; k < boxes; ++k)
        canvas.border(c.in<float>(1) + (b * boxes + k) * 4, colors + k % num_colors * width,
                      own && s.dim(3) == 1);
    }
  });
}
RILL_KERNEL("DrawBoundingBoxes", cpu, (TypeSet{float32, float16}), draw_boxes_cpu);
RILL_KERNEL("DrawBoundingBoxesV2", cpu, (TypeSet{float32, float16}), draw_boxes_cpu);

// ---- choosing
struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};
template <class T>
Box box_at(const T* at) {
  const auto a = static_cast<float>(at[0]), b = static_cast<float>(at[1]),
             c = static_cast<float>(at[2]), d = static_cast<float>(at[3]);
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}
// What two boxes share, as a part of what they cover.
float overlap(const Box& a, const Box& b) {
  const float area_a = a.area(), area_b = b.area();
  if (area_a <= 0 || area_b <= 0) return 0;
  const float shared = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.f) *
                       std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.f);
  return shared / (area_a + area_b - shared);
}

// Half types round each score, as TensorFlow does.
template <class T>
struct Selection {
  std::vector<std::int32_t> indices;
  std::vector<T> scores;
};
struct Limits {
  float overlap, score, sigma;
};
// The best box that no chosen one suppresses, over and over. With sigma, scores fall with the
// overlap instead, and a box waits for its turn under its new score.
template <class T, class F>
Selection<T> select_boxes(const T* scores, Index n, Index most, const Limits& limits,
                          F overlap_of) {
  struct Candidate {
    std::int32_t index;
    float score;
    std::size_t compared;  // with so many of the chosen
  };
  auto worse = [](const Candidate& a, const Candidate& b) {
    return a.score < b.score || (a.score == b.score && a.index > b.index);
  };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(worse)> queue(worse);
  for (Index i = 0; i < n; ++i)
    if (static_cast<float>(scores[i]) > limits.score)
      queue.push({static_cast<std::int32_t>(i), static_cast<float>(scores[i]), 0});
  auto rounded = [](float v) { return static_cast<float>(static_cast<T>(v)); };
  const bool soft = limits.sigma > 0;
  const float scale = soft ? rounded(-0.5f / limits.sigma) : 0;
  Selection<T> out;
  while (static_cast<Index>(out.indices.size()) < most && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const float before = next.score;
    bool suppressed = false;
    for (std::size_t j = out.indices.size(); j-- > next.compared && !suppressed;) {
      const float shared = rounded(overlap_of(next.index, out.indices[j]));
      suppressed = !soft && shared > limits.overlap;
      if (soft)
        next.score =
            rounded(next.score * rounded(std::exp(rounded(rounded(scale * shared) * shared))));
      if (next.score <= limits.score) break;
    }
    next.compared = out.indices.size();
    if (suppressed) continue;
    if (next.score == before) {
      out.indices.push_back(next.index);
      out.scores.push_back(static_cast<T>(next.score));
    } else if (next.score > limits.score) {
      queue.push(next);
    }
  }
  return out;
}

float threshold(const KernelContext& c, int i) {
  return c.in(i).dtype == float16 ? static_cast<float>(*c.in<half>(i)) : *c.in<float>(i);
}
// The limits of an op, by how many inputs it has. False, reported, where one is none.
template <class T>
bool read_limits(KernelContext& c, Limits* limits, Index* most) {
  *limits = {.overlap = 0.5f, .score = std::numeric_limits<float>::lowest(), .sigma = 0};
  if constexpr (std::is_same_v<T, half>) limits->score = -65504;
  if (c.num_inputs() == 3)
    limits->overlap = static_cast<float>(c.attr("iou_threshold").as_float());
  else
    limits->overlap = static_cast<float>(static_cast<T>(threshold(c, 3)));
  if (c.num_inputs() > 4) limits->score = static_cast<float>(static_cast<T>(threshold(c, 4)));
  if (c.num_inputs() > 5) limits->sigma = threshold(c, 5);
  *most = *c.in<std::int32_t>(2);
  const bool boxes = c.op().inputs[0].name == "boxes";
  if (*most < 0)
    c.fail(Code::invalid_argument,
           format("[{}] max_output_size is {}; expected 0 or more", c.tag(), *most));
  else if (boxes && !(limits->overlap >= 0 && limits->overlap <= 1))
    c.fail(Code::invalid_argument, format("[{}] iou_threshold is {}; expected a number in [0, 1]",
                                          c.tag(), limits->overlap));
  else if (!(limits->sigma >= 0))
    c.fail(Code::invalid_argument,
           format("[{}] soft_nms_sigma is {}; expected 0 or more", c.tag(), limits->sigma));
  return !c.failed();
}
template <class T>
void write_selection(KernelContext& c, Selection<T> chosen, Index most) {
  const auto valid = static_cast<std::int32_t>(chosen.indices.size());
  const AttrValue* padded = c.find_attr("pad_to_max_output_size");
  if (padded && padded->as_bool()) {
    chosen.indices.resize(static_cast<std::size_t>(most));
    chosen.scores.resize(static_cast<std::size_t>(most), static_cast<T>(0.f));
  }
  const TensorShape shape(Dims{static_cast<Index>(chosen.indices.size())});
  // With padding the size was known before, so there is room already.
  const bool is_padded = padded && padded->as_bool();
  auto room = [&](int i) { return is_padded ? c.out(i).data : c.allocate_output(i, shape); };
  if (void* to = room(0))
    std::copy(chosen.indices.begin(), chosen.indices.end(), static_cast<std::int32_t*>(to));
  const int last = c.num_outputs() - 1;
  if (last == 2)
    if (void* to = room(1))
      std::copy(chosen.scores.begin(), chosen.scores.end(), static_cast<T*>(to));
  if (last > 0 && !c.failed()) *c.out<std::int32_t>(last) = valid;
}
template <class F>
void selecting(KernelContext& c, F body) noexcept {
  try {
    body();
  } catch (const std::exception& e) {
    c.fail(Code::resource_exhausted, format("[{}] {}", c.tag(), e.what()));
  }
}
void non_max_suppression_cpu(KernelContext& c) noexcept {
  selecting(c, [&] {
    dispatch_types<float, half>(c.in(0).dtype, [&]<class T>() {
      Limits limits;
      Index most = 0;
      if (!read_limits<T>(c, &limits, &most)) return;
      const T* at = c.in<T>(0);
      const Index n = c.in_shape(0).dim(0);
      std::vector<Box> boxes;
      for (Index i = 0; i < n; ++i) boxes.push_back(box_at(at + 4 * i));
      auto shared = [&](std::int32_t i, std::int32_t j) {
        return overlap(boxes[static_cast<std::size_t>(i)], boxes[static_cast<std::size_t>(j)]);
      };
      write_selection<T>(c, select_boxes<T>(c.in<T>(1), n, most, limits, shared), most);
    });
  });
}
void non_max_overlaps_cpu(KernelContext& c) noexcept {
  selecting(c, [&] {
    Limits limits;
    Index most = 0;
    if (!read_limits<float>(c, &limits, &most)) return;
    const Index n = c.in_shape(0).dim(0);
    auto shared = [&](std::int32_t i, std::int32_t j) { return c.in<float>(0)[i * n + j]; };
    write_selection<float>(c, select_boxes<float>(c.in<float>(1), n, most, limits, shared), most);
  });
}
RILL_KERNEL("NonMaxSuppression", cpu, TypeSet{}, non_max_suppression_cpu);
RILL_KERNEL("NonMaxSuppressionV2", cpu, (TypeSet{float16, float32}), non_max_suppression_cpu);
RILL_KERNEL("NonMaxSuppressionV3", cpu, (TypeSet{float16, float32}), non_max_suppression_cpu);
RILL_KERNEL("NonMaxSuppressionV4", cpu, (TypeSet{float16, float32}), non_max_suppression_cpu);
RILL_KERNEL("NonMaxSuppressionV5", cpu, (TypeSet{float16, float32}), non_max_suppression_cpu);
RILL_KERNEL("NonMaxSuppressionWithOverlaps", cpu, TypeSet{}, non_max_overlaps_cpu);

// ---- class by class
struct Detection {
  float score;
  Index index, of_class;
};
void combined_cpu(KernelContext& c) noexcept {
  selecting(c, [&] {
    const TensorShape &b = c.in_shape(0), &s = c.in_shape(1);
    const Index batch = b.dim(0), n = b.dim(1), sets = b.dim(2), classes = s.dim(2),
                each = *c.in<std::int32_t>(2), total = *c.in<std::int32_t>(3);
    const Limits limits{.overlap = *c.in<float>(4), .score = *c.in<float>(5), .sigma = 0};
    if (!(limits.overlap >= 0 && limits.overlap <= 1))
      return c.fail(
          Code::invalid_argument,
          format("[{}] iou_threshold is {}; expected a number in [0, 1]", c.tag(), limits.overlap));
    const bool clip = c.bool_attr("clip_boxes");
    const Index rows = c.bool_attr("pad_per_class") ? std::min(total, each * classes) : total;
    float* out[3];
    for (int i = 0; i < 3; ++i) {
      out[i] = c.out<float>(i);
      std::fill_n(out[i], batch * rows * (i == 0 ? 4 : 1), 0.f);
    }
    std::vector<float> scores(static_cast<std::size_t>(n));
    std::vector<Box> boxes(static_cast<std::size_t>(n));
    for (Index k = 0; k < batch; ++k) {
      std::vector<Detection> found;
      const float* first = c.in<float>(0) + k * n * sets * 4;
      for (Index of = 0; of < classes; ++of) {
        const Index set = sets > 1 ? of : 0;
        for (Index i = 0; i < n; ++i) {
          scores[static_cast<std::size_t>(i)] = c.in<float>(1)[(k * n + i) * classes + of];
          boxes[static_cast<std::size_t>(i)] = box_at(first + (i * sets + set) * 4);
        }
        auto shared = [&](std::int32_t i, std::int32_t j) {
          return overlap(boxes[static_cast<std::size_t>(i)], boxes[static_cast<std::size_t>(j)]);
        };
        const auto chosen =
            select_boxes<float>(scores.data(), n, std::min(each, n), limits, shared);
        for (std::size_t i = 0; i < chosen.indices.size(); ++i)
          found.push_back({chosen.scores[i], chosen.indices[i], of});
      }
      std::stable_sort(found.begin(), found.end(),
                       [](const Detection& x, const Detection& y) { return x.score > y.score; });
      const Index valid = std::min<Index>(rows, static_cast<Index>(found.size()));
      for (Index i = 0; i < valid; ++i) {
        const Detection& d = found[static_cast<std::size_t>(i)];
        const float* box = first + (d.index * sets + (sets > 1 ? d.of_class : 0)) * 4;
        for (int j = 0; j < 4; ++j)
          out[0][(k * rows + i) * 4 + j] = clip ? std::max(std::min(box[j], 1.f), 0.f) : box[j];
        out[1][k * rows + i] = d.score;
        out[2][k * rows + i] = static_cast<float>(d.of_class);
      }
      c.out<std::int32_t>(3)[k] = static_cast<std::int32_t>(valid);
    }
  });
}
RILL_KERNEL("CombinedNonMaxSuppression", cpu, TypeSet{}, combined_cpu);

}  // namespace
}  // namespace rill::cpu
