#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cpu {
namespace {

const UnaryKernels<functors::Exp, RILL_FLOATS, RILL_COMPLEX> exp("Exp");
const UnaryKernels<functors::Expm1, RILL_FLOATS, RILL_COMPLEX> expm1("Expm1");
const UnaryKernels<functors::Log, RILL_FLOATS, RILL_COMPLEX> log("Log");
const UnaryKernels<functors::Log1p, RILL_FLOATS, RILL_COMPLEX> log1p("Log1p");
const UnaryKernels<functors::Tanh, RILL_FLOATS, RILL_COMPLEX> tanh("Tanh");
const UnaryKernels<functors::Sigmoid, RILL_FLOATS, RILL_COMPLEX> sigmoid("Sigmoid");
const BinaryKernels<functors::TanhGrad, RILL_FLOATS, RILL_COMPLEX> tanh_grad("TanhGrad");
const BinaryKernels<functors::SigmoidGrad, RILL_FLOATS, RILL_COMPLEX> sigmoid_grad("SigmoidGrad");

}  // namespace
}  // namespace rill::cpu
