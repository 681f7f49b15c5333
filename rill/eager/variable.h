#pragma once
#include <string>

#include "rill/core/operand.h"
#include "rill/core/projection.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {

struct VariableOptions {
  bool trainable = true;
  std::string name = {};   // "Variable" when empty
  DType dtype = {};        // of the initial value when not given
  TensorShape shape = {};  // of the initial value when not given; may leave dimensions unknown
  // Optimizers replace the value by constraint(value) after each update.
  VariableConstraint constraint = {};
};

// State that a program trains. A reference, as in Python: copies share the
// value. A variable that is default-constructed has no value until it is
// assigned one. Reading makes a tensor that later assignments do not change.
class Variable {
 public:
  Variable();
  // Variable(0.f) and Variable{0.f} are scalars.
  explicit Variable(const Operand& initial_value, VariableOptions options = {});
  // Variable({0.f}) has shape (1,), Variable({{1.f}, {2.f}}) shape (2, 1). C++ would prefer a
  // constructor of one list for Variable{0.f} as well; the empty pack of the first prevents that.
  template <class... None>
  requires(sizeof...(None) == 0) explicit Variable(std::initializer_list<Operand> initial_value,
                                                   None...)
      : Variable(Operand(initial_value)) {}
  explicit Variable(std::initializer_list<Operand> initial_value, VariableOptions options);
  // A variable of this dtype and shape, for an initializer to fill.
  static Variable uninitialized(DType dtype, const TensorShape& shape,
                                VariableOptions options = {});

  bool initialized() const;
  bool defined() const;  // has a dtype: was constructed with a value, or assigned one
  Tensor value() const;  // FailedPrecondition before there is one
  TensorShape shape() const;
  DType dtype() const;
  std::string name() const;  // "Variable:0"
  bool trainable() const;
  std::uint64_t id() const { return handle_.id(); }
  Device& device() const;

  // InvalidArgument, and no change, when dtype or shape do not fit.
  const Variable& assign(const Operand& value) const;
  const Variable& assign_add(const Operand& delta) const;
  const Variable& assign_sub(const Operand& delta) const;
  // Rows: variable[indices[i]] = / += / -= ... updates[i]; gather reads them.
  const Variable& scatter_update(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_add(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_sub(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_mul(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_div(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_max(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_min(const Operand& indices, const Operand& updates) const;
  Tensor gather(const Operand& indices) const;  // stays sparse in gradients

  template <class T>
  T item() const {
    return value().template item<T>();
  }
  template <class T>
  std::vector<T> to_vector() const {
    return value().template to_vector<T>();
  }
  Tensor numpy() const { return value().numpy(); }
  Tensor operator[](const Index& i) const { return value()[i]; }
  template <class... I>
  requires(std::is_convertible_v<const I&, Index>&&...) Tensor operator()(const I&... i) const {
    return value()(i...);
  }
  explicit operator bool() const { return static_cast<bool>(value()); }
  explicit operator float() const { return item<float>(); }
  explicit operator double() const { return item<double>(); }
  explicit operator int() const { return item<int>(); }

  // The variable that a resource tensor names.
  static Variable of_handle(const Tensor& handle);
  // The resource tensor; state ops take it.
  const Tensor& handle() const { return handle_; }

 private:
  Tensor handle_;
};

// Python's list + list: encoder.trainable_variables() + decoder.trainable_variables().
inline std::vector<Variable> operator+(std::vector<Variable> a, const std::vector<Variable>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=0.97637>"
std::ostream& operator<<(std::ostream& os, const Variable& v);
std::ostream& operator<<(std::ostream& os, const std::vector<Variable>& list);
void append_formatted(std::string& out, const Variable& v, std::string_view spec);

}  // namespace RILL_API
