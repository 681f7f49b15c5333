// Elements of several datasets, one at a time: choose_from_datasets and sample_from_datasets.
#include "rill/data/dataset_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::data {
namespace {

class ChooseCursor final : public Cursor {
 public:
  ChooseCursor(std::unique_ptr<Cursor> choice, std::vector<std::unique_ptr<Cursor>> inputs,
               bool stop)
      : choice_(std::move(choice)),
        inputs_(std::move(inputs)),
        ended_(inputs_.size(), false),
        left_(static_cast<std::int64_t>(inputs_.size())),
        stop_(stop) {}
  bool next(Nest* element) override {
    Nest chosen;
    while (left_ > 0 && choice_->next(&chosen)) {
      const std::int64_t i = chosen.as_tensor().item<std::int64_t>();
      RILL_CHECK(i >= 0 && i < static_cast<std::int64_t>(inputs_.size()), invalid_argument,
                 "[choose_from_datasets] the choice is {}; expected 0 to {}", i,
                 inputs_.size() - 1);
      const auto at = static_cast<std::size_t>(i);
      if (ended_[at]) continue;
      if (inputs_[at]->next(element)) return true;
      ended_[at] = true;
      left_ = stop_ ? 0 : left_ - 1;
    }
    return false;
  }
  void save(StateWriter& out) override {
    out.stage("DirectedInterleaveDataset", settings());
    out.put(left_);
    for (const bool e : ended_) out.put(static_cast<std::int64_t>(e));
    choice_->save(out);
    for (const auto& c : inputs_) c->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("DirectedInterleaveDataset", settings());
    left_ = in.integer(0, static_cast<std::int64_t>(inputs_.size()));
    for (std::size_t i = 0; i < ended_.size(); ++i) ended_[i] = in.boolean();
    choice_->restore(in);
    for (const auto& c : inputs_) c->restore(in);
  }

 private:
  Settings settings() const {
    return {{"number of datasets", static_cast<std::int64_t>(inputs_.size())},
            {"stop_on_empty_dataset", stop_}};
  }
  std::unique_ptr<Cursor> choice_;
  std::vector<std::unique_ptr<Cursor>> inputs_;
  std::vector<bool> ended_;
  std::int64_t left_;  // datasets that may have elements
  bool stop_;
};

class ChooseDataset final : public DatasetImpl {
 public:
  ChooseDataset(std::vector<Dataset> datasets, const Dataset& choice, bool stop)
      : datasets_(std::move(datasets)), choice_(choice), stop_(stop) {}
  const char* name() const override { return "DirectedInterleaveDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> start(Place place) const override {
    std::vector<std::unique_ptr<Cursor>> inputs;
    for (std::size_t i = 0; i < datasets_.size(); ++i)
      inputs.push_back(datasets_[i].impl().start(place.branch(i + 1)));
    return std::make_unique<ChooseCursor>(choice_.impl().start(place), std::move(inputs), stop_);
  }

 protected:
  // Sizes in which the datasets differ are unknown.
  ElementSpec make_spec() const override {
    ElementSpec spec = datasets_[0].element_spec();
    for (std::size_t d = 1; d < datasets_.size(); ++d) {
      const std::vector<TensorSpec> other = datasets_[d].element_spec().flatten();
      std::size_t i = 0;
      spec = spec.map([&](const TensorSpec& s) {
        const TensorShape& shape = other[i++].shape();
        if (!s.shape().has_rank() || !shape.has_rank() || s.shape().rank() != shape.rank())
          return TensorSpec(TensorShape(), s.dtype());
        Dims dims;
        for (int k = 0; k < shape.rank(); ++k)
          dims.push_back(s.shape().dim(k) == shape.dim(k) ? shape.dim(k) : -1);
        return TensorSpec(TensorShape(dims), s.dtype());
      });
    }
    return spec;
  }

 private:
  std::vector<Dataset> datasets_;
  Dataset choice_;
  bool stop_;
};

void check_datasets(const char* stage, const std::vector<Dataset>& datasets) {
  RILL_CHECK(!datasets.empty(), invalid_argument, "[{}] got no datasets; expected at least one",
             stage);
  const auto form = [](const Dataset& d) { return d.output_types().to_string(); };
  for (std::size_t i = 1; i < datasets.size(); ++i)
    RILL_CHECK(form(datasets[i]) == form(datasets[0]), invalid_argument,
               "[{}] elements of dataset 0 are {}, of dataset {} {}; expected the same structure "
               "and dtypes",
               stage, form(datasets[0]), i, form(datasets[i]));
}

}  // namespace

Dataset Dataset::choose_from_datasets(const std::vector<Dataset>& datasets,
                                      const Dataset& choice_dataset, bool stop_on_empty_dataset) {
  check_datasets("choose_from_datasets", datasets);
  const ElementSpec& choice = choice_dataset.element_spec();
  RILL_CHECK(choice.is_leaf() && choice.leaf().dtype().is_integer(), invalid_argument,
             "[choose_from_datasets] elements of choice_dataset are {}; expected int64 scalars",
             choice.to_string());
  return make_dataset<ChooseDataset>(datasets, choice_dataset, stop_on_empty_dataset);
}

Dataset Dataset::sample_from_datasets(const std::vector<Dataset>& datasets,
                                      const std::vector<double>& weights, SampleOptions o) {
  check_datasets("sample_from_datasets", datasets);
  RILL_CHECK(weights.empty() || weights.size() == datasets.size(), invalid_argument,
             "[sample_from_datasets] there are {} weights for {} datasets; expected as many",
             weights.size(), datasets.size());
  std::vector<Dataset> used;
  std::vector<double> shares;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    RILL_CHECK(weight >= 0, invalid_argument,
               "[sample_from_datasets] weights[{}] is {}; expected 0 or more", i, weight);
    if (weight == 0) continue;
    used.push_back(datasets[i]);
    shares.push_back(weight);
  }
  RILL_CHECK(!used.empty(), invalid_argument,
             "[sample_from_datasets] all weights are 0; expected one that is not");
  if (used.size() == 1) return used[0];
  // As tf.data draws: two numbers of the dataset's stream are the seed of each choice.
  const Tensor shares32 = constant(shares, float32),
               logits = reshape(weights.empty() ? shares32 : log(shares32), {1, -1});
  const auto choose = [logits](const Tensor& seed) {
    return reshape(random::stateless_categorical(logits, 1, seed, int64), {});
  };
  return make_dataset<ChooseDataset>(
      used, random_bits(o.seed, o.rerandomize_each_iteration).batch(2).map(choose),
      o.stop_on_empty_dataset);
}

}  // namespace rill::data
