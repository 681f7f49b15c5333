#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cpu {
namespace {

const UnaryKernels<functors::Exp, RILL_FLOATS, RILL_COMPLEX> exp("Exp");
const UnaryKernels<functors::Log, RILL_FLOATS, RILL_COMPLEX> log("Log");

}  // namespace
}  // namespace rill::cpu
