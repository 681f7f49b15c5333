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
Tensor conj(const Operand& x);      // complex conjugate; x itself for real tensors

Tensor operator+(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x, const Operand& y);
Tensor operator*(const Operand& x, const Operand& y);
Tensor operator/(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x);

Tensor maximum(const Operand& x, const Operand& y);
Tensor minimum(const Operand& x, const Operand& y);

// ---- comparisons: bool results, broadcasting
Tensor greater_equal(const Operand& x, const Operand& y);

// ---- elementary functions
Tensor exp(const Operand& x);
Tensor log(const Operand& x);

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

}  // namespace rill
