#pragma once
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/keras/config.h"

namespace rill RILL_API {
namespace keras {

class InitializerImpl;
void retain(InitializerImpl*) noexcept;
void release(InitializerImpl*) noexcept;

// Makes the first value of a weight: initializer(shape, dtype). One of
// keras::initializers, its name ("glorot_uniform", "GlorotUniform"), a
// function of shape and dtype, or an object of a user-defined class. A handle; it never changes.
//
// With a seed it gives the same numbers at each call, TensorFlow's own; without
// one each call draws again, as tf::random::set_seed says.
//
// A user-defined class overrides call, and get_config where it has arguments. Files can hold it;
// keras::utils::register_keras_serializable or custom_object_scope lets them name it:
//
//   struct Hat : keras::initializers::Initializer {
//     Tensor call(const TensorShape& shape, DType dtype) const override { ... }
//     keras::Config get_config() const override { return keras::Config::dict({{"v", v}}); }
//     float v = 2;
//   };
class Initializer {
 public:
  Initializer() = default;  // none
  Initializer(const Initializer&) = default;
  Initializer(Initializer&&) noexcept = default;
  Initializer& operator=(const Initializer&) = default;
  Initializer& operator=(Initializer&&) noexcept = default;
  virtual ~Initializer() = default;
  template <StringLike S>
  Initializer(const S& name) : Initializer(by_name(std::string_view(name))) {}
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, const TensorShape&, DType> &&
           !std::is_base_of_v<Initializer, F>) Initializer(F f)
      : Initializer(by_function(std::move(f))) {}
  // Of a user-defined class: keeps a copy.
  template <class C>
  requires(std::is_base_of_v<Initializer, C> && !std::is_same_v<Initializer, C>)
      Initializer(const C& own)
      : Initializer(own.impl_ ? static_cast<const Initializer&>(own)
                              : by_object(std::make_shared<const C>(own))) {}

  virtual Tensor call(const TensorShape& shape, DType dtype) const;
  virtual Config get_config() const;  // what a user-defined class adds; else its arguments

  bool defined() const { return static_cast<bool>(impl_); }
  // InvalidArgument when the shape is not fully defined or the dtype does not suit.
  Tensor operator()(const TensorShape& shape, DType dtype = float32) const;
  std::string class_name() const;  // "GlorotUniform", "Custom>Hat"; "" of a function
  std::string config() const;      // its arguments as JSON: {"minval": -0.05, ...}
  bool is_users() const;           // an object of a user-defined class

 protected:
  explicit Initializer(InitializerImpl* impl);

 private:
  static Initializer by_name(std::string_view name);
  static Initializer by_function(std::function<Tensor(const TensorShape&, DType)> f);
  static Initializer by_object(std::shared_ptr<const Initializer> object);
  Ref<InitializerImpl> impl_;
};
// A user's class, for files that name it.
struct RegisterInitializer {
  RegisterInitializer(std::string_view registered_name, const std::type_info& type,
                      std::function<Initializer(const Config&)> factory);
};

namespace initializers {
using keras::Initializer;

// The initializer of that name; InvalidArgument, with the nearest name, when there is none.
Initializer get(std::string_view name);

class Zeros : public Initializer {
 public:
  Zeros();
};
class Ones : public Initializer {
 public:
  Ones();
};
class Constant : public Initializer {
 public:
  // A number for every element; or a tensor that has as many as the shape.
  explicit Constant(const Operand& value = 0);
};

struct RandomUniformOptions {
  double minval = -0.05, maxval = 0.05;
  std::int64_t seed = -1;  // -1: none
};
class RandomUniform : public Initializer {
 public:
  RandomUniform();
  explicit RandomUniform(RandomUniformOptions options);
  RandomUniform(double minval, double maxval, std::int64_t seed = -1)
      : RandomUniform(RandomUniformOptions{minval, maxval, seed}) {}
};
struct RandomNormalOptions {
  double mean = 0, stddev = 0.05;
  std::int64_t seed = -1;
};
class RandomNormal : public Initializer {
 public:
  RandomNormal();
  explicit RandomNormal(RandomNormalOptions options);
  RandomNormal(double mean, double stddev, std::int64_t seed = -1)
      : RandomNormal(RandomNormalOptions{mean, stddev, seed}) {}
};
// Drawn again while more than two deviations from the mean.
class TruncatedNormal : public Initializer {
 public:
  TruncatedNormal();
  explicit TruncatedNormal(RandomNormalOptions options);
  TruncatedNormal(double mean, double stddev, std::int64_t seed = -1)
      : TruncatedNormal(RandomNormalOptions{mean, stddev, seed}) {}
};

struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";                    // or "fan_out", "fan_avg"
  std::string distribution = "truncated_normal";  // or "untruncated_normal", "uniform"
  std::int64_t seed = -1;
};
// Variance scale / fan, where a weight [.., in, out] has fan_in = in times what
// is before (the size of a convolution's window), fan_out likewise.
class VarianceScaling : public Initializer {
 public:
  VarianceScaling();
  explicit VarianceScaling(VarianceScalingOptions options);

 protected:
  VarianceScaling(const char* class_name, VarianceScalingOptions options);
};
struct SeedOptions {
  std::int64_t seed = -1;
};
#define RILL_INITIALIZER(Name)                                 \
  class Name : public VarianceScaling {                        \
   public:                                                     \
    explicit Name(std::int64_t seed = -1);                     \
    explicit Name(SeedOptions options) : Name(options.seed) {} \
  }
RILL_INITIALIZER(GlorotUniform);  // in +-sqrt(6 / (fan_in + fan_out))
RILL_INITIALIZER(GlorotNormal);   // deviation sqrt(2 / (fan_in + fan_out))
RILL_INITIALIZER(HeUniform);      // in +-sqrt(6 / fan_in)
RILL_INITIALIZER(HeNormal);       // deviation sqrt(2 / fan_in)
RILL_INITIALIZER(LecunUniform);   // in +-sqrt(3 / fan_in)
RILL_INITIALIZER(LecunNormal);    // deviation sqrt(1 / fan_in)
#undef RILL_INITIALIZER

struct OrthogonalOptions {
  double gain = 1;
  std::int64_t seed = -1;
};
// A random matrix with orthonormal columns (rows, where they are fewer), times
// gain; a weight of higher rank is one whose columns are its last axis.
class Orthogonal : public Initializer {
 public:
  Orthogonal();
  explicit Orthogonal(OrthogonalOptions options);
};
// Ones on the diagonal of a matrix, times gain.
class Identity : public Initializer {
 public:
  explicit Identity(double gain = 1);
};

// The same by their lower-case names.
inline Initializer zeros() { return Zeros(); }
inline Initializer ones() { return Ones(); }
inline Initializer constant(const Operand& value = 0) { return Constant(value); }
inline Initializer random_uniform(double minval = -0.05, double maxval = 0.05,
                                  std::int64_t seed = -1) {
  return RandomUniform(minval, maxval, seed);
}
inline Initializer random_normal(double mean = 0, double stddev = 0.05, std::int64_t seed = -1) {
  return RandomNormal(mean, stddev, seed);
}
inline Initializer truncated_normal(double mean = 0, double stddev = 0.05, std::int64_t seed = -1) {
  return TruncatedNormal(mean, stddev, seed);
}
inline Initializer variance_scaling(VarianceScalingOptions options = {}) {
  return VarianceScaling(std::move(options));
}
inline Initializer glorot_uniform(std::int64_t seed = -1) { return GlorotUniform(seed); }
inline Initializer glorot_normal(std::int64_t seed = -1) { return GlorotNormal(seed); }
inline Initializer he_uniform(std::int64_t seed = -1) { return HeUniform(seed); }
inline Initializer he_normal(std::int64_t seed = -1) { return HeNormal(seed); }
inline Initializer lecun_uniform(std::int64_t seed = -1) { return LecunUniform(seed); }
inline Initializer lecun_normal(std::int64_t seed = -1) { return LecunNormal(seed); }
inline Initializer orthogonal(OrthogonalOptions options = {}) { return Orthogonal(options); }
inline Initializer identity(double gain = 1) { return Identity(gain); }

}  // namespace initializers
}  // namespace keras

// The same by the names of tf itself.
inline keras::Initializer zeros_initializer() { return keras::initializers::zeros(); }
inline keras::Initializer ones_initializer() { return keras::initializers::ones(); }
inline keras::Initializer constant_initializer(const Operand& value = 0) {
  return keras::initializers::constant(value);
}
inline keras::Initializer random_uniform_initializer(double minval = -0.05, double maxval = 0.05,
                                                     std::int64_t seed = -1) {
  return keras::initializers::random_uniform(minval, maxval, seed);
}
inline keras::Initializer random_normal_initializer(double mean = 0, double stddev = 0.05,
                                                    std::int64_t seed = -1) {
  return keras::initializers::random_normal(mean, stddev, seed);
}
inline keras::Initializer glorot_uniform_initializer(std::int64_t seed = -1) {
  return keras::initializers::glorot_uniform(seed);
}
inline keras::Initializer glorot_normal_initializer(std::int64_t seed = -1) {
  return keras::initializers::glorot_normal(seed);
}

}  // namespace RILL_API
