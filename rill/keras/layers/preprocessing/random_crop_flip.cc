// Parts of images, and their mirror images, by chance.
#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing/image_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

struct RandomCropFields {
  using Options = layers::RandomCropOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("height", o.height);
    f.required("width", o.width);
    f("seed", o.seed, NullBelow<0>());
  }
};

class RandomCropLayer final : public RandomImageLayer {
 public:
  explicit RandomCropLayer(const layers::RandomCropOptions& o)
      : RandomImageLayer("RandomCrop", common(o), o.seed), o_(o) {
    RILL_CHECK(o_.height > 0 && o_.width > 0, invalid_argument,
               "[RandomCrop] the size is {} x {}; expected 1 or more", o_.height, o_.width);
  }
  void add_config(Config& c) const override { write_fields<RandomCropFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    const std::int64_t h = x.shape().dim(1), w = x.shape().dim(2);
    RILL_CHECK(h >= 0 && w >= 0, unimplemented,
               "[{}] needs images of a known size, got {}; resize them first", name(), x.shape());
    if (h < o_.height || w < o_.width) return unchanged(x);
    const auto first = [&](std::int64_t room) {
      const Tensor at = floor(draw(TensorShape::scalar(), 0, static_cast<double>(room + 1)));
      return minimum(cast(at, int32), static_cast<int>(room));
    };
    const Tensor top = first(h - o_.height), left = first(w - o_.width), zero = constant(0);
    const Tensor y = slice(x, stack({zero, top, left, zero}),
                           {-1, static_cast<int>(o_.height), static_cast<int>(o_.width), -1});
    TensorShape known = x.shape();
    known.set_dim(1, o_.height), known.set_dim(2, o_.width);
    y.set_shape(known);
    return y;
  }
  Tensor unchanged(const Tensor& x) override {
    const Tensor y = smart_resize(x, o_.height, o_.width, "bilinear");
    return y.dtype() == x.dtype() ? y : cast(y, x.dtype());
  }

 private:
  layers::RandomCropOptions o_;
};

struct RandomFlipFields {
  using Options = layers::RandomFlipOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("mode", o.mode);
    f("seed", o.seed, NullBelow<0>());
  }
};

class RandomFlipLayer final : public RandomImageLayer {
 public:
  explicit RandomFlipLayer(const layers::RandomFlipOptions& o)
      : RandomImageLayer("RandomFlip", common(o), o.seed), o_(o) {
    RILL_CHECK(
        o_.mode == "horizontal" || o_.mode == "vertical" || o_.mode == "horizontal_and_vertical",
        invalid_argument,
        "[RandomFlip] mode is \"{}\"; expected \"horizontal\", \"vertical\" or "
        "\"horizontal_and_vertical\"",
        o_.mode);
  }
  void add_config(Config& c) const override { write_fields<RandomFlipFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    Tensor y = x;
    if (o_.mode != "vertical") y = some(y, image::flip_left_right(y));
    if (o_.mode != "horizontal") y = some(y, image::flip_up_down(y));
    return y;
  }

 private:
  // Of each image the one or the other.
  Tensor some(const Tensor& x, const Tensor& other) const {
    const Tensor flip = draw(stack({shape(x)[0], constant(1), constant(1), constant(1)}), 0, 1);
    return where(less(flip, 0.5f), x, other);
  }
  layers::RandomFlipOptions o_;
};

const RegisterFields<RandomCropFields, layers::RandomCrop> random_crop("RandomCrop");
const RegisterFields<RandomFlipFields, layers::RandomFlip> random_flip("RandomFlip");

}  // namespace

layers::RandomCrop::RandomCrop(RandomCropOptions o) : Layer(this, new RandomCropLayer(o)) {}
layers::RandomCrop::RandomCrop(std::int64_t height, std::int64_t width, RandomCropOptions o)
    : RandomCrop((o.height = height, o.width = width, std::move(o))) {}
layers::RandomFlip::RandomFlip() : RandomFlip(RandomFlipOptions{}) {}
layers::RandomFlip::RandomFlip(RandomFlipOptions o) : Layer(this, new RandomFlipLayer(o)) {}

}  // namespace rill::keras
