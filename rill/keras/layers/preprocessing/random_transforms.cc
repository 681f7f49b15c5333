// Images moved, turned and zoomed by chance.
#include <cmath>
#include <numbers>

#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing/image_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

template <class F, class O>
void visit_filling(F& f, O& o) {
  f("fill_mode", o.fill_mode);
  f("fill_value", o.fill_value);
  f("interpolation", o.interpolation);
  f("seed", o.seed, NullBelow<0>());
}
void check_factor(const char* layer, const char* what, const layers::Factor& f, double least,
                  double most) {
  RILL_CHECK(f.lower() <= f.upper() && f.lower() >= least && f.upper() <= most, invalid_argument,
             "[{}] {} is from {} to {}; expected bounds in order, from {} to {}", layer, what,
             f.lower(), f.upper(), least, most);
}
// Eight columns of numbers, each [batch, 1].
Tensor rows_of(const std::vector<Tensor>& columns, const Tensor& zero) {
  std::vector<Tensor> all = columns;
  all.push_back(zero);
  all.push_back(zero);
  return concat(all, 1);
}
// Height and width as floats, and the shape [batch, 1].
struct Sides {
  explicit Sides(const Tensor& x)
      : sizes(shape(x)),
        height(cast(sizes[1], float32)),
        width(cast(sizes[2], float32)),
        column(stack({sizes[0], constant(1)})) {}
  Tensor sizes, height, width, column;
};

struct RandomTranslationFields {
  using Options = layers::RandomTranslationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("height_factor", o.height_factor, FactorField());
    f("width_factor", o.width_factor, FactorField());
    visit_filling(f, o);
  }
};
class RandomTranslationLayer final : public RandomImageLayer {
 public:
  explicit RandomTranslationLayer(const layers::RandomTranslationOptions& o)
      : RandomImageLayer("RandomTranslation", common(o), o.seed), o_(o) {
    check_factor("RandomTranslation", "height_factor", o_.height_factor, -1, 1);
    check_factor("RandomTranslation", "width_factor", o_.width_factor, -1, 1);
    check_transform("RandomTranslation", o_.fill_mode, o_.interpolation);
  }
  void add_config(Config& c) const override { write_fields<RandomTranslationFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    const Sides s(x);
    const Tensor down =
        draw(s.column, o_.height_factor.lower(), o_.height_factor.upper()) * s.height;
    const Tensor right = draw(s.column, o_.width_factor.lower(), o_.width_factor.upper()) * s.width;
    const Tensor one = ones_like(down), zero = zeros_like(down);
    return transformed(x, rows_of({one, zero, -right, zero, one, -down}, zero), o_.fill_mode,
                       o_.fill_value, o_.interpolation);
  }

 private:
  layers::RandomTranslationOptions o_;
};

struct RandomRotationFields {
  using Options = layers::RandomRotationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("factor", o.factor, FactorField());
    visit_filling(f, o);
  }
};
class RandomRotationLayer final : public RandomImageLayer {
 public:
  explicit RandomRotationLayer(const layers::RandomRotationOptions& o)
      : RandomImageLayer("RandomRotation", common(o), o.seed), o_(o) {
    RILL_CHECK(o_.factor.lower() <= o_.factor.upper(), invalid_argument,
               "[RandomRotation] factor is from {} to {}; expected bounds in order",
               o_.factor.lower(), o_.factor.upper());
    check_transform("RandomRotation", o_.fill_mode, o_.interpolation);
  }
  void add_config(Config& c) const override { write_fields<RandomRotationFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    const Sides s(x);
    const double turn = 2 * std::numbers::pi;
    const Tensor angle = draw(s.column, o_.factor.lower() * turn, o_.factor.upper() * turn);
    const Tensor c = cos(angle), n = sin(angle), w = s.width - 1.f, h = s.height - 1.f;
    // About the middle.
    const Tensor dx = (w - (c * w - n * h)) / 2.f, dy = (h - (n * w + c * h)) / 2.f;
    return transformed(x, rows_of({c, -n, dx, n, c, dy}, zeros_like(c)), o_.fill_mode,
                       o_.fill_value, o_.interpolation);
  }

 private:
  layers::RandomRotationOptions o_;
};

struct OptionalFactorField {
  static constexpr bool reads_null = true;
  static Config write(const std::optional<layers::Factor>& f) {
    return f ? FactorField::write(*f) : Config();
  }
  static void read(const Config& c, std::optional<layers::Factor>& f) {
    f.reset();
    if (c.is_null()) return;
    f = layers::Factor(0.0);
    FactorField::read(c, *f);
  }
};
struct RandomZoomFields {
  using Options = layers::RandomZoomOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("height_factor", o.height_factor, FactorField());
    f("width_factor", o.width_factor, OptionalFactorField());
    visit_filling(f, o);
  }
};
class RandomZoomLayer final : public RandomImageLayer {
 public:
  explicit RandomZoomLayer(const layers::RandomZoomOptions& o)
      : RandomImageLayer("RandomZoom", common(o), o.seed), o_(o) {
    check_factor("RandomZoom", "height_factor", o_.height_factor, -1, 1);
    if (o_.width_factor) check_factor("RandomZoom", "width_factor", *o_.width_factor, -1, INFINITY);
    check_transform("RandomZoom", o_.fill_mode, o_.interpolation);
  }
  void add_config(Config& c) const override { write_fields<RandomZoomFields>(o_, c); }

 protected:
  Tensor changed(const Tensor& x) override {
    const Sides s(x);
    const Tensor high = zoom(s, o_.height_factor);
    const Tensor wide = o_.width_factor ? zoom(s, *o_.width_factor) : high;
    const Tensor dx = (s.width - 1.f) / 2.f * (1.f - wide),
                 dy = (s.height - 1.f) / 2.f * (1.f - high), zero = zeros_like(high);
    return transformed(x, rows_of({wide, zero, dx, zero, high, dy}, zero), o_.fill_mode,
                       o_.fill_value, o_.interpolation);
  }

 private:
  Tensor zoom(const Sides& s, const layers::Factor& f) const {
    return draw(s.column, 1 + f.lower(), 1 + f.upper());
  }
  layers::RandomZoomOptions o_;
};

const RegisterFields<RandomTranslationFields, layers::RandomTranslation> random_translation(
    "RandomTranslation");
const RegisterFields<RandomRotationFields, layers::RandomRotation> random_rotation(
    "RandomRotation");
const RegisterFields<RandomZoomFields, layers::RandomZoom> random_zoom("RandomZoom");

}  // namespace

layers::RandomTranslation::RandomTranslation(RandomTranslationOptions o)
    : Layer(this, new RandomTranslationLayer(o)) {}
layers::RandomTranslation::RandomTranslation(Factor height, Factor width,
                                             RandomTranslationOptions o)
    : RandomTranslation((o.height_factor = height, o.width_factor = width, std::move(o))) {}
layers::RandomRotation::RandomRotation(RandomRotationOptions o)
    : Layer(this, new RandomRotationLayer(o)) {}
layers::RandomRotation::RandomRotation(Factor factor, RandomRotationOptions o)
    : RandomRotation((o.factor = factor, std::move(o))) {}
layers::RandomZoom::RandomZoom(RandomZoomOptions o) : Layer(this, new RandomZoomLayer(o)) {}
layers::RandomZoom::RandomZoom(Factor height, RandomZoomOptions o)
    : RandomZoom((o.height_factor = height, std::move(o))) {}
layers::RandomZoom::RandomZoom(Factor height, Factor width, RandomZoomOptions o)
    : RandomZoom((o.height_factor = height, o.width_factor = width, std::move(o))) {}

}  // namespace rill::keras
