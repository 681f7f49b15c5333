// Rows of variables: read by index, changed by index.
#include "rill/ops/array/gathered_rows_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/state_ops.h"

namespace rill {
namespace {

TensorShape variable_shape(ShapeContext& c) {
  const Tensor* handle = c.input_value(0);
  return handle ? value_shape(*handle) : TensorShape();
}

void scatter_shape(ShapeContext& c) {
  if (const Tensor* handle = c.input_value(0)) {
    const VariableCell& cell = variable_cell(*handle);
    RILL_CHECK(
        cell.dtype.defined(), failed_precondition,
        "[{}] this Variable was default-constructed and has no value yet; assign to it first",
        c.tag());
    RILL_CHECK(cell.dtype == c.input_dtype(2), invalid_argument,
               "[{}] variable \"{}\" is {}, updates are {}; write tf::cast(updates, tf::{})",
               c.tag(), cell.name, cell.dtype, c.input_dtype(2), cell.dtype);
  }
  const TensorShape var = variable_shape(c), &indices = c.input(1), &updates = c.input(2);
  if (!var.has_rank() || !indices.has_rank() || !updates.has_rank()) return;
  RILL_CHECK(var.rank() > 0, invalid_argument, "[{}] a scalar variable has no rows", c.tag());
  Dims want = indices.dims();
  for (int i = 1; i < var.rank(); ++i) want.push_back(var.dim(i));
  RILL_CHECK(updates.rank() == 0 || TensorShape(want).is_compatible_with(updates), invalid_argument,
             "[{}] updates have shape {}; expected {} for indices {} and a variable of shape {}",
             c.tag(), updates, TensorShape(want), indices, var);
}

#define RILL_SCATTER(id, name, tag, text)           \
  const Op& id = OpBuilder(name, tag)               \
                     .input("resource: resource")   \
                     .input("indices: Tindices")    \
                     .input("updates: dtype")       \
                     .type("dtype", kNumericTypes)  \
                     .type("Tindices", kIndexTypes) \
                     .doc(text)                     \
                     .shape(scatter_shape)          \
                     .no_gradient()                 \
                     .variable(VariableUse::update) \
                     .define();
RILL_SCATTER(update_op, "ResourceScatterUpdate", "scatter_update",
             "variable[indices[i]] = updates[i].")
RILL_SCATTER(add_op, "ResourceScatterAdd", "scatter_add", "variable[indices[i]] += updates[i].")
RILL_SCATTER(sub_op, "ResourceScatterSub", "scatter_sub", "variable[indices[i]] -= updates[i].")
RILL_SCATTER(mul_op, "ResourceScatterMul", "scatter_mul", "variable[indices[i]] *= updates[i].")
RILL_SCATTER(div_op, "ResourceScatterDiv", "scatter_div", "variable[indices[i]] /= updates[i].")
RILL_SCATTER(max_op, "ResourceScatterMax", "scatter_max",
             "variable[indices[i]] = the larger of it and updates[i].")
RILL_SCATTER(min_op, "ResourceScatterMin", "scatter_min",
             "variable[indices[i]] = the smaller of it and updates[i].")

void gather_shape(ShapeContext& c) {
  const TensorShape var = variable_shape(c), &indices = c.input(1);
  if (!var.has_rank() || !indices.has_rank()) return unknown_shape(c);
  RILL_CHECK(var.rank() > 0, invalid_argument, "[gather] a scalar variable has no rows");
  Dims out = indices.dims();
  for (int i = 1; i < var.rank(); ++i) out.push_back(var.dim(i));
  c.set_output(0, TensorShape(out));
}
void gather_grad(GradContext& g) {
  g.set(0, gathered_rows(g.dy(), g.input(1), value_shape(g.input(0))));
}
const Op& gather_op = OpBuilder("ResourceGather", "gather")
                          .input("resource: resource")
                          .input("indices: Tindices")
                          .output("output: dtype")
                          .attr("batch_dims: int = 0")
                          .attr("validate_indices: bool = true")
                          .type("dtype", kAllTypes)
                          .type("Tindices", kIndexTypes)
                          .doc("Rows of a variable, picked by index; the gradient stays sparse.")
                          .shape(gather_shape)
                          .gradient(gather_grad, "resource indices")
                          .variable(VariableUse::look)
                          .forward([](const AttrReader&, std::span<const In> in,
                                      std::span<const TensorShape>, std::span<Tensor> out) {
                            out[0] = gather(variable_cell(*in[0]).read(), *in[1]);
                          })
                          .define();

void scatter(const Op& op, const Tensor& handle, const Operand& indices, const Operand& updates) {
  execute_all(op, {handle, Arg(indices), Arg(updates, variable_cell(handle).dtype)});
}

}  // namespace

void scatter_update_variable(const Tensor& h, const Operand& i, const Operand& u) {
  scatter(update_op, h, i, u);
}
void scatter_add_variable(const Tensor& h, const Operand& i, const Operand& u) {
  scatter(add_op, h, i, u);
}
void scatter_sub_variable(const Tensor& h, const Operand& i, const Operand& u) {
  scatter(sub_op, h, i, u);
}
void scatter_mul_variable(const Tensor& h, const Operand& i, const Operand& u) {
  scatter(mul_op, h, i, u);
}
void scatter_div_variable(const Tensor& h, const Operand& i, const Operand& u) {
  scatter(div_op, h, i, u);
}
void scatter_max_variable(const Tensor& h, const Operand& i, const Operand& u) {
  scatter(max_op, h, i, u);
}
void scatter_min_variable(const Tensor& h, const Operand& i, const Operand& u) {
  scatter(min_op, h, i, u);
}
Tensor gather_variable(const Tensor& h, const Operand& indices) {
  return execute(gather_op, {h, Arg(indices)}, {{"dtype", variable_cell(h).dtype}});
}

}  // namespace rill
