// Finding out what a program does: values on the way, errors where they arise, the place where an
// op runs.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
using rill::testing::expect_error, rill::testing::printed;
using tf::Tensor;

namespace {

// "Flexible and easy to debug": lines of the program run one after the other, and each result can
// be looked at, decided by, and changed at once.
TEST(Debugging, EagerExecutionShowsEveryStep) {
  RILL_SHOWS("T06");
  std::vector<std::string> seen;
  struct Network : keras::Model {
    std::vector<std::string>& seen;
    keras::layers::Dense hidden{{.units = 3, .kernel_initializer = "ones"}},
        out{{.units = 1, .kernel_initializer = "ones"}};
    explicit Network(std::vector<std::string>& seen) : seen(seen) {
      track("hidden", hidden);
      track("out", out);
    }
    Tensor call(const Tensor& x, const keras::CallContext&) override {
      Tensor h = hidden(x);
      seen.push_back(h.to_string());  // a value in the middle of the network
      if (tf::reduce_max(h) > 100.f) {
        seen.push_back("too large");  // the host's own condition, where a breakpoint could stand
        h = h / 100.f;
      }
      return out(h);
    }
  } network(seen);
  EXPECT_EQ(network(tf::constant({{1.f, 2.f}})).to_string(), "[[9.]]");
  EXPECT_EQ(network(tf::constant({{100.f, 200.f}})).to_string(), "[[9.]]");
  EXPECT_EQ(seen, (std::vector<std::string>{"[[3. 3. 3.]]", "[[300. 300. 300.]]", "too large"}));

  // An error comes from the line that is wrong, before the next one runs, with the op and shapes.
  int line = 0;
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        const Tensor a = tf::ones({2, 3});
        line = 1;
        const Tensor b = tf::matmul(a, a);
        line = 2;
      },
      "[matmul] ");
  EXPECT_EQ(line, 1);

  // Gradients are values, too.
  tf::Variable w(0.f);
  tf::GradientTape tape;
  const Tensor y = tf::sqrt(w);
  const Tensor slope = tape.gradient(y, w);
  EXPECT_TRUE(std::isinf(slope.item<float>()));
  expect_error<tf::errors::InvalidArgument>([&] { tf::debugging::assert_all_finite(slope); }, "");
}

// "Where is tf.nn.conv2d actually executed": a profile says on which device and how, and the map
// of the sources names the files.
TEST(Debugging, AProfileTellsWhereAConvolutionRuns) {
  RILL_SHOWS("T08");
  const Tensor x = tf::ones({1, 8, 8, 3}), w = tf::ones({3, 3, 3, 4});
  auto traced = tf::function([](Tensor a, Tensor b) { return tf::nn::conv2d(a, b, 1, "SAME"); });
  traced(x, w);
  tf::profiler::Profile profile;
  tf::nn::conv2d(x, w, 1, "SAME");
  traced(x, w);
  const auto report = profile.stop();
  std::vector<std::string> ways;
  for (const tf::profiler::Event& e : report.events()) {
    if (e.what->op != "Conv2D") continue;
    ways.push_back(e.what->how);
    EXPECT_EQ(e.what->device, "") << "the CPU";
    EXPECT_EQ(e.what->outputs.at(0).shape, (tf::TensorShape{1, 8, 8, 4}));
    EXPECT_GT(e.what->flops, 0);
    EXPECT_GE(e.end_ns, e.start_ns);
  }
  EXPECT_EQ(ways, (std::vector<std::string>{"eager", "kernel"}));

  const char* source = std::getenv("RILL_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "RILL_SOURCE_DIR is not set";
  std::ifstream map(std::filesystem::path(source) / "rill/README.md");
  const std::string text(std::istreambuf_iterator<char>(map), {});
  for (const char* file : {"ops/nn/conv.cc", "kernels/cpu/conv.cc", "kernels/cuda/conv.cu"}) {
    EXPECT_NE(text.find(file), std::string::npos) << file;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(source) / "rill" / file)) << file;
  }
}

}  // namespace
