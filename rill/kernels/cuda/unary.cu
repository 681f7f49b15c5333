// Arithmetic and elementary functions of one argument.
#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/elementary.h"
#include "rill/kernels/functors/special.h"

namespace rill::cuda {
namespace {

const UnaryKernels<functors::Neg, RILL_GPU_FLOATS, RILL_GPU_INTS> neg("Neg");
const UnaryKernels<functors::Abs, RILL_GPU_FLOATS, RILL_GPU_INTS> abs("Abs");
const UnaryKernels<functors::Sign, RILL_GPU_FLOATS, RILL_GPU_INTS> sign("Sign");
const UnaryKernels<functors::Square, RILL_GPU_FLOATS, RILL_GPU_INTS> square("Square");
const UnaryKernels<functors::Reciprocal, RILL_GPU_FLOATS> reciprocal("Reciprocal"), inv("Inv");
const UnaryKernels<functors::Sqrt, RILL_GPU_FLOATS> sqrt("Sqrt");
const UnaryKernels<functors::Rsqrt, RILL_GPU_FLOATS> rsqrt("Rsqrt");
const UnaryKernels<functors::Exp, RILL_GPU_FLOATS> exp("Exp");
const UnaryKernels<functors::Expm1, RILL_GPU_FLOATS> expm1("Expm1");
const UnaryKernels<functors::Log, RILL_GPU_FLOATS> log("Log");
const UnaryKernels<functors::Log1p, RILL_GPU_FLOATS> log1p("Log1p");
const UnaryKernels<functors::Sin, RILL_GPU_FLOATS> sin("Sin");
const UnaryKernels<functors::Cos, RILL_GPU_FLOATS> cos("Cos");
const UnaryKernels<functors::Tan, RILL_GPU_FLOATS> tan("Tan");
const UnaryKernels<functors::Asin, RILL_GPU_FLOATS> asin("Asin");
const UnaryKernels<functors::Acos, RILL_GPU_FLOATS> acos("Acos");
const UnaryKernels<functors::Atan, RILL_GPU_FLOATS> atan("Atan");
const UnaryKernels<functors::Sinh, RILL_GPU_FLOATS> sinh("Sinh");
const UnaryKernels<functors::Cosh, RILL_GPU_FLOATS> cosh("Cosh");
const UnaryKernels<functors::Asinh, RILL_GPU_FLOATS> asinh("Asinh");
const UnaryKernels<functors::Acosh, RILL_GPU_FLOATS> acosh("Acosh");
const UnaryKernels<functors::Atanh, RILL_GPU_FLOATS> atanh("Atanh");
const UnaryKernels<functors::Erf, RILL_GPU_FLOATS> erf("Erf");
const UnaryKernels<functors::Erfc, RILL_GPU_FLOATS> erfc("Erfc");
const UnaryKernels<functors::Erfinv, RILL_GPU_FLOATS> erfinv("Erfinv");
const UnaryKernels<functors::Ndtri, RILL_GPU_FLOATS> ndtri("Ndtri");
const UnaryKernels<functors::Lgamma, RILL_GPU_FLOATS> lgamma("Lgamma");
const UnaryKernels<functors::Digamma, RILL_GPU_FLOATS> digamma("Digamma");
const BinaryKernels<functors::Zeta, float, double> zeta("Zeta");
const BinaryKernels<functors::Polygamma, float, double> polygamma("Polygamma");
const UnaryKernels<functors::Floor, RILL_GPU_FLOATS> floor("Floor");
const UnaryKernels<functors::Ceil, RILL_GPU_FLOATS> ceil("Ceil");
const UnaryKernels<functors::Rint, RILL_GPU_FLOATS> rint("Rint");
const UnaryKernels<functors::Round, RILL_GPU_FLOATS, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t>
    round("Round");
const PredicateKernels<functors::IsNan, RILL_GPU_FLOATS> is_nan("IsNan");
const PredicateKernels<functors::IsInf, RILL_GPU_FLOATS> is_inf("IsInf");
const PredicateKernels<functors::IsFinite, RILL_GPU_FLOATS> is_finite("IsFinite");

}  // namespace
}  // namespace rill::cuda
