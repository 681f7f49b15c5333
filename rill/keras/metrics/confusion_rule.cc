#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/metrics/confusion_impl.h"
#include "rill/keras/metrics/weights_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

bool evenly_spaced(const std::vector<double>& t) {
  if (t.size() < 3) return false;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double even = static_cast<double>(i) / static_cast<double>(t.size() - 1);
    if (!(std::abs(t[i] - even) <= 1e-7 + 1e-5 * even)) return false;
  }
  return true;
}

namespace {

// A constant where it is known, so that shapes that follow from it are.
Tensor last_size(const Tensor& x) {
  const TensorShape& s = x.shape();
  if (s.has_rank() && s.dim(-1) >= 0) return constant(static_cast<std::int32_t>(s.dim(-1)));
  return shape(x)[-1];
}

// All but the k largest of each sample become so small that no threshold is below them.
Tensor largest(const Tensor& x, int k) {
  constexpr double kNever = -1e10;
  const Tensor best = nn::top_k(x, k, false).indices;
  const Tensor mask = reduce_sum(one_hot(best, last_size(x), {.dtype = x.dtype()}), -2);
  return x * mask + kNever * (1 - mask);
}

}  // namespace

ConfusionCounts ConfusionRule::count(const Tensor& y_true, const Tensor& y_pred,
                                     const Tensor& sample_weight, DType dtype) const {
  auto [t, p] = matched_ranks(cast(y_true, dtype), cast(y_pred, dtype));
  RILL_CHECK(t.shape().is_compatible_with(p.shape()), invalid_argument,
             "[metric] labels have shape {}, predictions {}; expected one shape", t.shape(),
             p.shape());
  RILL_CHECK(!multi_label || !p.shape().has_rank() || p.ndim() == 2, invalid_argument,
             "[metric] multi_label predictions have shape {}; expected [samples, labels]",
             p.shape());
  Tensor w;
  if (sample_weight.defined()) w = fitted_weights(cast(sample_weight, dtype), p);
  if (top_k) p = largest(p, *top_k);
  if (class_id) {
    // A negative one counts from the end.
    Tensor one = constant({*class_id});
    if (*class_id < 0) one = one + last_size(p);
    t = gather(t, one, -1);
    p = gather(p, one, -1);
  }
  if (w.defined()) w = broadcast_to(w, shape(p));
  if (label_weights.defined()) {
    const Tensor each = broadcast_to(cast(label_weights, dtype), shape(p));
    w = w.defined() ? w * each : each;
  }
  if (!multi_label) {
    t = reshape(t, {-1});
    p = reshape(p, {-1});
    if (w.defined()) w = reshape(w, {-1});
  }
  t = cast(cast(t, bool_), dtype);
  const Tensor yes = w.defined() ? t * w : t, no = w.defined() ? (1 - t) * w : 1 - t;
  const auto n = static_cast<std::int64_t>(thresholds.size());

  if (!even) {
    Tensor column = expand_dims(cast(constant(thresholds), dtype), 1);
    if (multi_label) column = expand_dims(column, 1);
    const Tensor above = cast(expand_dims(p, 0) > column, dtype);
    const Tensor below = 1 - above;
    return {reduce_sum(above * yes, 1), reduce_sum(above * no, 1), reduce_sum(below * no, 1),
            reduce_sum(below * yes, 1)};
  }

  // A prediction is above thresholds 0 to i; the counts are sums from the end.
  Tensor bucket = cast(ceil(clip_by_value(p, 0, 1) * static_cast<double>(n - 1)) - 1, int32);
  if (thresholds.front() < 0 || thresholds.back() > 1) bucket = maximum(bucket, 0);
  const auto from_the_end = [&](const Tensor& weights) {
    if (!multi_label) return cumsum(unsorted_segment_sum(weights, bucket, n), 0, {.reverse = true});
    const Tensor labels = last_size(p);
    const Tensor first = range(labels) * n;  // each label has its own buckets
    const Tensor own = where(bucket < 0, bucket, bucket + cast(first, int32));
    const TensorShape& s = p.shape();
    const std::int64_t columns = s.has_rank() ? s.dim(-1) : -1;
    const Tensor sums = reshape(unsorted_segment_sum(weights, own, labels * n), {columns, n});
    return transpose(cumsum(sums, 1, {.reverse = true}));
  };
  const Tensor tp = from_the_end(yes), fp = from_the_end(no);
  return {tp, fp, reduce_sum(no, 0) - fp, reduce_sum(yes, 0) - tp};
}

}  // namespace rill::keras
