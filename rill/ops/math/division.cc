// The divisions and remainders beside true division, and products and
// quotients with a defined result at zero.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void div_grad(GradContext& g) {
  const Tensor x_bar = g.dy() / conj(g.input(1));
  if (g.needs(0)) set_reduced(g, 0, x_bar);
  if (g.needs(1)) set_reduced(g, 1, x_bar * conj(negative(g.input(0) / g.input(1))));
}
// Python 2's division, which only graphs still use.
[[maybe_unused]] const Op& div_op = binary_op("Div", "div", kNumericTypes)
                                        .doc("x / y; integers round toward zero.")
                                        .gradient(div_grad, "x y")
                                        .define();
const Op& floordiv_op = binary_op("FloorDiv", "floordiv", kRealTypes)
                            .doc("x / y, rounded toward minus infinity.")
                            .no_gradient()
                            .define();
const Op& truncatediv_op = binary_op("TruncateDiv", "truncatediv", kRealTypes)
                               .doc("x / y, rounded toward zero.")
                               .no_gradient()
                               .define();

// r = x - q y, with q locally constant.
void floormod_grad(GradContext& g) {
  set_reduced(g, 0, g.dy());
  if (g.needs(1)) set_reduced(g, 1, negative(g.dy() * floordiv(g.input(0), g.input(1))));
}
const Op& floormod_op = binary_op("FloorMod", "floormod", kRealTypes)
                            .doc("The remainder of floordiv: it has the sign of y.")
                            .gradient(floormod_grad, "x y")
                            .define();
void truncatemod_grad(GradContext& g) {
  set_reduced(g, 0, g.dy());
  if (g.needs(1)) set_reduced(g, 1, negative(g.dy() * truncatediv(g.input(0), g.input(1))));
}
constexpr TypeSet kModTypes = kFloatTypes | kIndexTypes;
const Op& truncatemod_op = binary_op("TruncateMod", "truncatemod", kModTypes)
                               .doc("The remainder of truncatediv: it has the sign of x.")
                               .gradient(truncatemod_grad, "x y")
                               .define();
[[maybe_unused]] const Op& mod_op = binary_op("Mod", "truncatemod", kModTypes)
                                        .doc("The remainder of truncatediv: it has the sign of x.")
                                        .gradient(truncatemod_grad, "x y")
                                        .define();

constexpr TypeSet kQuotientTypes = kFloatTypes | kComplexTypes;
void divide_no_nan_grad(GradContext& g) {
  const Tensor x = conj(g.input(0)), y = conj(g.input(1));
  if (g.needs(0)) set_reduced(g, 0, divide_no_nan(g.dy(), y));
  if (g.needs(1)) set_reduced(g, 1, g.dy() * divide_no_nan(divide_no_nan(negative(x), y), y));
}
const Op& divide_no_nan_op = binary_op("DivNoNan", "divide_no_nan", kQuotientTypes)
                                 .doc("x / y; 0 where y is 0, whatever x is.")
                                 .gradient(divide_no_nan_grad, "x y")
                                 .define();

void multiply_no_nan_grad(GradContext& g) {
  if (g.needs(0)) set_reduced(g, 0, multiply_no_nan(g.dy(), conj(g.input(1))));
  if (g.needs(1)) set_reduced(g, 1, multiply_no_nan(conj(g.input(0)), g.dy()));
}
const Op& multiply_no_nan_op = binary_op("MulNoNan", "multiply_no_nan", kQuotientTypes)
                                   .doc("x * y; 0 where y is 0, whatever x is.")
                                   .gradient(multiply_no_nan_grad, "x y")
                                   .define();

// 1 where x is not 0: where it is, the result is 0 for every y.
Tensor is_used(const Tensor& x) { return cast(not_equal(x, 0), x.dtype()); }

void xdivy_grad(GradContext& g) {
  const Tensor x = conj(g.input(0)), y = conj(g.input(1));
  if (g.needs(0)) set_reduced(g, 0, g.dy() * xdivy(is_used(x), y));
  if (g.needs(1)) set_reduced(g, 1, g.dy() * xdivy(negative(x), square(y)));
}
const Op& xdivy_op = binary_op("Xdivy", "xdivy", kQuotientTypes)
                         .doc("x / y; 0 where x is 0, whatever y is.")
                         .gradient(xdivy_grad, "x y")
                         .define();
void xlogy_grad(GradContext& g) {
  const Tensor x = conj(g.input(0)), y = conj(g.input(1));
  if (g.needs(0)) set_reduced(g, 0, g.dy() * xlogy(is_used(x), y));
  if (g.needs(1)) set_reduced(g, 1, g.dy() * xdivy(x, y));
}
const Op& xlogy_op = binary_op("Xlogy", "xlogy", kQuotientTypes)
                         .doc("x log(y); 0 where x is 0, whatever y is.")
                         .gradient(xlogy_grad, "x y")
                         .define();
void xlog1py_grad(GradContext& g) {
  const Tensor x = conj(g.input(0)), y = conj(g.input(1));
  if (g.needs(0)) set_reduced(g, 0, g.dy() * xlog1py(is_used(x), y));
  if (g.needs(1)) set_reduced(g, 1, g.dy() * xdivy(x, y + 1));
}
const Op& xlog1py_op = binary_op("Xlog1py", "xlog1py", kQuotientTypes)
                           .doc("x log(1 + y); 0 where x is 0, whatever y is.")
                           .gradient(xlog1py_grad, "x y")
                           .define();

}  // namespace

Tensor floordiv(const Operand& x, const Operand& y) { return binary(floordiv_op, x, y); }
Tensor truncatediv(const Operand& x, const Operand& y) { return binary(truncatediv_op, x, y); }
Tensor floormod(const Operand& x, const Operand& y) { return binary(floormod_op, x, y); }
Tensor mod(const Operand& x, const Operand& y) { return binary(floormod_op, x, y); }
Tensor truncatemod(const Operand& x, const Operand& y) { return binary(truncatemod_op, x, y); }
Tensor divide_no_nan(const Operand& x, const Operand& y) { return binary(divide_no_nan_op, x, y); }
Tensor multiply_no_nan(const Operand& x, const Operand& y) {
  return binary(multiply_no_nan_op, x, y);
}
Tensor xdivy(const Operand& x, const Operand& y) { return binary(xdivy_op, x, y); }
Tensor xlogy(const Operand& x, const Operand& y) { return binary(xlogy_op, x, y); }
Tensor xlog1py(const Operand& x, const Operand& y) { return binary(xlog1py_op, x, y); }
Tensor operator%(const Operand& x, const Operand& y) { return floormod(x, y); }

}  // namespace rill
