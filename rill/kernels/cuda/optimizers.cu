// Updates of variables in place: dense gradients, and rows by index. The step's numbers are read on
// the host and go along with the launch, or, in a recording, lie in memory.
#include "rill/kernels/functors/optimizers.h"

#include <utility>

#include "rill/kernels/cuda/recording.h"
#include "rill/kernels/cuda/runs.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cuda {
namespace {

using namespace functors::rules;

template <class Rule, class T, int N>
struct UpdateBody {
  Rule rule;
  T* slots[N];  // the variable first
  const T* grad;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    update(i, std::make_integer_sequence<int, N>{});
  }
  template <int... K>
  __device__ __forceinline__ void update(std::int64_t i, std::integer_sequence<int, K...>) const {
    using C = Computed<T>;
    C e[] = {static_cast<C>(slots[K][i])...};
    rule.apply(e[K]..., static_cast<C>(grad[i]));
    ((slots[K][i] = static_cast<T>(e[K])), ...);
  }
};

// The same with the step's numbers read from memory, for recordings.
template <class Rule, class T, int N>
struct StoredUpdateBody {
  const Rule* rule;
  UpdateBody<Rule, T, N> rest;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    UpdateBody<Rule, T, N> body = rest;
    body.rule = *rule;
    body(i);
  }
};

// N: the variable and its slots, the first N inputs.
template <template <class> class Rule, int N>
void update_cuda(KernelContext& c) noexcept {
  const int named = c.op().find_input("grad"),
            grad = named >= 0 ? named : c.op().find_input("delta");
  dispatch_floats(c.in(grad).dtype, [&]<class T>() {
    using C = Computed<T>;
    UpdateBody<Rule<C>, T, N> body{Rule<C>(c, Scalars<T, C>{c}), {}, c.in<T>(grad)};
    for (int k = 0; k < N; ++k) body.slots[k] = c.var<T>(k);
    if (CudaRecording* r = CudaRecording::current()) {
      const auto* rule = static_cast<const Rule<C>*>(r->parameters(&body.rule, sizeof(body.rule)));
      if (!r->refreshing())
        launch_loops(c, c.in(0).size, StoredUpdateBody<Rule<C>, T, N>{rule, body});
      return;
    }
    launch_loops(c, c.in(0).size, body);
  });
}

// Rows by index: one thread an element of a row makes all updates of it, in their order.
template <class Rule, class T, int N>
struct SparseUpdateBody {
  Runs runs;
  UpdateBody<Rule, T, N> update;
  const Rule* stored;  // of a recording; null: that of `update`
  std::int64_t inner;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t first = i / inner, j = i % inner;
    if (!runs.begins(first)) return;
    const std::int64_t at = static_cast<std::int64_t>(runs.place[first]) * inner + j,
                       end = runs.end(first);
    for (std::int64_t k = first; k < end; ++k)
      one(at, runs.row[k] * inner + j, std::make_integer_sequence<int, N>{});
  }
  template <int... K>
  __device__ __forceinline__ void one(std::int64_t at, std::int64_t from,
                                      std::integer_sequence<int, K...>) const {
    using C = Computed<T>;
    C e[] = {static_cast<C>(update.slots[K][at])...};
    const Rule& rule = stored ? *stored : update.rule;
    rule.apply(e[K]..., static_cast<C>(update.grad[from]));
    ((update.slots[K][at] = static_cast<T>(e[K])), ...);
  }
};
template <template <class> class Rule, int N>
void sparse_update_cuda(KernelContext& c) noexcept {
  const int grad = c.op().find_input("grad"), index = c.op().find_input("indices");
  const std::int64_t rows = c.in_shape(0).dim(0), inner = rows ? c.in(0).size / rows : 0;
  dispatch_floats(c.in(grad).dtype, [&]<class T>() {
    using C = Computed<T>;
    SparseUpdateBody<Rule<C>, T, N> body{
        {}, {Rule<C>(c, Scalars<T, C>{c}), {}, c.in<T>(grad)}, nullptr, inner};
    if (CudaRecording* r = CudaRecording::current()) {
      body.stored =
          static_cast<const Rule<C>*>(r->parameters(&body.update.rule, sizeof(body.update.rule)));
      if (r->refreshing()) return;
    }
    for (int k = 0; k < N; ++k) body.update.slots[k] = c.var<T>(k);
    dispatch_types<std::int32_t, std::int64_t>(c.in(index).dtype, [&]<class I>() {
      make_runs(c, c.in<I>(index), c.in(index).size, rows, Outside::report, "indices", body.runs);
    });
    if (!c.failed()) launch_loops(c, body.runs.n * inner, body);
  });
}

#define RILL_UPDATE(name, Rule, n) RILL_KERNEL(name, gpu, kFloatTypes, (update_cuda<Rule, n>))
RILL_UPDATE("ResourceApplyGradientDescent", GradientDescent, 1);
RILL_UPDATE("ResourceApplyMomentum", Momentum, 2);
RILL_UPDATE("ResourceApplyKerasMomentum", KerasMomentum, 2);
RILL_UPDATE("ResourceApplyAdagrad", Adagrad, 2);
RILL_UPDATE("ResourceApplyAdagradV2", Adagrad, 2);
RILL_UPDATE("ResourceApplyAdagradKeras", AdagradKeras, 2);
RILL_UPDATE("ResourceApplyAdadelta", Adadelta, 3);
RILL_UPDATE("ResourceApplyRMSProp", RMSProp, 3);
RILL_UPDATE("ResourceApplyCenteredRMSProp", CenteredRMSProp, 4);
RILL_UPDATE("ResourceApplyAdam", Adam, 3);
RILL_UPDATE("ResourceApplyAdamKeras", Adam, 3);
RILL_UPDATE("ResourceApplyAdamWithAmsgrad", AdamAmsgrad, 4);
RILL_UPDATE("ResourceApplyAdamWithAmsgradKeras", AdamAmsgrad, 4);
RILL_UPDATE("ResourceApplyAdaMax", AdaMax, 3);
RILL_UPDATE("ResourceApplyNadam", Nadam, 3);
RILL_UPDATE("ResourceApplyFtrl", Ftrl, 3);
RILL_UPDATE("ResourceApplyFtrlV2", Ftrl, 3);

#define RILL_SPARSE_UPDATE(name, Rule, n) \
  RILL_KERNEL(name, gpu, kFloatTypes, (sparse_update_cuda<Rule, n>))
RILL_SPARSE_UPDATE("ResourceSparseApplyMomentum", Momentum, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyKerasMomentum", KerasMomentum, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdagrad", Adagrad, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdagradV2", Adagrad, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdagradKeras", AdagradKeras, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdadelta", Adadelta, 3);
RILL_SPARSE_UPDATE("ResourceSparseApplyRMSProp", RMSProp, 3);
RILL_SPARSE_UPDATE("ResourceSparseApplyCenteredRMSProp", CenteredRMSProp, 4);
RILL_SPARSE_UPDATE("ResourceSparseApplyFtrl", Ftrl, 3);
RILL_SPARSE_UPDATE("ResourceSparseApplyFtrlV2", Ftrl, 3);

template <class F, class T>
struct AssignBody {
  T* var;
  const T* value;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using C = Computed<T>;
    var[i] = static_cast<T>(F::apply(static_cast<C>(var[i]), static_cast<C>(value[i])));
  }
};
template <class F>
void assign_update_cuda(KernelContext& c) noexcept {
  dispatch_reals(c.in(1).dtype, [&]<class T>() {
    launch_elements(c, c.in(0).size, AssignBody<F, T>{c.var<T>(0), c.in<T>(1)});
  });
}
RILL_KERNEL("AssignAddVariableOp", gpu, kRealTypes, assign_update_cuda<functors::Add>);
RILL_KERNEL("AssignSubVariableOp", gpu, kRealTypes, assign_update_cuda<functors::Sub>);

}  // namespace
}  // namespace rill::cuda
