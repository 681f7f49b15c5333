#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "rill/core/nest.h"
#include "rill/data/dataset.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

// A number of samples (8), or a share of all (0.8).
class SplitSize {
 public:
  SplitSize() = default;  // what the other leaves
  SplitSize(int samples) : samples_(samples) {}
  SplitSize(std::int64_t samples) : samples_(samples) {}
  SplitSize(double share) : share_(share) {}
  const std::optional<std::int64_t>& samples() const { return samples_; }
  const std::optional<double>& share() const { return share_; }

 private:
  std::optional<std::int64_t> samples_;
  std::optional<double> share_;
};

struct SplitDatasetOptions {
  SplitSize left_size = {}, right_size = {};  // at least one of them
  bool shuffle = false;
  std::int64_t seed = -1;
  std::int64_t batch_size = 0;  // of a dataset in batches: the size of them
};
// The first samples of a dataset and the last, as two datasets; all are read into memory. With
// batch_size, the dataset is in batches, which are taken apart, and so are both results.
// InvalidArgument for sizes that do not fit.
std::pair<data::Dataset, data::Dataset> split_dataset(const data::Dataset& dataset,
                                                      SplitDatasetOptions options);
// The same of arrays with the samples along axis 0.
std::pair<data::Dataset, data::Dataset> split_dataset(const Nest& arrays,
                                                      SplitDatasetOptions options);

}  // namespace utils
}  // namespace keras
}  // namespace RILL_API
