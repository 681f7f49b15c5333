#include "rill/keras/utils/utils.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::keras::utils {

Tensor to_categorical(const Operand& y, std::int64_t num_classes, DType dtype) {
  Tensor t = to_tensor(y);
  if (t.ndim() > 1 && t.shape().dim(-1) == 1) t = squeeze(t, -1);
  const std::vector<std::int64_t> numbers = cast(t, int64).to_vector<std::int64_t>();
  std::int64_t largest = -1;
  for (const std::int64_t n : numbers) {
    RILL_CHECK(n >= 0, invalid_argument, "[to_categorical] got the class {}; expected none below 0",
               n);
    largest = std::max(largest, n);
  }
  if (num_classes == 0) num_classes = largest + 1;
  RILL_CHECK(largest < num_classes, invalid_argument,
             "[to_categorical] got the class {}; with num_classes {} the largest is {}", largest,
             num_classes, num_classes - 1);
  return one_hot(cast(t, int64), num_classes, {.dtype = dtype});
}

namespace {

template <class T>
Tensor padded(const std::vector<std::vector<T>>& sequences, const PadSequencesOptions& o) {
  constexpr bool texts = std::is_same_v<T, std::string>;
  for (const std::string* s : {&o.padding, &o.truncating})
    RILL_CHECK(*s == "pre" || *s == "post", invalid_argument,
               "[pad_sequences] got \"{}\"; expected \"pre\" or \"post\"", *s);
  RILL_CHECK(texts == (o.dtype == string), invalid_argument,
             "[pad_sequences] the sequences hold {} and dtype is {}; expected {}",
             texts ? "texts" : "numbers", o.dtype,
             texts ? "{.dtype = tf::string}" : "a dtype of numbers");
  RILL_CHECK(texts == (o.value.tensor().dtype() == string), invalid_argument,
             "[pad_sequences] the sequences hold {} and value is {}; expected {}",
             texts ? "texts" : "numbers", o.value.tensor().to_string(),
             texts ? "a text, {.value = \"\"}" : "a number");
  std::size_t length = 0;
  for (const auto& s : sequences) length = std::max(length, s.size());
  if (o.maxlen > 0) length = static_cast<std::size_t>(o.maxlen);
  const TensorShape shape = {static_cast<std::int64_t>(sequences.size()),
                             static_cast<std::int64_t>(length)};
  const auto as_tensor = [&](const auto& all) { return reshape(constant(all), shape); };
  T filling = {};
  if constexpr (texts) filling = o.value.tensor().item<std::string>();
  std::vector<T> all(sequences.size() * length, filling);
  std::vector<std::uint8_t> is_there(texts ? 0 : all.size());
  for (std::size_t row = 0; row < sequences.size(); ++row) {
    const std::vector<T>& s = sequences[row];
    const std::size_t n = std::min(length, s.size());
    const std::size_t from = o.truncating == "pre" ? s.size() - n : 0;
    const std::size_t to = row * length + (o.padding == "pre" ? length - n : 0);
    for (std::size_t i = 0; i < n; ++i) {
      all[to + i] = s[from + i];
      if constexpr (!texts) is_there[to + i] = 1;
    }
  }
  if (all.empty()) return zeros(shape, o.dtype);
  if constexpr (texts)
    return as_tensor(all);
  else  // each in its own dtype first, so that no number is rounded on its way
    return where(cast(as_tensor(is_there), bool_), cast(as_tensor(all), o.dtype),
                 cast(o.value.tensor(), o.dtype));
}

}  // namespace

Tensor pad_sequences(const std::vector<std::vector<std::int64_t>>& s, PadSequencesOptions o) {
  return padded(s, o);
}
Tensor pad_sequences(const std::vector<std::vector<int>>& s, PadSequencesOptions o) {
  return padded(s, o);
}
Tensor pad_sequences(const std::vector<std::vector<double>>& s, PadSequencesOptions o) {
  return padded(s, o);
}
Tensor pad_sequences(const std::vector<std::vector<float>>& s, PadSequencesOptions o) {
  return padded(s, o);
}
Tensor pad_sequences(const std::vector<std::vector<std::string>>& s, PadSequencesOptions o) {
  return padded(s, o);
}

Tensor normalize(const Operand& x, int axis, int order) {
  const Tensor t = to_tensor(x);
  const Tensor length =
      order == 2 ? sqrt(reduce_sum(square(t), axis, {.keepdims = true}))
                 : pow(reduce_sum(pow(abs(t), order), axis, {.keepdims = true}), 1.0 / order);
  return t / where(equal(length, 0), ones_like(length), length);
}

void set_random_seed(std::int64_t seed) { random::set_seed(seed); }

}  // namespace rill::keras::utils
