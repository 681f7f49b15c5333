#pragma once

// Tests may be compiled once for builds with and without a sanitizer, so they ask the program, not
// the compiler, whether there is one.
extern "C" {
void __asan_init() __attribute__((weak));
void __tsan_init() __attribute__((weak));
}

namespace rill::testing {

inline bool has_sanitizer() { return __asan_init != nullptr || __tsan_init != nullptr; }

}  // namespace rill::testing
