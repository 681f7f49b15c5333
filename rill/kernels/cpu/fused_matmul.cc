// A matrix product whose rows then go through bias and activation.
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/finish_rows.h"
#include "rill/kernels/cpu/gemm.h"

namespace rill::cpu {
namespace {

void fused_matmul_cpu(KernelContext& c) noexcept {
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const std::int64_t m = c.out_shape().dim(0), n = c.out_shape().dim(1),
                     k = c.in_shape(0).dim(ta ? 0 : 1);
  dispatch_types<float, double>(c.out().dtype, [&]<class T>() {
    gemm<T>(ta, tb, m, n, k, c.in<T>(0), c.in<T>(1), c.out<T>());
  });
  finish_rows(c);
}
RILL_KERNEL("_FusedMatMul", cpu, kRealFloatTypes, fused_matmul_cpu);

}  // namespace
}  // namespace rill::cpu
