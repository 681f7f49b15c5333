#include "rill/core/kernel.h"
#include "rill/core/observer.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/cpu/gemm.h"

namespace rill::cpu {
namespace {

// The type that products of T are computed in.
template <class T>
using Wide = std::conditional_t<
    std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>, float,
    std::conditional_t<
        std::is_integral_v<T> && (sizeof(T) < 4), std::int32_t,
        std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t,
                           std::conditional_t<std::is_same_v<T, std::uint64_t>, std::int64_t, T>>>>;

template <class T>
const Wide<T>* widened(KernelContext& c, int i) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    return c.in<T>(i);
  } else {
    note_widened();
    auto* w = c.scratch<Wide<T>>(c.in(i).size);
    if (w)
      for (std::int64_t k = 0; k < c.in(i).size; ++k) w[k] = static_cast<Wide<T>>(c.in<T>(i)[k]);
    return w;
  }
}

// Batches of products; `batches` gives the matrix of each side for an output.
template <class T>
void products(KernelContext& c, bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k,
              const BroadcastPlan* plan, const Wide<T>* a, const Wide<T>* b) {
  using W = Wide<T>;
  W* y = nullptr;
  if constexpr (std::is_same_v<T, W>)
    y = c.out<T>();
  else
    y = c.scratch<W>(c.out().size);
  if (!a || !b || !y) return;
  if (!plan) {
    gemm<W>(ta, tb, m, n, k, a, b, y);
  } else if (c.out().size > 0) {
    const std::int64_t count = c.out().size / (m * n);
    for_runs(*plan, 0, count, [&](std::int64_t at, std::int64_t ia, std::int64_t ib) {
      gemm<W>(ta, tb, m, n, k, a + ia * m * k, b + ib * k * n, y + at * m * n);
    });
  }
  if constexpr (!std::is_same_v<T, W>)
    for (std::int64_t i = 0; i < c.out().size; ++i) c.out<T>()[i] = static_cast<T>(y[i]);
}

void matmul_cpu(KernelContext& c) noexcept {
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const std::int64_t k = c.in_shape(0).dim(ta ? 0 : 1);
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    products<T>(c, ta, tb, c.out_shape().dim(0), c.out_shape().dim(1), k, nullptr, widened<T>(c, 0),
                widened<T>(c, 1));
  });
}
RILL_KERNEL("MatMul", cpu, kNumericTypes, matmul_cpu);

// The elements of an input, conjugated where it is taken as its adjoint.
template <class T>
const Wide<T>* side(KernelContext& c, int i, bool adjoint) {
  if constexpr (requires(T t) { t.real(); }) {
    if (!adjoint) return c.in<T>(i);
    T* copy = c.scratch<T>(c.in(i).size);
    for (std::int64_t k = 0; copy && k < c.in(i).size; ++k) copy[k] = std::conj(c.in<T>(i)[k]);
    return copy;
  } else {
    return widened<T>(c, i);
  }
}

void batch_matmul_cpu(KernelContext& c) noexcept {
  const bool ta = c.bool_attr("adj_x"), tb = c.bool_attr("adj_y");
  auto leading = [](const TensorShape& s) {
    Dims d = s.dims();
    d.pop_back();
    d.pop_back();
    return TensorShape(d);
  };
  BroadcastPlan plan =
      plan_broadcast(leading(c.in_shape(0)), leading(c.in_shape(1)), leading(c.out_shape()));
  // Every matrix is its own run.
  plan.outer.push_back(plan.inner);
  plan.a_strides.push_back(plan.a_row ? 1 : 0);
  plan.b_strides.push_back(plan.b_row ? 1 : 0);
  plan.inner = 1;
  const std::int64_t k = c.in_shape(0).dim(ta ? -2 : -1);
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    products<T>(c, ta, tb, c.out_shape().dim(-2), c.out_shape().dim(-1), k, &plan,
                side<T>(c, 0, ta), side<T>(c, 1, tb));
  });
}
RILL_KERNEL("BatchMatMulV2", cpu, kNumericTypes, batch_matmul_cpu);

// The product added to what is there: the sum never leaves the matrix multiplication.
void matmul_add_cpu(KernelContext& c) noexcept {
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const std::int64_t k = c.in_shape(0).dim(ta ? 0 : 1);
  dispatch_types<float, double>(c.out().dtype, [&]<class T>() {
    if (c.out().data != c.in(2).data) std::copy_n(c.in<T>(2), c.out().size, c.out<T>());
    gemm<T>(ta, tb, c.out_shape().dim(0), c.out_shape().dim(1), k, c.in<T>(0), c.in<T>(1),
            c.out<T>(), T(1));
  });
}
RILL_KERNEL("_MatMulAdd", cpu, kRealFloatTypes, matmul_add_cpu);

}  // namespace
}  // namespace rill::cpu
