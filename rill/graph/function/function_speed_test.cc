#include <gtest/gtest.h>
#include <time.h>

#include <cstdio>

#include "rill/graph/function/function.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/shows.h"

namespace rill {
namespace {

// A graph saves what an op costs beside its arithmetic: much of many small ops, nothing to speak
// of where two products fill the time.
TEST(FunctionSpeed, AFunctionGainsMoreOfManySmallOps) {
  RILL_SHOWS("F08", "Z61");
  // Of this thread: other processes do not count.
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const auto gain = [&](auto body, const Tensor& x, int runs) {
    auto traced = function(body);
    auto seconds = [&](auto& f) {
      const double start = now();
      for (int i = 0; i < runs; ++i) f(x);
      return now() - start;
    };
    EXPECT_EQ(traced(x).shape(), body(x).shape());
    double eagerly = 1e9, as_function = 1e9;
    for (int trial = 0; trial < 7; ++trial) {
      eagerly = std::min(eagerly, seconds(body));
      as_function = std::min(as_function, seconds(traced));
    }
    EXPECT_EQ(traced.trace_count(), 1);
    return eagerly / as_function;
  };
  auto small = [](Tensor x) {
    for (int i = 0; i < 100; ++i) x = x * 0.5f + 1.f;
    return x;
  };
  auto heavy = [](Tensor x) { return matmul(matmul(x, x), x); };
  const double of_small = gain(small, ones({4}), 50), of_heavy = gain(heavy, ones({384, 384}), 10);
  std::printf("a function gains %.2f of 200 small ops, %.2f of 2 large ones\n", of_small, of_heavy);
  EXPECT_GT(of_small, 1);
  EXPECT_GT(of_small, of_heavy);
}

}  // namespace
}  // namespace rill
