#include "rill/kernels/functors/activation.h"

#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

const UnaryKernels<functors::Relu, RILL_FLOATS, RILL_INTS> relu("Relu");
const UnaryKernels<functors::Relu6, RILL_FLOATS, RILL_INTS> relu6("Relu6");
const UnaryKernels<functors::Elu, RILL_FLOATS> elu("Elu");
const UnaryKernels<functors::Selu, RILL_FLOATS> selu("Selu");
const UnaryKernels<functors::Softplus, RILL_FLOATS> softplus("Softplus");
const UnaryKernels<functors::Softsign, RILL_FLOATS> softsign("Softsign");
const BinaryKernels<functors::ReluGrad, RILL_FLOATS, RILL_INTS> relu_grad("ReluGrad");
const BinaryKernels<functors::Relu6Grad, RILL_FLOATS, RILL_INTS> relu6_grad("Relu6Grad");
const BinaryKernels<functors::EluGrad, RILL_FLOATS> elu_grad("EluGrad");
const BinaryKernels<functors::SeluGrad, RILL_FLOATS> selu_grad("SeluGrad");
const BinaryKernels<functors::SoftplusGrad, RILL_FLOATS> softplus_grad("SoftplusGrad");
const BinaryKernels<functors::SoftsignGrad, RILL_FLOATS> softsign_grad("SoftsignGrad");

// The attribute is a float32 wherever it is stored.
double alpha_of(const KernelContext& c) {
  return static_cast<double>(static_cast<float>(c.float_attr("alpha")));
}

void leaky_relu_cpu(KernelContext& c) noexcept {
  const functors::LeakyRelu f(alpha_of(c));
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    parallel_for(c.out().size, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      unary_loop(c.in<T>(0) + begin, c.out<T>() + begin, end - begin, f);
    });
  });
}
RILL_KERNEL("LeakyRelu", cpu, kFloatTypes, leaky_relu_cpu);

void leaky_relu_grad_cpu(KernelContext& c) noexcept {
  const functors::LeakyReluGrad f(alpha_of(c));
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    parallel_for(c.out().size, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      binary_loop(c.in<T>(0) + begin, c.in<T>(1) + begin, c.out<T>() + begin, end - begin, f);
    });
  });
}
RILL_KERNEL("LeakyReluGrad", cpu, kFloatTypes, leaky_relu_grad_cpu);

}  // namespace
}  // namespace rill::cpu
