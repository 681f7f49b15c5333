// Updates of variables in place: dense gradients. The step's numbers are read on
// the host and go along with the launch, or, in a recording, lie in memory.
#include "rill/kernels/functors/optimizers.h"

#include <utility>

#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/cuda/recording.h"
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
        launch_elements(c, c.in(0).size, StoredUpdateBody<Rule<C>, T, N>{rule, body});
      return;
    }
    launch_elements(c, c.in(0).size, body);
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
  dispatch_types<float, double, half, bfloat16_t, std::int32_t, std::int64_t>(
      c.in(1).dtype, [&]<class T>() {
        launch_elements(c, c.in(0).size, AssignBody<F, T>{c.var<T>(0), c.in<T>(1)});
      });
}
constexpr TypeSet kTypes = kFloatTypes | TypeSet{int32, int64};
RILL_KERNEL("AssignAddVariableOp", gpu, kTypes, assign_update_cuda<functors::Add>);
RILL_KERNEL("AssignSubVariableOp", gpu, kTypes, assign_update_cuda<functors::Sub>);

}  // namespace
}  // namespace rill::cuda
