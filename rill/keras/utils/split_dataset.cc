#include "rill/keras/utils/split_dataset.h"

#include <cmath>
#include <vector>

#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::keras::utils {
namespace {

// The number of samples; nothing where it is what the other leaves.
std::optional<std::int64_t> samples_of(const SplitSize& size, std::int64_t total,
                                       const char* side) {
  if (const auto& n = size.samples()) {
    RILL_CHECK(*n > 0 && *n < total, invalid_argument,
               "[split_dataset] {} is {}; expected at least 1 and less than the {} samples, or a "
               "share between 0 and 1",
               side, *n, total);
    return *n;
  }
  if (const auto& share = size.share()) {
    RILL_CHECK(*share > 0 && *share < 1, invalid_argument,
               "[split_dataset] {} is {}; expected a share between 0 and 1, or a number of samples",
               side, *share);
    return static_cast<std::int64_t>(std::nearbyint(*share * static_cast<double>(total)));
  }
  return {};
}

std::pair<std::int64_t, std::int64_t> sizes(const SplitDatasetOptions& o, std::int64_t total) {
  const auto left = samples_of(o.left_size, total, "left_size"),
             right = samples_of(o.right_size, total, "right_size");
  RILL_CHECK(left || right, invalid_argument,
             "[split_dataset] at least one of left_size and right_size must be given");
  const std::int64_t l = left.value_or(total - right.value_or(0)), r = right.value_or(total - l);
  RILL_CHECK(l + r <= total, invalid_argument,
             "[split_dataset] left_size and right_size are {} and {} samples together, of {}", l, r,
             total);
  RILL_CHECK(l > 0 && r > 0, invalid_argument,
             "[split_dataset] of {} samples {} go to the left and {} to the right; expected some "
             "on both sides",
             total, l, r);
  return {l, r};
}

// `samples`: of every leaf, all samples along axis 0.
std::pair<data::Dataset, data::Dataset> split(const Nest& samples, const SplitDatasetOptions& o) {
  std::vector<Tensor> leaves = samples.flatten();
  RILL_CHECK(!leaves.empty() && leaves[0].ndim() > 0, invalid_argument,
             "[split_dataset] got no samples; expected arrays with samples along axis 0");
  const std::int64_t total = leaves[0].shape().dim(0);
  const auto [left, right] = sizes(o, total);
  if (o.shuffle) {
    const Tensor order = random::shuffle(range(total), o.seed);
    for (Tensor& t : leaves) t = gather(t, order);
  }
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    std::vector<Tensor> cut;
    for (const Tensor& t : leaves) cut.push_back(t(slice(begin, end)));
    data::Dataset d = data::Dataset::from_tensor_slices(
        samples.is_tensor() ? Nest(cut[0]) : samples.with_leaves(cut));
    if (o.batch_size > 0) d = d.batch(o.batch_size);
    return d.prefetch(data::AUTOTUNE);
  };
  return {part(0, left), part(total - right, total)};
}

}  // namespace

std::pair<data::Dataset, data::Dataset> split_dataset(const data::Dataset& dataset,
                                                      SplitDatasetOptions o) {
  const data::Dataset single = o.batch_size > 0 ? dataset.unbatch() : dataset;
  std::vector<std::vector<Tensor>> columns;
  Nest structure;
  for (const Nest& sample : single) {
    const std::vector<Tensor> leaves = sample.flatten();
    if (columns.empty()) structure = sample;
    columns.resize(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) columns[i].push_back(leaves[i]);
  }
  RILL_CHECK(!columns.empty(), invalid_argument, "[split_dataset] the dataset is empty");
  std::vector<Tensor> all;
  for (const std::vector<Tensor>& column : columns) all.push_back(stack(column));
  return split(structure.is_tensor() ? Nest(all[0]) : structure.with_leaves(all), o);
}

std::pair<data::Dataset, data::Dataset> split_dataset(const Nest& arrays, SplitDatasetOptions o) {
  return split(arrays, o);
}

}  // namespace rill::keras::utils
