#include "rill/keras/utils/timeseries_dataset.h"

#include <random>

#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/np/legacy_generator_impl.h"

namespace rill::keras::utils {
namespace {

using data::Dataset;
constexpr const char* kName = "timeseries_dataset_from_array";

void check_numbers(std::int64_t rows, const TimeseriesOptions& o) {
  const std::int64_t start = o.start_index.value_or(0), end = o.end_index.value_or(rows);
  RILL_CHECK(start >= 0 && start < end && end <= rows, invalid_argument,
             "[{}] start_index is {} and end_index {}; expected 0 to {}, and the end behind the "
             "start",
             kName, start, end, rows);
  RILL_CHECK(
      o.sampling_rate > 0 && o.sampling_rate < rows && o.sequence_stride > 0 &&
          o.sequence_stride < rows,
      invalid_argument,
      "[{}] sampling_rate is {} and sequence_stride {}; expected numbers from 1 to less than "
      "the {} rows",
      kName, o.sampling_rate, o.sequence_stride, rows);
}

Dataset timeseries(const Tensor& all, const Tensor& targets, std::int64_t length,
                   const TimeseriesOptions& o) {
  RILL_CHECK(all.ndim() >= 1 && length > 0, invalid_argument,
             "[{}] data has shape {} and sequence_length is {}; expected rows along axis 0, and at "
             "least 1",
             kName, all.shape(), length);
  const std::int64_t rows = all.shape().dim(0);
  check_numbers(rows, o);
  const std::int64_t first = o.start_index.value_or(0), last = o.end_index.value_or(rows);
  std::int64_t count = last - first - (length - 1) * o.sampling_rate;
  if (targets.defined()) count = std::min(count, targets.shape().dim(0));
  std::vector<std::int64_t> starts;
  for (std::int64_t s = 0; s < count; s += o.sequence_stride) starts.push_back(s);
  const std::uint32_t seed = o.seed ? *o.seed : std::random_device{}() % 1'000'000;
  if (o.shuffle) {
    np::LegacyGenerator random(seed);
    std::vector<std::int64_t> mixed;
    for (std::int64_t i : random.shuffled(starts.size()))
      mixed.push_back(starts[static_cast<std::size_t>(i)]);
    starts = std::move(mixed);
  }
  const auto window = [part = all(slice(first, last)), length,
                       rate = o.sampling_rate](const Tensor& start) {
    return gather(part, start + range(0, length * rate, rate, int64));
  };
  const Dataset at = Dataset::from_tensor_slices(constant(starts, int64));
  const data::MapOptions parallel{.num_parallel_calls = data::AUTOTUNE};
  Dataset out =
      targets.defined()
          ? at.map(
                [window, targets = targets(slice(first, std::min(last, targets.shape().dim(0))))](
                    const Tensor& start) { return tuple(window(start), gather(targets, start)); },
                parallel)
          : at.map([window](const Tensor& start) { return window(start); }, parallel);
  out = out.prefetch(data::AUTOTUNE);
  if (o.shuffle)
    out = out.shuffle(o.batch_size ? *o.batch_size * 8 : 1024,
                      {.seed = static_cast<std::int64_t>(seed)});
  return o.batch_size ? out.batch(*o.batch_size) : out;
}

}  // namespace

Dataset timeseries_dataset_from_array(const Operand& data, const Operand& targets,
                                      std::int64_t sequence_length, TimeseriesOptions options) {
  return timeseries(to_tensor(data), to_tensor(targets), sequence_length, options);
}
Dataset timeseries_dataset_from_array(const Operand& data, std::nullptr_t,
                                      std::int64_t sequence_length, TimeseriesOptions options) {
  return timeseries(to_tensor(data), Tensor(), sequence_length, options);
}

}  // namespace rill::keras::utils
