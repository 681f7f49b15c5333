#include "rill/kernels/functors/compare.h"

#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

const CompareKernels<functors::GreaterEqual, RILL_FLOATS, RILL_INTS> greater_equal("GreaterEqual");

}  // namespace
}  // namespace rill::cpu
