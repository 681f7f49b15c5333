#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/compare.h"

namespace rill::cuda {
namespace {

const BinaryKernels<functors::BitwiseAnd, RILL_GPU_INTS> bitwise_and("BitwiseAnd");
const BinaryKernels<functors::BitwiseOr, RILL_GPU_INTS> bitwise_or("BitwiseOr");
const BinaryKernels<functors::BitwiseXor, RILL_GPU_INTS> bitwise_xor("BitwiseXor");
const BinaryKernels<functors::LeftShift, RILL_GPU_INTS> left_shift("LeftShift");
const BinaryKernels<functors::RightShift, RILL_GPU_INTS> right_shift("RightShift");
const UnaryKernels<functors::Invert, RILL_GPU_INTS> invert("Invert");

}  // namespace
}  // namespace rill::cuda
