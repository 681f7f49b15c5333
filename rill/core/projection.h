#pragma once
#include <type_traits>
#include <utility>

#include "rill/base/ref.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {

// What a variable's value is projected onto after an update, as Keras's
// constraints ask.
class Projection {
 public:
  virtual ~Projection() = default;
  virtual Tensor project(const Tensor& value) const = 0;
  RefCount refs;
};
inline void retain(Projection* p) noexcept { p->refs.retain(); }
inline void release(Projection* p) noexcept {
  if (p->refs.release()) delete p;
}

// A variable's constraint, from any function of its value:
//   tf::Variable v(x, {.constraint = [](Tensor t) { return tf::maximum(t, 0); }});
class VariableConstraint {
 public:
  VariableConstraint() = default;  // none
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, Tensor> && !std::is_base_of_v<VariableConstraint, F>)
      VariableConstraint(F f)
      : projection_(new Function<F>(std::move(f))) {}

  const Ref<Projection>& projection() const { return projection_; }

 private:
  template <class F>
  class Function final : public Projection {
   public:
    explicit Function(F f) : f_(std::move(f)) {}
    Tensor project(const Tensor& value) const override { return f_(value); }

   private:
    mutable F f_;
  };
  Ref<Projection> projection_;
};

}  // namespace RILL_API
