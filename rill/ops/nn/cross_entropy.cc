// Cross entropies of logits.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

void softmax_xent_shape(ShapeContext& c) {
  const TensorShape &logits = c.input(0), &labels = c.input(1);
  if (!logits.has_rank() || !labels.has_rank()) {
    c.set_output(0, TensorShape(Dims{-1}));
    return c.set_output(1, TensorShape(Dims{-1, -1}));
  }
  const TensorShape both = broadcast_shapes(logits, labels, c.tag());
  RILL_CHECK(both.rank() == 2, invalid_argument,
             "[{}] logits {} and labels {} must be matrices [batch, classes], or broadcast to one",
             c.tag(), logits, labels);
  c.set_output(0, TensorShape(Dims{both.dim(0)}));
  c.set_output(1, both);
}

Tensor column(const Tensor& v) { return reshape(v, {-1, 1}); }

// The gradient of loss and backprop by the logits: both outputs depend on them,
// which is what makes second derivatives right.
Tensor logits_grad(GradContext& g) {
  Tensor grad = column(g.dy(0)) * g.output(1);
  if (g.raw_dy(1).defined()) {
    const Tensor p = nn::softmax(g.input(0)), dp = g.dy(1);
    grad = grad + (dp - reduce_sum(dp * p, -1, {.keepdims = true})) * p;
  }
  return grad;
}

void softmax_xent_grad(GradContext& g) {
  if (g.needs(0)) set_reduced(g, 0, logits_grad(g));
  if (g.needs(1)) {
    Tensor grad = column(g.dy(0)) * negative(nn::log_softmax(g.input(0)));
    if (g.raw_dy(1).defined()) grad = grad - g.dy(1);
    set_reduced(g, 1, grad);
  }
}
const Op& softmax_xent_op =
    OpBuilder("SoftmaxCrossEntropyWithLogits", "softmax_cross_entropy_with_logits")
        .input("features: T")
        .input("labels: T")
        .output("loss: T")
        .output("backprop: T")
        .type("T", kFloatTypes)
        .doc(
            "Cross entropy of softmax(features) and labels, row by row, and its gradient by "
            "features.")
        .shape(softmax_xent_shape)
        .gradient(softmax_xent_grad, "features backprop")
        .define();

void sparse_xent_shape(ShapeContext& c) {
  require_rank(c, 0, 2, "logits");
  require_rank(c, 1, 1, "labels");
  const TensorShape &logits = c.input(0), &labels = c.input(1);
  std::int64_t batch = labels.has_rank() ? labels.dim(0) : -1;
  if (logits.has_rank())
    batch = merge_dims(logits.dim(0), batch, c.tag(), "batch sizes of logits and labels");
  const std::int64_t classes = logits.has_rank() ? logits.dim(1) : -1;
  RILL_CHECK(classes != 0 || batch == 0, invalid_argument,
             "[{}] logits of shape {} have no classes", c.tag(), logits);
  c.set_output(0, TensorShape(Dims{batch}));
  c.set_output(1, TensorShape(Dims{batch, classes}));
}
void sparse_xent_grad(GradContext& g) { g.set(0, logits_grad(g)); }
const Op& sparse_xent_op =
    OpBuilder("SparseSoftmaxCrossEntropyWithLogits", "sparse_softmax_cross_entropy_with_logits")
        .input("features: T")
        .input("labels: Tlabels")
        .output("loss: T")
        .output("backprop: T")
        .type("T", kFloatTypes)
        .type("Tlabels", kIndexTypes, int64)
        .doc(
            "Cross entropy of softmax(features) and the class numbers in labels, and its gradient "
            "by features.")
        .shape(sparse_xent_shape)
        .gradient(sparse_xent_grad, "features backprop")
        .define();

template <class Args>
void require_both(const Args& a, std::string_view tag) {
  RILL_CHECK(a.labels.defined() && a.logits.defined(), invalid_argument,
             "[{}] both labels and logits must be given. Write {}({{.labels = .., .logits = ..}})",
             tag, tag);
}

// Half types lose too much in a sum of exponentials.
Tensor precise(const Tensor& logits) {
  return logits.dtype() == float16 || logits.dtype() == bfloat16 ? cast(logits, float32) : logits;
}

Tensor rows_of(const Tensor& x) {
  if (x.ndim() == 2) return x;
  if (x.ndim() == 0) return reshape(x, {1, 1});
  if (x.shape().has_rank() && x.shape().dim(-1) >= 0)
    return reshape(x, {std::int64_t{-1}, x.shape().dim(-1)});
  const Tensor sizes = shape(x), classes = sizes(slice(-1, None));
  return reshape(x, concat({constant({-1}), classes}, 0));
}

TensorShape without_last(const TensorShape& s) {
  if (!s.has_rank()) return s;
  Dims d = s.dims();
  d.pop_back();
  return TensorShape(d);
}
// One number a row as one for each row of `x`.
Tensor shaped_as_rows(const Tensor& loss, const Tensor& x) {
  const TensorShape rows = without_last(x.shape());
  if (rows.rank() == 1) return loss;
  return rows.is_fully_defined() ? reshape(loss, rows) : reshape(loss, shape(x)(slice(None, -1)));
}
// `x` with the shape of both where they differ.
Tensor broadcast_with(const Tensor& x, const Tensor& other, const TensorShape& both) {
  if (x.shape() == both && (both.is_fully_defined() || other.shape() == both)) return x;
  if (both.is_fully_defined()) return broadcast_to(x, both);
  return broadcast_to(x, broadcast_dynamic_shape(sizes_of(x), sizes_of(other)));
}

std::vector<int> axis_last(int axis, int rank) {
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  return perm;
}

Tensor softmax_xent(const nn::CrossEntropyArgs& a, bool labels_too) {
  constexpr std::string_view tag = "softmax_cross_entropy_with_logits";
  require_both(a, tag);
  Tensor logits = precise(a.logits);
  Tensor labels = labels_too ? a.labels : stop_gradient(a.labels);
  if (labels.dtype() != logits.dtype()) labels = cast(labels, logits.dtype());
  const TensorShape both = broadcast_shapes(logits.shape(), labels.shape(), tag);
  RILL_CHECK(both.rank() != 0, invalid_argument,
             "[{}] logits and labels must have an axis of classes; got scalars", tag);
  RILL_CHECK(both.has_rank() || a.axis == -1, unimplemented,
             "[{}] axis {} of logits of unknown rank; expected the last, -1", tag, a.axis);
  const Tensor given = logits;
  logits = broadcast_with(logits, labels, both);
  labels = broadcast_with(labels, given, both);
  const int axis = both.has_rank() ? normalize_axis(a.axis, both.rank(), tag) : -1;
  if (axis != both.rank() - 1 && both.has_rank()) {
    const auto perm = axis_last(axis, both.rank());
    logits = transpose(logits, perm);
    labels = transpose(labels, perm);
  }
  RILL_CHECK(!both.has_rank() || logits.shape().dim(-1) != 0, invalid_argument,
             "[{}] logits of shape {} have no classes", tag, logits.shape());
  const Tensor loss = execute_all(softmax_xent_op, {rows_of(logits), rows_of(labels)})[0];
  const Tensor shaped = shaped_as_rows(loss, logits);
  return shaped.dtype() == a.logits.dtype() ? shaped : cast(shaped, a.logits.dtype());
}

}  // namespace

namespace nn {

Tensor softmax_cross_entropy_with_logits(const CrossEntropyArgs& a) {
  return softmax_xent(a, false);
}
Tensor softmax_cross_entropy_with_logits_v2(const CrossEntropyArgs& a) {
  return softmax_xent(a, true);
}

Tensor sparse_softmax_cross_entropy_with_logits(const CrossEntropyArgs& a) {
  constexpr std::string_view tag = "sparse_softmax_cross_entropy_with_logits";
  require_both(a, tag);
  const TensorShape &logits = a.logits.shape(), &labels = a.labels.shape();
  RILL_CHECK(a.labels.dtype() == int32 || a.labels.dtype() == int64, invalid_argument,
             "[{}] labels are {}; expected class numbers of dtype int32 or int64. Soft labels go "
             "to softmax_cross_entropy_with_logits",
             tag, a.labels.dtype());
  const bool ranks_known = labels.has_rank() && logits.has_rank();
  RILL_CHECK(logits.rank() != 0, invalid_argument,
             "[{}] logits must have an axis of classes; got a scalar", tag);
  RILL_CHECK(!ranks_known || labels.rank() == logits.rank() - 1, invalid_argument,
             "[{}] labels must have one rank less than logits: labels have shape {} (rank {}), "
             "logits {} (rank {})",
             tag, labels, labels.rank(), logits, logits.rank());
  RILL_CHECK(labels.is_compatible_with(without_last(logits)), invalid_argument,
             "[{}] labels have shape {}, logits {}; expected labels of shape {}", tag, labels,
             logits, without_last(logits));
  RILL_CHECK(a.axis == -1 || (logits.has_rank() && a.axis == logits.rank() - 1), unimplemented,
             "[{}] the classes must be the last axis of logits, got axis {}", tag, a.axis);
  const Tensor flat_logits = rows_of(precise(a.logits));
  const Tensor flat_labels = labels.rank() == 1 ? a.labels : reshape(a.labels, {-1});
  const Tensor loss = execute_all(sparse_xent_op, {flat_logits, flat_labels})[0];
  const Tensor shaped = labels.rank() == 1 ? loss : reshape(loss, sizes_of(a.labels));
  return shaped.dtype() == a.logits.dtype() ? shaped : cast(shaped, a.logits.dtype());
}

// max(x, 0) - x z first: for a right and confident x it is exactly 0, and the
// small rest is not lost. |x| by leaky_relu: at 0 its slope of -1 and relu's
// slope of 0 give together the right gradient, 1/2 - z.
Tensor sigmoid_cross_entropy_with_logits(const CrossEntropyArgs& a) {
  constexpr std::string_view tag = "sigmoid_cross_entropy_with_logits";
  require_both(a, tag);
  RILL_CHECK(a.logits.shape().is_compatible_with(a.labels.shape()), invalid_argument,
             "[{}] logits have shape {}, labels {}; expected equal shapes", tag, a.logits.shape(),
             a.labels.shape());
  const Tensor& x = a.logits;
  return relu(x) - x * a.labels + softplus(negative(leaky_relu(x, -1)));
}

// (1 - z) x + (1 + (q - 1) z) log(1 + exp(-x))
Tensor weighted_cross_entropy_with_logits(const WeightedCrossEntropyArgs& a) {
  constexpr std::string_view tag = "weighted_cross_entropy_with_logits";
  require_both(a, tag);
  RILL_CHECK(a.pos_weight.defined(), invalid_argument,
             "[{}] pos_weight must be given: the weight of a positive label", tag);
  RILL_CHECK(a.logits.shape().is_compatible_with(a.labels.shape()), invalid_argument,
             "[{}] logits have shape {}, labels {}; expected equal shapes", tag, a.logits.shape(),
             a.labels.shape());
  const Tensor weight = 1 + (a.pos_weight - 1) * a.labels;
  return (1 - a.labels) * a.logits + weight * softplus(negative(a.logits));
}

Tensor log_poisson_loss(const Operand& targets, const Operand& log_input, bool compute_full_loss) {
  const ArgPair a(log_input, targets);
  const Tensor &c = a.first(), &z = a.second();
  RILL_CHECK(c.shape().is_compatible_with(z.shape()), invalid_argument,
             "[log_poisson_loss] log_input has shape {}, targets {}; expected equal shapes",
             c.shape(), z.shape());
  const Tensor loss = exp(c) - c * z;
  if (!compute_full_loss) return loss;
  // log z! by Stirling, which is 0 for 0 and 1.
  const Tensor small = logical_and(z >= 0, z <= 1), safe = where(small, 2, z);
  return loss + where(small, 0, z * log(safe) - z + 0.5 * log(6.283185307179586 * safe));
}

}  // namespace nn
}  // namespace rill
