#pragma once
#include <gtest/gtest.h>

#include <string>

// In a test: the features (tools/feature_titles.txt) that this test proves.
//
//   TEST(Tensor, PrintsLikeNumPy) {
//     RILL_SHOWS("E10", "E11");
//
// `make features` collects the ids of tests that passed. At most three: a test
// that claims more proves little. A misspelt id is found at compile time where
// its form is wrong, and by `make features` where it names nothing.
#define RILL_SHOWS(...)                                                               \
  do {                                                                                \
    static_assert(::rill::testing::count_ids(__VA_ARGS__) >= 1 &&                     \
                      ::rill::testing::count_ids(__VA_ARGS__) <= 3,                   \
                  "RILL_SHOWS takes one to three ids");                               \
    static_assert(::rill::testing::are_ids(__VA_ARGS__),                              \
                  "RILL_SHOWS takes ids such as \"K07\" or \"P50\"");                 \
    ::testing::Test::RecordProperty("shows", ::rill::testing::join_ids(__VA_ARGS__)); \
  } while (false)

namespace rill::testing {

template <class... Ids>
constexpr int count_ids(const Ids&...) {
  return static_cast<int>(sizeof...(Ids));
}

// A capital letter and two or three digits.
constexpr bool is_id(const char* id) {
  if (*id < 'A' || *id > 'Z') return false;
  int digits = 0;
  for (++id; *id != '\0'; ++id, ++digits) {
    if (*id < '0' || *id > '9') return false;
  }
  return digits == 2 || digits == 3;
}

template <class... Ids>
constexpr bool are_ids(const Ids&... ids) {
  return (is_id(ids) && ...);
}

template <class... Ids>
std::string join_ids(const Ids&... ids) {
  std::string joined;
  ((joined += joined.empty() ? "" : " ", joined += ids), ...);
  return joined;
}

}  // namespace rill::testing
