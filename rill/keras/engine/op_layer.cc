#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/keras/engine/op_layer_impl.h"
#include "rill/ops/state_ops.h"

namespace rill::keras {

OpLayer::OpLayer(const Op& op, AttrList attrs, int num_outputs)
    : LayerImpl(op.name == "StridedSlice" ? "SlicingOpLambda" : "TFOpLambda",
                {.name = unique_layer_name("tf." + function_name(op)), .dtype = float32}),
      op_(op),
      attrs_(attrs),
      num_outputs_(num_outputs) {
  autocast = false;
}

Nest OpLayer::call_nest(const Nest& inputs, const CallContext&) {
  std::vector<Tensor> leaves = inputs.flatten();
  // A variable is read now; ops on variables themselves take it as it is.
  if (op_.variable == VariableUse::none)
    for (Tensor& t : leaves)
      if (t.impl()->resource && t.dtype() == resource_dtype()) t = read_variable(t);
  std::vector<Tensor> out = execute_all(op_, as_inputs(leaves), attrs_.list(), num_outputs_);
  return out.size() == 1 ? Nest(out[0]) : Nest(std::move(out));
}

void OpLayer::add_config(Config& config) const { config.set("function", function_name(op_)); }

}  // namespace rill::keras
