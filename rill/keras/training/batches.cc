#include "rill/keras/training/batches_impl.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/engine/symbolic_impl.h"
#include "rill/keras/training/trainer_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/ops/sparse_ops.h"

namespace rill::keras {

utils::Sequence::~Sequence() = default;

namespace {

Nest in_floatx(const Nest& n) {
  std::vector<Tensor> leaves = n.flatten();
  bool changed = false;
  for (Tensor& t : leaves)
    if (t.defined() && t.dtype() == float64 && backend::floatx() != float64) {
      t = cast(t, backend::floatx());
      changed = true;
    }
  return changed ? n.with_leaves(leaves) : n;
}

std::int64_t samples_of(const Nest& value) {
  const TensorShape shape = shape_of(value);
  return shape.rank() > 0 ? shape.dim(0) : 0;
}
Nest samples_between(const Nest& value, std::int64_t begin, std::int64_t end) {
  if (value.composite_kind() == "ragged") return Nest(value.as_ragged()(slice(begin, end)));
  if (value.composite_kind() == "sparse") {
    const SparseTensor x = value.as_sparse();
    Dims first(static_cast<std::size_t>(x.shape().rank())), size = x.shape().dims();
    first[0] = begin;
    size[0] = end - begin;
    return Nest(sparse::slice(x, constant(first), constant(size)));
  }
  return Nest(value.as_tensor()(slice(begin, end)));
}

std::string sizes_text(const Nest& n) {
  std::string s;
  for (const Nest& value : values_of(n))
    s += (s.empty() ? "" : ", ") + std::to_string(samples_of(value));
  return s;
}

}  // namespace

Arrays::Arrays(const char* what, const Nest& x, const Nest* y, const Nest& sample_weight)
    : x_(in_floatx(x)), weight_(sample_weight), has_y_(y != nullptr) {
  if (y) y_ = in_floatx(*y);
  bool first = true, same = true;
  const auto look = [&](const Nest& n, const char* part) {
    for (const Nest& value : values_of(n)) {
      for (const Tensor& t : value.flatten())
        RILL_CHECK(t.defined(), invalid_argument, "[{}] {} is an undefined tensor", what, part);
      RILL_CHECK(value.is_composite() || value.as_tensor().ndim() > 0, invalid_argument,
                 "[{}] {} is a scalar; expected the samples along axis 0", what, part);
      const std::int64_t samples = samples_of(value);
      if (first) samples_ = samples;
      same = same && samples == samples_;
      first = false;
    }
  };
  look(x_, "x");
  if (has_y_) look(y_, "y");
  if (is_given(weight_)) look(weight_, "sample_weight");
  RILL_CHECK(same, invalid_argument,
             "[{}] data cardinality is ambiguous:\n  x sizes: {}{}{}\nMake sure all arrays contain "
             "the same number of samples",
             what, sizes_text(x_), has_y_ ? "\n  y sizes: " + sizes_text(y_) : "",
             is_given(weight_) ? "\n  sample_weight sizes: " + sizes_text(weight_) : "");
  RILL_CHECK(!first && samples_ > 0, invalid_argument, "[{}] the data have no samples", what);
}

Arrays Arrays::part(std::int64_t begin, std::int64_t end) const {
  const auto cut = [&](const Nest& n) {
    std::vector<Tensor> leaves;
    for (const Nest& value : values_of(n))
      for (const Tensor& t : samples_between(value, begin, end).flatten()) leaves.push_back(t);
    return n.is_tensor() ? Nest(leaves[0]) : n.with_leaves(leaves);
  };
  Arrays a;
  a.x_ = cut(x_);
  if (has_y_) a.y_ = cut(y_);
  if (is_given(weight_)) a.weight_ = cut(weight_);
  a.has_y_ = has_y_;
  a.samples_ = end - begin;
  return a;
}

namespace {

// The weights by class. As in Keras every class has one.
std::vector<double> weights_in_order(const ClassWeight& class_weight) {
  std::vector<double> weights(class_weight.list().size(), -1);
  for (const auto& [number, weight] : class_weight.list()) {
    RILL_CHECK(number >= 0 && number < static_cast<int>(weights.size()) &&
                   weights[static_cast<std::size_t>(number)] < 0,
               invalid_argument,
               "[fit] class_weight has {} classes and among them {}; expected each class from 0 to "
               "one less than their number, once",
               weights.size(), number);
    RILL_CHECK(weight >= 0 && std::isfinite(weight), invalid_argument,
               "[fit] class_weight of class {} is {}; expected a number of at least 0", number,
               weight);
    weights[static_cast<std::size_t>(number)] = weight;
  }
  return weights;
}

Tensor weights_of_classes(const Tensor& labels, const ClassWeight& class_weight) {
  const std::vector<double> by_class = weights_in_order(class_weight);
  // One-hot labels are turned into numbers.
  Tensor classes = labels;
  if (labels.ndim() > 1)
    classes = labels.shape().dim(-1) > 1 ? argmax(labels, -1) : squeeze(labels, -1);
  if (classes.dtype().is_floating()) classes = round(classes);
  const std::vector<std::int64_t> numbers = cast(classes, int64).to_vector<std::int64_t>();
  std::vector<float> weights;
  weights.reserve(numbers.size());
  for (const std::int64_t n : numbers) {
    RILL_CHECK(n >= 0 && n < static_cast<std::int64_t>(by_class.size()), invalid_argument,
               "[fit] a label is {}, which has no class_weight: there are weights of the classes 0 "
               "to {}",
               n, static_cast<std::int64_t>(by_class.size()) - 1);
    weights.push_back(static_cast<float>(by_class[static_cast<std::size_t>(n)]));
  }
  return reshape(constant(weights), classes.shape());
}

}  // namespace

bool is_given(const Nest& sample_weight) {
  return sample_weight.is_tensor() ? sample_weight.as_tensor().defined() : sample_weight.size() > 0;
}

Tensor times_class_weights(const Nest& sample_weight, const Nest& labels,
                           const ClassWeight& class_weight) {
  RILL_CHECK(labels.is_tensor(), invalid_argument,
             "[fit] class_weight is only supported for models with a single output");
  const Tensor w = weights_of_classes(labels.as_tensor(), class_weight);
  if (!is_given(sample_weight)) return w;
  Tensor s = cast(sample_weight.as_tensor(), w.dtype());
  while (s.ndim() < w.ndim()) s = expand_dims(s, -1);
  return s * w;
}

void Arrays::weigh_classes(const ClassWeight& class_weight) {
  if (class_weight.empty()) return;
  weight_ = times_class_weights(weight_, y_, class_weight);
}

Nest Arrays::all() const {
  if (!has_y_) return Nest::make({x_});
  if (!is_given(weight_)) return Nest::make({x_, y_});
  return Nest::make({x_, y_, weight_});
}

namespace {
data::Dataset dataset_of(const Arrays& a, std::int64_t batch_size, bool shuffle) {
  RILL_CHECK(batch_size > 0, invalid_argument, "[fit] batch_size is {}; expected at least 1",
             batch_size);
  data::Dataset d = data::Dataset::from_tensor_slices(a.all());
  if (shuffle) d = d.shuffle(a.samples());
  return d.batch(batch_size);
}
}  // namespace

Batches::Batches(const Arrays& a, const Options& o)
    : dataset_(dataset_of(a, o.batch_size, o.shuffle)),
      steps_((a.samples() + o.batch_size - 1) / o.batch_size) {
  if (o.steps > 0) {
    if (o.epochs > 1) dataset_ = dataset_->repeat(o.epochs);
    steps_ = limit_ = o.steps;
  }
}

Batches::Batches(const char* what, const data::Dataset& dataset, std::int64_t steps)
    : dataset_(dataset), steps_(steps), limit_(steps) {
  if (steps > 0) return;
  steps_ = dataset.cardinality();
  RILL_CHECK(steps_ != data::INFINITE_CARDINALITY, invalid_argument,
             "[{}] when passing an infinitely repeating dataset, you must specify how many batches "
             "to take: {}",
             what,
             std::string_view(what) == "fit"               ? "steps_per_epoch"
             : std::string_view(what) == "validation_data" ? "validation_steps"
                                                           : "steps");
  RILL_CHECK(steps_ != 0, invalid_argument, "[{}] the dataset is empty", what);
  if (steps_ < 0) steps_ = -1;
}

namespace {

std::int64_t size_of(const char* what, const utils::Sequence& s) {
  const std::int64_t n = s.size();
  RILL_CHECK(
      n > 0, invalid_argument,
      "[{}] the size() of the sequence is {}; expected the number of its batches, at least 1", what,
      n);
  return n;
}

}  // namespace

Batches::Batches(const char* what, utils::Sequence& sequence, std::int64_t steps, bool shuffle,
                 ClassWeight class_weight)
    : what_(what),
      sequence_(&sequence),
      shuffle_(shuffle),
      class_weight_(std::move(class_weight)),
      steps_(steps > 0 ? steps : size_of(what, sequence)),
      limit_(steps) {}

Nest Batches::batch_of_sequence() {
  const std::int64_t index = order_[static_cast<std::size_t>(done_)];
  try {
    const Nest batch = in_floatx(sequence_->at(index));
    if (class_weight_.empty()) return batch;
    const BatchParts p = parts_of(batch);
    return Nest::make({p.x, p.y, Nest(times_class_weights(p.sample_weight, p.y, class_weight_))});
  } catch (errors::Error& e) {
    e.add_context(format("in at({}) of the sequence given to {}", index, what_));
    throw;
  }
}

void Batches::end_epoch() {
  if (sequence_) sequence_->on_epoch_end();
}

std::string Batches::save() const {
  if (!sequence_) return iterator_ ? iterator_->save() : std::string();
  std::string order;
  for (const std::int64_t i : order_) order += std::to_string(i) + ",";
  return order;
}

void Batches::begin_epoch() {
  done_ = 0;
  if (sequence_) {
    const std::int64_t n = size_of(what_, *sequence_);
    if (limit_ == 0) steps_ = n;
    Tensor order = range(n);
    if (shuffle_) order = random::shuffle(order);
    order_ = order.to_vector<std::int64_t>();
    return;
  }
  if (limit_ == 0 || !iterator_) iterator_ = dataset_->make_iterator();
}

bool Batches::next(Nest* batch) {
  if (limit_ > 0 && done_ == limit_) return false;
  if (sequence_) {
    ran_out_ = done_ == static_cast<std::int64_t>(order_.size()) && limit_ > done_;
    if (done_ == static_cast<std::int64_t>(order_.size())) return false;
    *batch = batch_of_sequence();
    ++done_;
    return true;
  }
  if (!iterator_->next(batch)) {
    ran_out_ = limit_ > 0;
    if (limit_ == 0) steps_ = done_;
    return false;
  }
  ++done_;
  return true;
}

void Batches::restore(std::string_view state, std::int64_t done) {
  if (state.empty()) return;
  if (sequence_) {
    order_.clear();
    for (std::size_t at = 0; at < state.size();) {
      const std::size_t comma = state.find(',', at);
      std::int64_t index = -1;
      std::from_chars(state.data() + at, state.data() + std::min(comma, state.size()), index);
      RILL_CHECK(index >= 0 && index < sequence_->size() && comma != state.npos, invalid_argument,
                 "[{}] the backup was made of a sequence with other batches: it names batch {} of "
                 "{}",
                 what_, index, sequence_->size());
      order_.push_back(index);
      at = comma + 1;
    }
    done_ = std::min(done, static_cast<std::int64_t>(order_.size()));
    return;
  }
  data::Iterator saved = dataset_->make_iterator();
  saved.restore(state);
  iterator_ = std::move(saved);
  done_ = done;
}

}  // namespace rill::keras
