#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cpu {
namespace {

const UnaryKernels<functors::Sin, RILL_FLOATS, RILL_COMPLEX> sin("Sin");
const UnaryKernels<functors::Cos, RILL_FLOATS, RILL_COMPLEX> cos("Cos");
const UnaryKernels<functors::Tan, RILL_FLOATS, RILL_COMPLEX> tan("Tan");
const UnaryKernels<functors::Asin, RILL_FLOATS, RILL_COMPLEX> asin("Asin");
const UnaryKernels<functors::Acos, RILL_FLOATS, RILL_COMPLEX> acos("Acos");
const UnaryKernels<functors::Atan, RILL_FLOATS, RILL_COMPLEX> atan("Atan");
const UnaryKernels<functors::Sinh, RILL_FLOATS, RILL_COMPLEX> sinh("Sinh");
const UnaryKernels<functors::Cosh, RILL_FLOATS, RILL_COMPLEX> cosh("Cosh");
const UnaryKernels<functors::Asinh, RILL_FLOATS, RILL_COMPLEX> asinh("Asinh");
const UnaryKernels<functors::Acosh, RILL_FLOATS, RILL_COMPLEX> acosh("Acosh");
const UnaryKernels<functors::Atanh, RILL_FLOATS, RILL_COMPLEX> atanh("Atanh");

}  // namespace
}  // namespace rill::cpu
