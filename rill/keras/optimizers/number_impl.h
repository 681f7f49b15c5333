#pragma once
#include "rill/core/execute.h"
#include "rill/core/tensor.h"
#include "rill/eager/variable.h"

namespace rill::keras {

// A number in the rule of an optimizer: there already or, while a function is traced,
// a float64 scalar of its graph. Rules are written once with it, and give the same
// digits either way.
class Number {
 public:
  Number(double value) : value_(value) {}
  // The value of a scalar: read at once, or by the graph at each call.
  static Number of(const Tensor& scalar);
  static Number of(const Variable& scalar) { return of(scalar.value()); }

  // A scalar of that dtype.
  Tensor as(DType dtype) const;

  friend Number operator+(const Number& a, const Number& b);
  friend Number operator-(const Number& a, const Number& b);
  friend Number operator*(const Number& a, const Number& b);
  friend Number operator/(const Number& a, const Number& b);
  friend Number pow(const Number& a, const Number& b);
  friend Number min(const Number& a, const Number& b);

 private:
  double value_ = 0;
  Tensor symbol_;  // defined: float64, the value is not known
};

// Whether ops of this thread become part of a graph.
inline bool is_tracing() { return call_context().executor != nullptr; }

}  // namespace rill::keras
