// A random part of an image that covers enough of one of some boxes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/functors/random_element.h"
#include "rill/kernels/functors/random_source.h"

namespace rill::cpu {
namespace {

// The words of a generator one by one.
class Words {
 public:
  explicit Words(const Philox& gen) : gen_(gen) {}
  std::uint32_t next() {
    if (used_ == 4) group_ = gen_(), used_ = 0;
    return group_[used_++];
  }
  float unit() { return functors::unit_float(next()); }
  // In [0, n), each as likely: words below a remainder are drawn again.
  int below(int n) {
    const auto m = static_cast<std::uint32_t>(n);
    if ((m & (m - 1)) == 0) return static_cast<int>(next() & (m - 1));
    const std::uint32_t remainder = ~std::uint32_t{0} % m + 1;
    std::uint32_t word = next();
    while (word < remainder) word = next();
    return static_cast<int>(word % m);
  }

 private:
  Philox gen_;
  Philox::Group group_{};
  std::size_t used_ = 4;
};

struct Area {
  int top = 0, left = 0, bottom = 0, right = 0;
  // As float from the start, in the order of TensorFlow's: areas of large images pass an integer.
  float size() const {
    return static_cast<float>(static_cast<std::int64_t>(bottom - top) * (right - left));
  }
  float shared(const Area& a) const {
    const Area both{std::max(top, a.top), std::max(left, a.left), std::min(bottom, a.bottom),
                    std::min(right, a.right)};
    return both.top > both.bottom || both.left > both.right ? 0 : both.size();
  }
};
struct Wishes {
  float least_area, most_area, least_ratio, most_ratio, covered;
};
int rounded_side(float v) { return static_cast<int>(std::lrintf(v)); }

// False where the ratio and the areas leave no place.
bool draw_area(int image_height, int image_width, float ratio, const Wishes& wishes, Words& words,
               Area* out) {
  const auto rows = static_cast<float>(image_height), columns = static_cast<float>(image_width);
  if (wishes.most_area <= 0 || ratio <= 0 || image_height <= 0 || image_width <= 0 ||
      wishes.least_area > wishes.most_area)
    return false;
  const float least = wishes.least_area * columns * rows, most = wishes.most_area * columns * rows;
  int height = rounded_side(std::sqrt(least / ratio)),
      tallest = rounded_side(std::sqrt(most / ratio));
  auto width_of = [&](int h) { return rounded_side(static_cast<float>(h) * ratio); };
  if (width_of(tallest) > image_width) {
    constexpr float kLittle = 0.0000001f;
    tallest = static_cast<int>((image_width + 0.5 - static_cast<double>(kLittle)) /
                               static_cast<double>(ratio));
    if (width_of(tallest) > image_width) --tallest;
  }
  tallest = std::min(tallest, image_height);
  height = std::min(height, tallest);
  if (height < tallest) height += words.below(tallest - height + 1);
  int width = width_of(height);
  auto area = [&] { return static_cast<float>(static_cast<std::int64_t>(width) * height); };
  // Rounding may have left the areas that are allowed.
  if (area() < least) ++height, width = width_of(height);
  if (area() > most) --height, width = width_of(height);
  if (area() < least || area() > most || width > image_width || height > image_height ||
      width <= 0 || height <= 0)
    return false;
  const int y = height < image_height ? words.below(image_height - height) : 0;
  const int x = width < image_width ? words.below(image_width - width) : 0;
  *out = {y, x, y + height, x + width};
  return true;
}
bool covers_enough(const Area& crop, float covered, const std::vector<Area>& boxes) {
  if (crop.size() < 1) return false;
  return std::any_of(boxes.begin(), boxes.end(), [&](const Area& box) {
    return box.size() >= 1 && crop.shared(box) / box.size() >= covered;
  });
}

std::int64_t integer_at(const TensorView& v, int i) {
  std::int64_t out = 0;
  dispatch_types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t>(
      v.dtype,
      [&]<class T>() { out = static_cast<std::int64_t>(static_cast<const T*>(v.data)[i]); });
  return out;
}

void sample_box(KernelContext& c, const Philox& gen, float covered) {
  const std::int64_t sizes[] = {integer_at(c.in(0), 0), integer_at(c.in(0), 1)};
  for (std::int64_t size : sizes)
    if (size < 0 || size >= std::numeric_limits<std::int32_t>::max())
      return c.fail(Code::invalid_argument,
                    format("[{}] image_size has a side of {}; expected 0 to {}", c.tag(), size,
                           std::numeric_limits<std::int32_t>::max() - 1));
  if (!(covered >= 0))
    return c.fail(Code::invalid_argument,
                  format("[{}] min_object_covered is {}; expected 0 or more", c.tag(), covered));
  const int height = static_cast<int>(sizes[0]), width = static_cast<int>(sizes[1]);
  const auto rows = static_cast<float>(height), columns = static_cast<float>(width);
  std::vector<Area> boxes;
  const auto* box = c.in<float>(1);
  for (std::int64_t i = 0; i < c.in(1).size; i += 4, box += 4) {
    for (int k = 0; k < 4; ++k)
      if (!(box[k] >= 0 && box[k] <= 1))
        return c.fail(Code::invalid_argument,
                      format("[{}] bounding box {} has {}; expected numbers in [0, 1]", c.tag(),
                             i / 4, box[k]));
    boxes.push_back({static_cast<int>(box[0] * rows), static_cast<int>(box[1] * columns),
                     static_cast<int>(box[2] * rows), static_cast<int>(box[3] * columns)});
  }
  const Area whole{0, 0, height, width};
  if (boxes.empty()) {
    if (!c.bool_attr("use_image_if_no_bounding_boxes"))
      return c.fail(Code::invalid_argument,
                    format("[{}] there are no bounding boxes; expected one at least, or "
                           "use_image_if_no_bounding_boxes",
                           c.tag()));
    boxes.push_back(whole);
  }
  const auto areas = c.floats_attr("area_range"), ratios = c.floats_attr("aspect_ratio_range");
  const Wishes wishes{static_cast<float>(areas[0]), static_cast<float>(areas[1]),
                      static_cast<float>(ratios[0]), static_cast<float>(ratios[1]), covered};
  Words words(gen);
  Area crop = whole;
  for (std::int64_t i = c.int_attr("max_attempts"); i > 0; --i) {
    const float ratio =
        words.unit() * (wishes.most_ratio - wishes.least_ratio) + wishes.least_ratio;
    Area drawn;
    if (!draw_area(height, width, ratio, wishes, words, &drawn)) continue;
    if (!covers_enough(drawn, covered, boxes)) continue;
    crop = drawn;
    break;
  }
  const int begin[] = {crop.top, crop.left, 0},
            size[] = {crop.bottom - crop.top, crop.right - crop.left, -1};
  dispatch_types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t>(
      c.out().dtype, [&]<class T>() {
        for (int i = 0; i < 3; ++i)
          c.out<T>(0)[i] = static_cast<T>(begin[i]), c.out<T>(1)[i] = static_cast<T>(size[i]);
      });
  auto* part = c.out<float>(2);
  part[0] = static_cast<float>(crop.top) / rows, part[1] = static_cast<float>(crop.left) / columns;
  part[2] = static_cast<float>(crop.bottom) / rows;
  part[3] = static_cast<float>(crop.right) / columns;
}
template <class F>
void sampling_box(KernelContext& c, F body) noexcept {
  try {
    body();
  } catch (const std::exception& e) {
    c.fail(Code::resource_exhausted, format("[{}] {}", c.tag(), e.what()));
  }
}
void sample_box_cpu(KernelContext& c) noexcept {
  sampling_box(c, [&] {
    // Four words an attempt are reserved, which is a group.
    const Philox gen = functors::from_attrs(c, 1, c.int_attr("max_attempts"));
    if (c.failed()) return;
    sample_box(c, gen,
               c.num_inputs() > 2 ? *c.in<float>(2)
                                  : static_cast<float>(c.attr("min_object_covered").as_float()));
  });
}
void stateless_sample_box_cpu(KernelContext& c) noexcept {
  sampling_box(c, [&] { sample_box(c, functors::from_seed(c, 3), *c.in<float>(2)); });
}
constexpr TypeSet kSizeTypes{uint8, int8, int16, int32, int64};
RILL_KERNEL("SampleDistortedBoundingBox", cpu, kSizeTypes, sample_box_cpu);
RILL_KERNEL("SampleDistortedBoundingBoxV2", cpu, kSizeTypes, sample_box_cpu);
RILL_KERNEL("StatelessSampleDistortedBoundingBox", cpu, kSizeTypes, stateless_sample_box_cpu);

}  // namespace
}  // namespace rill::cpu
