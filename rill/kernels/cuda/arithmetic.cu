#include "rill/kernels/functors/arithmetic.h"

#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cuda {
namespace {

const BinaryKernels<functors::Add, RILL_GPU_FLOATS, RILL_GPU_INTS> add("AddV2"), add_v1("Add");
const BinaryKernels<functors::Sub, RILL_GPU_FLOATS, RILL_GPU_INTS> sub("Sub");
const BinaryKernels<functors::Mul, RILL_GPU_FLOATS, RILL_GPU_INTS> mul("Mul");
const BinaryKernels<functors::Div, RILL_GPU_FLOATS> real_div("RealDiv");
const BinaryKernels<functors::Div, RILL_GPU_FLOATS, RILL_GPU_INTS> div("Div");
const BinaryKernels<functors::FloorDiv, RILL_GPU_FLOATS, RILL_GPU_INTS> floordiv("FloorDiv");
const BinaryKernels<functors::FloorMod, RILL_GPU_FLOATS, RILL_GPU_INTS> floormod("FloorMod");
const BinaryKernels<functors::DivNoNan, RILL_GPU_FLOATS> divide_no_nan("DivNoNan");
const BinaryKernels<functors::MulNoNan, RILL_GPU_FLOATS> multiply_no_nan("MulNoNan");
const BinaryKernels<functors::Xdivy, RILL_GPU_FLOATS> xdivy("Xdivy");
const BinaryKernels<functors::TruncateDiv, RILL_GPU_FLOATS, RILL_GPU_INTS> truncatediv(
    "TruncateDiv");
const BinaryKernels<functors::TruncateMod, RILL_GPU_FLOATS, std::int32_t, std::int64_t> truncatemod(
    "TruncateMod"),
    mod("Mod");
const BinaryKernels<functors::NextAfter, float, double> next_after("NextAfter");
const BinaryKernels<functors::Xlog1py, RILL_GPU_FLOATS> xlog1py("Xlog1py");
const BinaryKernels<functors::Xlogy, RILL_GPU_FLOATS> xlogy("Xlogy");
const BinaryKernels<functors::Maximum, RILL_GPU_FLOATS, RILL_GPU_INTS> maximum("Maximum");
const BinaryKernels<functors::Minimum, RILL_GPU_FLOATS, RILL_GPU_INTS> minimum("Minimum");
const BinaryKernels<functors::SquaredDifference, RILL_GPU_FLOATS, RILL_GPU_INTS> difference(
    "SquaredDifference");
const BinaryKernels<functors::Pow, RILL_GPU_FLOATS, RILL_GPU_INTS> pow("Pow");
const BinaryKernels<functors::Atan2, RILL_GPU_FLOATS> atan2("Atan2");

}  // namespace
}  // namespace rill::cuda
