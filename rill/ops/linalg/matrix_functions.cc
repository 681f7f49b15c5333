// Functions of square matrices: roots, logarithms, exponentials.
#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void matrix_function_shape(ShapeContext& c) {
  require_square(c, 0, "input");
  unchanged_shape(c);
}
// f([a e; 0 a]) is [f(a) d; 0 f(a)], and d what e adds to f(a) (Mathias 1996). The gradient is d of
// the adjoint matrix and of dy.
void matrix_function_grad(GradContext& g) {
  const Tensor a = linalg::adjoint(g.input(0));
  const Tensor above = concat({a, g.dy()}, -1), below = concat({zeros_like(a), a}, -1);
  const Tensor all = execute(g.op(), {concat({above, below}, -2)});
  g.set(0, split(split(all, 2, -2)[0], 2, -1)[1]);
}
const Op& define_matrix_function(const char* name, const char* tag, TypeSet types,
                                 const char* text) {
  return OpBuilder(name, tag)
      .input("input: T")
      .output("output: T")
      .type("T", types)
      .doc(text)
      .shape(matrix_function_shape)
      .gradient(matrix_function_grad, "input")
      .define();
}
const Op& expm_op = define_matrix_function("MatrixExponential", "expm", kMatrixTypes,
                                           "The exponentials of square matrices.");
const Op& sqrtm_op =
    define_matrix_function("MatrixSquareRoot", "sqrtm", kMatrixTypes,
                           "The principal roots of square matrices; NaN where a real matrix has "
                           "no real one.");
const Op& logm_op = define_matrix_function("MatrixLogarithm", "logm", kComplexTypes,
                                           "The principal logarithms of square complex matrices.");

}  // namespace

namespace linalg {
Tensor expm(const Operand& input) { return unary(expm_op, input); }
Tensor sqrtm(const Operand& input) { return unary(sqrtm_op, input); }
Tensor logm(const Operand& input) { return unary(logm_op, input); }
}  // namespace linalg

}  // namespace rill
