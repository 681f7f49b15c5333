// What layers of images share.
#include "rill/base/check.h"
#include "rill/keras/engine/call_state_impl.h"
#include "rill/keras/layers/preprocessing/image_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::keras {

int image_rank(const LayerImpl& layer, const Tensor& x) {
  const int rank = x.shape().has_rank() ? x.ndim() : -1;
  RILL_CHECK(
      rank == 3 || rank == 4, invalid_argument,
      "[{}] the input has shape {}; expected images [batch, height, width, channels], or one "
      "image",
      layer.name(), x.shape());
  return rank;
}

void check_interpolation(std::string_view layer, const std::string& name) {
  for (const char* known : {"bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5",
                            "gaussian", "mitchellcubic"})
    if (name == known) return;
  RILL_FAIL(invalid_argument,
            "[{}] interpolation is \"{}\"; expected \"bilinear\", \"nearest\", \"bicubic\", "
            "\"area\", \"lanczos3\", \"lanczos5\", \"gaussian\" or \"mitchellcubic\"",
            layer, name);
}

Tensor smart_resize(const Tensor& x, std::int64_t height, std::int64_t width,
                    std::string_view method) {
  const int first = x.ndim() - 3;
  const std::int64_t h = x.shape().dim(first), w = x.shape().dim(first + 1);
  if (h >= 0 && w >= 0) {
    // In single precision, as Keras.
    const auto part = [](std::int64_t of, std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(static_cast<float>(of * a) / static_cast<float>(b));
    };
    const std::int64_t ch = std::min(h, part(w, height, width)),
                       cw = std::min(w, part(h, width, height));
    Tensor cut = x;
    if (ch != h || cw != w)
      cut = image::crop_to_bounding_box(x, static_cast<int>((h - ch) / 2),
                                        static_cast<int>((w - cw) / 2), static_cast<int>(ch),
                                        static_cast<int>(cw));
    return image::resize(cut, {height, width}, method);
  }
  const Tensor sizes = shape(x), hs = sizes[first], ws = sizes[first + 1];
  const auto part = [](const Tensor& of, std::int64_t a, std::int64_t b) {
    return cast(cast(of * static_cast<int>(a), float32) / static_cast<float>(b), int32);
  };
  const Tensor ch = minimum(hs, part(ws, height, width)), cw = minimum(ws, part(hs, width, height));
  const Tensor top = floordiv(hs - ch, 2), left = floordiv(ws - cw, 2);
  const Tensor zero = constant(0), rest = constant(-1);
  const Tensor cut = first == 1
                         ? slice(x, stack({zero, top, left, zero}), stack({rest, ch, cw, rest}))
                         : slice(x, stack({top, left, zero}), stack({ch, cw, rest}));
  cut.set_shape(
      first == 1 ? TensorShape({x.shape().dim(0) < 0 ? None : Dim(x.shape().dim(0)), None, None,
                                x.shape().dim(3) < 0 ? None : Dim(x.shape().dim(3))})
                 : TensorShape({None, None, x.shape().dim(2) < 0 ? None : Dim(x.shape().dim(2))}));
  return image::resize(cut, {height, width}, method);
}

void FactorField::read(const Config& c, layers::Factor& f) {
  if (!c.is_list()) {
    f = c.as_double();
    return;
  }
  RILL_CHECK(c.size() == 2, invalid_argument,
             "[layers] a factor is a list of {} numbers; expected one number, or two", c.size());
  f = layers::Factor(c.items()[0].as_double(), c.items()[1].as_double());
}

RandomImageLayer::RandomImageLayer(std::string_view class_name, const LayerOptions& options,
                                   std::int64_t seed)
    : LayerImpl(class_name, options), seed_(seed) {
  autocast = false;
}

Tensor RandomImageLayer::call(const Tensor& given, const CallContext&) {
  const DType d = policy.compute_dtype();
  const Tensor x = given.dtype() == d ? given : cast(given, d);
  const bool one = image_rank(*this, x) == 3;
  // Nobody says: as in training.
  const bool random = call_state().training != 0;
  const Tensor images = one ? expand_dims(x, 0) : x;
  const Tensor y = random ? changed(images) : unchanged(images);
  return one ? squeeze(y, 0) : y;
}

Tensor RandomImageLayer::draw(const Operand& sizes, double lower, double upper) const {
  return random::uniform(sizes, lower, upper, {.seed = seed_});
}

void RandomImageLayer::check_transform(std::string_view layer, const std::string& fill_mode,
                                       const std::string& interpolation) {
  RILL_CHECK(fill_mode == "reflect" || fill_mode == "wrap" || fill_mode == "constant" ||
                 fill_mode == "nearest",
             invalid_argument,
             "[{}] fill_mode is \"{}\"; expected \"reflect\", \"wrap\", \"constant\" or "
             "\"nearest\"",
             layer, fill_mode);
  RILL_CHECK(interpolation == "bilinear" || interpolation == "nearest", invalid_argument,
             "[{}] interpolation is \"{}\"; expected \"bilinear\" or \"nearest\"", layer,
             interpolation);
}

Tensor RandomImageLayer::transformed(const Tensor& images, const Tensor& transforms,
                                     const std::string& fill_mode, double fill_value,
                                     const std::string& interpolation) {
  const auto upper = [](std::string s) {
    for (char& c : s) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return s;
  };
  const Tensor y = image::projective_transform(images, transforms, shape(images)(slice(1, 3)),
                                               {.interpolation = upper(interpolation),
                                                .fill_mode = upper(fill_mode),
                                                .fill_value = fill_value});
  y.set_shape(images.shape());
  return y;
}

}  // namespace rill::keras
