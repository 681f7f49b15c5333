#include "rill/keras/metrics/iou.h"

#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::metrics {
namespace {

std::vector<int> all_of(int num_classes) {
  std::vector<int> ids;
  for (int i = 0; i < num_classes; ++i) ids.push_back(i);
  return ids;
}

}  // namespace

IoU::IoU(IoUOptions o)
    : Metric({o.name, o.dtype}),
      o_(std::move(o)),
      total_(
          add_weight("total_confusion_matrix", {}, TensorShape({o_.num_classes, o_.num_classes}))) {
  RILL_CHECK(o_.num_classes > 0, invalid_argument, "[IoU] num_classes is {}; expected at least 1",
             o_.num_classes);
  RILL_CHECK(!o_.target_class_ids.empty(), invalid_argument,
             "[IoU] there are no target_class_ids; expected at least one");
  for (int id : o_.target_class_ids)
    RILL_CHECK(id >= 0 && id < o_.num_classes, invalid_argument,
               "[IoU] target class {} is not in [0, {})", id, o_.num_classes);
}
void IoU::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  const auto check_classes = [&](const Tensor& y, const char* what) {
    const std::string message =
        format("[{}] {} have numbers that are not classes; expected those in [0, {})", name(), what,
               o_.num_classes);
    debugging::assert_non_negative(y, {.message = message});
    debugging::assert_less(y, static_cast<std::int64_t>(o_.num_classes), {.message = message});
  };
  const auto classes = [&](const Tensor& y, bool sparse) {
    return reshape(cast(sparse ? y : argmax(y, o_.axis), int64), {-1});
  };
  Tensor t = classes(y_true, o_.sparse_y_true), p = classes(y_pred, o_.sparse_y_pred);
  // What is ignored may be no class at all; it is in no place of the matrix. Keras 3, which counts
  // in whole numbers, ignores all that is no class.
  Tensor counts;
  if (o_.ignore_class) counts = t != *o_.ignore_class;
  if (counts_as_keras3()) {
    const auto is_class = [&](const Tensor& y) {
      return logical_and(y >= 0, y < static_cast<std::int64_t>(o_.num_classes));
    };
    const Tensor known = logical_and(is_class(t), is_class(p));
    counts = counts.defined() ? logical_and(counts, known) : known;
  }
  if (counts.defined()) {
    t = where(counts, t, zeros_like(t));
    p = where(counts, p, zeros_like(p));
  }
  check_classes(t, "labels");
  check_classes(p, "predictions");
  Tensor w = ones_like(t, dtype());
  if (sample_weight.defined()) {
    const Tensor given = cast(sample_weight, dtype());
    w = w * (given.shape().has_rank() && given.ndim() == 0 ? given : reshape(given, {-1}));
  }
  Tensor at = t * o_.num_classes + p;  // where each pair of classes stands
  if (counts.defined()) at = where(counts, at, -ones_like(at));
  const Tensor sums = unsorted_segment_sum(w, at, o_.num_classes * o_.num_classes);
  total_.assign_add(reshape(sums, {o_.num_classes, o_.num_classes}));
}
Tensor IoU::result() {
  const Tensor total = counts_as_keras3() ? cast(total_.value(), float32) : total_.value(),
               both = linalg::tensor_diag_part(total);
  const Tensor either = reduce_sum(total, 0) + reduce_sum(total, 1) - both;
  const Tensor ids = constant(o_.target_class_ids);
  const Tensor unions = gather(either, ids);
  const Tensor present = reduce_sum(cast(unions != 0, total.dtype()));
  const Tensor shares = math::divide_no_nan(gather(both, ids), unions);
  return math::divide_no_nan(reduce_sum(shares), present);
}
Config IoU::get_config() const {
  Config c = Metric::get_config();
  c.set("num_classes", o_.num_classes);
  c.set("target_class_ids", Config::list_of(o_.target_class_ids));
  c.set("ignore_class", o_.ignore_class ? Config(*o_.ignore_class) : Config());
  c.set("sparse_y_true", o_.sparse_y_true);
  c.set("sparse_y_pred", o_.sparse_y_pred);
  c.set("axis", o_.axis);
  return c;
}

MeanIoU::MeanIoU(MeanIoUOptions o)
    : IoU({o.num_classes, all_of(o.num_classes), o.name, o.dtype, o.ignore_class, o.sparse_y_true,
           o.sparse_y_pred, o.axis}) {}
Config MeanIoU::get_config() const {
  Config c = IoU::get_config();
  c.erase("target_class_ids");
  return c;
}

BinaryIoU::BinaryIoU(BinaryIoUOptions o)
    : IoU({.num_classes = 2,
           .target_class_ids = o.target_class_ids,
           .name = o.name,
           .dtype = o.dtype}),
      threshold_(o.threshold) {}
void BinaryIoU::update_state(const Tensor& y_true, const Tensor& y_pred,
                             const Tensor& sample_weight) {
  const Tensor yes = cast(y_pred, counts_as_keras3() ? float32 : dtype()) >= threshold_;
  IoU::update_state(y_true, cast(yes, int64), sample_weight);
}
Config BinaryIoU::get_config() const {
  Config c = Metric::get_config();
  c.set("target_class_ids", Config::list_of(o_.target_class_ids));
  c.set("threshold", threshold_);
  return c;
}

OneHotIoU::OneHotIoU(OneHotIoUOptions o)
    : IoU({o.num_classes, o.target_class_ids, o.name, o.dtype, o.ignore_class, false,
           o.sparse_y_pred, o.axis}) {}
Config OneHotIoU::get_config() const {
  Config c = IoU::get_config();
  c.erase("sparse_y_true");
  return c;
}

OneHotMeanIoU::OneHotMeanIoU(OneHotMeanIoUOptions o)
    : IoU({o.num_classes, all_of(o.num_classes), o.name, o.dtype, o.ignore_class, false,
           o.sparse_y_pred, o.axis}) {}
Config OneHotMeanIoU::get_config() const {
  Config c = IoU::get_config();
  c.erase("sparse_y_true");
  c.erase("target_class_ids");
  return c;
}

}  // namespace rill::keras::metrics
