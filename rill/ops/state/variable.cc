// Reading and assigning variables.
#include "rill/ops/op_helpers.h"
#include "rill/ops/state_ops.h"

namespace rill {
namespace {

void read_shape(ShapeContext& c) {
  const Tensor* handle = c.input_value(0);
  if (!handle) return unknown_shape(c);
  c.set_output(0, value_shape(*handle));
}
void read_grad(GradContext& g) { g.set(0, g.raw_dy()); }
const Op& read_op =
    OpBuilder("ReadVariableOp", "read_variable")
        .input("resource: resource")
        .output("value: dtype")
        .doc("The value of a variable now; later assignments do not change it.")
        .shape(read_shape)
        .gradient(read_grad)
        .variable(VariableUse::read)
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) { out[0] = variable_cell(*in[0]).read(); })
        .define();

void no_outputs(ShapeContext&) {}
const Op& assign_op =
    OpBuilder("AssignVariableOp", "assign")
        .input("resource: resource")
        .input("value: dtype")
        .attr("validate_shape: bool = false")
        .doc("Gives a variable a new value.")
        .shape(no_outputs)
        .no_gradient()
        .variable(VariableUse::assign)
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor>) { variable_cell(*in[0]).assign(*in[1]); })
        .define();

// Checks a delta against the variable it changes.
void update_shape(ShapeContext& c) {
  const Tensor* handle = c.input_value(0);
  if (!handle) return;
  const VariableCell& cell = variable_cell(*handle);
  RILL_CHECK(cell.dtype.defined(), failed_precondition,
             "[{}] this Variable was default-constructed and has no value yet; assign to it first",
             c.tag());
  const TensorShape shape = value_shape(*handle);
  RILL_CHECK(shape.is_compatible_with(c.input(1)), invalid_argument,
             "[{}] variable \"{}\" has shape {}, the value has shape {}", c.tag(), cell.name, shape,
             c.input(1));
  RILL_CHECK(cell.dtype == c.input_dtype(1), invalid_argument,
             "[{}] variable \"{}\" is {}, the value is {}; write tf::cast(value, tf::{})", c.tag(),
             cell.name, cell.dtype, c.input_dtype(1), cell.dtype);
}
const Op& assign_add_op = OpBuilder("AssignAddVariableOp", "assign_add")
                              .input("resource: resource")
                              .input("value: dtype")
                              .type("dtype", kNumericTypes)
                              .doc("Adds to a variable.")
                              .shape(update_shape)
                              .no_gradient()
                              .variable(VariableUse::update)
                              .define();
const Op& assign_sub_op = OpBuilder("AssignSubVariableOp", "assign_sub")
                              .input("resource: resource")
                              .input("value: dtype")
                              .type("dtype", kNumericTypes)
                              .doc("Subtracts from a variable.")
                              .shape(update_shape)
                              .no_gradient()
                              .variable(VariableUse::update)
                              .define();

void run(const Op& op, const Tensor& handle, const Operand& value) {
  // A bare number takes the variable's dtype.
  const Arg v(value, variable_cell(handle).dtype);
  execute_all(op, {handle, v});
}

}  // namespace

TensorShape value_shape(const Tensor& handle) { return variable_cell(handle).value_shape(); }
Tensor read_variable(const Tensor& handle) {
  return execute(read_op, {handle}, {{"dtype", variable_cell(handle).dtype}});
}
void assign_variable(const Tensor& handle, const Operand& value) { run(assign_op, handle, value); }
void assign_add_variable(const Tensor& handle, const Operand& value) {
  run(assign_add_op, handle, value);
}
void assign_sub_variable(const Tensor& handle, const Operand& value) {
  run(assign_sub_op, handle, value);
}

}  // namespace rill
