#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void determinant_shape(ShapeContext& c) {
  const TensorShape out =
      require_square(c, 0, "input") ? batch_of(c.input(0)) : TensorShape::unknown_rank();
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
}

// d det(a) = det(a) tr(a^-1 da)
void determinant_grad(GradContext& g) {
  g.set(0, per_matrix(g.dy() * conj(g.output())) * linalg::inv(g.input(0), {.adjoint = true}));
}
const Op& determinant_op = OpBuilder("MatrixDeterminant", "det")
                               .input("input: T")
                               .output("output: T")
                               .type("T", kMatrixTypes)
                               .doc("The determinants of square matrices.")
                               .shape(determinant_shape)
                               .gradient(determinant_grad, "input output")
                               .define();

// The logarithm is a real number in every dtype.
void log_determinant_grad(GradContext& g) {
  g.set(0, per_matrix(cast(real(g.dy(1)), g.input_dtype(0))) *
               linalg::inv(g.input(0), {.adjoint = true}));
}
const Op& log_determinant_op =
    OpBuilder("LogMatrixDeterminant", "slogdet")
        .input("input: T")
        .output("sign: T")
        .output("log_abs_determinant: T")
        .type("T", kMatrixTypes)
        .doc("The signs and the logarithms of the magnitudes of determinants.")
        .shape(determinant_shape)
        .gradient(log_determinant_grad, "input")
        .define();

}  // namespace

namespace linalg {
Tensor det(const Operand& input) { return unary(determinant_op, input); }
Slogdet slogdet(const Operand& input) {
  auto out = execute_all(log_determinant_op, {Arg(input)});
  return {out[0], out[1]};
}
}  // namespace linalg

}  // namespace rill
