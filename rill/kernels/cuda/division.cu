#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cuda {
namespace {

const BinaryKernels<functors::Div, RILL_GPU_FLOATS> real_div("RealDiv");
const BinaryKernels<functors::Div, RILL_GPU_FLOATS, RILL_GPU_INTS> div("Div");
const BinaryKernels<functors::FloorDiv, RILL_GPU_FLOATS, RILL_GPU_INTS> floordiv("FloorDiv");
const BinaryKernels<functors::FloorMod, RILL_GPU_FLOATS, RILL_GPU_INTS> floormod("FloorMod");
const BinaryKernels<functors::DivNoNan, RILL_GPU_FLOATS> divide_no_nan("DivNoNan");
const BinaryKernels<functors::Xdivy, RILL_GPU_FLOATS> xdivy("Xdivy");
const BinaryKernels<functors::TruncateDiv, RILL_GPU_FLOATS, RILL_GPU_INTS> truncatediv(
    "TruncateDiv");
const BinaryKernels<functors::TruncateMod, RILL_GPU_FLOATS, std::int32_t, std::int64_t> truncatemod(
    "TruncateMod"),
    mod("Mod");

}  // namespace
}  // namespace rill::cuda
