#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cpu {
namespace {

using functors::Div, functors::FloorDiv, functors::FloorMod, functors::TruncateDiv,
    functors::TruncateMod;
const BinaryKernels<Div, RILL_FLOATS, RILL_INTS, RILL_COMPLEX> div("Div");
const BinaryKernels<FloorDiv, RILL_FLOATS, RILL_INTS> floordiv("FloorDiv");
const BinaryKernels<TruncateDiv, RILL_FLOATS, RILL_INTS> truncatediv("TruncateDiv");
const BinaryKernels<FloorMod, RILL_FLOATS, RILL_INTS> floormod("FloorMod");
const BinaryKernels<TruncateMod, RILL_FLOATS, std::int32_t, std::int64_t> truncatemod(
    "TruncateMod"),
    mod("Mod");
const BinaryKernels<functors::DivNoNan, RILL_FLOATS, RILL_COMPLEX> divide_no_nan("DivNoNan");
const BinaryKernels<functors::MulNoNan, RILL_FLOATS, RILL_COMPLEX> multiply_no_nan("MulNoNan");
const BinaryKernels<functors::Xdivy, RILL_FLOATS, RILL_COMPLEX> xdivy("Xdivy");
const BinaryKernels<functors::Xlogy, RILL_FLOATS, RILL_COMPLEX> xlogy("Xlogy");
const BinaryKernels<functors::Xlog1py, RILL_FLOATS, RILL_COMPLEX> xlog1py("Xlog1py");

}  // namespace
}  // namespace rill::cpu
