#pragma once
#include <cstdint>
#include <optional>
#include <type_traits>

#include "rill/data/dataset.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

struct TimeseriesOptions {
  std::int64_t sequence_stride = 1;              // from the start of a sequence to that of the next
  std::int64_t sampling_rate = 1;                // from row to row in a sequence
  std::optional<std::int64_t> batch_size = 128;  // none: single sequences
  bool shuffle = false;
  std::optional<std::uint32_t> seed = {};
  std::optional<std::int64_t> start_index = {}, end_index = {};  // the part of data that is used
};
// Windows of `sequence_length` rows of data along axis 0, in batches. With targets each goes with
// the row of targets at its start: pairs. InvalidArgument for numbers that do not fit the data.
data::Dataset timeseries_dataset_from_array(const Operand& data, const Operand& targets,
                                            std::int64_t sequence_length,
                                            TimeseriesOptions options = {});
// Without targets: {}, tf::None, std::nullopt or nullptr.
data::Dataset timeseries_dataset_from_array(const Operand& data, std::nullptr_t no_targets,
                                            std::int64_t sequence_length,
                                            TimeseriesOptions options = {});
template <class N>
requires(std::is_same_v<N, std::nullopt_t> || std::is_same_v<N, Dim>) data::Dataset
    timeseries_dataset_from_array(const Operand& data, const N& no_targets,
                                  std::int64_t sequence_length, TimeseriesOptions options = {}) {
  if constexpr (std::is_same_v<N, Dim>) {
    if (no_targets.known())
      return timeseries_dataset_from_array(data, Operand(no_targets), sequence_length, options);
  }
  return timeseries_dataset_from_array(data, nullptr, sequence_length, options);
}

}  // namespace utils
namespace preprocessing {
using utils::timeseries_dataset_from_array;
}
}  // namespace keras
}  // namespace RILL_API
