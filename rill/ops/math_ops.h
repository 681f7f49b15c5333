#pragma once
#include <string_view>
#include <vector>

#include "rill/core/gradient.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Arithmetic, elementary functions, comparisons, reductions, products. Names,
// arguments and defaults are TensorFlow's. Binary ops broadcast; dtypes of two
// tensors must be equal, a literal takes its partner's.
namespace rill RILL_API {

// ---- arithmetic
Tensor add(const Operand& x, const Operand& y);       // x + y
Tensor subtract(const Operand& x, const Operand& y);  // x - y
Tensor multiply(const Operand& x, const Operand& y);  // x * y
// True division: integers become float64 (8 and 16 bits: float32) first.
Tensor divide(const Operand& x, const Operand& y);
Tensor truediv(const Operand& x, const Operand& y);
Tensor negative(const Operand& x);  // -x
Tensor square(const Operand& x);    // x * x
Tensor abs(const Operand& x);       // |x|; of complex tensors the moduli, real
Tensor sign(const Operand& x);      // -1, 0, 1; x / |x| of complex tensors
Tensor reciprocal(const Operand& x);
Tensor sqrt(const Operand& x);
Tensor rsqrt(const Operand& x);  // 1 / sqrt(x)
Tensor pow(const Operand& x, const Operand& y);
Tensor squared_difference(const Operand& x, const Operand& y);  // (x - y)^2
Tensor floordiv(const Operand& x, const Operand& y);     // toward minus infinity
Tensor truncatediv(const Operand& x, const Operand& y);  // toward zero
Tensor floormod(const Operand& x, const Operand& y);     // has the sign of y
Tensor mod(const Operand& x, const Operand& y);          // floormod
Tensor truncatemod(const Operand& x, const Operand& y);  // has the sign of x
Tensor divide_no_nan(const Operand& x, const Operand& y);    // 0 where y is 0
Tensor multiply_no_nan(const Operand& x, const Operand& y);  // 0 where y is 0
Tensor xdivy(const Operand& x, const Operand& y);    // x / y; 0 where x is 0
Tensor xlogy(const Operand& x, const Operand& y);    // x log(y); 0 where x is 0
Tensor xlog1py(const Operand& x, const Operand& y);  // x log(1 + y); 0 where x is 0

Tensor operator+(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x, const Operand& y);
Tensor operator*(const Operand& x, const Operand& y);
Tensor operator/(const Operand& x, const Operand& y);
Tensor operator%(const Operand& x, const Operand& y);  // floormod
Tensor operator-(const Operand& x);

Tensor maximum(const Operand& x, const Operand& y);
Tensor minimum(const Operand& x, const Operand& y);

// ---- comparisons: bool results, broadcasting
Tensor equal(const Operand& x, const Operand& y);
Tensor not_equal(const Operand& x, const Operand& y);
Tensor less(const Operand& x, const Operand& y);
Tensor less_equal(const Operand& x, const Operand& y);
Tensor greater(const Operand& x, const Operand& y);
Tensor greater_equal(const Operand& x, const Operand& y);
Tensor operator<(const Operand& x, const Operand& y);
Tensor operator<=(const Operand& x, const Operand& y);
Tensor operator>(const Operand& x, const Operand& y);
Tensor operator>=(const Operand& x, const Operand& y);
// As equal and not_equal, but shapes that do not broadcast are unequal as a
// whole (a scalar) instead of an error.
Tensor operator==(const Operand& x, const Operand& y);
Tensor operator!=(const Operand& x, const Operand& y);

// ---- logic on bool
Tensor logical_and(const Operand& x, const Operand& y);
Tensor logical_or(const Operand& x, const Operand& y);
Tensor logical_xor(const Operand& x, const Operand& y);
Tensor logical_not(const Operand& x);
// Logic on bool, bits on integers. (No operator!: tensors have a truth value.)
Tensor operator~(const Operand& x);
Tensor operator&(const Operand& x, const Operand& y);
Tensor operator|(const Operand& x, const Operand& y);
Tensor operator^(const Operand& x, const Operand& y);

// ---- bits of integers
namespace bitwise {
Tensor bitwise_and(const Operand& x, const Operand& y);
Tensor bitwise_or(const Operand& x, const Operand& y);
Tensor bitwise_xor(const Operand& x, const Operand& y);
Tensor invert(const Operand& x);
// Counts are clamped to [0, bits - 1].
Tensor left_shift(const Operand& x, const Operand& y);
Tensor right_shift(const Operand& x, const Operand& y);
}  // namespace bitwise

// ---- elementary functions
Tensor exp(const Operand& x);
Tensor expm1(const Operand& x);  // e^x - 1, exact near 0
Tensor log(const Operand& x);
Tensor log1p(const Operand& x);  // log(1 + x), exact near 0
Tensor sin(const Operand& x);
Tensor cos(const Operand& x);
Tensor tan(const Operand& x);
Tensor asin(const Operand& x);
Tensor acos(const Operand& x);
Tensor atan(const Operand& x);
Tensor atan2(const Operand& y, const Operand& x);
Tensor sinh(const Operand& x);
Tensor cosh(const Operand& x);
Tensor tanh(const Operand& x);
Tensor asinh(const Operand& x);
Tensor acosh(const Operand& x);
Tensor atanh(const Operand& x);
Tensor sigmoid(const Operand& x);
Tensor erf(const Operand& x);
Tensor erfc(const Operand& x);
Tensor lgamma(const Operand& x);   // log |gamma(x)|
Tensor digamma(const Operand& x);  // its derivative
Tensor polygamma(const Operand& a, const Operand& x);  // derivative of order a of digamma
Tensor zeta(const Operand& x, const Operand& q);       // sum over n >= 0 of (q + n)^-x

// ---- rounding and classes of floating-point numbers
Tensor floor(const Operand& x);
Tensor ceil(const Operand& x);
Tensor rint(const Operand& x);
Tensor round(const Operand& x);  // halves to even
Tensor is_nan(const Operand& x);
Tensor is_inf(const Operand& x);
Tensor is_finite(const Operand& x);

// ---- complex numbers. Of real tensors: conj and real are x itself, imag is 0.
Tensor complex(const Operand& real, const Operand& imag);
Tensor real(const Operand& x);
Tensor imag(const Operand& x);
Tensor angle(const Operand& x);
Tensor conj(const Operand& x);
Tensor complex_abs(const Tensor& x);  // library use: abs of complex tensors

namespace compat::v1 {
Tensor div(const Operand& x, const Operand& y);  // integers: toward zero
}  // namespace compat::v1

// ---- reductions: over all axes, one, or a list. Negative axes count from the
// end. With keepdims a reduced axis stays with size 1.
struct ReduceOptions {
  bool keepdims = false;
};
using Axes = std::initializer_list<int>;
// Declares the forms of a reduction. A braced list is always a list of axes;
// options are a struct, never mistaken for one.
#define RILL_REDUCTION(name)                                                        \
  Tensor name(const Operand& x, ReduceOptions options = {});                        \
  Tensor name(const Operand& x, int axis, ReduceOptions options = {});              \
  Tensor name(const Operand& x, Axes axis, ReduceOptions options = {});             \
  Tensor name##_over(const Operand& x, const std::vector<int>& axis, ReduceOptions options); \
  template <class I>                                                                \
  Tensor name(const Operand& x, const std::vector<I>& axis, ReduceOptions options = {}) { \
    return name##_over(x, std::vector<int>(axis.begin(), axis.end()), options);     \
  }
RILL_REDUCTION(reduce_sum)
RILL_REDUCTION(reduce_mean)

// ---- segments: rows summed by the id that they carry
Tensor unsorted_segment_sum(const Operand& data, const Operand& segment_ids, const Operand& num_segments);

// ---- products
struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
};
// [.., m, k] x [.., k, n] -> [.., m, n]; leading axes broadcast.
Tensor matmul(const Operand& a, const Operand& b, MatmulOptions options = {});

// The same names under math, as in tf.math.
namespace math {
using rill::abs, rill::acos, rill::acosh, rill::add, rill::angle, rill::asin, rill::asinh, rill::atan, rill::atan2;
using rill::atanh, rill::ceil, rill::conj, rill::cos, rill::cosh, rill::digamma, rill::divide, rill::divide_no_nan;
using rill::equal, rill::erf, rill::erfc, rill::exp, rill::expm1, rill::floor, rill::floordiv, rill::floormod;
using rill::greater, rill::greater_equal, rill::imag, rill::is_finite, rill::is_inf, rill::is_nan, rill::less;
using rill::less_equal, rill::lgamma, rill::log, rill::log1p, rill::logical_and, rill::logical_not, rill::logical_or;
using rill::logical_xor, rill::maximum, rill::minimum, rill::mod, rill::multiply, rill::multiply_no_nan, rill::negative;
using rill::not_equal, rill::polygamma, rill::pow, rill::real, rill::reciprocal, rill::rint, rill::round, rill::rsqrt;
using rill::sigmoid, rill::sign, rill::sin, rill::sinh, rill::sqrt, rill::square, rill::squared_difference;
using rill::subtract, rill::tan, rill::tanh, rill::truediv, rill::xdivy, rill::xlog1py, rill::xlogy, rill::zeta;
using rill::reduce_mean, rill::reduce_sum, rill::unsorted_segment_sum;
inline Tensor ceiling(const Operand& x) { return rill::ceil(x); }
}  // namespace math

}  // namespace rill
