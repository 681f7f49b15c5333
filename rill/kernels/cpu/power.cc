#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cpu {
namespace {

#define RILL_SIGNED std::int8_t, std::int16_t, std::int32_t, std::int64_t
const BinaryKernels<functors::Pow, RILL_FLOATS, RILL_SIGNED, RILL_COMPLEX> pow("Pow");
const BinaryKernels<functors::SquaredDifference, RILL_FLOATS, std::int32_t, std::int64_t,
                    RILL_COMPLEX>
    squared_difference("SquaredDifference");
const BinaryKernels<functors::Atan2, RILL_FLOATS> atan2("Atan2");
const UnaryKernels<functors::Abs, RILL_FLOATS, RILL_SIGNED> abs("Abs");
const UnaryKernels<functors::Sign, RILL_FLOATS, RILL_SIGNED, RILL_COMPLEX> sign("Sign");
const UnaryKernels<functors::Reciprocal, RILL_FLOATS, RILL_SIGNED, RILL_COMPLEX> reciprocal(
    "Reciprocal"),
    inv("Inv");
const UnaryKernels<functors::Sqrt, RILL_FLOATS, RILL_COMPLEX> sqrt("Sqrt");
const UnaryKernels<functors::Rsqrt, RILL_FLOATS, RILL_COMPLEX> rsqrt("Rsqrt");
const BinaryKernels<functors::InvGrad, RILL_FLOATS, RILL_COMPLEX> reciprocal_grad("ReciprocalGrad"),
    inv_grad("InvGrad");
const BinaryKernels<functors::SqrtGrad, RILL_FLOATS, RILL_COMPLEX> sqrt_grad("SqrtGrad");
const BinaryKernels<functors::RsqrtGrad, RILL_FLOATS, RILL_COMPLEX> rsqrt_grad("RsqrtGrad");

}  // namespace
}  // namespace rill::cpu
