#include "rill/ops/nn_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "rill/base/error.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/rill.h"
#include "tests/sanitizer.h"
#include "tests/shows.h"

namespace rill {
namespace {

using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const errors::Error& e) {
    return e.message();
  }
  return "no error";
}

// ---- space to batch

TEST(WithSpaceToBatch, IsADilatedConvolution) {
  const Tensor x = random::normal({2, 7, 8, 3}, 0, 1, {.seed = 1}),
               f = random::normal({3, 2, 3, 4}, 0, 1, {.seed = 2});
  int axes = 0;
  const nn::WindowOp op = [&](const Tensor& in, int num_spatial_dims, const nn::Padding& padding) {
    axes = num_spatial_dims;
    EXPECT_EQ(padding.name(), "VALID");
    return nn::conv2d(in, f, 1, padding);
  };
  const auto expect_near = [](const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.shape(), b.shape());
    EXPECT_LT(reduce_max(abs(a - b)).item<float>(), 1e-5f);
  };
  const nn::Padding around({{0, 0}, {1, 2}, {0, 3}, {0, 0}});
  for (const nn::Padding& padding : {nn::Padding("SAME"), nn::Padding("VALID"), around}) {
    SCOPED_TRACE(padding.name());
    const Tensor want = nn::conv2d(x, f, 1, padding, {.dilations = {2, 3}});
    const nn::SpaceToBatchOptions o{.filter_shape = f.shape()};
    expect_near(nn::with_space_to_batch(x, {2, 3}, padding, op, o), want);
    EXPECT_EQ(axes, 2);
    // Sizes that a function does not know.
    auto traced = function(
        [&](const Tensor& t) {
          return nn::with_space_to_batch(t, {2, 3}, padding, op, o);
        },
        {.input_signature = {TensorSpec({None, None, None, 3}, float32)}});
    expect_near(traced(x), want);
  }
}

TEST(WithSpaceToBatch, LeavesOtherAxesAlone) {
  const Tensor x = random::normal({2, 3, 9, 5}, 0, 1, {.seed = 1});
  // Differences of neighbours along axis 2, or along the axis behind two channels.
  const auto differences = [](const Tensor& t, int, const nn::Padding&) {
    return t(all, all, slice(1, None)) - t(all, all, slice(None, -1));
  };
  const Tensor want = x(all, all, slice(2, None)) - x(all, all, slice(None, -2));
  for (const nn::SpaceToBatchOptions& o : {nn::SpaceToBatchOptions{.spatial_dims = {2}},
                                           nn::SpaceToBatchOptions{.data_format = "NCW"}})
    EXPECT_EQ(nn::with_space_to_batch(x, {2}, "VALID", differences, o).to_vector<float>(),
              want.to_vector<float>());
  // Of dilations of 1 the op has the padding itself.
  nn::with_space_to_batch(x, {1, 1}, "SAME", [](const Tensor& t, int n, const nn::Padding& p) {
    EXPECT_EQ(p.name(), "SAME");
    EXPECT_EQ(n, 2);
    return t;
  });
}

TEST(WithSpaceToBatch, SaysWhatIsWrong) {
  const Tensor x = zeros({2, 4, 4, 1});
  const nn::WindowOp same = [](const Tensor& t, int, const nn::Padding&) { return t; };
  const auto error = [&](const std::vector<int>& rate, const nn::Padding& padding,
                         const nn::SpaceToBatchOptions& o) {
    return error_of([&] { nn::with_space_to_batch(x, rate, padding, same, o); });
  };
  EXPECT_THAT(error({}, "VALID", {}), ContainsRegex("dilation_rate is empty"));
  EXPECT_THAT(error({2, 0}, "VALID", {}), ContainsRegex("dilation_rate is 0; expected 1 or more"));
  EXPECT_THAT(error({2, 2}, "SAME", {}), ContainsRegex("filter_shape is not given"));
  EXPECT_THAT(error({2, 2}, "SAME", {.filter_shape = {3}}), ContainsRegex("filter_shape is"));
  EXPECT_THAT(error({2, 2}, "FULL", {}), ContainsRegex("padding is \"FULL\""));
  EXPECT_THAT(error({2, 2}, {{1, 1}, {1, 1}}, {}),
              ContainsRegex("padding has 2 entries; expected 4"));
  EXPECT_THAT(error({2, 2}, "VALID", {.spatial_dims = {2, 1}}), ContainsRegex("axes in order"));
  EXPECT_THAT(error({2}, "VALID", {.spatial_dims = {0}}), ContainsRegex("from 1 on"));
  EXPECT_THAT(error({2}, "VALID", {.spatial_dims = {4}}), ContainsRegex("expected rank 5 or more"));
}

// ---- activations

TEST(Activations, CanBePassedAsFunctions) {
  RILL_SHOWS("O20");
  using Activation = Tensor (*)(const Operand&);
  const Activation all[] = {nn::relu,     nn::softmax,    nn::tanh,     nn::sigmoid, nn::gelu,
                            nn::swish,    nn::silu,       nn::elu,      nn::selu,    nn::relu6,
                            nn::softplus, nn::leaky_relu, rill::sigmoid};
  for (Activation f : all) EXPECT_EQ(f(constant({-1.f, 0.f, 2.f})).shape(), TensorShape({3}));
  EXPECT_THAT(nn::relu(constant({-1, 0, 2})).to_vector<int>(), ElementsAre(0, 0, 2));
}

TEST(Softmax, IsStableSumsToOneAndSharpensWithLowTemperature) {
  RILL_SHOWS("O21", "O22");
  const Tensor logits = constant({1000.f, 1001.f, 999.f});
  const auto warm = nn::softmax(logits / 10.f).to_vector<float>(),
             cold = nn::softmax(logits / 0.1f).to_vector<float>();
  EXPECT_NEAR(warm[0] + warm[1] + warm[2], 1, 1e-6);
  EXPECT_NEAR(cold[1], 1, 1e-4);
  EXPECT_LT(warm[1], 0.4f);
}

// ---- cross entropy

TEST(CrossEntropy, OfSigmoidsFollowsTheStableFormula) {
  RILL_SHOWS("L08");
  const std::vector<float> x{-1000, -3, 0, 2, 1000}, z{1, 0.25f, 1, 0, 0};
  const auto got =
      nn::sigmoid_cross_entropy_with_logits({.labels = constant(z), .logits = constant(x)})
          .to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_FLOAT_EQ(got[i],
                    std::max(x[i], 0.f) - x[i] * z[i] + std::log1p(std::exp(-std::abs(x[i]))));
}

TEST(CrossEntropy, OfClassNumbersEqualsThatOfOneHotRows) {
  RILL_SHOWS("L09");
  const Tensor logits = constant({{1.f, 3.f, -2.f}, {100.f, -100.f, 0.f}}),
               classes = constant({1, 0});
  for (DType d : {float16, float32, float64}) {
    const auto sparse =
        nn::sparse_softmax_cross_entropy_with_logits({.labels = classes, .logits = cast(logits, d)})
            .to_vector<double>();
    const auto dense = nn::softmax_cross_entropy_with_logits(
                           {.labels = one_hot(classes, 3, {.dtype = d}), .logits = cast(logits, d)})
                           .to_vector<double>();
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_NEAR(sparse[i], dense[i], d == float16 ? 1e-3 : 1e-6);
  }
  EXPECT_THAT(error_of([&] {
                nn::sparse_softmax_cross_entropy_with_logits(
                    {.labels = constant({1, 3}), .logits = logits});
              }),
              ContainsRegex("labels\\[1\\] = 3 is not in \\[0, 3\\)"));
}

TEST(CrossEntropy, IsWrongForWhatSoftmaxHasBeenAppliedTo) {
  RILL_SHOWS("L11", "Z46");
  const Tensor labels = constant({{0.f, 1.f}}), logits = constant({{-2.f, 2.f}});
  const float right =
      nn::softmax_cross_entropy_with_logits({.labels = labels, .logits = logits}).item<float>();
  const float wrong =
      nn::softmax_cross_entropy_with_logits({.labels = labels, .logits = nn::softmax(logits)})
          .item<float>();
  EXPECT_NEAR(right, std::log1p(std::exp(-4.f)), 1e-6);
  EXPECT_GT(wrong, 10 * right);
}

TEST(CrossEntropy, OfClassNumbersTakesOneWholeNumberARow) {
  RILL_SHOWS("Z48");
  const Tensor logits = constant({{1.f, 3.f, -2.f}, {0.f, 1.f, 0.f}});
  auto loss = [&](const Tensor& labels) {
    return nn::sparse_softmax_cross_entropy_with_logits({.labels = labels, .logits = logits});
  };
  EXPECT_EQ(loss(constant({1, 0}, int32)).to_vector<float>(),
            loss(constant({1, 0}, int64)).to_vector<float>());
  EXPECT_THAT(error_of([&] {
                loss(constant({1.f, 0.f}));
              }),
              ContainsRegex("labels are float32; expected class numbers of dtype int32 or int64"));
  EXPECT_THAT(error_of([&] {
                loss(constant({{0.f, 1.f, 0.f}, {0.5f, 0.5f, 0.f}}));
              }),
              ContainsRegex("Soft labels go to softmax_cross_entropy_with_logits"));
  EXPECT_THAT(error_of([&] {
                loss(constant({-1, 0}));
              }),
              ContainsRegex("labels\\[0\\] = -1 is not in \\[0, 3\\)"));
  EXPECT_THAT(error_of([&] {
                loss(constant({{1, 0}}));
              }),
              ContainsRegex("sparse_softmax_cross_entropy_with_logits"));
}

// The gradient takes each row of labels for a distribution: of one that sums to
// 2, softmax - labels is not the derivative, which is 2 softmax - labels.
TEST(CrossEntropy, OfRowsThatAreNoDistributionHasAWrongGradient) {
  RILL_SHOWS("Z47");
  const Tensor logits = constant({{1.f, 2.f}}), labels = constant({{1.f, 1.f}});
  GradientTape tape;
  tape.watch(logits);
  const Tensor loss = nn::softmax_cross_entropy_with_logits({.labels = labels, .logits = logits});
  const auto got = tape.gradient(loss, logits).to_vector<float>(),
             p = nn::softmax(logits).to_vector<float>();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FLOAT_EQ(got[i], p[i] - 1);
    EXPECT_GT(std::abs(got[i] - (2 * p[i] - 1)), 0.2f);
  }
}

TEST(XwPlusB, IsAProductAndASum) {
  RILL_SHOWS("O26");
  const Tensor x = constant({{1.f, 2.f}}), w = constant({{3.f, 4.f}, {5.f, 6.f}});
  EXPECT_THAT(nn::xw_plus_b(x, w, constant({10.f, 20.f})).to_vector<float>(), ElementsAre(23, 36));
}

// ---- dropout

TEST(Dropout, DropsTheRateAndScalesTheRest) {
  RILL_SHOWS("O25");
  random::set_seed(7);
  const Tensor x = ones({200, 200});
  const auto y = nn::dropout(x, 0.3).to_vector<float>();
  std::int64_t dropped = 0;
  for (float v : y) {
    if (v == 0)
      ++dropped;
    else
      ASSERT_FLOAT_EQ(v, 1 / 0.7f);
  }
  // Five deviations of a binomial count.
  EXPECT_NEAR(static_cast<double>(dropped) / 40000, 0.3, 5 * std::sqrt(0.3 * 0.7 / 40000));
}

TEST(Dropout, RepeatsWithASeed) {
  const Tensor x = ones({1000});
  auto draw = [&](std::int64_t global, std::int64_t op) {
    random::set_seed(global);
    return nn::dropout(x, 0.5, {.seed = op}).to_vector<float>();
  };
  EXPECT_EQ(draw(1, 2), draw(1, 2));
  EXPECT_NE(draw(1, 2), draw(1, 3));
  EXPECT_NE(draw(1, 2), draw(2, 2));
  random::set_seed(1);
  const auto first = nn::dropout(x, 0.5).to_vector<float>(),
             second = nn::dropout(x, 0.5).to_vector<float>();
  EXPECT_NE(first, second);
}

TEST(Dropout, SharesDecisionsAlongAxesOfSizeOne) {
  random::set_seed(3);
  for (const TensorShape& noise : {TensorShape({1, 50}), TensorShape({1, None})}) {
    const Tensor y = nn::dropout(ones({40, 50}), 0.5, {.noise_shape = noise});
    EXPECT_TRUE(static_cast<bool>(reduce_all(equal(y, y(slice(0, 1))))));
    EXPECT_GT(reduce_max(y).item<float>(), 0);
    EXPECT_EQ(reduce_min(y).item<float>(), 0);
  }
}

TEST(Dropout, GivesXItselfAtRateZeroAndRefusesBadRates) {
  const Tensor x = ones({3});
  EXPECT_EQ(nn::dropout(x, 0).id(), x.id());
  EXPECT_THAT(nn::dropout(x, constant(0.f)).to_vector<float>(), Each(1.f));
  for (double rate : {1.0, -0.1, 2.0}) {
    EXPECT_THAT(error_of([&] { nn::dropout(x, rate); }),
                ContainsRegex("\\[dropout\\] rate is .*; expected a number in \\[0, 1\\)"));
    EXPECT_THAT(error_of([&] { nn::dropout(x, constant(rate)); }),
                ContainsRegex("expected a number in \\[0, 1\\)"));
  }
  EXPECT_THAT(error_of([&] { nn::dropout(x, constant({0.1f})); }),
              ContainsRegex("rate has shape \\[1\\]; expected a scalar"));
  EXPECT_THAT(error_of([&] {
                nn::dropout(constant({1, 2}), 0.5);
              }),
              ContainsRegex("x is int32; expected a floating-point dtype"));
}

// ---- convolutions

// Small whole numbers: their sums of products are exact in float32.
Tensor whole_numbers(std::mt19937& random, const TensorShape& shape) {
  std::vector<float> v(static_cast<std::size_t>(shape.num_elements()));
  for (float& f : v) f = static_cast<float>(std::uniform_int_distribution<int>(-4, 4)(random));
  return constant(v, float32, shape);
}

TEST(Convolution, OfEachChannelEqualsGroupsOfOne) {
  std::mt19937 random(1);
  for (int multiplier : {1, 3}) {
    const Tensor x = whole_numbers(random, {2, 9, 8, 20}),
                 w = whole_numbers(random, {3, 2, 20, multiplier});
    const Tensor grouped =
        nn::conv2d(x, reshape(w, {3, 2, 1, 20 * multiplier}), 1, "SAME", {.dilations = 2});
    EXPECT_EQ(nn::depthwise_conv2d(x, w, 1, "SAME", {.dilations = 2}).to_vector<float>(),
              grouped.to_vector<float>());
  }
}

TEST(Convolution, RunsOnManyThreadsAtOnce) {
  std::mt19937 random(5);
  const Tensor w = whole_numbers(random, {3, 3, 8, 16});
  std::vector<Tensor> x, want(16), got(16);
  for (int i = 0; i < 16; ++i) x.push_back(whole_numbers(random, {1 + i % 3, 9, 9, 8}));
  for (std::size_t i = 0; i < 16; ++i)
    want[i] = nn::conv2d(x[i], w, 1 + static_cast<int>(i) % 2, "SAME");
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int again = 0; again < 5; ++again)
        for (std::size_t i = t; i < 16; i += 4)
          got[i] = nn::conv2d(x[i], w, 1 + static_cast<int>(i) % 2, "SAME");
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>());
}

TEST(Convolution, StaysRightWhenMoreGeometriesComeThanAreKept) {
  const Tensor w = ones({2, 2, 1, 1});
  for (int again = 0; again < 2; ++again)
    for (int width = 2; width < 640; ++width) {
      const Tensor y = nn::conv2d(ones({1, 2, width, 1}), w, 1, "VALID");
      ASSERT_EQ(y.shape(), TensorShape({1, 1, width - 1, 1}));
      ASSERT_EQ(reduce_min(y).item<float>(), 4);
      ASSERT_EQ(reduce_max(y).item<float>(), 4);
    }
}

TEST(Convolution, OfTensorFlow1TakesItsArguments) {
  RILL_SHOWS("O23", "C16");
  const Tensor x = reshape(range(16.f), {1, 4, 4, 1}), w = ones({2, 2, 1, 1});
  const Tensor y = compat::v1::nn::conv2d(
      x, w, {1, 2, 2, 1}, "SAME",
      {.use_cudnn_on_gpu = true, .data_format = "NHWC", .dilations = {1, 1, 1, 1}});
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(10, 18, 42, 50));
  const Tensor first = compat::v1::nn::conv2d(reshape(x, {1, 1, 4, 4}), w, {1, 1, 1, 1}, "VALID",
                                              {.data_format = "NCHW", .dilations = {1, 1, 3, 3}});
  EXPECT_THAT(first.to_vector<float>(), ElementsAre(30));
}

TEST(Convolution, SaysWhatIsWrong) {
  RILL_SHOWS("O24");
  const Tensor x = ones({1, 4, 4, 2}), w = ones({2, 2, 2, 3});
  EXPECT_THAT(
      error_of([&] { nn::conv2d(x, w, 1, "same"); }),
      ContainsRegex(
          "\\[conv2d\\] padding is \"same\"; expected \"SAME\", \"VALID\" or \"EXPLICIT\""));
  EXPECT_THAT(error_of([&] {
                nn::conv2d(x, w, {1, 1, 1}, "SAME");
              }),
              ContainsRegex("strides has 3 entries; expected 1, 2 or 4"));
  EXPECT_THAT(error_of([&] { nn::conv2d(x, w, 0, "SAME"); }),
              ContainsRegex("an entry of strides is 0; expected 1 or more"));
  EXPECT_THAT(error_of([&] {
                nn::conv2d(x, w, 1, {{1, 1}, {1, 1}});
              }),
              ContainsRegex("padding has 2 entries; expected 4"));
  EXPECT_THAT(error_of([&] {
                nn::conv2d(x, w, 1, {{0, 0}, {-1, 1}, {0, 0}, {0, 0}});
              }),
              ContainsRegex("an entry of explicit_paddings is -1"));
  EXPECT_THAT(error_of([&] { nn::conv2d(x, w, 1, "SAME", {.data_format = "NWC"}); }),
              ContainsRegex("data_format is \"NWC\"; expected \"NHWC\" or \"NCHW\""));
  EXPECT_THAT(error_of([&] { nn::conv2d(x, w, 1, "SAME", {.data_format = "NCHW"}); }),
              ContainsRegex("has 4 channels.*filter of shape|do not divide into 2 groups"));
  EXPECT_THAT(error_of([&] { nn::conv2d(x, w, 1, "SAME", {.dilations = 0}); }),
              ContainsRegex("an entry of dilations is 0"));
  EXPECT_THAT(error_of([&] { nn::conv2d(x, cast(w, float64), 1, "SAME"); }),
              ContainsRegex("float64"));
  EXPECT_THAT(error_of([&] {
                nn::convolution(x, ones({2, 2}));
              }),
              ContainsRegex("expected rank 3, 4 or 5"));
  EXPECT_THAT(error_of([&] { nn::atrous_conv2d(x, w, 0, "SAME"); }),
              ContainsRegex("rate is 0; expected 1 or more"));
  EXPECT_THAT(error_of([&] {
                nn::conv2d_transpose(x, w, {1, 4, 4, 2}, 1);
              }),
              ContainsRegex("out_backprop has shape \\[1, 4, 4, 2\\]; expected \\[1, 4, 4, 3\\]"));
}

// ---- pooling

TEST(Pooling, LeavesPaddingOutOfTheMeanAndTheLargest) {
  const Tensor x = fill({1, 3, 3, 1}, -2.f);
  EXPECT_THAT(nn::avg_pool2d(x, 2, 2, "SAME").to_vector<float>(), Each(-2.f));
  EXPECT_THAT(nn::max_pool2d(x, 2, 2, "SAME").to_vector<float>(), Each(-2.f));
}

TEST(Pooling, SaysWhatIsWrong) {
  const Tensor x = ones({1, 4, 4, 2});
  EXPECT_THAT(error_of([&] { nn::pool(x, 2, "MIN"); }),
              ContainsRegex("pooling_type is \"MIN\"; expected \"MAX\" or \"AVG\""));
  EXPECT_THAT(error_of([&] {
                nn::pool(x, {2, 2, 2}, "MAX");
              }),
              ContainsRegex("window_shape has 3 entries; expected 1 or 2"));
  EXPECT_THAT(error_of([&] { nn::pool(x, 2, "MAX", {.strides = 2, .dilations = 2}); }),
              ContainsRegex("expected one of them to be 1"));
  EXPECT_THAT(error_of([&] { nn::pool(x, 2, "MAX", {.padding = "SAME", .dilations = 2}); }),
              ContainsRegex("expected \"VALID\" with dilations"));
  EXPECT_THAT(error_of([&] {
                nn::avg_pool(x, 2, 2, {{0, 0}, {1, 1}, {1, 1}, {0, 0}});
              }),
              ContainsRegex("padding is \"EXPLICIT\"; expected \"SAME\" or \"VALID\""));
  EXPECT_THAT(error_of([&] { nn::max_pool2d(x, 0, 1, "SAME"); }),
              ContainsRegex("an entry of ksize is 0"));
  EXPECT_THAT(error_of([&] { nn::max_pool_with_argmax(x, 2, 2, "SAME", {.data_format = "NCHW"}); }),
              ContainsRegex("expected \"NHWC\""));
}

// ---- normalisation

TEST(BatchNorm, MixesRunningAveragesByTheFactor) {
  const Tensor x = reshape(constant({1.f, 2.f, 3.f, 6.f}), {4, 1, 1, 1}), one = ones({1}),
               zero = zeros({1});
  const auto fresh = nn::fused_batch_norm(x, one, zero);
  EXPECT_FLOAT_EQ(fresh.t[1].item<float>(), 3);
  EXPECT_FLOAT_EQ(fresh.t[2].item<float>(), 14.f / 3);  // N - 1
  const auto mixed = nn::fused_batch_norm(
      x, one, zero, {.mean = zero, .variance = one, .exponential_avg_factor = 0.25});
  EXPECT_FLOAT_EQ(mixed.t[1].item<float>(), 0.75f);
  EXPECT_FLOAT_EQ(mixed.t[2].item<float>(), 0.75f + 0.25f * 14 / 3);
  EXPECT_THAT(error_of([&] { nn::fused_batch_norm(x, one, zero, {.is_training = false}); }),
              ContainsRegex("mean and variance must be given when is_training is false"));
  EXPECT_THAT(
      error_of([&] { nn::fused_batch_norm(x, one, zero, {.exponential_avg_factor = 0.5}); }),
      ContainsRegex("mean and variance must be given when exponential_avg_factor"));
}

TEST(LayerNorm, MakesEveryRowMeanZeroAndVarianceOne) {
  // A sanitizer's build has no vectors and adds up one by one.
  const double slack = testing::has_sanitizer() ? 8 : 1;
  random::set_seed(9);
  const Tensor y = nn::layer_norm(random::normal({64, 1000}, 1000, 3), ones({1000}), zeros({1000}),
                                  {.epsilon = 1e-9});
  const auto [mean, variance] = nn::moments(y, {1});
  for (float m : mean.to_vector<float>()) EXPECT_NEAR(m, 0, 1e-4 * slack);
  for (float v : variance.to_vector<float>()) EXPECT_NEAR(v, 1, 1e-4);
}

// The mean has an error of up to two units of its last place, 2^-10. The spread is then measured
// about another mean, which makes it larger by the square of that error, and no more.
TEST(LayerNorm, OfALargeMeanIsThatOfDoublesButForTheRoundingOfTheMean) {
  // A sanitizer's build has no vectors and adds up one by one.
  const double slack = testing::has_sanitizer() ? 8 : 1;
  random::set_seed(9);
  for (std::int64_t n : {37, 1000, 1024, 5000}) {
    const Tensor x = random::normal({4, n}, 1e4, 1), one = ones({n}), zero = zeros({n});
    const auto got = nn::layer_norm(x, one, zero, {.epsilon = 1e-9}).to_vector<float>();
    const auto want =
        nn::layer_norm(cast(x, float64), cast(one, float64), cast(zero, float64), {.epsilon = 1e-9})
            .to_vector<double>();
    for (std::size_t row = 0; row < 4; ++row) {
      const std::size_t begin = row * static_cast<std::size_t>(n), end = begin + n;
      const double shift = got[begin] - want[begin];
      EXPECT_LT(std::abs(shift), 2 * std::ldexp(1., -10) * slack) << n;
      for (std::size_t i = begin; i < end; ++i)
        ASSERT_NEAR(got[i] - want[i], shift, (2e-6 + std::abs(want[i]) * shift * shift / 2) * slack)
            << n;
    }
  }
}

// Large results are stored another way.
TEST(LayerNorm, OfManyRowsHasTheBitsOfFewRows) {
  random::set_seed(9);
  const int rows = 8400, n = 1000, some = 16;  // more than 32 MiB, and rows of 3 parts and a rest
  const Tensor x = random::normal({some, n}), gamma = random::normal({n}),
               beta = random::normal({n});
  const Tensor few = nn::layer_norm(x, gamma, beta);
  const auto all = nn::layer_norm(tile(x, {rows / some, 1}), gamma, beta).to_vector<float>(),
             want = few.to_vector<float>();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(rows * n));
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], want[i % want.size()]) << i;
}

TEST(CrossEntropy, OfDistributionsTakesARowOfFloatsASample) {
  RILL_SHOWS("Z49");
  const Tensor logits = constant({{1.f, 3.f, -2.f}, {0.f, 1.f, 0.f}});
  auto loss = [&](const Tensor& labels, DType dtype = float32) {
    return nn::softmax_cross_entropy_with_logits({.labels = labels, .logits = cast(logits, dtype)});
  };
  const Tensor rows = constant({{0.f, 1.f, 0.f}, {0.25f, 0.25f, 0.5f}});
  EXPECT_EQ(loss(rows).shape(), TensorShape({2}));
  EXPECT_EQ(loss(cast(rows, float64), float64).dtype(), float64);
  EXPECT_THAT(error_of([&] {
                loss(constant({1, 0}));
              }),
              ContainsRegex("softmax_cross_entropy_with_logits"));
  // Whole numbers are taken for floats, as TensorFlow does; text is not a number.
  EXPECT_EQ(loss(constant({{0, 1, 0}, {1, 0, 0}})).to_vector<float>(),
            loss(constant({{0.f, 1.f, 0.f}, {1.f, 0.f, 0.f}})).to_vector<float>());
  EXPECT_THAT(error_of([&] {
                loss(constant({{"a", "b", "c"}, {"d", "e", "f"}}));
              }),
              ContainsRegex("string"));
  EXPECT_THAT(error_of([&] {
                loss(constant({{0.f, 1.f, 0.f, 0.f}, {1.f, 0.f, 0.f, 0.f}}));
              }),
              ContainsRegex("\\[2, 4\\]"));
}

}  // namespace
}  // namespace rill
