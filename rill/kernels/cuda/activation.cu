#include "rill/kernels/functors/activation.h"

#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cuda {
namespace {

const UnaryKernels<functors::Relu, RILL_GPU_FLOATS, RILL_GPU_INTS> relu("Relu");
const UnaryKernels<functors::Relu6, RILL_GPU_FLOATS, RILL_GPU_INTS> relu6("Relu6");
const UnaryKernels<functors::Elu, RILL_GPU_FLOATS> elu("Elu");
const UnaryKernels<functors::Selu, RILL_GPU_FLOATS> selu("Selu");
const UnaryKernels<functors::Softplus, RILL_GPU_FLOATS> softplus("Softplus");
const UnaryKernels<functors::Softsign, RILL_GPU_FLOATS> softsign("Softsign");
const UnaryKernels<functors::Tanh, RILL_GPU_FLOATS> tanh("Tanh");
const UnaryKernels<functors::Sigmoid, RILL_GPU_FLOATS> sigmoid("Sigmoid");
const BinaryKernels<functors::ReluGrad, RILL_GPU_FLOATS, RILL_GPU_INTS> relu_grad("ReluGrad");
const BinaryKernels<functors::Relu6Grad, RILL_GPU_FLOATS, RILL_GPU_INTS> relu6_grad("Relu6Grad");
const BinaryKernels<functors::EluGrad, RILL_GPU_FLOATS> elu_grad("EluGrad");
const BinaryKernels<functors::SeluGrad, RILL_GPU_FLOATS> selu_grad("SeluGrad");
const BinaryKernels<functors::SoftplusGrad, RILL_GPU_FLOATS> softplus_grad("SoftplusGrad");
const BinaryKernels<functors::SoftsignGrad, RILL_GPU_FLOATS> softsign_grad("SoftsignGrad");
const BinaryKernels<functors::TanhGrad, RILL_GPU_FLOATS> tanh_grad("TanhGrad");
const BinaryKernels<functors::SigmoidGrad, RILL_GPU_FLOATS> sigmoid_grad("SigmoidGrad");
const BinaryKernels<functors::InvGrad, RILL_GPU_FLOATS> reciprocal_grad("ReciprocalGrad"),
    inv_grad("InvGrad");
const BinaryKernels<functors::SqrtGrad, RILL_GPU_FLOATS> sqrt_grad("SqrtGrad");
const BinaryKernels<functors::RsqrtGrad, RILL_GPU_FLOATS> rsqrt_grad("RsqrtGrad");

// The attribute is a float32 wherever it is stored.
double alpha_of(const KernelContext& c) {
  return static_cast<double>(static_cast<float>(c.float_attr("alpha")));
}
void leaky_relu_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    unary<functors::LeakyRelu, T>(c, functors::LeakyRelu(alpha_of(c)));
  });
}
void leaky_relu_grad_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    binary<functors::LeakyReluGrad, T>(c, functors::LeakyReluGrad(alpha_of(c)));
  });
}
RILL_KERNEL("LeakyRelu", gpu, kFloatTypes, leaky_relu_cuda);
RILL_KERNEL("LeakyReluGrad", gpu, kFloatTypes, leaky_relu_grad_cuda);

}  // namespace
}  // namespace rill::cuda
