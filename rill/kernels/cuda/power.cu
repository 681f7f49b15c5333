#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cuda {
namespace {

const BinaryKernels<functors::MulNoNan, RILL_GPU_FLOATS> multiply_no_nan("MulNoNan");
const BinaryKernels<functors::NextAfter, float, double> next_after("NextAfter");
const BinaryKernels<functors::Xlog1py, RILL_GPU_FLOATS> xlog1py("Xlog1py");
const BinaryKernels<functors::Xlogy, RILL_GPU_FLOATS> xlogy("Xlogy");
const BinaryKernels<functors::Pow, RILL_GPU_FLOATS, RILL_GPU_INTS> pow("Pow");
const BinaryKernels<functors::Atan2, RILL_GPU_FLOATS> atan2("Atan2");

}  // namespace
}  // namespace rill::cuda
