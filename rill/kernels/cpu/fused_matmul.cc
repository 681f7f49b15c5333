// A matrix product whose rows go through bias and activation while they are in the cache.
#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/cpu/gemm.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cpu {
namespace {

template <class T>
using Rows = void (*)(T* y, std::int64_t n);

template <class F, class T>
void through(T* y, std::int64_t n) {
  unary_loop<F>(y, y, n);
}

template <class T>
Rows<T> activation_of(std::string_view name) {
  if (name == "Relu") return through<functors::Relu, T>;
  if (name == "Tanh") return through<functors::Tanh, T>;
  if (name == "Sigmoid") return through<functors::Sigmoid, T>;
  return nullptr;
}

void fused_matmul_cpu(KernelContext& c) noexcept {
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const std::int64_t m = c.out_shape().dim(0), n = c.out_shape().dim(1),
                     k = c.in_shape(0).dim(ta ? 0 : 1);
  const auto ops = c.attr("fused_ops").as_strings();
  dispatch_types<float, double>(c.out().dtype, [&]<class T>() {
    Rows<T> activation = nullptr;
    if (ops.size() > 1 && !(activation = activation_of<T>(ops[1])))
      return c.fail(Code::unimplemented, format("[matmul] no activation \"{}\"", ops[1]));
    T* y = c.out<T>();
    gemm<T>(ta, tb, m, n, k, c.in<T>(0), c.in<T>(1), y);
    const T* bias = c.in<T>(2);
    parallel_for(m, std::max<std::int64_t>(1, kElementGrain / std::max<std::int64_t>(1, n)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     T* row = y + i * n;
                     binary_loop<functors::Add>(row, bias, row, n);
                     if (activation) activation(row, n);
                   }
                 });
  });
}
RILL_KERNEL("_FusedMatMul", cpu, kRealFloatTypes, fused_matmul_cpu);

}  // namespace
}  // namespace rill::cpu
