#include "rill/ops/linalg/linalg_helpers.h"

namespace rill {
namespace {

void eigh_shape(ShapeContext& c) {
  if (!require_square(c, 0, "input")) return unknown_shape(c);
  const TensorShape& in = c.input(0);
  TensorShape e = batch_of(in);
  e.push_back(in.dim(-1) < 0 ? in.dim(-2) : in.dim(-1));
  c.set_output(0, e);
  c.set_output(1, c.bool_attr("compute_v") ? in : TensorShape(Dims{0}));
}

// With f[i, j] = 1 / (e[j] - e[i]), 0 on the diagonal: v (de + f (v'dv)) v'.
// The lower triangle alone was read, so it gets what both would.
void eigh_grad(GradContext& g) {
  const bool vectors = g.bool_attr("compute_v");
  Tensor e, v;
  if (vectors) {
    e = g.output(0);
    v = g.output(1);
  } else {
    v = linalg::eigh(g.input(0)).v;
  }
  const Tensor de = cast(real(g.dy(0)), v.dtype());
  Tensor middle = linalg::diag(de);
  if (vectors && g.raw_dy(1)) {
    const Tensor f = divide_no_nan(constant(1, e.dtype()), expand_dims(e, -2) - expand_dims(e, -1));
    middle = middle + f * product(v, g.dy(1), true);
  }
  const Tensor all = product(v, product(middle, v, false, true));
  const Tensor both = linalg::band_part(all + linalg::adjoint(all), -1, 0);
  g.set(0, linalg::set_diag(both, 0.5 * linalg::diag_part(both)));
}
const Op& eigh_op = OpBuilder("SelfAdjointEigV2", "eigh")
                        .input("input: T")
                        .output("e: T")
                        .output("v: T")
                        .attr("compute_v: bool = true")
                        .type("T", kMatrixTypes)
                        .doc(
                            "Eigenvalues of self-adjoint matrices, the smallest first, and vectors "
                            "as columns. The lower triangle is read.")
                        .shape(eigh_shape)
                        .gradient(eigh_grad, "input e v")
                        .define();

double epsilon_of(DType real) { return real == float64 ? 0x1p-52 : 0x1p-23; }
// factor max(m, n) eps, of matrices of that shape.
Tensor rounding(const Tensor& a, DType real, double factor) {
  const TensorShape& s = a.shape();
  const double eps = factor * epsilon_of(real);
  if (s.has_rank() && s.dim(-1) >= 0 && s.dim(-2) >= 0)
    return constant(eps * static_cast<double>(std::max(s.dim(-1), s.dim(-2))), real);
  return cast(eps * cast(reduce_max(shape(a)(slice(-2, None))), float64), real);
}

}  // namespace

namespace linalg {

Eigh eigh(const Operand& tensor) {
  auto out = execute_all(eigh_op, {Arg(tensor)}, {{"compute_v", true}});
  return {real(out[0]), out[1]};
}
Tensor eigvalsh(const Operand& tensor) {
  return real(execute_all(eigh_op, {Arg(tensor)}, {{"compute_v", false}})[0]);
}

Tensor matrix_rank(const Operand& a, RankOptions o) {
  const Arg x(a);
  const Tensor s = svd(*x, {.compute_uv = false}).s;
  const Tensor tol = o.tol >= 0
                         ? constant(o.tol, s.dtype())
                         : reduce_max(s, -1, {.keepdims = true}) * rounding(*x, s.dtype(), 1);
  return reduce_sum(cast(greater(s, tol), int32), -1);
}

Tensor pinv(const Operand& a, PinvOptions o) {
  const Arg x(a);
  const auto [s, u, v] = svd(*x);
  const Tensor rcond = o.rcond >= 0 ? constant(o.rcond, s.dtype()) : rounding(*x, s.dtype(), 10);
  const Tensor kept = greater(s, reduce_max(s, -1, {.keepdims = true}) * rcond);
  const Tensor inverse = where(kept, 1 / where(kept, s, ones_like(s)), zeros_like(s));
  return product(v * cast(expand_dims(inverse, -2), x->dtype()), u, false, true);
}

Normalized normalize(const Operand& tensor, NormOptions o) {
  const Arg x(tensor);
  o.keepdims = true;
  const Tensor size = rill::norm(*x, o);
  return {*x / cast(size, x->dtype()), size};
}

}  // namespace linalg
}  // namespace rill
