#pragma once
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
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
namespace math {
Tensor reciprocal_no_nan(const Operand& x);  // 1 / x, 0 where x is 0
}
Tensor sqrt(const Operand& x);
Tensor rsqrt(const Operand& x);  // 1 / sqrt(x)
Tensor pow(const Operand& x, const Operand& y);
Tensor squared_difference(const Operand& x, const Operand& y);  // (x - y)^2
Tensor floordiv(const Operand& x, const Operand& y);            // toward minus infinity
Tensor truncatediv(const Operand& x, const Operand& y);         // toward zero
Tensor floormod(const Operand& x, const Operand& y);            // has the sign of y
Tensor mod(const Operand& x, const Operand& y);                 // floormod
Tensor truncatemod(const Operand& x, const Operand& y);         // has the sign of x
Tensor divide_no_nan(const Operand& x, const Operand& y);       // 0 where y is 0
Tensor multiply_no_nan(const Operand& x, const Operand& y);     // 0 where y is 0
Tensor xdivy(const Operand& x, const Operand& y);               // x / y; 0 where x is 0
Tensor xlogy(const Operand& x, const Operand& y);               // x log(y); 0 where x is 0
Tensor xlog1py(const Operand& x, const Operand& y);             // x log(1 + y); 0 where x is 0

Tensor operator+(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x, const Operand& y);
Tensor operator*(const Operand& x, const Operand& y);
Tensor operator/(const Operand& x, const Operand& y);
Tensor operator%(const Operand& x, const Operand& y);  // floormod
Tensor operator-(const Operand& x);
// The handle becomes the result; no other handle of the old value changes.
inline Tensor& operator+=(Tensor& x, const Operand& y) { return x = x + y; }
inline Tensor& operator-=(Tensor& x, const Operand& y) { return x = x - y; }
inline Tensor& operator*=(Tensor& x, const Operand& y) { return x = x * y; }
inline Tensor& operator/=(Tensor& x, const Operand& y) { return x = x / y; }

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
Tensor erfinv(const Operand& x);  // erf(erfinv(x)) = x; -+inf at -+1, NaN beyond
Tensor ndtri(const Operand& p);  // the quantile of the standard normal distribution; -+inf at 0 and
                                 // 1, NaN beyond
Tensor lgamma(const Operand& x);                       // log |gamma(x)|
Tensor digamma(const Operand& x);                      // its derivative
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
Tensor nextafter(
    const Operand& x1,
    const Operand& x2);  // the number next to x1 on the way to x2; x2 where they are equal

// ---- complex numbers. Of real tensors: conj and real are x itself, imag is 0.
Tensor complex(const Operand& real, const Operand& imag);
Tensor real(const Operand& x);
Tensor imag(const Operand& x);
Tensor angle(const Operand& x);
Tensor conj(const Operand& x);
Tensor complex_abs(const Tensor& x);  // library use: abs of complex tensors

// ---- reductions: over all axes, one, or a list. Negative axes count from the
// end. With keepdims a reduced axis stays with size 1.
// Axes as a field of options: .axis = 1, or a vector of them; not given: all. (Braces in braces
// are ambiguous for g++: write reduce_sum(x, {0, 2}, {.keepdims = true}).)
class ReducedAxes {
 public:
  ReducedAxes() = default;
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) ReducedAxes(I axis)
      : list_(std::vector<int>{static_cast<int>(axis)}) {}
  ReducedAxes(std::vector<int> axes) : list_(std::move(axes)) {}
  const std::optional<std::vector<int>>& list() const { return list_; }

 private:
  std::optional<std::vector<int>> list_;
};
struct ReduceOptions {
  ReducedAxes axis = {};  // where no argument of the function names axes
  bool keepdims = false;
};
using Axes = std::initializer_list<int>;
// Declares the forms of a reduction. A braced list is always a list of axes;
// options are a struct, never mistaken for one.
#define RILL_REDUCTION(name)                                                                 \
  Tensor name(const Operand& x, ReduceOptions options = {});                                 \
  Tensor name(const Operand& x, int axis, ReduceOptions options = {});                       \
  Tensor name(const Operand& x, Axes axis, ReduceOptions options = {});                      \
  Tensor name##_over(const Operand& x, const std::vector<int>& axis, ReduceOptions options); \
  template <class I>                                                                         \
  Tensor name(const Operand& x, const std::vector<I>& axis, ReduceOptions options = {}) {    \
    return name##_over(x, std::vector<int>(axis.begin(), axis.end()), options);              \
  }
RILL_REDUCTION(reduce_sum)
RILL_REDUCTION(reduce_mean)
RILL_REDUCTION(reduce_prod)
RILL_REDUCTION(reduce_max)  // NaN if one is NaN
RILL_REDUCTION(reduce_min)
RILL_REDUCTION(reduce_all)  // of bool
RILL_REDUCTION(reduce_any)
RILL_REDUCTION(reduce_logsumexp)  // log(sum(exp(x))) without overflow
RILL_REDUCTION(reduce_variance)
RILL_REDUCTION(reduce_std)
RILL_REDUCTION(reduce_euclidean_norm)

// The order of a norm: "euclidean", "fro" (of matrices), or a number: 1, 2, inf.
struct NormOrder {
  NormOrder() = default;
  template <StringLike S>
  NormOrder(const S& s) : name(std::string_view(s)) {}
  template <class T>
  requires std::is_arithmetic_v<T> NormOrder(T order) : name(), p(static_cast<double>(order)) {}
  std::string name = "euclidean";
  double p = 2;
};
// Axes of a norm: .axis = -1 or .axis = {0, 1}.
class NormAxes : public std::vector<int> {
 public:
  using std::vector<int>::vector;
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) NormAxes(I axis)
      : std::vector<int>(1, static_cast<int>(axis)) {}
  NormAxes(std::vector<int> axes) : std::vector<int>(std::move(axes)) {}
};
struct NormOptions {
  NormOrder ord = {};
  NormAxes axis = {};  // none: all as one vector; one: of vectors; two: of matrices
  bool keepdims = false;
};
Tensor norm(const Operand& tensor, NormOptions options = {});

// ---- running sums and products
struct CumulativeOptions {
  bool exclusive = false;  // without the element itself
  bool reverse = false;    // from the end
};
Tensor cumsum(const Operand& x, int axis = 0, CumulativeOptions options = {});
Tensor cumprod(const Operand& x, int axis = 0, CumulativeOptions options = {});

namespace nn {
Tensor l2_loss(const Operand& t);  // sum(t^2) / 2
}  // namespace nn

// ---- sums of lists. The tensors have one shape; sparse gradients become dense.
Tensor add_n(const TensorList& inputs);
template <class G>
requires std::is_same_v<G, Gradients> Tensor add_n(const G& inputs) {
  return add_n(TensorList(std::vector<Tensor>(inputs)));
}

// ---- clipping
// Below the minimum the minimum, above the maximum the maximum. The limits
// broadcast to t, never beyond it.
Tensor clip_by_value(const Operand& t, const Operand& clip_value_min,
                     const Operand& clip_value_max);
// t * clip_norm / max(|t|, clip_norm) with the L2 norm of all, or along axes.
Tensor clip_by_norm(const Operand& t, const Operand& clip_norm, const std::vector<int>& axes = {});
// The square root of the sum of all squares; none entries count as nothing.
Tensor global_norm(const Gradients& t_list);
// Every tensor times clip_norm / max(global_norm, clip_norm), and that global
// norm (or use_norm, which stands for it). None entries stay none, sparse ones
// sparse. All are NaN when the norm is not finite.
std::pair<Gradients, Tensor> clip_by_global_norm(const Gradients& t_list, const Operand& clip_norm);
std::pair<Gradients, Tensor> clip_by_global_norm(const Gradients& t_list, const Operand& clip_norm,
                                                 const Operand& use_norm);
namespace detail {
Gradient clip_gradient_by_value(const Gradient& t, const Operand& clip_value_min,
                                const Operand& clip_value_max);
Gradient clip_gradient_by_norm(const Gradient& t, const Operand& clip_norm,
                               const std::vector<int>& axes);
}  // namespace detail
// Of a gradient that is sparse the values are clipped, and it stays sparse.
template <class G>
requires std::is_same_v<G, Gradient> Gradient clip_by_value(const G& t,
                                                            const Operand& clip_value_min,
                                                            const Operand& clip_value_max) {
  return detail::clip_gradient_by_value(t, clip_value_min, clip_value_max);
}
template <class G>
requires std::is_same_v<G, Gradient> Gradient clip_by_norm(const G& t, const Operand& clip_norm,
                                                           const std::vector<int>& axes = {}) {
  return detail::clip_gradient_by_norm(t, clip_norm, axes);
}

// ---- places of extremes, order
struct ArgOptions {
  int axis = 0;
  DType output_type = int64;  // or int32
};
// Where along the axis the largest or smallest element is; the first of equals.
Tensor argmax(const Operand& input, int axis = 0, DType output_type = int64);
Tensor argmax(const Operand& input, ArgOptions options);
Tensor argmax(const Operand& input, int axis, ArgOptions options);
Tensor argmin(const Operand& input, int axis = 0, DType output_type = int64);
Tensor argmin(const Operand& input, ArgOptions options);
Tensor argmin(const Operand& input, int axis, ArgOptions options);

// direction: "ASCENDING" or "DESCENDING". Equal elements keep their order.
Tensor sort(const Operand& values, int axis = -1, std::string_view direction = "ASCENDING");
struct ArgsortOptions {
  bool stable = false;  // it always is
};
// The int32 indices that sort the values.
Tensor argsort(const Operand& values, int axis = -1, std::string_view direction = "ASCENDING",
               ArgsortOptions options = {});

struct TopK {
  Tensor values, indices;  // indices are int32
};
namespace nn {
// The k largest elements of each row of the last axis, the largest first.
TopK top_k(const Operand& input, const Operand& k = 1, bool sorted = true);
// Whether predictions[i, targets[i]] is among the k largest of row i. Ties at
// the border are in; a target or prediction that is not a number is not.
Tensor in_top_k(const Operand& targets, const Operand& predictions, const Operand& k);
}  // namespace nn

// ---- distinct values of a vector, in the order in which they come first
struct UniqueResult {
  Tensor y, idx;  // x[i] == y[idx[i]]
};
struct UniqueWithCountsResult {
  Tensor y, idx, count;  // count[j]: how often y[j] comes
};
UniqueResult unique(const Operand& x, DType out_idx = int32);
UniqueWithCountsResult unique_with_counts(const Operand& x, DType out_idx = int32);

// For each value its place in the sorted sequence of its row, so that the order stays: before equal
// elements (side "left") or behind them ("right"). Both have the same axes but the last.
Tensor searchsorted(const Operand& sorted_sequence, const Operand& values,
                    std::string_view side = "left", DType out_type = int32);
// How many values fall into each of nbins equal parts of value_range [lo, hi]; what is outside goes
// into the first or the last. The second form tells for each value which part it is.
Tensor histogram_fixed_width(const Operand& values, const Operand& value_range,
                             const Operand& nbins = 100, DType dtype = int32);
Tensor histogram_fixed_width_bins(const Operand& values, const Operand& value_range,
                                  const Operand& nbins = 100, DType dtype = int32);

struct BincountOptions {
  Tensor weights = {};                 // added up instead of ones
  int minlength = -1, maxlength = -1;  // of the result; values from maxlength on are left out
  DType dtype = int32;                 // of the result without weights
  int axis = 0;                        // 0: all together; -1: each row of a matrix
  bool binary_output = false;          // whether a value comes, instead of how often
};
// How often each of 0, 1, .. comes in arr, which has no negative numbers.
Tensor bincount(const Operand& arr, BincountOptions options = {});

// ---- segments: rows joined by the id that they carry. Ids of the first form
// are sorted; the result has as many rows as the last id plus one, 0 where an id
// does not come (1 for products).
Tensor segment_sum(const Operand& data, const Operand& segment_ids);
Tensor segment_mean(const Operand& data, const Operand& segment_ids);
Tensor segment_prod(const Operand& data, const Operand& segment_ids);
Tensor segment_max(const Operand& data, const Operand& segment_ids);
Tensor segment_min(const Operand& data, const Operand& segment_ids);
// Ids in any order, of a prefix of data's axes; rows with a negative id are
// dropped. Where an id does not come: 0, for products 1, for max the lowest and
// for min the highest number of the dtype.
Tensor unsorted_segment_sum(const Operand& data, const Operand& segment_ids,
                            const Operand& num_segments);
Tensor unsorted_segment_prod(const Operand& data, const Operand& segment_ids,
                             const Operand& num_segments);
Tensor unsorted_segment_max(const Operand& data, const Operand& segment_ids,
                            const Operand& num_segments);
Tensor unsorted_segment_min(const Operand& data, const Operand& segment_ids,
                            const Operand& num_segments);
Tensor unsorted_segment_mean(const Operand& data, const Operand& segment_ids,
                             const Operand& num_segments);
// The sum divided by the square root of the number of rows.
Tensor unsorted_segment_sqrt_n(const Operand& data, const Operand& segment_ids,
                               const Operand& num_segments);

// ---- products
struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
  bool adjoint_a = false, adjoint_b = false;  // transposed and conjugated
};
// [.., m, k] x [.., k, n] -> [.., m, n]; leading axes broadcast.
Tensor matmul(const Operand& a, const Operand& b, MatmulOptions options = {});
// Which axes a product sums over: the last n of a with the first n of b, or the
// axes listed for a and for b: tensordot(a, b, {{1}, {0}}).
struct TensordotAxes {
  TensordotAxes(int axes) : n(axes) {}
  TensordotAxes(std::vector<int> a_axes, std::vector<int> b_axes)
      : a(std::move(a_axes)), b(std::move(b_axes)) {}
  static constexpr int kListed = -2147483647;
  int n = kListed;
  std::vector<int> a = {}, b = {};
};
Tensor tensordot(const Operand& a, const Operand& b, const TensordotAxes& axes);
// Products and sums by labels: einsum("bij,bjk->bik", {a, b}). Labels that the
// output lacks are summed over, a label twice in one input takes a diagonal,
// "..." stands for axes that broadcast. Without "->" the output has the labels
// that come once, in alphabetical order.
Tensor einsum(std::string_view equation, const TensorList& inputs);

// The same names under math, as in tf.math.
namespace math {
using rill::abs, rill::acos, rill::acosh, rill::add, rill::angle, rill::asin, rill::asinh,
    rill::atan, rill::atan2;
using rill::add_n, rill::argmax, rill::argmin, rill::bincount, rill::cumprod, rill::cumsum,
    rill::segment_max;
using rill::atanh, rill::ceil, rill::conj, rill::cos, rill::cosh, rill::digamma, rill::divide,
    rill::divide_no_nan;
using rill::equal, rill::erf, rill::erfc, rill::erfinv, rill::exp, rill::expm1, rill::floor,
    rill::floordiv, rill::floormod;
using rill::greater, rill::greater_equal, rill::imag, rill::is_finite, rill::is_inf, rill::is_nan,
    rill::less;
using rill::less_equal, rill::lgamma, rill::log, rill::log1p, rill::logical_and, rill::logical_not,
    rill::logical_or;
using rill::logical_xor, rill::maximum, rill::minimum, rill::mod, rill::multiply,
    rill::multiply_no_nan, rill::ndtri;
using rill::negative, rill::nextafter, rill::not_equal, rill::polygamma, rill::pow, rill::real,
    rill::reciprocal, rill::rint, rill::round, rill::rsqrt;
using rill::segment_mean, rill::segment_min, rill::segment_prod, rill::segment_sum,
    rill::unsorted_segment_max;
using rill::sigmoid, rill::sign, rill::sin, rill::sinh, rill::sqrt, rill::square,
    rill::squared_difference;
using rill::subtract, rill::tan, rill::tanh, rill::truediv, rill::xdivy, rill::xlog1py, rill::xlogy,
    rill::zeta;
using rill::unsorted_segment_mean, rill::unsorted_segment_min, rill::unsorted_segment_prod;
using rill::unsorted_segment_sqrt_n, rill::unsorted_segment_sum;
using rill::nn::in_top_k, rill::nn::top_k;
// add_n; a shape and a dtype that are given are checked.
Tensor accumulate_n(const TensorList& inputs, const TensorShape& shape = {},
                    DType tensor_dtype = {});
using rill::reduce_all, rill::reduce_any, rill::reduce_euclidean_norm, rill::reduce_logsumexp,
    rill::reduce_max;
using rill::reduce_mean, rill::reduce_min, rill::reduce_prod, rill::reduce_std, rill::reduce_sum,
    rill::reduce_variance;
struct CountOptions {
  std::vector<int> axis = {};  // none: all
  bool keepdims = false;
  DType dtype = int64;
};
Tensor count_nonzero(const Operand& x, CountOptions options = {});
Tensor count_nonzero(const Operand& x, int axis, CountOptions options = {});
// ---- special functions
// The incomplete gamma functions, regularised: igamma + igammac = 1. NaN for a or x below 0.
Tensor igamma(const Operand& a, const Operand& x);
Tensor igammac(const Operand& a, const Operand& x);
// The incomplete beta function, regularised; shapes are equal, or scalars. No gradient by a and b.
Tensor betainc(const Operand& a, const Operand& b, const Operand& x);
Tensor lbeta(const Operand& x);  // log |Beta(x)| along the last axis
// The modified Bessel functions I0 and I1; those with e are times e^-|x|.
Tensor bessel_i0(const Operand& x);
Tensor bessel_i0e(const Operand& x);
Tensor bessel_i1(const Operand& x);
Tensor bessel_i1e(const Operand& x);
namespace special {
using math::bessel_i0, math::bessel_i0e, math::bessel_i1, math::bessel_i1e;
Tensor bessel_k0(const Operand& x);  // those with e are times e^x; of positive x
Tensor bessel_k0e(const Operand& x);
Tensor bessel_k1(const Operand& x);
Tensor bessel_k1e(const Operand& x);
Tensor bessel_j0(const Operand& x);
Tensor bessel_j1(const Operand& x);
Tensor bessel_y0(const Operand& x);  // of positive x
Tensor bessel_y1(const Operand& x);
Tensor dawsn(const Operand& x);        // Dawson's integral
Tensor expint(const Operand& x);       // the exponential integral Ei(x), x > 0
Tensor fresnel_cos(const Operand& x);  // the integral of cos(pi t^2 / 2) from 0 to x
Tensor fresnel_sin(const Operand& x);
Tensor spence(const Operand& x);  // the integral of log(t) / (1 - t) from 1 to x
}  // namespace special
// Running log(sum(exp(x))) without overflow; an exclusive one begins with -inf.
Tensor cumulative_logsumexp(const Operand& x, int axis = 0, CumulativeOptions options = {});
// All elements, row after row, each at least (or more than) the one before: a bool scalar, true of
// fewer than two. Not of complex numbers. (TensorFlow looks at differences, which wrap around in
// unsigned integers.)
Tensor is_non_decreasing(const Operand& x);
Tensor is_strictly_increasing(const Operand& x);
struct ConfusionOptions {
  int num_classes = -1;  // -1: the largest label or prediction and one
  Tensor weights = {};   // added up instead of ones
  DType dtype = int32;
};
// How often prediction j came for label i: [num_classes, num_classes].
Tensor confusion_matrix(const Operand& labels, const Operand& predictions,
                        const ConfusionOptions& options = {});
Tensor confusion_matrix(const Operand& labels, const Operand& predictions, int num_classes);
inline Tensor ceiling(const Operand& x) { return rill::ceil(x); }
}  // namespace math

}  // namespace RILL_API
