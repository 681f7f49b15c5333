// Discrete Fourier transforms.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/signal_ops.h"

namespace rill {
namespace {

// The number of axes is in the name: FFT2D.
int axes_of(const Op& op) { return op.name.ends_with("3D") ? 3 : op.name.ends_with("2D") ? 2 : 1; }
void require_axes(const ShapeContext& c, int axes) {
  RILL_CHECK(!c.input(0).has_rank() || c.input(0).rank() >= axes, invalid_argument,
             "[{}] input has shape {}; expected rank {} or more", c.tag(), c.input(0), axes);
}

// ---- complex to complex
void fft_shape(ShapeContext& c) {
  require_axes(c, axes_of(c.op()));
  unchanged_shape(c);
}
// The product of the sizes that are transformed, as a scalar.
Tensor points(const Tensor& x, int axes, DType dtype) {
  return cast(reduce_prod(sizes_of(x)(slice(-axes, None))), dtype);
}
const Op& fft_op_of(int axes, bool inverse);
// The adjoint of the transform is its inverse times the number of points.
void fft_grad(GradContext& g) {
  const int axes = axes_of(g.op());
  const bool inverse = g.op().name.starts_with("I");
  const Tensor back = execute(fft_op_of(axes, !inverse), {g.dy()}),
               n = points(g.dy(), axes, g.dy().dtype());
  g.set(0, inverse ? back / n : back * n);
}
const Op& define_fft(const char* name, const char* tag, const char* text) {
  return OpBuilder(name, tag)
      .input("input: Tcomplex")
      .output("output: Tcomplex")
      .type("Tcomplex", kComplexTypes, complex64)
      .doc(text)
      .shape(fft_shape)
      .gradient(fft_grad)
      .define();
}
const Op& fft_1 = define_fft("FFT", "signal.fft", "The Fourier transform of the last axis.");
const Op& fft_2 = define_fft("FFT2D", "signal.fft2d", "That of the last two axes.");
const Op& fft_3 = define_fft("FFT3D", "signal.fft3d", "That of the last three axes.");
const Op& ifft_1 = define_fft("IFFT", "signal.ifft", "The inverse transform of the last axis.");
const Op& ifft_2 = define_fft("IFFT2D", "signal.ifft2d", "That of the last two axes.");
const Op& ifft_3 = define_fft("IFFT3D", "signal.ifft3d", "That of the last three axes.");
const Op& fft_op_of(int axes, bool inverse) {
  if (inverse) return axes == 1 ? ifft_1 : axes == 2 ? ifft_2 : ifft_3;
  return axes == 1 ? fft_1 : axes == 2 ? fft_2 : fft_3;
}

// ---- real numbers on one side
void real_fft_shape(ShapeContext& c) {
  const int axes = axes_of(c.op());
  const bool inverse = c.op().name.starts_with("I");
  require_axes(c, axes);
  // The attribute of the input's type need not be written.
  const DType given = c.input_dtype(0);
  const DType real_type = inverse ? c.type_attr("Treal") : given,
              complex_type = inverse ? given : c.type_attr("Tcomplex");
  RILL_CHECK((real_type == float64) == (complex_type == complex128), invalid_argument,
             "[{}] Treal is {} and Tcomplex {}; expected numbers of one precision", c.tag(),
             real_type, complex_type);
  RILL_CHECK(!c.input(1).is_fully_defined() || c.input(1) == TensorShape(Dims{axes}),
             invalid_argument, "[{}] fft_length has shape {}; expected {} sizes", c.tag(),
             c.input(1), axes);
  if (!c.input(0).has_rank()) return unknown_shape(c);
  TensorShape out = c.input(0);
  const Tensor* length = c.input_value(1);
  for (int i = 0; i < axes; ++i) {
    std::int64_t n = -1;
    if (length) {
      n = length->to_vector<std::int64_t>()[static_cast<std::size_t>(i)];
      RILL_CHECK(n >= (inverse ? 1 : 0), invalid_argument,
                 "[{}] fft_length[{}] is {}; expected {} or more", c.tag(), i, n, inverse ? 1 : 0);
      if (!inverse && i == axes - 1) n = n / 2 + 1;
    }
    out.set_dim(out.rank() - axes + i, n);
  }
  c.set_output(0, out);
}
// t cut, or filled up with zeros, to the sizes of its last axes.
Tensor fitted(const Tensor& t, const Tensor& last_sizes, int axes) {
  const Tensor now = cast(sizes_of(t), int32),
               want = concat({now(slice(0, -axes)), cast(last_sizes, int32)}, 0),
               kept = minimum(now, want);
  return pad(slice(t, zeros_like(kept), kept), stack({zeros_like(kept), want - kept}, 1));
}
const Op& real_fft_op_of(int axes, bool inverse);
// The part of the spectrum that is there, as if the rest were zero.
void rfft_grad(GradContext& g) {
  const int axes = axes_of(g.op());
  const Tensor& length = g.input(1);
  const Tensor full = execute(fft_op_of(axes, true), {fitted(g.dy(), length, axes)});
  const DType d = g.input_dtype(0);
  g.set(0, fitted(real(full) * cast(reduce_prod(length), d),
                  cast(g.input_shape_tensor(0), int32)(slice(-axes, None)), axes));
}
// Each number of the half stands for two, but the first and, of an even length, the last.
void irfft_grad(GradContext& g) {
  const int axes = axes_of(g.op());
  const Tensor &length = g.input(1), n = length[-1];
  const DType real_type = g.dy().dtype();
  const Tensor spectrum =
      execute(real_fft_op_of(axes, false), {g.dy(), length}, {{"Tcomplex", g.input_dtype(0)}});
  const Tensor at = range(floordiv(n, 2) + 1);
  const Tensor single = logical_or(equal(at, 0), equal(2 * at, n));
  const Tensor weight = where(single, constant(1., real_type), constant(2., real_type)) /
                        cast(reduce_prod(length), real_type);
  g.set(0, fitted(spectrum * cast(weight, g.input_dtype(0)),
                  cast(g.input_shape_tensor(0), int32)(slice(-axes, None)), axes));
}
const Op& define_real_fft(const char* name, const char* tag, bool inverse, const char* text) {
  OpBuilder b(name, tag);
  b.input(inverse ? "input: Tcomplex" : "input: Treal")
      .input("fft_length: int32")
      .output(inverse ? "output: Treal" : "output: Tcomplex")
      .type("Treal", kRealFloatTypes, float32)
      .type("Tcomplex", kComplexTypes, complex64)
      .doc(text)
      .shape(real_fft_shape)
      .host("fft_length")
      .gradient(inverse ? irfft_grad : rfft_grad, "fft_length");
  return b.define();
}
const Op& rfft_1 =
    define_real_fft("RFFT", "signal.rfft", false, "The half of the spectrum of real numbers.");
const Op& rfft_2 = define_real_fft("RFFT2D", "signal.rfft2d", false, "That over two axes.");
const Op& rfft_3 = define_real_fft("RFFT3D", "signal.rfft3d", false, "That over three axes.");
const Op& irfft_1 =
    define_real_fft("IRFFT", "signal.irfft", true, "Real numbers from the half of their spectrum.");
const Op& irfft_2 = define_real_fft("IRFFT2D", "signal.irfft2d", true, "That over two axes.");
const Op& irfft_3 = define_real_fft("IRFFT3D", "signal.irfft3d", true, "That over three axes.");
const Op& real_fft_op_of(int axes, bool inverse) {
  if (inverse) return axes == 1 ? irfft_1 : axes == 2 ? irfft_2 : irfft_3;
  return axes == 1 ? rfft_1 : axes == 2 ? rfft_2 : rfft_3;
}

Tensor real_fft(const Operand& input, const signal::FftLength& length, int axes, bool inverse) {
  const Arg x(input);
  const Op& op = real_fft_op_of(axes, inverse);
  RILL_CHECK(length.sizes.empty() || length.sizes.size() == static_cast<std::size_t>(axes),
             invalid_argument, "[{}] fft_length has {} sizes; expected {}", op.tag,
             length.sizes.size(), axes);
  RILL_CHECK(!x->shape().has_rank() || x->ndim() >= axes, invalid_argument,
             "[{}] input has shape {}; expected rank {} or more", op.tag, x->shape(), axes);
  Tensor sizes;
  if (!length.sizes.empty()) {
    sizes = constant(length.sizes, int32);
  } else {
    sizes = cast(sizes_of(*x), int32)(slice(-axes, None));
    if (inverse) {
      const Tensor last = maximum(2 * (sizes(slice(-1, None)) - 1), 1);
      sizes = axes == 1 ? last : concat({sizes(slice(0, -1)), last}, 0);
    }
  }
  const bool wide = x->dtype() == float64 || x->dtype() == complex128;
  if (inverse) return execute(op, {*x, sizes}, {{"Treal", wide ? float64 : float32}});
  return execute(op, {*x, sizes}, {{"Tcomplex", wide ? complex128 : complex64}});
}

// Half of every axis to the other end.
Tensor shifted(const Operand& input, const std::vector<int>& listed, bool inverse) {
  const Arg x(input);
  RILL_CHECK(x->shape().has_rank(), unimplemented,
             "[signal.fftshift] the rank of the input must be known while it is traced");
  std::vector<int> axes = listed;
  if (axes.empty())
    for (int i = 0; i < x->ndim(); ++i) axes.push_back(i);
  std::vector<Tensor> by;
  const Tensor sizes = cast(sizes_of(*x), int32);
  for (int& axis : axes) {
    axis = normalize_axis(axis, x->ndim(), "signal.fftshift");
    const Tensor half = floordiv(sizes[axis], 2);
    by.push_back(inverse ? negative(half) : half);
  }
  if (axes.empty()) return *x;
  return roll(*x, stack(by), constant(axes));
}

}  // namespace

namespace signal {
Tensor fft(const Operand& input) { return unary(fft_1, input); }
Tensor fft2d(const Operand& input) { return unary(fft_2, input); }
Tensor fft3d(const Operand& input) { return unary(fft_3, input); }
Tensor ifft(const Operand& input) { return unary(ifft_1, input); }
Tensor ifft2d(const Operand& input) { return unary(ifft_2, input); }
Tensor ifft3d(const Operand& input) { return unary(ifft_3, input); }
Tensor rfft(const Operand& x, const FftLength& n) { return real_fft(x, n, 1, false); }
Tensor rfft2d(const Operand& x, const FftLength& n) { return real_fft(x, n, 2, false); }
Tensor rfft3d(const Operand& x, const FftLength& n) { return real_fft(x, n, 3, false); }
Tensor irfft(const Operand& x, const FftLength& n) { return real_fft(x, n, 1, true); }
Tensor irfft2d(const Operand& x, const FftLength& n) { return real_fft(x, n, 2, true); }
Tensor irfft3d(const Operand& x, const FftLength& n) { return real_fft(x, n, 3, true); }
Tensor fftshift(const Operand& x, const std::vector<int>& axes) { return shifted(x, axes, false); }
Tensor ifftshift(const Operand& x, const std::vector<int>& axes) { return shifted(x, axes, true); }
}  // namespace signal

}  // namespace rill
