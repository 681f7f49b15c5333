#include "rill/keras/initializers/initializers.h"

#include <cmath>
#include <map>
#include <vector>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/array_format.h"
#include "rill/keras/initializers/registered_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::keras {

class InitializerImpl {
 public:
  virtual ~InitializerImpl() = default;
  virtual Tensor make(const TensorShape& shape, DType dtype) const = 0;

  std::string class_name, config = "{}";
  RefCount refs;
};
void retain(InitializerImpl* i) noexcept { i->refs.retain(); }
void release(InitializerImpl* i) noexcept {
  if (i->refs.release()) delete i;
}

namespace {

using InitializerFactory = std::function<Initializer(const Config&)>;
ClassRegistry<InitializerFactory>& known_initializers() {
  static auto* k = new ClassRegistry<InitializerFactory>;
  return *k;
}

// A copy of a user's object.
class UsersInitializer : public InitializerImpl {
 public:
  explicit UsersInitializer(std::shared_ptr<const Initializer> o) : object(std::move(o)) {}
  Tensor make(const TensorShape& shape, DType dtype) const override {
    return object->call(shape, dtype);
  }
  const std::shared_ptr<const Initializer> object;
};
const Initializer* users_object(const InitializerImpl* impl) {
  const auto* users = dynamic_cast<const UsersInitializer*>(impl);
  return users ? users->object.get() : nullptr;
}

}  // namespace

RegisterInitializer::RegisterInitializer(std::string_view name, const std::type_info& type,
                                         InitializerFactory f) {
  known_initializers().add(name, type, std::move(f));
}
Initializer registered_initializer(std::string_view name, const Config& config) {
  const InitializerFactory make = known_initializers().find(name);
  return make ? make(config.is_dict() ? config : Config::dict()) : Initializer();
}

Initializer::Initializer(InitializerImpl* impl) : impl_(impl) {}
Tensor Initializer::call(const TensorShape& shape, DType dtype) const {
  const bool own = typeid(*this) != typeid(Initializer);
  RILL_CHECK(impl_, failed_precondition, "[initializer] {}",
             own ? format("the class {} has no call: override Tensor call(const TensorShape& "
                          "shape, DType dtype) const",
                          class_name_of(typeid(*this)))
                 : std::string("there is none: it was default-constructed"));
  return impl_->make(shape, dtype);
}
Tensor Initializer::operator()(const TensorShape& shape, DType dtype) const {
  RILL_CHECK(shape.is_fully_defined(), invalid_argument, "[{}] shape {} is not fully defined",
             impl_ ? class_name() : std::string("initializer"), shape);
  return call(shape, dtype.defined() ? dtype : float32);
}
std::string Initializer::class_name() const {
  const Initializer* object = users_object(impl_.get());
  if (!object) return impl_ ? impl_->class_name : std::string();
  return known_initializers().name_of(typeid(*object), class_name_of(typeid(*object)));
}
Config Initializer::get_config() const {
  if (const Initializer* object = users_object(impl_.get())) return object->get_config();
  return impl_ ? Config::from_json(impl_->config) : Config::dict();
}
std::string Initializer::config() const { return impl_ ? get_config().to_json() : "null"; }
bool Initializer::is_users() const { return users_object(impl_.get()) != nullptr; }
Initializer Initializer::by_object(std::shared_ptr<const Initializer> object) {
  return Initializer(new UsersInitializer(std::move(object)));
}

namespace {

using Function = std::function<Tensor(const TensorShape&, DType)>;

// An initializer is a name, its arguments as JSON, and a function.
class FromFunction : public InitializerImpl {
 public:
  FromFunction(std::string name, std::string json, Function f) : f_(std::move(f)) {
    class_name = std::move(name), config = std::move(json);
  }
  Tensor make(const TensorShape& shape, DType dtype) const override { return f_(shape, dtype); }

 private:
  Function f_;
};

std::string number(double v) { return scalar_str({float64, {}, &v}); }
std::string seed_text(std::int64_t seed) { return seed < 0 ? "null" : std::to_string(seed); }

void require_float(const char* name, DType dtype) {
  RILL_CHECK(dtype.is_floating(), invalid_argument, "[{}] dtype {}; expected a floating-point one",
             name, dtype);
}

// With a seed the stateless ops, whose numbers depend on nothing else.
Tensor seed_of(std::int64_t seed) { return constant({seed, std::int64_t{0}}); }
Tensor uniform(const TensorShape& shape, double lo, double hi, DType dtype, std::int64_t seed) {
  return seed < 0 ? random::uniform(shape, lo, hi, {.dtype = dtype})
                  : random::stateless_uniform(shape, seed_of(seed), lo, hi, dtype);
}
Tensor normal(const TensorShape& shape, double mean, double stddev, DType dtype,
              std::int64_t seed) {
  return seed < 0 ? random::normal(shape, mean, stddev, {.dtype = dtype})
                  : random::stateless_normal(shape, seed_of(seed), mean, stddev, dtype);
}
Tensor truncated(const TensorShape& shape, double mean, double stddev, DType dtype,
                 std::int64_t seed) {
  return seed < 0 ? random::truncated_normal(shape, mean, stddev, {.dtype = dtype})
                  : random::stateless_truncated_normal(shape, seed_of(seed), mean, stddev, dtype);
}

struct Fans {
  double in = 1, out = 1;
};
Fans fans_of(const TensorShape& shape) {
  Fans f;
  if (shape.rank() == 0) return f;
  if (shape.rank() == 1)
    return {static_cast<double>(shape.dim(0)), static_cast<double>(shape.dim(0))};
  double window = 1;
  for (int i = 0; i < shape.rank() - 2; ++i) window *= static_cast<double>(shape.dim(i));
  return {window * static_cast<double>(shape.dim(-2)), window * static_cast<double>(shape.dim(-1))};
}

InitializerImpl* scaled(const char* name, const initializers::VarianceScalingOptions& o) {
  RILL_CHECK(o.scale > 0, invalid_argument,
             "[VarianceScaling] scale is {}; expected a positive number", o.scale);
  RILL_CHECK(o.mode == "fan_in" || o.mode == "fan_out" || o.mode == "fan_avg", invalid_argument,
             "[VarianceScaling] mode is \"{}\"; expected \"fan_in\", \"fan_out\" or \"fan_avg\"",
             o.mode);
  const std::string kind = o.distribution == "normal" ? "truncated_normal" : o.distribution;
  RILL_CHECK(kind == "truncated_normal" || kind == "untruncated_normal" || kind == "uniform",
             invalid_argument,
             "[VarianceScaling] distribution is \"{}\"; expected \"truncated_normal\", "
             "\"untruncated_normal\" or \"uniform\"",
             o.distribution);
  const bool own = std::string_view(name) != "VarianceScaling";
  std::string json = own ? "{\"seed\": " + seed_text(o.seed) + "}"
                         : "{\"scale\": " + number(o.scale) + ", \"mode\": \"" + o.mode +
                               "\", \"distribution\": \"" + kind +
                               "\", \"seed\": " + seed_text(o.seed) + "}";
  return new FromFunction(name, std::move(json), [=](const TensorShape& shape, DType dtype) {
    require_float(name, dtype);
    const Fans f = fans_of(shape);
    const double fan = o.mode == "fan_in" ? f.in : o.mode == "fan_out" ? f.out : (f.in + f.out) / 2;
    const double scale = o.scale / std::max(1.0, fan);
    if (kind == "uniform")
      return uniform(shape, -std::sqrt(3 * scale), std::sqrt(3 * scale), dtype, o.seed);
    if (kind == "untruncated_normal") return normal(shape, 0, std::sqrt(scale), dtype, o.seed);
    // The deviation of a standard normal that is cut at two deviations.
    return truncated(shape, 0, std::sqrt(scale) / 0.87962566103423978, dtype, o.seed);
  });
}

Tensor orthogonal_value(const TensorShape& shape, DType dtype,
                        const initializers::OrthogonalOptions& o) {
  require_float("Orthogonal", dtype);
  RILL_CHECK(shape.rank() >= 2, invalid_argument,
             "[Orthogonal] shape {} has rank {}; expected 2 or more", shape, shape.rank());
  const std::int64_t cols = shape.dim(-1), rows = cols == 0 ? 0 : shape.num_elements() / cols;
  const std::int64_t m = std::max(rows, cols), n = std::min(rows, cols);
  // In double precision, and with the signs that give r a positive diagonal: the
  // one q that is as random as what was drawn.
  const linalg::Qr f = linalg::qr(cast(normal({m, n}, 0, 1, dtype, o.seed), float64));
  const Tensor q = f.q * sign(linalg::diag_part(f.r));
  return cast(reshape(rows < cols ? transpose(q) : q, shape), dtype) * o.gain;
}

}  // namespace

Initializer Initializer::by_function(Function f) {
  return Initializer(new FromFunction("", "{}", std::move(f)));
}
Initializer Initializer::by_name(std::string_view name) { return initializers::get(name); }

namespace initializers {

Zeros::Zeros()
    : Initializer(new FromFunction(
          "Zeros", "{}", [](const TensorShape& s, DType d) { return rill::zeros(s, d); })) {}
Ones::Ones()
    : Initializer(new FromFunction(
          "Ones", "{}", [](const TensorShape& s, DType d) { return rill::ones(s, d); })) {}
Constant::Constant(const Operand& value)
    : Initializer([&] {
        const Tensor v =
            to_tensor(value, value.kind() == Operand::Kind::floating ? float64 : DType());
        std::string json = "{\"value\": " +
                           (v.size() == 1 && v.dtype().is_numeric() && !v.dtype().is_complex()
                                ? number(v.item<double>())
                                : std::string("null")) +
                           "}";
        return new FromFunction(
            "Constant", std::move(json), [v](const TensorShape& shape, DType dtype) {
              RILL_CHECK(v.size() == 1 || v.size() == shape.num_elements(), invalid_argument,
                         "[Constant] {} values do not fill shape {}", v.size(), shape);
              if (v.dtype().is_floating() && dtype.is_integer())
                for (double x : v.to_vector<double>())
                  RILL_CHECK(x == std::floor(x), invalid_argument,
                             "[Constant] the fraction {} does not fit dtype {}", x, dtype);
              const Tensor t = v.dtype() == dtype ? v : cast(v, dtype);
              return v.size() == 1 ? fill(shape, reshape(t, {})) : reshape(t, shape);
            });
      }()) {}

RandomUniform::RandomUniform() : RandomUniform(RandomUniformOptions{}) {}
RandomUniform::RandomUniform(RandomUniformOptions o)
    : Initializer(new FromFunction(
          "RandomUniform",
          "{\"minval\": " + number(o.minval) + ", \"maxval\": " + number(o.maxval) +
              ", \"seed\": " + seed_text(o.seed) + "}",
          [o](const TensorShape& shape, DType dtype) {
            RILL_CHECK(dtype.is_floating() || dtype == int32 || dtype == int64, invalid_argument,
                       "[RandomUniform] dtype {}; expected a floating-point one, int32 or int64",
                       dtype);
            if (!dtype.is_integer() || o.seed < 0)
              return uniform(shape, o.minval, o.maxval, dtype, o.seed);
            return random::stateless_uniform_int(shape, seed_of(o.seed), to_tensor(o.minval, dtype),
                                                 to_tensor(o.maxval, dtype), dtype);
          })) {}
RandomNormal::RandomNormal() : RandomNormal(RandomNormalOptions{}) {}
RandomNormal::RandomNormal(RandomNormalOptions o)
    : Initializer(new FromFunction("RandomNormal",
                                   "{\"mean\": " + number(o.mean) + ", \"stddev\": " +
                                       number(o.stddev) + ", \"seed\": " + seed_text(o.seed) + "}",
                                   [o](const TensorShape& shape, DType dtype) {
                                     require_float("RandomNormal", dtype);
                                     return normal(shape, o.mean, o.stddev, dtype, o.seed);
                                   })) {}
TruncatedNormal::TruncatedNormal() : TruncatedNormal(RandomNormalOptions{}) {}
TruncatedNormal::TruncatedNormal(RandomNormalOptions o)
    : Initializer(new FromFunction("TruncatedNormal",
                                   "{\"mean\": " + number(o.mean) + ", \"stddev\": " +
                                       number(o.stddev) + ", \"seed\": " + seed_text(o.seed) + "}",
                                   [o](const TensorShape& shape, DType dtype) {
                                     require_float("TruncatedNormal", dtype);
                                     return truncated(shape, o.mean, o.stddev, dtype, o.seed);
                                   })) {}

VarianceScaling::VarianceScaling() : VarianceScaling(VarianceScalingOptions{}) {}
VarianceScaling::VarianceScaling(VarianceScalingOptions o)
    : Initializer(scaled("VarianceScaling", o)) {}
VarianceScaling::VarianceScaling(const char* name, VarianceScalingOptions o)
    : Initializer(scaled(name, o)) {}
GlorotUniform::GlorotUniform(std::int64_t seed)
    : VarianceScaling("GlorotUniform", {1, "fan_avg", "uniform", seed}) {}
GlorotNormal::GlorotNormal(std::int64_t seed)
    : VarianceScaling("GlorotNormal", {1, "fan_avg", "truncated_normal", seed}) {}
HeUniform::HeUniform(std::int64_t seed)
    : VarianceScaling("HeUniform", {2, "fan_in", "uniform", seed}) {}
HeNormal::HeNormal(std::int64_t seed)
    : VarianceScaling("HeNormal", {2, "fan_in", "truncated_normal", seed}) {}
LecunUniform::LecunUniform(std::int64_t seed)
    : VarianceScaling("LecunUniform", {1, "fan_in", "uniform", seed}) {}
LecunNormal::LecunNormal(std::int64_t seed)
    : VarianceScaling("LecunNormal", {1, "fan_in", "truncated_normal", seed}) {}

Orthogonal::Orthogonal() : Orthogonal(OrthogonalOptions{}) {}
Orthogonal::Orthogonal(OrthogonalOptions o)
    : Initializer(new FromFunction(
          "Orthogonal", "{\"gain\": " + number(o.gain) + ", \"seed\": " + seed_text(o.seed) + "}",
          [o](const TensorShape& shape, DType dtype) {
            return orthogonal_value(shape, dtype, o);
          })) {}
Identity::Identity(double gain)
    : Initializer(new FromFunction(
          "Identity", "{\"gain\": " + number(gain) + "}",
          [gain](const TensorShape& shape, DType dtype) {
            require_float("Identity", dtype);
            RILL_CHECK(shape.rank() == 2, invalid_argument,
                       "[Identity] shape {} has rank {}; expected a matrix", shape, shape.rank());
            return eye(shape.dim(0), shape.dim(1), {.dtype = dtype}) * gain;
          })) {}

Initializer get(std::string_view name) {
  using Maker = Initializer (*)();
  static const auto* makers = new std::map<std::string, Maker, std::less<>>{
      {"Zeros", [] { return zeros(); }},
      {"zeros", [] { return zeros(); }},
      {"zero", [] { return zeros(); }},
      {"Ones", [] { return ones(); }},
      {"ones", [] { return ones(); }},
      {"one", [] { return ones(); }},
      {"Constant", [] { return constant(); }},
      {"constant", [] { return constant(); }},
      {"RandomUniform", [] { return random_uniform(); }},
      {"random_uniform", [] { return random_uniform(); }},
      {"uniform", [] { return random_uniform(); }},
      {"RandomNormal", [] { return random_normal(); }},
      {"random_normal", [] { return random_normal(); }},
      {"normal", [] { return random_normal(); }},
      {"TruncatedNormal", [] { return truncated_normal(); }},
      {"truncated_normal", [] { return truncated_normal(); }},
      {"VarianceScaling", [] { return variance_scaling(); }},
      {"variance_scaling", [] { return variance_scaling(); }},
      {"GlorotUniform", [] { return glorot_uniform(); }},
      {"glorot_uniform", [] { return glorot_uniform(); }},
      {"GlorotNormal", [] { return glorot_normal(); }},
      {"glorot_normal", [] { return glorot_normal(); }},
      {"HeUniform", [] { return he_uniform(); }},
      {"he_uniform", [] { return he_uniform(); }},
      {"HeNormal", [] { return he_normal(); }},
      {"he_normal", [] { return he_normal(); }},
      {"LecunUniform", [] { return lecun_uniform(); }},
      {"lecun_uniform", [] { return lecun_uniform(); }},
      {"LecunNormal", [] { return lecun_normal(); }},
      {"lecun_normal", [] { return lecun_normal(); }},
      {"Orthogonal", [] { return orthogonal(); }},
      {"orthogonal", [] { return orthogonal(); }},
      {"Identity", [] { return identity(); }},
      {"identity", [] { return identity(); }}};
  if (const auto it = makers->find(name); it != makers->end()) return it->second();
  if (Initializer own = registered_initializer(name, Config::dict()); own.defined()) return own;
  std::vector<std::string> known = known_initializers().names();
  for (const auto& [key, maker] : *makers) known.push_back(key);
  RILL_FAIL(invalid_argument, "[initializers.get] no initializer is called \"{}\".{}", name,
            did_you_mean(name, known));
}

}  // namespace initializers
}  // namespace rill::keras
