#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/cuda/reduce.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cuda {
namespace {

// A tensor as [outer, channels, inner].
Dims channels_of(const KernelContext& c, const TensorShape& s) {
  const int axis = c.string_attr("data_format") == "NCHW" ? 1 : s.rank() - 1;
  Dims r{1, 1, 1};
  for (int i = 0; i < s.rank(); ++i) r[i < axis ? 0 : i == axis ? 1 : 2] *= s.dim(i);
  return r;
}

void bias_add_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const Dims dims = channels_of(c, c.out_shape());
  dispatch_reals(c.out().dtype, [&]<class T>() {
    using F = functors::Add;
    Walk<2> walk;
    if (make_walk<2>(c, dims, {row_major(dims), Dims{0, 1, 0}}, walk))
      broadcast(c, F{}, c.in<T>(0), c.in<T>(1), c.out<T>(), walk, {});
  });
}
RILL_KERNEL("BiasAdd", gpu, kRealTypes, bias_add_cuda);

void bias_add_grad_cuda(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    reduce<SumOf, Computed<T>>(c, c.in<T>(0), c.out<T>(), channels_of(c, c.in_shape(0)), {1, 0, 1},
                               CastTo<T>{});
  });
}
RILL_KERNEL("BiasAddGrad", gpu, kRealTypes, bias_add_grad_cuda);

}  // namespace
}  // namespace rill::cuda
