// A GRU along a sequence, as one op.
#include "rill/graph/control_flow/gru_sequence.h"

#include "rill/graph/control_flow/by_steps_impl.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/control_flow/tensor_array.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

TensorShape gru_shape_of(std::initializer_list<std::int64_t> sizes) {
  TensorShape s = TensorShape::scalar();
  for (const std::int64_t n : sizes) s.push_back(n);
  return s;
}

constexpr const char* kGruBatches =
    "the batches of x and h (the state, which in a stateful layer has the size that it was built "
    "for)";

// What the five arguments agree upon; -1: not known. Input `at` is x.
struct GruSizes {
  GruSizes(const ShapeContext& c, int at) {
    constexpr int kRanks[] = {3, 2, 2, 2, 2};
    for (int i = 0; i < 5; ++i)
      require_rank(c, at + i, kRanks[i], c.op().inputs[static_cast<std::size_t>(at + i)].name);
    const auto dim = [&](int i, int axis) {
      const TensorShape& s = c.input(at + i);
      return s.has_rank() ? s.dim(axis) : -1;
    };
    const auto merge = [&](std::int64_t a, std::int64_t b, const char* what) {
      return merge_dims(a, b, c.tag(), what);
    };
    time = dim(0, 0);
    batch = merge(dim(0, 1), dim(1, 0), kGruBatches);
    features = merge(dim(0, 2), dim(2, 0), "the features of x and the rows of kernel");
    units = merge(dim(1, 1), dim(3, 0), "the units of h and the rows of recurrent_kernel");
    merge(dim(4, 0), 2, "the rows of bias and those expected");
    const std::int64_t wide =
        merge(merge(dim(2, 1), dim(3, 1), "the columns of kernel and recurrent_kernel"), dim(4, 1),
              "the columns of kernel and bias");
    RILL_CHECK(wide < 0 || units < 0 || wide == 3 * units, invalid_argument,
               "[{}] the weights are for {} numbers a step; expected {}, 3 gates of {} units",
               c.tag(), wide, 3 * units, units);
    if (units < 0 && wide >= 0) units = wide / 3;
  }
  std::int64_t time, batch, features, units;
};

void gru_shape(ShapeContext& c) {
  const GruSizes s(c, 0);
  c.set_output(0, gru_shape_of({s.time, s.batch, s.units}));
  c.set_output(1, gru_shape_of({s.batch, s.units}));
  c.set_output(2, gru_shape_of({s.time, s.batch, s.units < 0 ? -1 : 4 * s.units}));
}
void gru_grad_shape(ShapeContext& c) {
  const GruSizes s(c, 2);
  const std::int64_t wide = s.units < 0 ? -1 : 3 * s.units;
  const TensorShape sequence = gru_shape_of({s.time, s.batch, s.units}),
                    state = gru_shape_of({s.batch, s.units});
  for (int i : {0, 1, 7}) {
    const TensorShape& expected = i == 1 ? state : sequence;
    RILL_CHECK(c.input(i).is_compatible_with(expected), invalid_argument,
               "[{}] {} has shape {}; expected {}", c.tag(),
               c.op().inputs[static_cast<std::size_t>(i)].name, c.input(i), expected);
  }
  c.set_output(0, gru_shape_of({s.time, s.batch, s.features}));
  c.set_output(1, state);
  c.set_output(2, gru_shape_of({s.features, wide}));
  c.set_output(3, gru_shape_of({s.units, wide}));
  c.set_output(4, gru_shape_of({2, wide}));
}

std::vector<Tensor> gru_steps(const std::vector<Tensor>& a) {
  const GruResult r = gru_by_steps({a[0], a[1], a[2], a[3], a[4]});
  return {r.outputs, r.h};
}

const Op& gru_grad_op =
    OpBuilder("GRUSequenceGrad", "gru_sequence_grad")
        .input("y_backprop: T")
        .input("h_last_backprop: T")
        .input("x: T")
        .input("h: T")
        .input("kernel: T")
        .input("recurrent_kernel: T")
        .input("bias: T")
        .input("y: T")
        .input("kept: T")
        .output("x_backprop: T")
        .output("h_backprop: T")
        .output("kernel_backprop: T")
        .output("recurrent_kernel_backprop: T")
        .output("bias_backprop: T")
        .type("T", kFloatTypes)
        .doc("The gradients of gru_sequence, of which y and kept are outputs.")
        .shape(gru_grad_shape)
        .gradient([](GradContext& g) { differentiate_gradients(g, gru_steps, 2, 5); },
                  "y_backprop h_last_backprop x h kernel recurrent_kernel bias")
        .define();

void gru_grad(GradContext& g) {
  const auto grads = execute_all(gru_grad_op,
                                 {g.dy(0), g.dy(1), g.input(0), g.input(1), g.input(2), g.input(3),
                                  g.input(4), g.output(0), g.output(2)},
                                 {});
  for (int i = 0; i < 5; ++i) g.set(i, grads[static_cast<std::size_t>(i)]);
}

const Op& gru_op =
    OpBuilder("GRUSequence", "gru_sequence")
        .input("x: T")
        .input("h: T")
        .input("kernel: T")
        .input("recurrent_kernel: T")
        .input("bias: T")
        .output("y: T")
        .output("h_last: T")
        .output("kept: T")
        .type("T", kFloatTypes)
        .doc(
            "A GRU along the first axis of x. kept is for the gradient: the gates of all steps, "
            "then what the state gives to the last of them.")
        .shape(gru_shape)
        .gradient(gru_grad, "x h kernel recurrent_kernel bias y kept")
        .define();

// ---- step by step

struct GruStep {
  explicit GruStep(const GruArguments& arguments) : a(arguments), biases(unstack(a.bias)) {}
  Tensor operator()(const Tensor& x, const Tensor& h) const {
    const std::vector<Tensor> in = split(matmul(x, a.kernel) + biases[0], 3, 1),
                              re = split(matmul(h, a.recurrent_kernel) + biases[1], 3, 1);
    const Tensor z = sigmoid(in[0] + re[0]), r = sigmoid(in[1] + re[1]);
    return z * h + (1 - z) * tanh(in[2] + r * re[2]);
  }
  const GruArguments& a;
  const std::vector<Tensor> biases;
};

GruResult gru_as_loop(const GruArguments& a) {
  const Tensor length = shape(a.x)[0];
  const TensorShape& s = a.x.shape();
  const TensorArray steps = TensorArray(a.x.dtype(), length,
                                        {.element_shape = gru_shape_of({s.dim(1), s.dim(2)})})
                                .unstack(a.x),
                    outputs(a.h.dtype(), length, {.element_shape = a.h.shape()});
  const GruStep step(a);
  const Nest end = while_loop([&](const Nest& now) { return now[0].as_tensor() < length; },
                              [&](const Nest& now) {
                                const std::vector<Tensor> v = now.flatten();
                                const Tensor h = step(steps.read(v[0]), v[2]);
                                return Nest(std::vector<Tensor>{
                                    v[0] + 1, outputs.with_flow(v[1]).write(v[0], h).flow(), h});
                              },
                              Nest(std::vector<Tensor>{constant(0), outputs.flow(), a.h}));
  const std::vector<Tensor> v = end.flatten();
  return {outputs.with_flow(v[1]).stack(), v[2]};
}

}  // namespace

GruResult gru_by_steps(const GruArguments& a) {
  RILL_CHECK(a.x.shape().has_rank(), unimplemented,
             "[gru_sequence] step by step, x must have a known rank");
  if (a.x.shape().dim(0) < 0) return gru_as_loop(a);
  const GruStep step(a);
  GruResult r{{}, a.h};
  std::vector<Tensor> outputs;
  for (const Tensor& x : unstack(a.x)) outputs.push_back(r.h = step(x, r.h));
  r.outputs = outputs.empty() ? expand_dims(a.h, 0)(slice(0, 0)) : stack(outputs);
  return r;
}

GruResult gru_sequence(const GruArguments& a) {
  const auto out = execute_all(gru_op, {a.x, a.h, a.kernel, a.recurrent_kernel, a.bias}, {});
  return {out[0], out[1]};
}

}  // namespace rill
