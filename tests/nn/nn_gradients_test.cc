// Gradients of neural-network ops through a tape, and convolutions by oneDNN
// against our own loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "rill/base/parallel.h"
#include "rill/eager/gradient_tape.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/shows.h"

namespace rill {
namespace {

using ::testing::ElementsAre;

TEST(CrossEntropy, LetsNoGradientIntoLabelsUnlessV2) {
  RILL_SHOWS("L06", "L07");
  const Tensor labels = constant({{0.25f, 0.75f}}), logits = constant({{1.f, 3.f}});
  GradientTape tape({.persistent = true});
  tape.watch({labels, logits});
  const Tensor plain = nn::softmax_cross_entropy_with_logits({.labels = labels, .logits = logits});
  const Tensor v2 = nn::softmax_cross_entropy_with_logits_v2({.labels = labels, .logits = logits});
  EXPECT_FALSE(tape.gradient(plain, labels).defined());
  EXPECT_TRUE(tape.gradient(plain, logits).defined());
  const auto got = tape.gradient(v2, labels).to_vector<float>(),
             want = nn::log_softmax(logits).to_vector<float>();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_FLOAT_EQ(got[i], -want[i]);
}

TEST(Dropout, PassesGradientsWhereItKeeps) {
  random::set_seed(11);
  const Tensor x = ones({100});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::dropout(x, 0.25);
  EXPECT_EQ(tape.gradient(y, x).to_vector<float>(), y.to_vector<float>());
}

struct Geometry {
  TensorShape input, filter;
  std::vector<int> strides, dilations;
  nn::Padding padding = "SAME";
  std::string format;
};

Geometry random_geometry(std::mt19937& random) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Geometry g;
  const int spatial = pick(0, 3) == 0 ? 3 : 2, kind = pick(0, 2);
  const bool first = pick(0, 2) == 0;
  const int groups = pick(0, 2) == 0 ? pick(2, 4) : 1, in = pick(1, 18), out = pick(1, 18);
  std::vector<std::int64_t> input{pick(1, 3)}, filter;
  std::vector<std::vector<int>> pads{{0, 0}};
  if (first) input.push_back(in * groups), pads.push_back({0, 0});
  for (int i = 0; i < spatial; ++i) {
    const int size = pick(1, 4), dilation = pick(0, 3) == 0 ? 2 : 1;
    filter.push_back(size);
    g.dilations.push_back(dilation);
    g.strides.push_back(pick(1, 3));
    input.push_back((size - 1) * dilation + pick(1, 7));
    pads.push_back({pick(0, 2), pick(0, 2)});
  }
  if (!first) input.push_back(in * groups), pads.push_back({0, 0});
  filter.insert(filter.end(), {in, out * groups});
  g.input = TensorShape(input), g.filter = TensorShape(filter);
  if (kind == 1) g.padding = "VALID";
  if (kind == 2) g.padding = nn::Padding(pads);
  g.format = spatial == 3 ? (first ? "NCDHW" : "NDHWC") : (first ? "NCHW" : "NHWC");
  return g;
}

// Small whole numbers: their sums of products are exact in float32.
Tensor whole_numbers(std::mt19937& random, const TensorShape& shape) {
  std::vector<float> v(static_cast<std::size_t>(shape.num_elements()));
  for (float& f : v) f = static_cast<float>(std::uniform_int_distribution<int>(-4, 4)(random));
  return constant(v, float32, shape);
}

TEST(Convolution, IsExactForWholeNumbersInAnyGeometryBothWays) {
  std::mt19937 random(2024);
  for (int i = 0; i < 200; ++i) {
    const Geometry g = random_geometry(random);
    SCOPED_TRACE(rill::format("{}: {} * {}, {}, strides {} {}, dilations {} {}", i, g.input,
                              g.filter, g.format, g.strides[0], g.strides[1], g.dilations[0],
                              g.dilations[1]));
    const Tensor x = whole_numbers(random, g.input), w = whole_numbers(random, g.filter);
    auto all = [&](const Tensor& input, const Tensor& filter, const Tensor& weights) {
      GradientTape tape;
      tape.watch({input, filter});
      const Tensor y = nn::convolution(input, filter, g.strides, g.padding,
                                       {.data_format = g.format, .dilations = g.dilations});
      const Tensor sum = weights.defined() ? reduce_sum(y * cast(weights, y.dtype())) : y;
      const Gradients d = tape.gradient(sum, {input, filter});
      return std::vector<Tensor>{y, d[0].tensor(), d[1].tensor()};
    };
    const Tensor weights = whole_numbers(random, all(x, w, {})[0].shape());
    const auto narrow = all(x, w, weights);                              // oneDNN
    const auto wide = all(cast(x, float64), cast(w, float64), weights);  // our own loops
    const auto half = all(cast(x, bfloat16), cast(w, bfloat16), weights);
    for (std::size_t k = 0; k < 3; ++k)
      ASSERT_EQ(half[k].to_vector<double>(), cast(wide[k], bfloat16).to_vector<double>())
          << "bfloat16";
    for (std::size_t k = 0; k < 3; ++k)
      ASSERT_EQ(narrow[k].to_vector<double>(), wide[k].to_vector<double>())
          << (k == 0   ? "output"
              : k == 1 ? "input"
                       : "filter");
  }
}

TEST(Convolution, GivesTheSameBitsAtEveryWidth) {
  random::set_seed(1);
  const Tensor x = random::normal({9, 28, 28, 16}), w = random::normal({3, 3, 16, 32});
  auto all = [&](int width) {
    const ComputeWidthScope scope(width);
    GradientTape tape;
    tape.watch({x, w});
    const Tensor y = nn::conv2d(x, w, 1, "SAME");
    const Gradients d = tape.gradient(reduce_sum(square(y)), {x, w});
    return std::vector<std::vector<float>>{y.to_vector<float>(), d[0].to_vector<float>(),
                                           d[1].to_vector<float>()};
  };
  const auto once = all(2);
  EXPECT_EQ(all(2), once);
  EXPECT_EQ(all(1), once);
}

TEST(Pooling, GivesTheGradientToTheFirstOfEquals) {
  const Tensor x = zeros({1, 2, 2, 1});
  GradientTape tape;
  tape.watch(x);
  EXPECT_THAT(tape.gradient(nn::max_pool(x, 2, 2, "VALID"), x).to_vector<float>(),
              ElementsAre(1, 0, 0, 0));
}

TEST(Normalization, GivesTheSameBitsAtEveryWidth) {
  random::set_seed(2);
  const Tensor x = random::normal({64, 17, 13, 24}), rows = random::normal({3000, 100}),
               v = random::normal({24}), r = random::normal({100});
  auto all = [&](int width) {
    const ComputeWidthScope scope(width);
    GradientTape tape;
    tape.watch({x, v, rows, r});
    const Tensor y = nn::fused_batch_norm(x, v, v).t[0], z = nn::layer_norm(rows, r, r),
                 p = nn::max_pool(x, 3, 2, "SAME"), a = nn::avg_pool(x, 3, 1, "SAME");
    const Gradients d = tape.gradient(reduce_sum(square(y)) + reduce_sum(square(z)) +
                                          reduce_sum(square(p)) + reduce_sum(square(a)),
                                      {x, v, rows, r});
    std::vector<std::vector<float>> out{y.to_vector<float>(), z.to_vector<float>(),
                                        p.to_vector<float>(), a.to_vector<float>()};
    for (const Gradient& g : d) out.push_back(g.to_vector<float>());
    return out;
  };
  EXPECT_EQ(all(1), all(2));
}

}  // namespace
}  // namespace rill
