// Sums of lists of tensors.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void add_n_shape(ShapeContext& c) {
  TensorShape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorShape& s = c.input(i);
    RILL_CHECK(out.is_compatible_with(s), invalid_argument,
               "[add_n] inputs[{}] has shape {}, those before it {}; all must be equal", i, s, out);
    if (!out.has_rank())
      out = s;
    else if (s.has_rank())
      for (int k = 0; k < s.rank(); ++k) out.set_dim(k, out.dim(k) < 0 ? s.dim(k) : out.dim(k));
  }
  c.set_output(0, out);
}

void add_n_grad(GradContext& g) {
  for (int i = 0; i < g.num_inputs(); ++i)
    if (g.needs(i)) g.set(i, g.raw_dy());
}

const Op& add_n_op = OpBuilder("AddN", "add_n")
                         .input("inputs: N * T")
                         .output("sum: T")
                         .type("T", kNumericTypes)
                         .doc("The sum of tensors of one shape.")
                         .shape(add_n_shape)
                         .gradient(add_n_grad)
                         .define();

}  // namespace

Tensor add_n(const TensorList& inputs) {
  RILL_CHECK(inputs.size() > 0, invalid_argument, "[add_n] needs at least one tensor");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    RILL_CHECK(inputs.tensors()[i].defined(), invalid_argument,
               "[add_n] inputs[{}] is None; expected a tensor", i);
  if (inputs.size() == 1) return identity(inputs.tensors()[0]);
  return execute(add_n_op, as_inputs(inputs.tensors()), {});
}

namespace math {
Tensor accumulate_n(const TensorList& inputs, const TensorShape& shape, DType tensor_dtype) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs.tensors()[i];
    RILL_CHECK(t.defined() && (!tensor_dtype.defined() || t.dtype() == tensor_dtype),
               invalid_argument, "[accumulate_n] inputs[{}] is {}; expected {}", i,
               t.defined() ? t.dtype().name() : "None", tensor_dtype);
    RILL_CHECK(t.shape().is_compatible_with(shape), invalid_argument,
               "[accumulate_n] inputs[{}] has shape {}; expected {}", i, t.shape(), shape);
  }
  return add_n(inputs);
}
}  // namespace math

}  // namespace rill
