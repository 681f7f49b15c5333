#include "rill/kernels/functors/optimizers.h"

#include "rill/kernels/cpu/optimizer_update.h"

namespace rill::cpu {
namespace {

using namespace functors::rules;

#define RILL_SPARSE_UPDATE(name, Rule, n) RILL_KERNEL(name, cpu, kFloatTypes, (update_cpu<Rule, n>))
#define RILL_MANY_UPDATES(name, Rule, n)                                                    \
  const ManyUpdatesRegistration RILL_KERNEL_JOIN(many_, __COUNTER__)(name, DeviceType::cpu, \
                                                                     update_many_cpu<Rule, n>)
#define RILL_UPDATE(name, Rule, n)   \
  RILL_SPARSE_UPDATE(name, Rule, n); \
  RILL_MANY_UPDATES(name, Rule, n)
RILL_MANY_UPDATES("ResourceApplyGradientDescent", GradientDescent, 1);  // one: in state.cc
RILL_UPDATE("ResourceApplyMomentum", Momentum, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyMomentum", Momentum, 2);
RILL_UPDATE("ResourceApplyKerasMomentum", KerasMomentum, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyKerasMomentum", KerasMomentum, 2);
RILL_UPDATE("ResourceApplyAdagrad", Adagrad, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdagrad", Adagrad, 2);
RILL_UPDATE("ResourceApplyAdagradV2", Adagrad, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdagradV2", Adagrad, 2);
RILL_UPDATE("ResourceApplyAdagradKeras", AdagradKeras, 2);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdagradKeras", AdagradKeras, 2);
RILL_UPDATE("ResourceApplyAdadelta", Adadelta, 3);
RILL_SPARSE_UPDATE("ResourceSparseApplyAdadelta", Adadelta, 3);
RILL_UPDATE("ResourceApplyRMSProp", RMSProp, 3);
RILL_SPARSE_UPDATE("ResourceSparseApplyRMSProp", RMSProp, 3);
RILL_UPDATE("ResourceApplyCenteredRMSProp", CenteredRMSProp, 4);
RILL_SPARSE_UPDATE("ResourceSparseApplyCenteredRMSProp", CenteredRMSProp, 4);
RILL_UPDATE("ResourceApplyAdam", Adam, 3);
RILL_UPDATE("ResourceApplyAdamKeras", Adam, 3);
RILL_UPDATE("ResourceApplyAdamWithAmsgrad", AdamAmsgrad, 4);
RILL_UPDATE("ResourceApplyAdamWithAmsgradKeras", AdamAmsgrad, 4);
RILL_UPDATE("ResourceApplyAdaMax", AdaMax, 3);
RILL_UPDATE("ResourceApplyNadam", Nadam, 3);
RILL_UPDATE("ResourceApplyFtrl", Ftrl, 3);
RILL_SPARSE_UPDATE("ResourceSparseApplyFtrl", Ftrl, 3);
RILL_UPDATE("ResourceApplyFtrlV2", Ftrl, 3);
RILL_SPARSE_UPDATE("ResourceSparseApplyFtrlV2", Ftrl, 3);

}  // namespace
}  // namespace rill::cpu
