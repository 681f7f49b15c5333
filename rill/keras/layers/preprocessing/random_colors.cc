// Images with more or less contrast, brighter or darker, higher or wider, by chance.
#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing/encode_impl.h"
#include "rill/keras/layers/preprocessing/image_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

void check_range(const char* layer, const std::vector<double>& range) {
  RILL_CHECK(range.size() == 2 && range[0] < range[1], invalid_argument,
             "[{}] value_range has {} numbers; expected two, the smaller one first", layer,
             range.size());
}

struct RandomContrastFields {
  using Options = layers::RandomContrastOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("factor", o.factor, FactorField());
    f.written_if(o.value_range != std::vector<double>{0, 255}, "value_range", o.value_range,
                 ListOrNull<double>());
    f("seed", o.seed, NullBelow<0>());
  }
};
class RandomContrastLayer final : public RandomImageLayer {
 public:
  explicit RandomContrastLayer(const layers::RandomContrastOptions& o)
      : RandomImageLayer("RandomContrast", common(o), o.seed), o_(o) {
    // One number is both.
    lower_ = o_.factor.one() ? *o_.factor.one() : o_.factor.lower();
    upper_ = o_.factor.upper();
    RILL_CHECK(lower_ >= 0 && upper_ >= 0 && lower_ <= 1, invalid_argument,
               "[RandomContrast] factor is {} and {}; expected numbers of 0 or more, and the first "
               "at most 1",
               lower_, upper_);
    check_range("RandomContrast", o_.value_range);
  }
  void add_config(Config& c) const override { write_fields<RandomContrastFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    const Tensor contrast = draw(TensorShape::scalar(), 1 - lower_, 1 + upper_);
    const Tensor y = image::adjust_contrast(x, contrast);
    return clip_by_value(y, o_.value_range[0], o_.value_range[1]);
  }

 private:
  layers::RandomContrastOptions o_;
  double lower_ = 0, upper_ = 0;
};

// Keras writes two numbers, ascending.
struct BothFactors {
  static Config write(const layers::Factor& f) {
    return Config::list_of(
        std::vector<double>{std::min(f.lower(), f.upper()), std::max(f.lower(), f.upper())});
  }
  static void read(const Config& c, layers::Factor& f) { FactorField::read(c, f); }
};
struct RandomBrightnessFields {
  using Options = layers::RandomBrightnessOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("factor", o.factor, BothFactors());
    f("value_range", o.value_range, ListOrNull<double>());
    f("seed", o.seed, NullBelow<0>());
  }
};
class RandomBrightnessLayer final : public RandomImageLayer {
 public:
  explicit RandomBrightnessLayer(const layers::RandomBrightnessOptions& o)
      : RandomImageLayer("RandomBrightness", common(o), o.seed), o_(o) {
    lower_ = std::min(o_.factor.lower(), o_.factor.upper());
    upper_ = std::max(o_.factor.lower(), o_.factor.upper());
    RILL_CHECK(lower_ >= -1 && upper_ <= 1, invalid_argument,
               "[RandomBrightness] factor is from {} to {}; expected from -1 to 1", lower_, upper_);
    check_range("RandomBrightness", o_.value_range);
  }
  void add_config(Config& c) const override { write_fields<RandomBrightnessFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    const Tensor one = constant(1);
    const Tensor more = draw(stack({shape(x)[0], one, one, one}), lower_, upper_) *
                        static_cast<float>(o_.value_range[1] - o_.value_range[0]);
    return clip_by_value(x + cast(more, x.dtype()), o_.value_range[0], o_.value_range[1]);
  }

 private:
  layers::RandomBrightnessOptions o_;
  double lower_ = 0, upper_ = 0;
};

struct RandomSizeFields {
  using Options = layers::RandomSizeOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("factor", o.factor, FactorField());
    f("interpolation", o.interpolation);
    f("seed", o.seed, NullBelow<0>());
  }
};
class RandomSizeLayer final : public RandomImageLayer {
 public:
  RandomSizeLayer(const char* class_name, int axis, const layers::RandomSizeOptions& o)
      : RandomImageLayer(class_name, common(o), o.seed), o_(o), axis_(axis) {
    check_interpolation(class_name, o_.interpolation);
    RILL_CHECK(o_.factor.lower() <= o_.factor.upper() && o_.factor.lower() >= -1, invalid_argument,
               "[{}] factor is from {} to {}; expected bounds in order, from -1 on", class_name,
               o_.factor.lower(), o_.factor.upper());
  }
  void add_config(Config& c) const override { write_fields<RandomSizeFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    const Tensor sizes = shape(x);
    const Tensor factor = draw(TensorShape::scalar(), 1 + o_.factor.lower(), 1 + o_.factor.upper());
    const Tensor size = cast(factor * cast(sizes[axis_], float32), int32);
    const Tensor wanted = axis_ == 1 ? stack({size, sizes[2]}) : stack({sizes[1], size});
    const Tensor y = image::resize(x, wanted, o_.interpolation);
    return y.dtype() == x.dtype() ? y : cast(y, x.dtype());
  }

 private:
  layers::RandomSizeOptions o_;
  int axis_;
};

const RegisterFields<RandomContrastFields, layers::RandomContrast> random_contrast(
    "RandomContrast");
const RegisterFields<RandomBrightnessFields, layers::RandomBrightness> random_brightness(
    "RandomBrightness");
const RegisterFields<RandomSizeFields, layers::RandomHeight> random_height("RandomHeight");
const RegisterFields<RandomSizeFields, layers::RandomWidth> random_width("RandomWidth");

}  // namespace

layers::RandomContrast::RandomContrast(RandomContrastOptions o)
    : Layer(this, new RandomContrastLayer(o)) {}
layers::RandomContrast::RandomContrast(Factor factor, RandomContrastOptions o)
    : RandomContrast((o.factor = factor, std::move(o))) {}
layers::RandomBrightness::RandomBrightness(RandomBrightnessOptions o)
    : Layer(this, new RandomBrightnessLayer(o)) {}
layers::RandomBrightness::RandomBrightness(Factor factor, RandomBrightnessOptions o)
    : RandomBrightness((o.factor = factor, std::move(o))) {}
layers::RandomHeight::RandomHeight(RandomSizeOptions o)
    : Layer(this, new RandomSizeLayer("RandomHeight", 1, o)) {}
layers::RandomHeight::RandomHeight(Factor factor, RandomSizeOptions o)
    : RandomHeight((o.factor = factor, std::move(o))) {}
layers::RandomWidth::RandomWidth(RandomSizeOptions o)
    : Layer(this, new RandomSizeLayer("RandomWidth", 2, o)) {}
layers::RandomWidth::RandomWidth(Factor factor, RandomSizeOptions o)
    : RandomWidth((o.factor = factor, std::move(o))) {}

}  // namespace rill::keras
