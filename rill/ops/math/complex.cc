// Complex numbers and their parts.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

DType real_of(DType d) { return d == complex128 ? float64 : float32; }
DType complex_of(DType d) { return d == float64 ? complex128 : complex64; }

void conj_grad(GradContext& g) { g.set(0, conj(g.dy())); }
const Op& conj_op = OpBuilder("Conj", "conj")
                        .input("input: T")
                        .output("output: T")
                        .type("T", kComplexTypes)
                        .doc("The complex conjugate.")
                        .shape(unchanged_shape)
                        .gradient(conj_grad)
                        .define();

void part_shape(ShapeContext& c) {
  const DType want = real_of(c.input_dtype(0)), out = c.type_attr("Tout");
  RILL_CHECK(out == want, invalid_argument, "[{}] Tout is {} for an input of {}; expected {}",
             c.tag(), out, c.input_dtype(0), want);
  unchanged_shape(c);
}
OpBuilder part_op(std::string_view name, std::string_view tag, const char* in = "input: T",
                  const char* out = "output: Tout") {
  OpBuilder b(name, tag);
  b.input(in)
      .output(out)
      .type("T", kComplexTypes, complex64)
      .type("Tout", kRealFloatTypes, float32)
      .shape(part_shape);
  return b;
}
Tensor with_zero_imaginary(const Tensor& x) { return complex(x, zeros_like(x)); }

void real_grad(GradContext& g) { g.set(0, with_zero_imaginary(g.dy())); }
const Op& real_op = part_op("Real", "real").doc("The real parts.").gradient(real_grad).define();
void imag_grad(GradContext& g) { g.set(0, complex(zeros_like(g.dy()), g.dy())); }
const Op& imag_op =
    part_op("Imag", "imag").doc("The imaginary parts.").gradient(imag_grad).define();
// d angle / dz of z = a + ib is (-b + ia) / |z|^2
void angle_grad(GradContext& g) {
  const Tensor a = real(g.input(0)), b = imag(g.input(0)),
               scaled = g.dy() / (square(a) + square(b));
  g.set(0, complex(negative(b) * scaled, a * scaled));
}
const Op& angle_op = part_op("Angle", "angle")
                         .doc("The angles in the complex plane, in [-pi, pi].")
                         .gradient(angle_grad, "input")
                         .define();
// Written in real numbers: sign(x), of which it is a multiple, has no gradient of its own.
void complex_abs_grad(GradContext& g) {
  const Tensor r = g.output();
  const Tensor scaled = divide_no_nan(g.dy(), r);
  g.set(0, complex(real(g.input(0)) * scaled, imag(g.input(0)) * scaled));
}
const Op& complex_abs_op = part_op("ComplexAbs", "abs", "x: T", "y: Tout")
                               .doc("The moduli.")
                               .gradient(complex_abs_grad, "x y")
                               .define();

void complex_shape(ShapeContext& c) {
  const DType want = complex_of(c.input_dtype(0)), out = c.type_attr("Tout");
  RILL_CHECK(out == want, invalid_argument, "[complex] Tout is {} for inputs of {}; expected {}",
             out, c.input_dtype(0), want);
  broadcast_shape(c);
}
void complex_grad(GradContext& g) {
  if (g.needs(0)) set_reduced(g, 0, real(g.dy()));
  if (g.needs(1)) set_reduced(g, 1, imag(g.dy()));
}
const Op& complex_op = OpBuilder("Complex", "complex")
                           .input("real: T")
                           .input("imag: T")
                           .output("out: Tout")
                           .type("T", kRealFloatTypes, float32)
                           .type("Tout", kComplexTypes, complex64)
                           .doc("Complex numbers from their parts.")
                           .shape(complex_shape)
                           .gradient(complex_grad)
                           .define();

Tensor part(const Op& op, const Tensor& x) {
  return execute(op, {x}, {{"Tout", real_of(x.dtype())}});
}
bool is_complex(const Tensor& x) { return !x.defined() || x.dtype().is_complex(); }

}  // namespace

Tensor conj(const Operand& x) {
  const Arg a(x);
  return a->dtype().is_complex() ? execute(conj_op, {a}) : *a;
}
Tensor complex_abs(const Tensor& x) { return part(complex_abs_op, x); }
Tensor real(const Operand& x) {
  const Arg a(x);
  return is_complex(*a) ? part(real_op, *a) : *a;
}
Tensor imag(const Operand& x) {
  const Arg a(x);
  return is_complex(*a) ? part(imag_op, *a) : zeros_like(*a);
}
Tensor angle(const Operand& x) {
  const Arg a(x);
  if (is_complex(*a)) return part(angle_op, *a);
  return cast(less(*a, 0), a->dtype()) *
         cast(constant(3.14159265358979323846, float64), a->dtype());
}
Tensor complex(const Operand& real, const Operand& imag) {
  const ArgPair p(real, imag);
  return execute(complex_op, {p.first(), p.second()}, {{"Tout", complex_of(p.first().dtype())}});
}

}  // namespace rill
