#include <cstdlib>
#include <cstring>
#include <string_view>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/keras/datasets/datasets.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

// The files of embedded/ as bytes of the library. The assembler copies them; a compiler would
// take minutes for so many numbers.
#define RILL_EMBED(name, file)                                                \
  __asm__(                                                                    \
      ".pushsection .rodata\n"                                                \
      ".balign 16\n"                                                          \
      ".hidden rill_embedded_" #name                                          \
      "\n"                                                                    \
      ".hidden rill_embedded_" #name                                          \
      "_end\n"                                                                \
      ".globl rill_embedded_" #name                                           \
      "\n"                                                                    \
      ".globl rill_embedded_" #name                                           \
      "_end\n"                                                                \
      "rill_embedded_" #name                                                  \
      ":\n"                                                                   \
      ".incbin \"" RILL_EMBEDDED_FOLDER "/" file                              \
      "\"\n"                                                                  \
      "rill_embedded_" #name                                                  \
      "_end:\n"                                                               \
      ".byte 0\n"                                                             \
      ".popsection\n");                                                       \
  extern "C" [[gnu::visibility("hidden")]] const char rill_embedded_##name[], \
      rill_embedded_##name##_end[];

RILL_EMBED(digits, "digits.u8")
RILL_EMBED(iris_training, "iris_training.csv")
RILL_EMBED(iris_test, "iris_test.csv")

namespace rill::keras::datasets {

namespace {

// A line of counts and names, then rows of four measures and a species.
Split read_iris(std::string_view text) {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  std::size_t at = text.find('\n') + 1;
  while (at < text.size()) {
    const std::string line(text.substr(at, text.find('\n', at) - at));
    at = std::min(text.size(), at + line.size() + 1);
    if (line.empty()) continue;
    const char* next = line.c_str();
    for (int i = 0; i < 4; ++i) {
      char* end = nullptr;
      x.push_back(std::strtof(next, &end));
      next = end + 1;
    }
    y.push_back(static_cast<std::int32_t>(std::strtol(next, nullptr, 10)));
  }
  return {reshape(constant(x), {-1, 4}), constant(y)};
}

}  // namespace

Splits digits::load_data() {
  const auto bytes = static_cast<std::size_t>(rill_embedded_digits_end - rill_embedded_digits);
  const auto n = static_cast<std::int64_t>(bytes / 65);
  const Tensor table = make_tensor(uint8, {n, 65});
  std::memcpy(table.impl()->data, rill_embedded_digits, static_cast<std::size_t>(n) * 65);
  const Tensor x = reshape(cast(table(all, slice(0, 64)), float32), {n, 8, 8});
  const Tensor y = reshape(cast(table(all, slice(64, 65)), int32), {n});
  // The file is in the order of writers: every sixth image, so that both parts have them all.
  std::vector<std::int32_t> train, test;
  for (std::int32_t i = 0; i < n; ++i) (i % 6 == 5 ? test : train).push_back(i);
  const Tensor a = constant(train), b = constant(test);
  return {{gather(x, a), gather(y, a)}, {gather(x, b), gather(y, b)}};
}

Splits iris::load_data() {
  const auto text = [](const char* begin, const char* end) {
    return std::string_view(begin, static_cast<std::size_t>(end - begin));
  };
  return {read_iris(text(rill_embedded_iris_training, rill_embedded_iris_training_end)),
          read_iris(text(rill_embedded_iris_test, rill_embedded_iris_test_end))};
}

}  // namespace rill::keras::datasets
