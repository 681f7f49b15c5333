// Functions without vector code.
#include "rill/kernels/functors/special.h"
#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

const UnaryKernels<functors::Erf, RILL_FLOATS> erf("Erf");
const UnaryKernels<functors::Erfc, RILL_FLOATS> erfc("Erfc");
const UnaryKernels<functors::Erfinv, RILL_FLOATS> erfinv("Erfinv");
const UnaryKernels<functors::Ndtri, RILL_FLOATS> ndtri("Ndtri");
const UnaryKernels<functors::Lgamma, RILL_FLOATS> lgamma("Lgamma");
const UnaryKernels<functors::Digamma, RILL_FLOATS> digamma("Digamma");

const BinaryKernels<functors::Zeta, float, double> zeta("Zeta");
const BinaryKernels<functors::Polygamma, float, double> polygamma("Polygamma");

}  // namespace
}  // namespace rill::cpu
