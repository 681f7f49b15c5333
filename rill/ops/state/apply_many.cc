// The updates of many variables as one op, for the passes over graphs: programs never write it.
#include "rill/ops/op_helpers.h"
#include "rill/ops/state_ops.h"

namespace rill {
namespace {

// What tracing could not know of the gradients is checked when a plan knows it.
void apply_many_shape(ShapeContext& c) {
  const Op& update = find_op(c.string_attr("update"));
  const int each = static_cast<int>(update.inputs.size());
  const int named = update.find_input("grad"),
            grad = named >= 0 ? named : update.find_input("delta");
  for (int first = 0; first < c.num_inputs(); first += each) {
    const Tensor* handle = c.input_value(first);
    if (!handle) continue;
    const TensorShape var = value_shape(*handle);
    RILL_CHECK(var.is_compatible_with(c.input(first + grad)), invalid_argument,
               "[{}] the variable has shape {}, its gradient has shape {}", update.tag, var,
               c.input(first + grad));
  }
}

[[maybe_unused]] const Op& apply_many_op =
    OpBuilder("_ApplyMany", "apply_many")
        .attr("Tin: list(type)")
        .input("args: Tin")
        .attr("update: string")
        .type("T", kFloatTypes)
        .doc(
            "The op called `update` on one after the other of the groups of inputs that `args` "
            "holds; its attributes are this one's as well.")
        .shape(apply_many_shape)
        .no_gradient()
        .variable(VariableUse::update)
        .define();

}  // namespace
}  // namespace rill
