// Matrix products: MatMul for matrices, BatchMatMulV2 for stacks of them.
#include "rill/ops/array_ops.h"
#include "rill/ops/flops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// Rows and columns of the last two axes as the product sees them.
struct Matrix {
  std::int64_t rows, cols;
};
Matrix matrix_of(const TensorShape& s, bool transposed) {
  const std::int64_t r = s.dim(-2), c = s.dim(-1);
  return transposed ? Matrix{c, r} : Matrix{r, c};
}

void require_inner(ShapeContext& c, Matrix a, Matrix b, bool ta, bool tb) {
  if (a.cols < 0 || b.rows < 0 || a.cols == b.rows) return;
  // A transpose that would fit is the likeliest slip.
  const char* hint = a.cols == b.cols   ? tb ? ". Did you mean transpose_b=false?"
                                             : ". Did you mean transpose_b=true?"
                     : a.rows == b.rows ? ta ? ". Did you mean transpose_a=false?"
                                             : ". Did you mean transpose_a=true?"
                                        : "";
  RILL_FAIL(invalid_argument,
            "[matmul] inner dimensions differ: a has shape {}{}, b has shape {}{}; expected equal "
            "sizes, got {} and {}{}",
            c.input(0), ta ? " transposed" : "", c.input(1), tb ? " transposed" : "", a.cols,
            b.rows, hint);
}

void matmul_shape(ShapeContext& c) {
  require_rank(c, 0, 2, "a");
  require_rank(c, 1, 2, "b");
  const TensorShape &sa = c.input(0), &sb = c.input(1);
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const Matrix a = sa.has_rank() ? matrix_of(sa, ta) : Matrix{-1, -1};
  const Matrix b = sb.has_rank() ? matrix_of(sb, tb) : Matrix{-1, -1};
  require_inner(c, a, b, ta, tb);
  c.set_output(0, TensorShape(Dims{a.rows, b.cols}));
}

// [m, k] x [k, n] -> [m, n]; da = dy b', db = a' dy, with the transposes folded in.
void matmul_grad(GradContext& g) {
  const bool ta = g.bool_attr("transpose_a"), tb = g.bool_attr("transpose_b");
  if (g.needs(0)) {
    const Tensor b = conj(g.input(1));
    g.set(0, ta ? matmul(b, g.dy(), {.transpose_a = tb, .transpose_b = true})
                : matmul(g.dy(), b, {.transpose_b = !tb}));
  }
  if (g.needs(1)) {
    const Tensor a = conj(g.input(0));
    g.set(1, tb ? matmul(g.dy(), a, {.transpose_a = true, .transpose_b = ta})
                : matmul(a, g.dy(), {.transpose_a = !ta}));
  }
}

const Op& matmul_op = OpBuilder("MatMul", "matmul")
                          .input("a: T")
                          .input("b: T")
                          .output("product: T")
                          .attr("transpose_a: bool = false")
                          .attr("transpose_b: bool = false")
                          .type("T", kNumericTypes)
                          .doc("The matrix product of a [m, k] and b [k, n].")
                          .shape(matmul_shape)
                          .gradient(matmul_grad, "a b")
                          .flops(flops::of_matmul)
                          .define();

void batch_matmul_shape(ShapeContext& c) {
  const TensorShape &sa = c.input(0), &sb = c.input(1);
  if (!sa.has_rank() || !sb.has_rank()) return c.set_output(0, TensorShape::unknown_rank());
  for (int i = 0; i < 2; ++i)
    RILL_CHECK(c.input(i).rank() >= 2, invalid_argument,
               "[matmul] {} must have rank 2 or more, got shape {}", i ? "b" : "a", c.input(i));
  const bool ta = c.bool_attr("adj_x"), tb = c.bool_attr("adj_y");
  const Matrix a = matrix_of(sa, ta), b = matrix_of(sb, tb);
  require_inner(c, a, b, ta, tb);
  Dims la = sa.dims(), lb = sb.dims();
  for (int i = 0; i < 2; ++i) la.pop_back(), lb.pop_back();
  TensorShape out = broadcast_shapes(TensorShape(la), TensorShape(lb), "matmul");
  out.push_back(a.rows);
  out.push_back(b.cols);
  c.set_output(0, out);
}

Tensor batch_matmul(const Tensor& x, const Tensor& y, bool adj_x, bool adj_y);

void batch_matmul_grad(GradContext& g) {
  const bool ta = g.bool_attr("adj_x"), tb = g.bool_attr("adj_y");
  if (g.needs(0))
    set_reduced(g, 0,
                ta ? batch_matmul(g.input(1), g.dy(), tb, true)
                   : batch_matmul(g.dy(), g.input(1), false, !tb));
  if (g.needs(1))
    set_reduced(g, 1,
                tb ? batch_matmul(g.dy(), g.input(0), true, ta)
                   : batch_matmul(g.input(0), g.dy(), !ta, false));
}

const Op& batch_matmul_op =
    OpBuilder("BatchMatMulV2", "matmul")
        .input("x: T")
        .input("y: T")
        .output("output: T")
        .attr("adj_x: bool = false")
        .attr("adj_y: bool = false")
        .type("T", kNumericTypes)
        .doc("Matrix products over the last two axes; leading axes broadcast.")
        .shape(batch_matmul_shape)
        .gradient(batch_matmul_grad, "x y")
        .flops(flops::of_matmul)
        .define();

Tensor batch_matmul(const Tensor& x, const Tensor& y, bool adj_x, bool adj_y) {
  return execute(batch_matmul_op, {x, y}, {{"adj_x", adj_x}, {"adj_y", adj_y}});
}

}  // namespace

Tensor matmul(const Operand& a, const Operand& b, MatmulOptions o) {
  const ArgPair p(a, b);
  if (o.adjoint_a || o.adjoint_b) {
    RILL_CHECK(!(o.adjoint_a && o.transpose_a) && !(o.adjoint_b && o.transpose_b), invalid_argument,
               "[matmul] only one of transpose_{0} and adjoint_{0} can be set",
               o.adjoint_a && o.transpose_a ? "a" : "b");
    return matmul(
        o.adjoint_a ? conj(p.first()) : p.first(), o.adjoint_b ? conj(p.second()) : p.second(),
        {.transpose_a = o.transpose_a || o.adjoint_a, .transpose_b = o.transpose_b || o.adjoint_b});
  }
  auto matrix = [](const Tensor& t) { return t.shape().has_rank() && t.ndim() <= 2; };
  if (p.first().defined() && p.second().defined() && !(matrix(p.first()) && matrix(p.second())))
    // The adjoint conjugates; a transpose of complex matrices must not.
    return batch_matmul(o.transpose_a ? conj(p.first()) : p.first(),
                        o.transpose_b ? conj(p.second()) : p.second(), o.transpose_a,
                        o.transpose_b);
  return execute(matmul_op, {p.first(), p.second()},
                 {{"transpose_a", o.transpose_a}, {"transpose_b", o.transpose_b}});
}

}  // namespace rill
