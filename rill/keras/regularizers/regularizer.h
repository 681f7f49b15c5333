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

class RegularizerImpl;
void retain(RegularizerImpl*) noexcept;
void release(RegularizerImpl*) noexcept;

// What a weight or an activation adds to the loss: a scalar of a tensor. One of
// keras::regularizers, its name ("l2"), a function, or an object of a
// user-defined class, which overrides call, and get_config where it has arguments (see
// keras::initializers::Initializer). A handle; it never changes.
class Regularizer {
 public:
  Regularizer() = default;  // none
  Regularizer(const Regularizer&) = default;
  Regularizer(Regularizer&&) noexcept = default;
  Regularizer& operator=(const Regularizer&) = default;
  Regularizer& operator=(Regularizer&&) noexcept = default;
  virtual ~Regularizer() = default;
  Regularizer(std::nullptr_t) {}
  template <StringLike S>
  Regularizer(const S& name) : Regularizer(by_name(std::string_view(name))) {}
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, Tensor> && !StringLike<F> &&
           !std::is_base_of_v<Regularizer, std::remove_cvref_t<F>>) Regularizer(F f)
      : Regularizer(by_function(std::move(f))) {}
  // Of a user-defined class: keeps a copy.
  template <class C>
  requires(std::is_base_of_v<Regularizer, C> && !std::is_same_v<Regularizer, C>)
      Regularizer(const C& own)
      : Regularizer(own.impl_ ? static_cast<const Regularizer&>(own)
                              : by_object(std::make_shared<const C>(own))) {}

  virtual Tensor call(const Tensor& x) const;
  virtual Config get_config() const;  // what a user-defined class adds; else its arguments

  bool defined() const { return static_cast<bool>(impl_); }
  Tensor operator()(const Tensor& x) const;
  // {"class_name": "L2", "config": {"l2": 0.01}}; null for none.
  Config serialize() const;
  static Regularizer deserialize(const Config& config);

 protected:
  explicit Regularizer(RegularizerImpl* impl) : impl_(impl) {}

 private:
  static Regularizer by_name(std::string_view name);
  static Regularizer by_function(std::function<Tensor(const Tensor&)> f);
  static Regularizer by_object(std::shared_ptr<const Regularizer> object);
  Ref<RegularizerImpl> impl_;
};
// A user's class, for files that name it.
struct RegisterRegularizer {
  RegisterRegularizer(std::string_view registered_name, const std::type_info& type,
                      std::function<Regularizer(const Config&)> factory);
};

namespace regularizers {
using keras::Regularizer;

class L1 : public Regularizer {  // l1 * sum(|x|)
 public:
  explicit L1(double l1 = 0.01);
};
class L2 : public Regularizer {  // l2 * sum(x^2)
 public:
  explicit L2(double l2 = 0.01);
};
struct L1L2Options {
  double l1 = 0, l2 = 0;
};
class L1L2 : public Regularizer {
 public:
  explicit L1L2(double l1 = 0, double l2 = 0);
  explicit L1L2(L1L2Options o) : L1L2(o.l1, o.l2) {}
};
struct OrthogonalRegularizerOptions {
  double factor = 0.01;
  std::string mode = "rows";  // or "columns"
};
// Pulls the rows (or columns) of a matrix towards right angles.
class OrthogonalRegularizer : public Regularizer {
 public:
  explicit OrthogonalRegularizer(OrthogonalRegularizerOptions options = {});
};

inline Regularizer l1(double factor = 0.01) { return L1(factor); }
inline Regularizer l2(double factor = 0.01) { return L2(factor); }
inline Regularizer l1_l2(double l1 = 0.01, double l2 = 0.01) { return L1L2(l1, l2); }
inline Regularizer l1_l2(L1L2Options o) { return L1L2(o.l1, o.l2); }

// The regularizer of that name; InvalidArgument, with the nearest name, when there is none.
Regularizer get(std::string_view name);

}  // namespace regularizers
}  // namespace keras
}  // namespace RILL_API
