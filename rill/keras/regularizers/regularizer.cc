#include "rill/keras/regularizers/regularizer.h"

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/registry/tensor_function_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

class RegularizerImpl : public TensorFunction<Regularizer> {
  using TensorFunction::TensorFunction;
};
void retain(RegularizerImpl* r) noexcept { r->refs.retain(); }
void release(RegularizerImpl* r) noexcept {
  if (r->refs.release()) delete r;
}

namespace {

RegularizerImpl* make(const char* class_name, Config config,
                      std::function<Tensor(const Tensor&)> f) {
  return new RegularizerImpl(class_name, std::move(config), std::move(f));
}

void check_factor(const char* name, double factor) {
  RILL_CHECK(factor >= 0 && factor < 1e300, invalid_argument,
             "[{}] the factor is {}; expected a finite number that is not negative", name, factor);
}

Tensor sum_of_squares(const Tensor& x) { return 2.0 * nn::l2_loss(x); }

}  // namespace

RegisterRegularizer::RegisterRegularizer(std::string_view name, const std::type_info& type,
                                         std::function<Regularizer(const Config&)> f) {
  RegularizerImpl::known().add(name, type, std::move(f));
}

Tensor Regularizer::call(const Tensor& x) const {
  return RegularizerImpl::call(impl_.get(), *this, x, "regularizer",
                               "Tensor call(const Tensor& x) const");
}
Config Regularizer::get_config() const {
  if (impl_ && impl_->object) return impl_->object->get_config();
  RILL_CHECK(
      impl_, unimplemented,
      "[regularizer] the class {} has no get_config, without which no file can hold it: override "
      "keras::Config get_config() const",
      class_name_of(typeid(*this)));
  return impl_->config;
}
Tensor Regularizer::operator()(const Tensor& x) const { return call(x); }
Regularizer Regularizer::by_object(std::shared_ptr<const Regularizer> object) {
  return Regularizer(new RegularizerImpl(std::move(object)));
}

Config Regularizer::serialize() const { return impl_ ? impl_->record("regularizer") : Config(); }

Regularizer Regularizer::deserialize(const Config& c) {
  if (c.is_null()) return {};
  if (c.is_text()) return by_name(c.as_string());
  const std::string& name = class_of_record(c);
  const Config& o = c["config"];
  if (name == "L1") return regularizers::L1(o.get("l1", 0.01));
  if (name == "L2") return regularizers::L2(o.get("l2", 0.01));
  if (name == "L1L2") return regularizers::L1L2(o.get("l1", 0.0), o.get("l2", 0.0));
  if (name == "OrthogonalRegularizer")
    return regularizers::OrthogonalRegularizer(
        {.factor = o.get("factor", 0.01), .mode = o.get("mode", "rows")});
  return RegularizerImpl::of_record(name, o, [](const std::string& n) { return by_name(n); });
}

Regularizer Regularizer::by_name(std::string_view name) {
  if (name == "l1" || name == "L1") return regularizers::L1();
  if (name == "l2" || name == "L2") return regularizers::L2();
  if (name == "l1_l2" || name == "L1L2") return regularizers::L1L2(0.01, 0.01);
  if (name == "orthogonal_regularizer" || name == "OrthogonalRegularizer")
    return regularizers::OrthogonalRegularizer();
  if (const auto own = RegularizerImpl::known().find(name)) return own(Config::dict());
  RILL_FAIL(invalid_argument, "[regularizer] unknown regularizer \"{}\".{}", name,
            did_you_mean(name, {"l1", "l2", "l1_l2", "orthogonal_regularizer"}));
}
Regularizer Regularizer::by_function(std::function<Tensor(const Tensor&)> f) {
  return Regularizer(make("", {}, std::move(f)));
}

namespace regularizers {

L1::L1(double l1)
    : Regularizer(make("L1", Config::dict({{"l1", l1}}),
                       [l1](const Tensor& x) { return l1 * reduce_sum(abs(x)); })) {
  check_factor("L1", l1);
}
L2::L2(double l2)
    : Regularizer(make("L2", Config::dict({{"l2", l2}}),
                       [l2](const Tensor& x) { return l2 * sum_of_squares(x); })) {
  check_factor("L2", l2);
}
L1L2::L1L2(double l1, double l2)
    : Regularizer(make("L1L2", Config::dict({{"l1", l1}, {"l2", l2}}), [l1, l2](const Tensor& x) {
        Tensor sum = zeros({}, x.dtype());
        if (l1 != 0) sum = sum + l1 * reduce_sum(abs(x));
        if (l2 != 0) sum = sum + l2 * sum_of_squares(x);
        return sum;
      })) {
  check_factor("L1L2", l1);
  check_factor("L1L2", l2);
}
OrthogonalRegularizer::OrthogonalRegularizer(OrthogonalRegularizerOptions o)
    : Regularizer(make(
          "OrthogonalRegularizer", Config::dict({{"factor", o.factor}, {"mode", o.mode}}),
          [o](const Tensor& x) {
            RILL_CHECK(x.ndim() == 2, invalid_argument,
                       "[OrthogonalRegularizer] got a tensor of shape {}; expected "
                       "a matrix",
                       x.shape());
            const bool rows = o.mode == "rows";
            const Tensor unit = nn::l2_normalize(x, rows ? 1 : 0);
            const Tensor dots = matmul(unit, unit, {.transpose_a = !rows, .transpose_b = rows});
            const double n = static_cast<double>(x.shape().dim(rows ? 0 : 1));
            const Tensor off = dots * (1.0 - eye(static_cast<std::int64_t>(n), x.dtype()));
            return o.factor * 0.5 * reduce_sum(abs(off)) / (n * (n - 1.0) / 2.0);
          })) {
  check_factor("OrthogonalRegularizer", o.factor);
  RILL_CHECK(o.mode == "rows" || o.mode == "columns", invalid_argument,
             "[OrthogonalRegularizer] mode is \"{}\"; expected \"rows\" or \"columns\"", o.mode);
}

Regularizer get(std::string_view name) { return Regularizer(name); }

}  // namespace regularizers
}  // namespace rill::keras
