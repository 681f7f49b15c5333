#pragma once
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/keras/config.h"

namespace rill RILL_API {
namespace keras {

class ConstraintImpl;
void retain(ConstraintImpl*) noexcept;
void release(ConstraintImpl*) noexcept;

// What a weight must be after each update: the optimizer replaces it by constraint(weight).
// One of keras::constraints, its name ("non_neg"), a function, or an object of a
// user-defined class, which overrides call, and get_config where it has arguments (see
// keras::initializers::Initializer). A handle.
class Constraint {
 public:
  Constraint() = default;  // none
  Constraint(const Constraint&) = default;
  Constraint(Constraint&&) noexcept = default;
  Constraint& operator=(const Constraint&) = default;
  Constraint& operator=(Constraint&&) noexcept = default;
  virtual ~Constraint() = default;
  Constraint(std::nullptr_t) {}
  template <StringLike S>
  Constraint(const S& name) : Constraint(by_name(std::string_view(name))) {}
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, Tensor> && !StringLike<F> &&
           !std::is_base_of_v<Constraint, std::remove_cvref_t<F>>) Constraint(F f)
      : Constraint(by_function(std::move(f))) {}
  // Of a user-defined class: keeps a copy.
  template <class C>
  requires(std::is_base_of_v<Constraint, C> && !std::is_same_v<Constraint, C>)
      Constraint(const C& own)
      : Constraint(own.impl_ ? static_cast<const Constraint&>(own)
                             : by_object(std::make_shared<const C>(own))) {}

  virtual Tensor call(const Tensor& w) const;
  virtual Config get_config() const;  // what a user-defined class adds; else its arguments

  bool defined() const { return static_cast<bool>(impl_); }
  Tensor operator()(const Tensor& w) const;
  Config serialize() const;  // null for none
  static Constraint deserialize(const Config& config);

 protected:
  explicit Constraint(ConstraintImpl* impl) : impl_(impl) {}

 private:
  static Constraint by_name(std::string_view name);
  static Constraint by_function(std::function<Tensor(const Tensor&)> f);
  static Constraint by_object(std::shared_ptr<const Constraint> object);
  Ref<ConstraintImpl> impl_;
};
// A user's class, for files that name it.
struct RegisterConstraint {
  RegisterConstraint(std::string_view registered_name, const std::type_info& type,
                     std::function<Constraint(const Config&)> factory);
};

namespace constraints {
using keras::Constraint;

struct MaxNormOptions {
  double max_value = 2;
  int axis = 0;
};
class MaxNorm : public Constraint {  // norms along the axis are at most max_value
 public:
  explicit MaxNorm(double max_value, int axis = 0);
  explicit MaxNorm(MaxNormOptions o = {}) : MaxNorm(o.max_value, o.axis) {}
};
struct MinMaxNormOptions {
  double min_value = 0, max_value = 1, rate = 1;
  int axis = 0;
};
class MinMaxNorm : public Constraint {
 public:
  explicit MinMaxNorm(MinMaxNormOptions options = {});
};
class NonNeg : public Constraint {  // negative numbers become 0
 public:
  NonNeg();
};
struct UnitNormOptions {
  int axis = 0;
};
class UnitNorm : public Constraint {
 public:
  UnitNorm() : UnitNorm(UnitNormOptions{}) {}
  explicit UnitNorm(UnitNormOptions options);
};
// A convolution's filters that look the same in all directions of a 2-D window.
class RadialConstraint : public Constraint {
 public:
  RadialConstraint();
};

inline Constraint max_norm(double max_value = 2, int axis = 0) { return MaxNorm(max_value, axis); }
inline Constraint min_max_norm(MinMaxNormOptions o = {}) { return MinMaxNorm(o); }
inline Constraint non_neg() { return NonNeg(); }
inline Constraint unit_norm(UnitNormOptions o = {}) { return UnitNorm(o); }

// The constraint of that name; InvalidArgument, with the nearest name, when there is none.
Constraint get(std::string_view name);

}  // namespace constraints
}  // namespace keras
}  // namespace RILL_API
