// The exponential and its inverse.
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void exp_grad(GradContext& g) { g.set(0, g.dy() * conj(g.output())); }
const Op& exp_op = unary_op("Exp", "exp", kFloatTypes | kComplexTypes).doc("e^x.").gradient(exp_grad, "y").define();

void log_grad(GradContext& g) { g.set(0, g.dy() / conj(g.input(0))); }
const Op& log_op = unary_op("Log", "log", kFloatTypes | kComplexTypes).doc("Natural logarithm.").gradient(log_grad, "x").define();

}  // namespace

Tensor exp(const Operand& x) { return unary(exp_op, x); }
Tensor log(const Operand& x) { return unary(log_op, x); }

}  // namespace rill
