#pragma once
#include <gtest/gtest.h>
#include <rill/rill.h>

#include <cstdlib>
#include <exception>
#include <iostream>

// Devices are configured once per process, so that some tests are processes of their own.

// Runs `test` in a process of its own, in which no default device is set; its failures are the
// caller's. The lines of the caller before it run there too.
template <class F>
void in_a_process(F test) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unsetenv("RILL_DEFAULT_DEVICE");
        const auto failures = [] {
          return ::testing::UnitTest::GetInstance()
              ->current_test_info()
              ->result()
              ->total_part_count();
        };
        const int before = failures();  // those of the parent's lines, which ran here too
        try {
          test();
        } catch (const std::exception& e) {
          std::cerr << e.what() << '\n';
          std::_Exit(2);
        }
        const auto& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
        for (int i = before; i < failures(); ++i)
          std::cerr << result.GetTestPartResult(i).line_number() << ": "
                    << result.GetTestPartResult(i).message() << '\n';
        std::_Exit(failures() > before ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}
#define SKIP_WITHOUT_GPU() \
  if (::rill::config::list_physical_devices("GPU").empty()) GTEST_SKIP() << "no GPU here"
