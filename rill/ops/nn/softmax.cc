// Softmax and its logarithm. The ops work along the last axis.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void softmax_shape(ShapeContext& c) {
  RILL_CHECK(!c.input(0).has_rank() || c.input(0).rank() >= 1, invalid_argument,
             "[{}] logits must have rank 1 or more, got a scalar", c.tag());
  c.set_output(0, c.input(0));
}

// dx = (dy - sum(dy * y)) * y
void softmax_grad(GradContext& g) {
  const Tensor& y = g.output();
  g.set(0, (g.dy() - reduce_sum(g.dy() * y, -1, {.keepdims = true})) * y);
}
const Op& softmax_op = OpBuilder("Softmax", "softmax")
                           .input("logits: T")
                           .output("softmax: T")
                           .type("T", kFloatTypes)
                           .doc("exp(logits) / sum(exp(logits)) along the last axis.")
                           .shape(softmax_shape)
                           .gradient(softmax_grad, "softmax")
                           .define();

// dx = dy - sum(dy) * exp(y)
void log_softmax_grad(GradContext& g) {
  g.set(0, g.dy() - reduce_sum(g.dy(), -1, {.keepdims = true}) * exp(g.output()));
}
const Op& log_softmax_op = OpBuilder("LogSoftmax", "log_softmax")
                               .input("logits: T")
                               .output("logsoftmax: T")
                               .type("T", kFloatTypes)
                               .doc("logits - log(sum(exp(logits))) along the last axis.")
                               .shape(softmax_shape)
                               .gradient(log_softmax_grad, "logsoftmax")
                               .define();

Tensor along(const Op& op, const Operand& logits, int axis) {
  const Arg a(logits);
  if (axis == -1 || !a->shape().has_rank()) return execute(op, {a});
  const int rank = a->ndim(), at = normalize_axis(axis, rank, op.tag);
  if (at == rank - 1) return execute(op, {a});
  std::vector<int> swap;
  for (int i = 0; i < rank; ++i) swap.push_back(i == at ? rank - 1 : i == rank - 1 ? at : i);
  return transpose(execute(op, {transpose(*a, swap)}), swap);
}

}  // namespace

namespace nn {

Tensor softmax(const Operand& logits) { return unary(softmax_op, logits); }
Tensor softmax(const Operand& logits, int axis) { return along(softmax_op, logits, axis); }
Tensor log_softmax(const Operand& logits) { return unary(log_softmax_op, logits); }
Tensor log_softmax(const Operand& logits, int axis) { return along(log_softmax_op, logits, axis); }

}  // namespace nn
}  // namespace rill
