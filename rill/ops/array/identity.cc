// The tensor itself, with or without its gradient.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void share(const AttrReader&, std::span<const In> in, std::span<const TensorShape> shapes,
           std::span<Tensor> out) {
  out[0] = make_view(*in[0], shapes[0]);
}

void identity_grad(GradContext& g) { g.set(0, g.raw_dy()); }
const Op& identity_op = OpBuilder("Identity", "identity")
                            .input("input: T")
                            .output("output: T")
                            .doc("The tensor itself under its own identity.")
                            .shape(unchanged_shape)
                            .gradient(identity_grad)
                            .forward(share)
                            .view()
                            .define();

const Op& stop_gradient_op = OpBuilder("StopGradient", "stop_gradient")
                                 .input("input: T")
                                 .output("output: T")
                                 .doc("The tensor itself; no gradient goes through.")
                                 .shape(unchanged_shape)
                                 .no_gradient()
                                 .forward(share)
                                 .view()
                                 .define();

const Op& guarantee_const_op = OpBuilder("GuaranteeConst", "guarantee_const")
                                   .input("input: T")
                                   .output("output: T")
                                   .doc("The tensor itself, promised to be the same at every run.")
                                   .shape(unchanged_shape)
                                   .no_gradient()
                                   .forward(share)
                                   .view()
                                   .define();

void bitcast_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  const auto from = static_cast<std::int64_t>(c.input_dtype(0).itemsize()),
             to = static_cast<std::int64_t>(c.type_attr("type").itemsize());
  if (from == to || !in.has_rank()) return c.set_output(0, in);
  Dims out = in.dims();
  if (from > to) {
    out.push_back(from / to);
  } else {
    RILL_CHECK(in.rank() > 0 && (in.dim(-1) < 0 || in.dim(-1) == to / from), invalid_argument,
               "[bitcast] {} of shape {} cannot become {}: the last axis must have {} elements",
               c.input_dtype(0), in, c.type_attr("type"), to / from);
    out.pop_back();
  }
  c.set_output(0, TensorShape(out));
}
const Op& bitcast_op = OpBuilder("Bitcast", "bitcast")
                           .input("input: T")
                           .output("output: type")
                           .type("T", kNumericTypes)
                           .type("type", kNumericTypes)
                           .doc("The bytes of a tensor read as another dtype.")
                           .shape(bitcast_shape)
                           .no_gradient()
                           .forward([](const AttrReader& a, std::span<const In> in,
                                       std::span<const TensorShape> shapes, std::span<Tensor> out) {
                             out[0] = make_view(*in[0], shapes[0]);
                             out[0].impl()->dtype = a.type_attr("type");
                           })
                           .view()
                           .define();

// A copy on another device is the same tensor to a tape.
Tensor copied(const Tensor& t, Device& device, const char* tag) {
  RILL_CHECK(t.defined(), failed_precondition,
             "[{}] this Tensor is undefined: it was default-constructed, or is a gradient that "
             "does not exist",
             tag);
  RILL_CHECK(
      !t.is_symbolic(), failed_precondition,
      "[{}] a symbolic tensor of shape {} has no value: its function is being traced, not run", tag,
      t.shape());
  RILL_CHECK(!t.impl()->resource, invalid_argument, "[{}] a {} tensor has no elements to read", tag,
             t.dtype());
  const Tensor out = copy_to_device(t, device);
  const In in(t);
  if (out.impl() != t.impl() && call_context().recorder)
    call_context().recorder->record(identity_op, {&in, 1}, {}, {&out, 1});
  return out;
}

}  // namespace

Tensor Tensor::cpu() const { return copied(*this, cpu_device(), "cpu"); }
Tensor Tensor::gpu(int index) const { return to("/device:GPU:" + std::to_string(index)); }
Tensor Tensor::to(std::string_view device) const {
  return copied(*this, find_device(device), "to");
}

std::vector<Tensor> identity_n(const TensorList& x) {
  std::vector<Tensor> out;
  for (const Tensor& t : x.tensors()) out.push_back(identity(t));
  return out;
}
Tensor guarantee_const(const Operand& x) { return execute(guarantee_const_op, {Arg(x)}); }
Tensor bitcast(const Operand& x, DType dtype) {
  return execute(bitcast_op, {Arg(x)}, {{"type", dtype}});
}
Tensor identity(const Operand& x) { return execute(identity_op, {Arg(x)}); }
Tensor stop_gradient(const Operand& x) { return execute(stop_gradient_op, {Arg(x)}); }

}  // namespace rill
