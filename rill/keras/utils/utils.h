#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

// Class numbers as rows of zeros with a one: [n] or [n, 1] -> [n, num_classes]. num_classes 0:
// one more than the largest number. InvalidArgument when a number is outside.
Tensor to_categorical(const Operand& y, std::int64_t num_classes = 0, DType dtype = float32);

struct PadSequencesOptions {
  std::int64_t maxlen = 0;  // 0: the longest
  DType dtype = int32;
  std::string padding = "pre";     // where zeros go: "pre" or "post"
  std::string truncating = "pre";  // where too much is cut off
  double value = 0;
};
// Lists of different lengths as the rows of one tensor.
Tensor pad_sequences(const std::vector<std::vector<std::int64_t>>& sequences,
                     PadSequencesOptions options = {});

// x along an axis divided by its norm of that order.
Tensor normalize(const Operand& x, int axis = -1, int order = 2);

// The seed of everything that is random: tf::random::set_seed.
void set_random_seed(std::int64_t seed);

}  // namespace utils
namespace preprocessing {
namespace sequence {
using utils::pad_sequences;
}
}  // namespace preprocessing
}  // namespace keras
}  // namespace RILL_API
