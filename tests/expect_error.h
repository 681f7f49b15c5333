#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rill::testing {

// The call throws an E whose message contains the text:
//
//   expect_error<errors::OutOfRange>([&] { x[7]; }, "out of bounds");
template <class E, class F>
void expect_error(F call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const E& e) {
    EXPECT_THAT(e.message(), ::testing::HasSubstr(text));
  }
}

}  // namespace rill::testing
