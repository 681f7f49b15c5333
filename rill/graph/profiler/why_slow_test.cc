#include "rill/graph/profiler/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "rill/base/parallel.h"
#include "rill/core/test_device.h"
#include "rill/eager/context.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/function/function.h"
#include "rill/graph/function/graph_function.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/sanitizer.h"
#include "tests/shows.h"

namespace rill {
namespace {

using profiler::Finding, profiler::Profile, profiler::Report;
using ::testing::ContainsRegex, ::testing::HasSubstr, ::testing::Not;

// The finding whose reason has this text; fails when there is none.
Finding finding(const std::vector<Finding>& list, const std::string& reason) {
  for (const Finding& f : list)
    if (f.reason.find(reason) != std::string::npos) return f;
  ADD_FAILURE() << "no finding says: " << reason;
  return {};
}

TEST(WhySlow, SaysWhenNothingIs) {
  Profile profile;
  matmul(ones({8, 8}), ones({8, 8}));
  EXPECT_EQ(profile.stop().why_slow(), "nothing ran on a path that is known to be slow\n");
}

TEST(WhySlow, NamesTypesThatAreComputedInWiderOnes) {
  const auto h = cast(ones({16, 16}), float16), b = cast(h, bfloat16), i = cast(h, int8);
  Profile profile;
  matmul(h, h);
  matmul(i, i);
  b + b;
  matmul(cast(h, float32), cast(h, float32));
  const auto found = profile.stop().findings();
  const Finding half = finding(found, "float16 is computed in float32");
  EXPECT_EQ(half.what, "MatMul of float16");
  EXPECT_EQ(half.calls, 1);
  EXPECT_THAT(half.mend, HasSubstr("compute in float32"));
  EXPECT_EQ(finding(found, "int8 is computed in a wider integer").what, "MatMul of int8");
  EXPECT_EQ(finding(found, "the CPU computes bfloat16 in float32").what, "AddV2 of bfloat16");
  EXPECT_EQ(found.size(), 3u);
}

TEST(WhySlow, NamesConvolutionsThatRanAsPlainLoops) {
  const auto x = ones({1, 8, 8, 2}), w = ones({3, 3, 2, 4});
  Profile profile;
  nn::conv2d(x, w, 1, "SAME");
  nn::conv2d(cast(x, float64), cast(w, float64), 1, "SAME");
  const auto found = profile.stop().findings();
  for (const Finding& each : found)  // float32 is taken wherever there is oneDNN
    EXPECT_TRUE(each.what.find("float64") != std::string::npos ||
                each.reason.find("this build has no oneDNN") != std::string::npos)
        << each.what << ": " << each.reason;
  const Finding f = finding(found, "oneDNN convolves float32 and bfloat16 alone");
  EXPECT_EQ(f.what, "Conv2D on float64 (1, 8, 8, 2), float64 (3, 3, 2, 4)");
  EXPECT_EQ(f.calls, 1);
  EXPECT_EQ(f.mend, "compute in float32");
}

TEST(WhySlow, NamesCopiesOfVariablesThatSomebodyHolds) {
  Variable v(ones({1000}));
  {
    Profile profile;
    v.assign_add(ones({1000}));
    EXPECT_THAT(profile.stop().why_slow(), Not(HasSubstr("held the old value")));
  }
  const Tensor old = v.value();
  Profile profile;
  v.assign_add(ones({1000}));
  const Finding f = finding(profile.stop().findings(), "somebody held the old value");
  EXPECT_THAT(f.reason, HasSubstr("4000 bytes in 1 calls"));
  EXPECT_THAT(f.mend, HasSubstr("let go of tensors"));
  EXPECT_EQ(old.to_vector<float>()[0], 2.f);
}

TEST(WhySlow, NamesCopiesBetweenDevices) {
  test_device();
  const auto a = ones({250});
  Profile profile;
  {
    const auto scope = device("/device:TEST:0");
    (a + a).to("/cpu:0");
  }
  const Finding f = finding(profile.stop().findings(), "from one device to another");
  EXPECT_EQ(f.what, "AddV2");
  EXPECT_THAT(f.reason, HasSubstr("2000 bytes in 1 calls"));
}

TEST(WhySlow, NamesLargeKernelsOnOneCore) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core only";
  const auto a = ones({512, 512});
  Profile profile;
  {
    const ComputeWidthScope one(1);
    matmul(a, a);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // in which nobody works
  const Finding f = finding(profile.stop().findings(), "had one core of");
  EXPECT_EQ(f.what, "MatMul");
  EXPECT_THAT(f.mend, HasSubstr("set_compute_width"));
}

TEST(WhySlow, NamesStepsWhoseShapesDependOnValues) {
  auto f = function([](Tensor x) { return exp(boolean_mask(x, x > 0.f)); });
  const auto x = constant({-1.f, 2.f, 3.f});
  EXPECT_EQ(profiler::why_slow(f), "nothing ran on a path that is known to be slow\n");
  f(x);
  Profile profile;
  f(x);
  const auto found = profile.stop().findings();
  finding(found, "the shape of its result depends on values");
  finding(found, "the shape of an input is not known");
  EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                          [](const Finding& each) { return each.what == "Exp \"Exp\""; }));
  // The plan alone tells it, too.
  EXPECT_THAT(profiler::why_slow(f), HasSubstr("the shape of its result depends on values"));
  EXPECT_THAT(finding(profiler::findings(f), "the shape of an input").mend,
              HasSubstr("set_shape()"));
}

TEST(WhySlow, AdvisesAFunctionForManyTinyOps) {
  auto x = constant({1.f});
  Profile profile;
  for (int i = 0; i < 150; ++i) x = x * 0.5f;
  const Report report = profile.stop();
#ifndef NDEBUG
  GTEST_SKIP() << "a call of a debug build is not tiny";
#endif
  if (testing::has_sanitizer()) GTEST_SKIP() << "a call under a sanitizer is not tiny";
  const Finding f = finding(report.findings(), "150 eager calls took");
  EXPECT_EQ(f.what, "many tiny ops: Mul");
  EXPECT_THAT(f.mend, HasSubstr("tf::function"));
}

TEST(WhySlow, NamesFunctionsThatAreTracedAgainAndAgain) {
  auto f = function([](Tensor x, int n) { return x * static_cast<float>(n); }, {.name = "scale"});
  const auto x = ones({2});
  Profile profile;
  for (int n = 0; n < 5; ++n) f(x, n);
  const Finding seen = finding(profile.stop().findings(), "it was traced again 4 times");
  EXPECT_EQ(seen.what, "function \"scale\"");
  EXPECT_THAT(seen.reason, HasSubstr("argument 1 changed from 3 to 4"));
  EXPECT_THAT(seen.mend, HasSubstr("input_signature"));
  const Finding known = finding(profiler::findings(f), "it was traced again 4 times");
  EXPECT_EQ(known.reason, seen.reason);
  EXPECT_THAT(profiler::why_slow(f), HasSubstr("1. function \"scale\"\n   why:  it was traced"));
}

TEST(WhySlow, NamesFunctionsThatArePlannedAnew) {
  auto f = function([](Tensor x) { return x * 2.f; },
                    {.input_signature = {TensorSpec({None})}, .name = "any"});
  Profile profile;
  for (int n = 1; n <= 6; ++n) f(ones({n}));
  const Finding seen = finding(profile.stop().findings(), "planned again 6 times");
  EXPECT_THAT(seen.what, HasSubstr("_any_"));
  EXPECT_THAT(profiler::why_slow(f),
              HasSubstr("planned again 6 times, and a plan was used again 0"));
}

}  // namespace
}  // namespace rill
