#include "rill/keras/regularizers/regularizer.h"

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

class RegularizerImpl {
 public:
  std::string class_name;
  Config config;
  std::function<Tensor(const Tensor&)> f;
  std::shared_ptr<const Regularizer> object;  // of a user's class
  RefCount refs;
};
void retain(RegularizerImpl* r) noexcept { r->refs.retain(); }
void release(RegularizerImpl* r) noexcept {
  if (r->refs.release()) delete r;
}

namespace {

ClassRegistry<std::function<Regularizer(const Config&)>>& known_regularizers() {
  static auto* k = new ClassRegistry<std::function<Regularizer(const Config&)>>;
  return *k;
}

RegularizerImpl* make(const char* class_name, Config config,
                      std::function<Tensor(const Tensor&)> f) {
  auto* impl = new RegularizerImpl;
  impl->class_name = class_name;
  impl->config = std::move(config);
  impl->f = std::move(f);
  return impl;
}

void check_factor(const char* name, double factor) {
  RILL_CHECK(factor >= 0 && factor < 1e300, invalid_argument,
             "[{}] the factor is {}; expected a finite number that is not negative", name, factor);
}

Tensor sum_of_squares(const Tensor& x) { return 2.0 * nn::l2_loss(x); }

}  // namespace

RegisterRegularizer::RegisterRegularizer(std::string_view name, const std::type_info& type,
                                         std::function<Regularizer(const Config&)> f) {
  known_regularizers().add(name, type, std::move(f));
}

Tensor Regularizer::call(const Tensor& x) const {
  const bool own = typeid(*this) != typeid(Regularizer);
  RILL_CHECK(impl_, failed_precondition, "[regularizer] {}",
             own ? format("the class {} has no call: override Tensor call(const Tensor& x) const",
                          class_name_of(typeid(*this)))
                 : std::string("there is none: it was default-constructed"));
  return impl_->object ? impl_->object->call(x) : impl_->f(x);
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
  auto* impl = new RegularizerImpl;
  impl->object = std::move(object);
  return Regularizer(impl);
}

Config Regularizer::serialize() const {
  if (!impl_) return {};
  if (const Regularizer* own = impl_->object.get())
    return users_record(known_regularizers().name_of(typeid(*own), class_name_of(typeid(*own))),
                        own->get_config());
  RILL_CHECK(!impl_->class_name.empty(), failed_precondition,
             "[regularizer] a user-defined function has no name that a file could hold; use one of "
             "keras::regularizers");
  return Config::dict({{"class_name", impl_->class_name}, {"config", impl_->config}});
}

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
  if (const auto make = known_regularizers().find(name))
    return make(o.is_dict() ? o : Config::dict());
  try {
    return by_name(name);
  } catch (errors::Error& e) {
    e.add_context("Register a user-defined class first: " + registering_call(name));
    throw;
  }
}

Regularizer Regularizer::by_name(std::string_view name) {
  if (name == "l1" || name == "L1") return regularizers::L1();
  if (name == "l2" || name == "L2") return regularizers::L2();
  if (name == "l1_l2" || name == "L1L2") return regularizers::L1L2(0.01, 0.01);
  if (name == "orthogonal_regularizer" || name == "OrthogonalRegularizer")
    return regularizers::OrthogonalRegularizer();
  if (const auto make = known_regularizers().find(name)) return make(Config::dict());
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
