// Eigenvalues of any square matrix, and of tridiagonal ones.
#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void eig_shape(ShapeContext& c) {
  const DType out = c.type_attr("Tout"), in = c.input_dtype(0);
  RILL_CHECK((out == complex128) == (in == float64 || in == complex128), invalid_argument,
             "[eig] Tout is {} for an input of {}; expected complex64 for float32 and complex64, "
             "complex128 for float64 and complex128",
             out, in);
  if (!require_square(c, 0, "input")) return unknown_shape(c);
  const TensorShape& a = c.input(0);
  TensorShape e = batch_of(a);
  e.push_back(a.dim(-1) < 0 ? a.dim(-2) : a.dim(-1));
  c.set_output(0, e);
  c.set_output(1, c.bool_attr("compute_v") ? a : TensorShape(Dims{0}));
}

// Eigenvalues must differ. Vectors have the length 1 and a phase that is free, so what is made of
// them must not depend on it (Boeddeker et al. 2017, 4.77).
void eig_grad(GradContext& g) {
  const bool vectors = g.bool_attr("compute_v");
  const Tensor v = vectors ? g.output(1) : linalg::eig(g.input(0)).v, vt = linalg::adjoint(v);
  Tensor middle = linalg::diag(g.dy(0));
  if (vectors && g.raw_dy(1)) {
    const Tensor &e = g.output(0), gap = expand_dims(e, -2) - expand_dims(e, -1);
    const Tensor f = conj(divide_no_nan(ones_like(gap), gap)), along = product(vt, g.dy(1));
    const Tensor kept = linalg::diag(cast(real(linalg::diag_part(along)), v.dtype()));
    middle = middle + f * (along - product(product(vt, v), kept));
  }
  const Tensor all = linalg::solve(vt, product(middle, vt));
  g.set(0, g.input_dtype(0) == all.dtype() ? all : cast(real(all), g.input_dtype(0)));
}
const Op& eig_op = OpBuilder("Eig", "eig")
                       .input("input: T")
                       .output("e: Tout")
                       .output("v: Tout")
                       .attr("compute_v: bool = true")
                       .type("T", kMatrixTypes)
                       .type("Tout", kComplexTypes)
                       .doc(
                           "Eigenvalues of square matrices in no order, and vectors of length 1 "
                           "as columns.")
                       .shape(eig_shape)
                       .gradient(eig_grad, "input e v")
                       .define();

std::vector<Tensor> eig_of(const Operand& tensor, bool vectors) {
  const Arg x(tensor);
  const bool wide = x->dtype() == float64 || x->dtype() == complex128;
  return execute_all(eig_op, {*x},
                     {{"compute_v", vectors}, {"Tout", wide ? complex128 : complex64}});
}

}  // namespace

namespace linalg {

Eig eig(const Operand& tensor) {
  auto out = eig_of(tensor, true);
  return {out[0], out[1]};
}
Tensor eigvals(const Operand& tensor) { return eig_of(tensor, false)[0]; }

Eigh eigh_tridiagonal(const Operand& alpha, const Operand& beta, EighTridiagonalOptions o) {
  const ArgPair p(alpha, beta);
  const Tensor &a = p.first(), &b = p.second();
  RILL_CHECK(o.select == "a" || o.select == "v" || o.select == "i", invalid_argument,
             "[eigh_tridiagonal] select is \"{}\"; expected \"a\" (all), \"v\" (by value) or \"i\" "
             "(by index)",
             o.select);
  if (a.shape().is_fully_defined() && b.shape().is_fully_defined())
    RILL_CHECK(a.ndim() == 1 && b.ndim() == 1 && b.shape().dim(0) == a.shape().dim(0) - 1,
               invalid_argument,
               "[eigh_tridiagonal] alpha has shape {}, beta {}; expected [n] and [n - 1]",
               a.shape(), b.shape());
  // Only the lower triangle is read.
  const Tensor matrix = set_diag(diag(a), b, {.k = -1});
  Eigh out;
  if (o.eigvals_only)
    out.e = eigvalsh(matrix);
  else
    out = eigh(matrix);
  if (o.select == "a") return out;
  if (o.select == "i") {
    const auto first = static_cast<std::int64_t>(o.select_range[0]),
               last = static_cast<std::int64_t>(o.select_range[1]);
    RILL_CHECK(first <= last, invalid_argument,
               "[eigh_tridiagonal] select_range is {} to {}; the first must not be above the last",
               first, last);
    out.e = out.e(slice(first, last + 1));
    if (!o.eigvals_only) out.v = out.v(all, slice(first, last + 1));
    return out;
  }
  RILL_CHECK(o.select_range[0] < o.select_range[1], invalid_argument,
             "[eigh_tridiagonal] select_range is {} to {}; the first must be below the last",
             o.select_range[0], o.select_range[1]);
  const Tensor kept = logical_and(greater(out.e, constant(o.select_range[0], out.e.dtype())),
                                  less_equal(out.e, constant(o.select_range[1], out.e.dtype())));
  if (!o.eigvals_only) out.v = boolean_mask(out.v, kept, 1);
  out.e = boolean_mask(out.e, kept);
  return out;
}

}  // namespace linalg
}  // namespace rill
