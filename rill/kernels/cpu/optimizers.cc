#include "rill/kernels/functors/optimizers.h"

#include "rill/kernels/cpu/optimizer_update.h"

namespace rill::cpu {
namespace {

using namespace functors::rules;

#define RILL_UPDATE(name, Rule, n) RILL_KERNEL(name, cpu, kFloatTypes, (update_cpu<Rule, n>))
RILL_UPDATE("ResourceApplyMomentum", Momentum, 2);
RILL_UPDATE("ResourceSparseApplyMomentum", Momentum, 2);
RILL_UPDATE("ResourceApplyKerasMomentum", KerasMomentum, 2);
RILL_UPDATE("ResourceSparseApplyKerasMomentum", KerasMomentum, 2);
RILL_UPDATE("ResourceApplyAdagrad", Adagrad, 2);
RILL_UPDATE("ResourceSparseApplyAdagrad", Adagrad, 2);
RILL_UPDATE("ResourceApplyAdagradV2", Adagrad, 2);
RILL_UPDATE("ResourceSparseApplyAdagradV2", Adagrad, 2);
RILL_UPDATE("ResourceApplyAdagradKeras", AdagradKeras, 2);
RILL_UPDATE("ResourceSparseApplyAdagradKeras", AdagradKeras, 2);
RILL_UPDATE("ResourceApplyAdadelta", Adadelta, 3);
RILL_UPDATE("ResourceSparseApplyAdadelta", Adadelta, 3);
RILL_UPDATE("ResourceApplyRMSProp", RMSProp, 3);
RILL_UPDATE("ResourceSparseApplyRMSProp", RMSProp, 3);
RILL_UPDATE("ResourceApplyCenteredRMSProp", CenteredRMSProp, 4);
RILL_UPDATE("ResourceSparseApplyCenteredRMSProp", CenteredRMSProp, 4);
RILL_UPDATE("ResourceApplyAdam", Adam, 3);
RILL_UPDATE("ResourceApplyAdamKeras", Adam, 3);
RILL_UPDATE("ResourceApplyAdamWithAmsgrad", AdamAmsgrad, 4);
RILL_UPDATE("ResourceApplyAdamWithAmsgradKeras", AdamAmsgrad, 4);
RILL_UPDATE("ResourceApplyAdaMax", AdaMax, 3);
RILL_UPDATE("ResourceApplyNadam", Nadam, 3);
RILL_UPDATE("ResourceApplyFtrl", Ftrl, 3);
RILL_UPDATE("ResourceSparseApplyFtrl", Ftrl, 3);
RILL_UPDATE("ResourceApplyFtrlV2", Ftrl, 3);
RILL_UPDATE("ResourceSparseApplyFtrlV2", Ftrl, 3);

}  // namespace
}  // namespace rill::cpu
