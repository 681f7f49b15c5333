#include "rill/keras/constraints/constraint.h"
#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/registry/tensor_function_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

class ConstraintImpl : public TensorFunction<Constraint> {
  using TensorFunction::TensorFunction;
};
void retain(ConstraintImpl* c) noexcept { c->refs.retain(); }
void release(ConstraintImpl* c) noexcept {
  if (c->refs.release()) delete c;
}

namespace {

ConstraintImpl* make(const char* class_name, Config config,
                     std::function<Tensor(const Tensor&)> f) {
  return new ConstraintImpl(class_name, std::move(config), std::move(f));
}

constexpr double kEpsilon = 1e-7;  // keras.backend.epsilon()

Tensor norms(const Tensor& w, int axis) {
  return sqrt(reduce_sum(square(w), axis, {.keepdims = true}));
}

// Every element of a window becomes what is on the diagonal for its ring. The middle takes
// what is just above and left of the window's middle, and the rings around it what follows on the
// diagonal, as Keras has it: in a window of odd size the first ring takes the middle itself.
Tensor radial(const Tensor& w) {
  RILL_CHECK(w.ndim() == 4 && w.shape().dim(0) == w.shape().dim(1), invalid_argument,
             "[RadialConstraint] got a weight of shape {}; expected [n, n, in, out]", w.shape());
  const std::int64_t n = w.shape().dim(0), middle = n / 2, odd = n % 2;
  if (n < 2) return w;
  std::vector<std::int32_t> source;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t from_edge = std::min(std::min(i, j), std::min(n - 1 - i, n - 1 - j));
      const std::int64_t ring = middle - from_edge - (1 - odd);  // 0 in the middle
      const std::int64_t diagonal = ring == 0 ? middle - 1 : middle + ring - odd;
      source.push_back(static_cast<std::int32_t>(diagonal * n + diagonal));
    }
  const Tensor rows = reshape(w, {n * n, w.shape().dim(2), w.shape().dim(3)});
  return reshape(gather(rows, constant(source)), w.shape());
}

}  // namespace

RegisterConstraint::RegisterConstraint(std::string_view name, const std::type_info& type,
                                       std::function<Constraint(const Config&)> f) {
  ConstraintImpl::known().add(name, type, std::move(f));
}

Tensor Constraint::call(const Tensor& w) const {
  return ConstraintImpl::call(impl_.get(), *this, w, "constraint",
                              "Tensor call(const Tensor& w) const");
}
Config Constraint::get_config() const {
  if (impl_ && impl_->object) return impl_->object->get_config();
  return impl_ ? impl_->config : Config::dict();
}
Tensor Constraint::operator()(const Tensor& w) const { return call(w); }
Constraint Constraint::by_object(std::shared_ptr<const Constraint> object) {
  return Constraint(new ConstraintImpl(std::move(object)));
}
Config Constraint::serialize() const { return impl_ ? impl_->record("constraint") : Config(); }
Constraint Constraint::deserialize(const Config& c) {
  if (c.is_null()) return {};
  if (c.is_text()) return by_name(c.as_string());
  const std::string& name = class_of_record(c);
  const Config& o = c["config"];
  const auto axis = static_cast<int>(o.is_dict() ? o.get("axis", 0) : 0);
  if (name == "MaxNorm") return constraints::MaxNorm(o.get("max_value", 2.0), axis);
  if (name == "MinMaxNorm")
    return constraints::MinMaxNorm({.min_value = o.get("min_value", 0.0),
                                    .max_value = o.get("max_value", 1.0),
                                    .rate = o.get("rate", 1.0),
                                    .axis = axis});
  if (name == "UnitNorm") return constraints::UnitNorm({.axis = axis});
  return ConstraintImpl::of_record(name, o, [](const std::string& n) { return by_name(n); });
}
Constraint Constraint::by_name(std::string_view name) {
  if (name == "max_norm" || name == "MaxNorm") return constraints::MaxNorm();
  if (name == "min_max_norm" || name == "MinMaxNorm") return constraints::MinMaxNorm();
  if (name == "non_neg" || name == "NonNeg") return constraints::NonNeg();
  if (name == "unit_norm" || name == "UnitNorm") return constraints::UnitNorm();
  if (name == "radial_constraint" || name == "RadialConstraint")
    return constraints::RadialConstraint();
  if (const auto own = ConstraintImpl::known().find(name)) return own(Config::dict());
  RILL_FAIL(invalid_argument, "[constraint] unknown constraint \"{}\".{}", name,
            did_you_mean(
                name, {"max_norm", "min_max_norm", "non_neg", "unit_norm", "radial_constraint"}));
}
Constraint Constraint::by_function(std::function<Tensor(const Tensor&)> f) {
  return Constraint(make("", {}, std::move(f)));
}

namespace constraints {

MaxNorm::MaxNorm(double max_value, int axis)
    : Constraint(make("MaxNorm", Config::dict({{"max_value", max_value}, {"axis", axis}}),
                      [=](const Tensor& w) {
                        const Tensor n = norms(w, axis);
                        return w * (clip_by_value(n, 0, max_value) / (kEpsilon + n));
                      })) {}
MinMaxNorm::MinMaxNorm(MinMaxNormOptions o)
    : Constraint(make("MinMaxNorm",
                      Config::dict({{"min_value", o.min_value},
                                    {"max_value", o.max_value},
                                    {"rate", o.rate},
                                    {"axis", o.axis}}),
                      [o](const Tensor& w) {
                        const Tensor n = norms(w, o.axis);
                        const Tensor wanted =
                            o.rate * clip_by_value(n, o.min_value, o.max_value) + (1 - o.rate) * n;
                        return w * (wanted / (kEpsilon + n));
                      })) {}
NonNeg::NonNeg()
    : Constraint(make("NonNeg", Config::dict(),
                      [](const Tensor& w) { return w * cast(w >= 0, w.dtype()); })) {}
UnitNorm::UnitNorm(UnitNormOptions o)
    : Constraint(make("UnitNorm", Config::dict({{"axis", o.axis}}),
                      [o](const Tensor& w) { return w / (kEpsilon + norms(w, o.axis)); })) {}
RadialConstraint::RadialConstraint()
    : Constraint(make("RadialConstraint", Config::dict(), radial)) {}

Constraint get(std::string_view name) { return Constraint(name); }

}  // namespace constraints
}  // namespace rill::keras
