#pragma once
#include <functional>
#include <string>
#include <type_traits>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/keras/config.h"

namespace rill RILL_API {
namespace keras {

class ConstraintImpl;
void retain(ConstraintImpl*) noexcept;
void release(ConstraintImpl*) noexcept;

// What a weight must be after each update: the optimizer replaces it by constraint(weight).
// One of keras::constraints, its name ("non_neg"), or a function. A handle.
class Constraint {
 public:
  Constraint() = default;  // none
  Constraint(std::nullptr_t) {}
  template <StringLike S>
  Constraint(const S& name) : Constraint(by_name(std::string_view(name))) {}
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, Tensor> && !StringLike<F> &&
           !std::is_base_of_v<Constraint, std::remove_cvref_t<F>>) Constraint(F f)
      : Constraint(by_function(std::move(f))) {}

  bool defined() const { return static_cast<bool>(impl_); }
  Tensor operator()(const Tensor& w) const;
  Config serialize() const;  // null for none
  static Constraint deserialize(const Config& config);

 protected:
  explicit Constraint(ConstraintImpl* impl) : impl_(impl) {}

 private:
  static Constraint by_name(std::string_view name);
  static Constraint by_function(std::function<Tensor(const Tensor&)> f);
  Ref<ConstraintImpl> impl_;
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
