#include "rill/base/logging.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

std::vector<std::string>& lines() {
  static std::vector<std::string> all;
  return all;
}

TEST(Logging, WarnsUntilALevelIsChosen) {
  testing::internal::CaptureStderr();
  RILL_LOG(info, "nobody asked");
  RILL_LOG(warning, "mind this");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "rill: warning: mind this\n");
}

TEST(Logging, SaysWhatReachesTheLevelAndEvaluatesNothingElse) {
  rill::set_log_sink([](rill::LogLevel, std::string_view line) { lines().emplace_back(line); });
  rill::set_log_level(rill::LogLevel::warning);
  int evaluated = 0;
  RILL_LOG(info, "{}", ++evaluated);
  RILL_LOG(warning, "{} of {}", ++evaluated, 'c');
  rill::set_log_level(rill::LogLevel::off);
  rill::set_log_sink(nullptr);
  EXPECT_EQ(evaluated, 1);
  EXPECT_EQ(lines(), std::vector<std::string>{"rill: warning: 1 of c"});
}

TEST(Logging, GoesToStandardError) {
  rill::set_log_level(rill::LogLevel::info);
  testing::internal::CaptureStderr();
  RILL_LOG(info, "hello");
  rill::set_log_level(rill::LogLevel::off);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "rill: info: hello\n");
}

}  // namespace
