#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cuda {
namespace {

const BinaryKernels<functors::Add, RILL_GPU_FLOATS, RILL_GPU_INTS> add("AddV2"), add_v1("Add");
const BinaryKernels<functors::Sub, RILL_GPU_FLOATS, RILL_GPU_INTS> sub("Sub");
const BinaryKernels<functors::Mul, RILL_GPU_FLOATS, RILL_GPU_INTS> mul("Mul");
const BinaryKernels<functors::Maximum, RILL_GPU_FLOATS, RILL_GPU_INTS> maximum("Maximum");
const BinaryKernels<functors::Minimum, RILL_GPU_FLOATS, RILL_GPU_INTS> minimum("Minimum");
const BinaryKernels<functors::SquaredDifference, RILL_GPU_FLOATS, RILL_GPU_INTS> difference(
    "SquaredDifference");

}  // namespace
}  // namespace rill::cuda
