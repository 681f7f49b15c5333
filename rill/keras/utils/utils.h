#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

// Class numbers as rows of zeros with a one: [n] or [n, 1] -> [n, num_classes]. num_classes 0:
// one more than the largest number. InvalidArgument when a number is outside.
Tensor to_categorical(const Operand& y, std::int64_t num_classes = 0, DType dtype = float32);

// A number or a text.
class PaddingValue {
 public:
  template <class N>
  requires std::is_arithmetic_v<N> PaddingValue(N number) : tensor_(to_tensor(number)) {}
  template <StringLike S>
  PaddingValue(const S& text) : tensor_(to_tensor(std::string(std::string_view(text)))) {}
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};
struct PadSequencesOptions {
  std::int64_t maxlen = 0;  // 0: the longest
  DType dtype = int32;
  std::string padding = "pre";     // where the padding goes: "pre" or "post"
  std::string truncating = "pre";  // where too much is cut off
  PaddingValue value = 0;
};
// Lists of different lengths as the rows of one tensor of `dtype`: of whole numbers, {{1, 2}, {3}};
// of others, cut off at the point where the dtype is whole, as Keras does; of texts, for which
// dtype is tf::string. InvalidArgument where texts and numbers meet, also by `value`.
Tensor pad_sequences(const std::vector<std::vector<std::int64_t>>& sequences,
                     PadSequencesOptions options = {});
Tensor pad_sequences(const std::vector<std::vector<int>>& sequences,
                     PadSequencesOptions options = {});
Tensor pad_sequences(const std::vector<std::vector<double>>& sequences,
                     PadSequencesOptions options = {});
Tensor pad_sequences(const std::vector<std::vector<float>>& sequences,
                     PadSequencesOptions options = {});
Tensor pad_sequences(const std::vector<std::vector<std::string>>& sequences,
                     PadSequencesOptions options = {});
// Of lists that are written out.
template <class T>
Tensor pad_sequences(std::initializer_list<std::initializer_list<T>> sequences,
                     PadSequencesOptions options = {}) {
  using Kept = std::conditional_t<std::is_convertible_v<T, std::string_view>, std::string, T>;
  std::vector<std::vector<Kept>> lists;
  for (const auto& s : sequences) lists.emplace_back(s.begin(), s.end());
  return pad_sequences(lists, std::move(options));
}

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
