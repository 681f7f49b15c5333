#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "rill/core/tensor.h"

namespace rill RILL_API {
namespace summary {

struct SummaryValue {
  std::string tag;
  std::string plugin;  // "scalars", "images", ...; empty for values of TensorFlow 1
  std::string description;
  Tensor tensor;  // a simple_value of TensorFlow 1 is a float32 scalar
};
struct SummaryEvent {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::string file_version = {};  // of the first event: "brain.Event:2"
  std::vector<SummaryValue> values = {};
};

// The events of a file, as tf.compat.v1.train.summary_iterator gives them. DataLoss, with
// the file's name and the place, for records that are damaged or are not events.
std::vector<SummaryEvent> summary_iterator(const std::string& path);

}  // namespace summary
}  // namespace RILL_API
