// An LSTM along a sequence, as one op.
#include "rill/graph/control_flow/lstm_sequence.h"

#include "rill/graph/control_flow/by_steps_impl.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/control_flow/tensor_array.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// ---- shapes

TensorShape shape_of_sizes(std::initializer_list<std::int64_t> sizes) {
  TensorShape s = TensorShape::scalar();
  for (const std::int64_t n : sizes) s.push_back(n);
  return s;
}

constexpr const char* kLstmBatches =
    "the batches of x and h (the state, which in a stateful layer has the size that it was built "
    "for)";

// What the six arguments agree upon; -1: not known. Input `at` is x.
struct LstmSizes {
  LstmSizes(const ShapeContext& c, int at) {
    constexpr int kRanks[] = {3, 2, 2, 2, 2, 1};
    for (int i = 0; i < 6; ++i)
      require_rank(c, at + i, kRanks[i], c.op().inputs[static_cast<std::size_t>(at + i)].name);
    const auto dim = [&](int i, int axis) {
      const TensorShape& s = c.input(at + i);
      return s.has_rank() ? s.dim(axis) : -1;
    };
    const auto merge = [&](std::int64_t a, std::int64_t b, const char* what) {
      return merge_dims(a, b, c.tag(), what);
    };
    time = dim(0, 0);
    batch = merge(merge(dim(0, 1), dim(1, 0), kLstmBatches), dim(2, 0), "the batches of x and c");
    features = merge(dim(0, 2), dim(3, 0), "the features of x and the rows of kernel");
    units = merge(merge(dim(1, 1), dim(2, 1), "the units of h and c"), dim(4, 0),
                  "the units of h and the rows of recurrent_kernel");
    const std::int64_t wide =
        merge(merge(dim(3, 1), dim(4, 1), "the columns of kernel and recurrent_kernel"), dim(5, 0),
              "the columns of kernel and the elements of bias");
    RILL_CHECK(wide < 0 || units < 0 || wide == 4 * units, invalid_argument,
               "[{}] the weights are for {} numbers a step; expected {}, 4 gates of {} units",
               c.tag(), wide, 4 * units, units);
    if (units < 0 && wide >= 0) units = wide / 4;
  }
  std::int64_t time, batch, features, units;
};

void lstm_shape(ShapeContext& c) {
  const LstmSizes s(c, 0);
  c.set_output(0, shape_of_sizes({s.time, s.batch, s.units}));
  for (int i : {1, 2}) c.set_output(i, shape_of_sizes({s.batch, s.units}));
  c.set_output(3, shape_of_sizes({s.time, s.batch, s.units < 0 ? -1 : 5 * s.units}));
}
void lstm_grad_shape(ShapeContext& c) {
  const LstmSizes s(c, 3);
  const std::int64_t wide = s.units < 0 ? -1 : 4 * s.units;
  const TensorShape sequence = shape_of_sizes({s.time, s.batch, s.units}),
                    state = shape_of_sizes({s.batch, s.units});
  for (int i : {0, 1, 2, 9}) {
    const TensorShape& expected = i == 0 || i == 9 ? sequence : state;
    RILL_CHECK(c.input(i).is_compatible_with(expected), invalid_argument,
               "[{}] {} has shape {}; expected {}", c.tag(),
               c.op().inputs[static_cast<std::size_t>(i)].name, c.input(i), expected);
  }
  c.set_output(0, shape_of_sizes({s.time, s.batch, s.features}));
  for (int i : {1, 2}) c.set_output(i, state);
  c.set_output(3, shape_of_sizes({s.features, wide}));
  c.set_output(4, shape_of_sizes({s.units, wide}));
  c.set_output(5, shape_of_sizes({wide}));
}

// ---- the ops

std::vector<Tensor> lstm_steps(const std::vector<Tensor>& a) {
  const LstmResult r = lstm_by_steps({a[0], a[1], a[2], a[3], a[4], a[5]});
  return {r.outputs, r.h, r.c};
}

const Op& lstm_grad_op =
    OpBuilder("LSTMSequenceGrad", "lstm_sequence_grad")
        .input("y_backprop: T")
        .input("h_last_backprop: T")
        .input("c_last_backprop: T")
        .input("x: T")
        .input("h: T")
        .input("c: T")
        .input("kernel: T")
        .input("recurrent_kernel: T")
        .input("bias: T")
        .input("y: T")
        .input("kept: T")
        .output("x_backprop: T")
        .output("h_backprop: T")
        .output("c_backprop: T")
        .output("kernel_backprop: T")
        .output("recurrent_kernel_backprop: T")
        .output("bias_backprop: T")
        .type("T", kFloatTypes)
        .doc("The gradients of lstm_sequence, of which y and kept are outputs.")
        .shape(lstm_grad_shape)
        .gradient([](GradContext& g) { differentiate_gradients(g, lstm_steps, 3, 6); },
                  "y_backprop h_last_backprop c_last_backprop x h c kernel recurrent_kernel bias")
        .define();

void lstm_grad(GradContext& g) {
  const auto grads = execute_all(lstm_grad_op,
                                 {g.dy(0), g.dy(1), g.dy(2), g.input(0), g.input(1), g.input(2),
                                  g.input(3), g.input(4), g.input(5), g.output(0), g.output(3)},
                                 {});
  for (int i = 0; i < 6; ++i) g.set(i, grads[static_cast<std::size_t>(i)]);
}

const Op& lstm_op =
    OpBuilder("LSTMSequence", "lstm_sequence")
        .input("x: T")
        .input("h: T")
        .input("c: T")
        .input("kernel: T")
        .input("recurrent_kernel: T")
        .input("bias: T")
        .output("y: T")
        .output("h_last: T")
        .output("c_last: T")
        .output("kept: T")
        .type("T", kFloatTypes)
        .doc(
            "An LSTM along the first axis of x. kept is for the gradient: the gates of all steps, "
            "then their c.")
        .shape(lstm_shape)
        .gradient(lstm_grad, "x h c kernel recurrent_kernel bias y kept")
        .define();

// ---- step by step

struct LstmStep {
  const LstmArguments& a;
  // h and c after a step.
  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h, const Tensor& c) const {
    const std::vector<Tensor> gates =
        split(matmul(x, a.kernel) + matmul(h, a.recurrent_kernel) + a.bias, 4, 1);
    const Tensor next = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
    return {sigmoid(gates[3]) * tanh(next), next};
  }
};

LstmResult as_loop(const LstmArguments& a) {
  const Tensor length = shape(a.x)[0];
  const TensorShape& s = a.x.shape();
  const auto of = [&](const Tensor& t, const TensorShape& each) {
    return TensorArray(t.dtype(), length, {.element_shape = each});
  };
  const TensorArray steps = of(a.x, shape_of_sizes({s.dim(1), s.dim(2)})).unstack(a.x),
                    outputs = of(a.h, a.h.shape());
  const Nest end = while_loop([&](const Nest& now) { return now[0].as_tensor() < length; },
                              [&](const Nest& now) {
                                const std::vector<Tensor> v = now.flatten();
                                const auto [h, c] = LstmStep{a}(steps.read(v[0]), v[2], v[3]);
                                return Nest(std::vector<Tensor>{
                                    v[0] + 1, outputs.with_flow(v[1]).write(v[0], h).flow(), h, c});
                              },
                              Nest(std::vector<Tensor>{constant(0), outputs.flow(), a.h, a.c}));
  const std::vector<Tensor> v = end.flatten();
  return {outputs.with_flow(v[1]).stack(), v[2], v[3]};
}

}  // namespace

LstmResult lstm_by_steps(const LstmArguments& a) {
  RILL_CHECK(a.x.shape().has_rank(), unimplemented,
             "[lstm_sequence] step by step, x must have a known rank");
  if (a.x.shape().dim(0) < 0) return as_loop(a);
  LstmResult r{{}, a.h, a.c};
  std::vector<Tensor> outputs;
  for (const Tensor& x : unstack(a.x)) {
    std::tie(r.h, r.c) = LstmStep{a}(x, r.h, r.c);
    outputs.push_back(r.h);
  }
  r.outputs = outputs.empty() ? expand_dims(a.h, 0)(slice(0, 0)) : stack(outputs);
  return r;
}

LstmResult lstm_sequence(const LstmArguments& a) {
  const auto out = execute_all(lstm_op, {a.x, a.h, a.c, a.kernel, a.recurrent_kernel, a.bias}, {});
  return {out[0], out[1], out[2]};
}

}  // namespace rill
