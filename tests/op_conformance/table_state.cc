#include "row.h"

namespace rill::conformance {
namespace {

// A number of the dtype under test.
Input n(double value) { return x({}, std::vector<double>{value}); }
Input positive() { return variable({3, 2}, 0.5, 2); }
Input rows() { return values(int32, {2}, {2, 0}); }
const char* const kOurs =
    "TensorFlow composes it of several ops; keras/optimizers/optimizers_test.cc compares with "
    "Keras";

}  // namespace

RILL_ROWS(state) {
  constexpr const char* kHandles = "reads a resource; eager/variable_test.cc";
  row("ReadVariableOp")
      .sample({variable({2})}, {{"dtype", float32}})
      .dtypes({float32})
      .not_in_tensorflow(kHandles);
  row("AssignVariableOp").sample({variable({2}), x({2}, 3, 4)}, {}).dtypes({float32, int32});
  row("AssignAddVariableOp")
      .sample({variable({2, 3}), x({2, 3})})
      .dtypes(kFloatTypes | TypeSet{int32, int64})
      .error({variable({2}), x({3})}, {},
             "variable \"v0:0\" has shape \\[2\\], the value has shape \\[3\\]");
  row("AssignSubVariableOp")
      .sample({variable({2, 3}), x({2, 3})})
      .dtypes(kFloatTypes | TypeSet{int32, int64});
  row("ResourceApplyGradientDescent").sample({variable({2, 3}), x({}, 0.1, 0.2), x({2, 3})});

  // Updates: the variable and its slots after one step.
  row("ResourceApplyMomentum")
      .sample({variable({3, 2}), variable({3, 2}), n(0.1), x({3, 2}), n(0.9)})
      .sample({variable({3, 2}), variable({3, 2}), n(0.1), x({3, 2}), n(0.9)},
              {{"use_nesterov", true}})
      .dtypes(kFloatTypes)
      .error({variable({3}), variable({2}), n(0.1), x({3}), n(0.9)}, {},
             "slot \"accum\" has shape \\[2\\], the variable has shape \\[3\\]")
      .error({variable({3}), variable({3}), n(0.1), x({2}), n(0.9)}, {},
             "the variable has shape \\[3\\], its gradient has shape \\[2\\]");
  row("ResourceSparseApplyMomentum")
      .sample({variable({3, 2}), variable({3, 2}), n(0.1), x({2, 2}), rows(), n(0.9)})
      .dtypes(kFloatTypes)
      .error(
          {variable({3, 2}), variable({3, 2}), n(0.1), x({1, 2}), values(int32, {1}, {3}), n(0.9)},
          {}, "indices\\[0\\] = 3 is not in \\[0, 3\\)");
  row("ResourceApplyKerasMomentum")
      .sample({variable({3, 2}), variable({3, 2}), n(0.1), x({3, 2}), n(0.9)})
      .sample({variable({3, 2}), variable({3, 2}), n(0.1), x({3, 2}), n(0.9)},
              {{"use_nesterov", true}})
      .dtypes(kFloatTypes);
  row("ResourceSparseApplyKerasMomentum")
      .sample({variable({3, 2}), variable({3, 2}), n(0.1), x({2, 2}), rows(), n(0.9)})
      .dtypes(kFloatTypes);
  row("ResourceApplyAdagrad")
      .sample({variable({3, 2}), positive(), n(0.1), x({3, 2})})
      .sample({variable({3, 2}), positive(), n(0.1), x({3, 2})}, {{"update_slots", false}})
      .dtypes(kFloatTypes);
  row("ResourceSparseApplyAdagrad")
      .sample({variable({3, 2}), positive(), n(0.1), x({2, 2}), rows()})
      .dtypes(kFloatTypes);
  row("ResourceApplyAdagradV2")
      .sample({variable({3, 2}), positive(), n(0.1), n(0.01), x({3, 2})})
      .dtypes(kFloatTypes);
  row("ResourceSparseApplyAdagradV2")
      .sample({variable({3, 2}), positive(), n(0.1), n(0.01), x({2, 2}), rows()})
      .dtypes(kFloatTypes);
  row("ResourceApplyAdadelta")
      .sample({variable({3, 2}), positive(), positive(), n(0.1), n(0.95), n(0.01), x({3, 2})})
      .dtypes(kFloatTypes);
  row("ResourceSparseApplyAdadelta")
      .sample(
          {variable({3, 2}), positive(), positive(), n(0.1), n(0.95), n(0.01), x({2, 2}), rows()})
      .dtypes(kFloatTypes);
  row("ResourceApplyRMSProp")
      .sample({variable({3, 2}), positive(), variable({3, 2}), n(0.1), n(0.9), n(0.5), n(0.01),
               x({3, 2})})
      .dtypes(kFloatTypes);
  row("ResourceSparseApplyRMSProp")
      .sample({variable({3, 2}), positive(), variable({3, 2}), n(0.1), n(0.9), n(0.5), n(0.01),
               x({2, 2}), rows()})
      .dtypes(kFloatTypes);
  row("ResourceApplyCenteredRMSProp")
      .sample({variable({3, 2}), variable({3, 2}, -0.2, 0.2), positive(), variable({3, 2}), n(0.1),
               n(0.9), n(0.5), n(0.01), x({3, 2})})
      .dtypes(kFloatTypes);
  row("ResourceSparseApplyCenteredRMSProp")
      .sample({variable({3, 2}), variable({3, 2}, -0.2, 0.2), positive(), variable({3, 2}), n(0.1),
               n(0.9), n(0.5), n(0.01), x({2, 2}), rows()})
      .dtypes(kFloatTypes);
  for (bool nesterov : {false, true}) {
    static Row& adam = row("ResourceApplyAdam").dtypes(kFloatTypes).tolerance(1e-5);
    adam.sample({variable({3, 2}), variable({3, 2}), positive(), n(0.5), n(0.25), n(0.1), n(0.875),
                 n(0.9375), n(0.01), x({3, 2})},
                {{"use_nesterov", nesterov}});
  }
  row("ResourceApplyAdamWithAmsgrad")
      .sample({variable({3, 2}), variable({3, 2}), positive(), positive(), n(0.5), n(0.25), n(0.1),
               n(0.875), n(0.9375), n(0.01), x({3, 2})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5);
  row("ResourceApplyAdaMax")
      .sample({variable({3, 2}), variable({3, 2}), positive(), n(0.5), n(0.1), n(0.875), n(0.9375),
               n(0.01), x({3, 2})})
      .dtypes(kFloatTypes);
  for (double power : {-0.5, -0.75}) {
    static Row& ftrl = row("ResourceApplyFtrl").tolerance(1e-5);
    static Row& ftrl_v2 = row("ResourceApplyFtrlV2").tolerance(1e-5);
    static Row& sparse = row("ResourceSparseApplyFtrl").tolerance(1e-5);
    static Row& sparse_v2 = row("ResourceSparseApplyFtrlV2").tolerance(1e-5);
    for (bool by_lr : {false, true}) {
      ftrl.sample({variable({3, 2}), positive(), variable({3, 2}), x({3, 2}), n(0.1), n(0.5),
                   n(0.25), n(power)},
                  {{"multiply_linear_by_lr", by_lr}});
      ftrl_v2.sample({variable({3, 2}), positive(), variable({3, 2}), x({3, 2}), n(0.1), n(0.5),
                      n(0.25), n(0.125), n(power)},
                     {{"multiply_linear_by_lr", by_lr}});
      sparse.sample({variable({3, 2}), positive(), variable({3, 2}), x({2, 2}), rows(), n(0.1),
                     n(0.5), n(0.25), n(power)},
                    {{"multiply_linear_by_lr", by_lr}});
      sparse_v2.sample({variable({3, 2}), positive(), variable({3, 2}), x({2, 2}), rows(), n(0.1),
                        n(0.5), n(0.25), n(0.125), n(power)},
                       {{"multiply_linear_by_lr", by_lr}});
    }
  }
  row("ResourceApplyNadam")
      .not_in_tensorflow(kOurs)
      .sample({variable({3, 2}), variable({3, 2}), positive(), n(0.4), n(0.2), n(0.5), n(0.5),
               n(0.25), n(0.1), n(0.875), n(0.9375), n(0.01), x({3, 2})});
  row("ResourceApplyAdamKeras")
      .not_in_tensorflow(kOurs)
      .sample({variable({3, 2}), variable({3, 2}), positive(), n(0.5), n(0.25), n(0.1), n(0.125),
               n(0.0625), n(0.01), x({3, 2})});
  row("ResourceApplyAdamWithAmsgradKeras")
      .not_in_tensorflow(kOurs)
      .sample({variable({3, 2}), variable({3, 2}), positive(), positive(), n(0.5), n(0.25), n(0.1),
               n(0.125), n(0.0625), n(0.01), x({3, 2})});
  row("ResourceApplyAdagradKeras")
      .not_in_tensorflow(kOurs)
      .sample({variable({3, 2}), positive(), n(0.1), n(0.01), x({3, 2})});
  row("ResourceSparseApplyAdagradKeras")
      .not_in_tensorflow(kOurs)
      .sample({variable({3, 2}), positive(), n(0.1), n(0.01), x({2, 2}), rows()});

  for (const char* name : {"Update", "Add", "Sub", "Mul", "Div", "Max", "Min"})
    row(std::string("ResourceScatter") + name)
        .sample({variable({3, 2}, 1, 4), values(int32, {2}, {2, 0}), x({2, 2}, 1, 4)})
        .sample({variable({3, 2}, 1, 4), values(int64, {2, 2}, {2, 0, 1, 1}), x({2, 2, 2}, 1, 4)})
        .sample({variable({3, 2}, 1, 4), values(int32, {1}, {1}), x({}, 1, 4)})
        .dtypes({float32, float64, int32, int64})
        .error({variable({3, 2}), values(int32, {1}, {3}), x({1, 2})}, {},
               "indices\\[0\\] = 3 is not in \\[0, 3\\)")
        .error({variable({3, 2}), values(int32, {1}, {0}), x({1, 3})}, {},
               "updates have shape \\[1, 3\\]; expected \\[1, 2\\]");
  row("ResourceGather")
      .sample({variable({3, 2}), values(int32, {2, 2}, {2, 0, 1, 1})}, {{"dtype", float32}})
      .dtypes({float32});
}

}  // namespace rill::conformance
