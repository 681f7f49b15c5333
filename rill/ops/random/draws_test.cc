// Distributions with parameters: TensorFlow 2.15's numbers, and their gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace random_ns = tf::random;
using rill::errors::InvalidArgument;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance = 2e-6) {
  const auto values = got.to_vector<double>();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(values[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << i;
}
std::vector<std::int64_t> integers(const Tensor& t) { return t.to_vector<std::int64_t>(); }
using Integers = std::vector<std::int64_t>;

TEST(RandomDraws, OfSeedsAreTensorFlows) {
  expect_near(random_ns::stateless_gamma({3, 2}, {1, 2}, {0.5, 3.}, 2),
              {0.0334768071770668, 1.6751877069473267, 0.3141177296638489, 1.7017574310302734,
               0.09068366140127182, 1.2239855527877808});
  EXPECT_EQ(integers(random_ns::stateless_poisson({3, 2}, {1, 2}, {0.5, 30.})),
            (Integers{3, 45, 2, 25, 1, 35}));
  EXPECT_EQ(integers(random_ns::stateless_binomial({3, 2}, {1, 2}, {10., 100.}, {0.5, 0.3})),
            (Integers{6, 42, 6, 26, 7, 34}));
  expect_near(
      random_ns::stateless_parameterized_truncated_normal({3, 2}, {1, 2}, {0., 2.}, 1, -1, 3),
      {0.544110119342804, 0.698410153388977, 0.20738030970096588, 1.0461435317993164,
       0.0735643208026886, 2.841728687286377});
  EXPECT_EQ(integers(random_ns::stateless_shuffle(tf::range(6), {1, 2})),
            (Integers{4, 5, 0, 3, 1, 2}));
}

TEST(RandomDraws, AfterSetSeedAreTensorFlows) {
  random_ns::set_seed(1);
  expect_near(random_ns::gamma({3}, {0.5, 3.}, 1, {.seed = 5}),
              {0.24362298846244812, 2.847517728805542, 0.0008177372510544956, 2.446472644805908,
               0.07552018016576767, 1.8654841184616089});
  expect_near(random_ns::gamma({2}, 2.5, {1., 3.}),
              {5.052536487579346, 0.358999639749527, 1.32548189163208, 1.3114486932754517});
  random_ns::set_seed(1);
  EXPECT_EQ(integers(random_ns::poisson({4}, {0.5, 30.}, {.seed = 5})),
            (Integers{1, 32, 1, 27, 0, 33, 0, 25}));
}

TEST(RandomDraws, HaveTheMomentsOfTheirDistributions) {
  // Within five deviations of the mean of so many samples.
  constexpr int n = 20000;
  const auto expect_mean = [&](const Tensor& samples, double mean, double variance) {
    EXPECT_NEAR(tf::reduce_mean(tf::cast(samples, tf::float64)).item<double>(), mean,
                5 * std::sqrt(variance / n));
  };
  for (const double alpha : {0.1, 1., 4.})
    expect_mean(random_ns::stateless_gamma({n}, {4, 1}, alpha, 2), alpha / 2, alpha / 4);
  for (const double rate : {0.7, 9., 60.})
    expect_mean(random_ns::stateless_poisson({n}, {4, 2}, rate), rate, rate);
  for (const double p : {0.01, 0.4, 0.9})
    expect_mean(random_ns::stateless_binomial({n}, {4, 3}, 50, p), 50 * p, 50 * p * (1 - p));
  // Between -inf and 0 a normal variable is minus its modulus.
  expect_mean(random_ns::stateless_parameterized_truncated_normal({n}, {4, 4}, 0, 1, -INFINITY, 0),
              -std::sqrt(2 / M_PI), 1 - 2 / M_PI);
}

TEST(RandomDraws, SamplesFollowTheirParameters) {
  const Tensor weights = tf::constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  tf::GradientTape tape;
  const Tensor alpha = tf::constant({0.5f, 3.f}), beta = tf::constant(2.f);
  tape.watch({alpha, beta});
  const auto by = tape.gradient(
      tf::reduce_sum(random_ns::stateless_gamma({3, 2}, {1, 2}, alpha, beta) * weights),
      {alpha, beta});
  expect_near(by[0], {4.318819522857666, 6.225820541381836}, 1e-5);
  expect_near(by[1], {-9.465283393859863}, 1e-5);
  tf::GradientTape bounded;
  const Tensor mean = tf::constant({0.f, 2.f}), stddev = tf::constant(1.5f),
               low = tf::constant(-1.f), high = tf::constant(3.f);
  bounded.watch({mean, stddev, low, high});
  const Tensor y =
      random_ns::stateless_parameterized_truncated_normal({3, 2}, {1, 2}, mean, stddev, low, high);
  const auto slopes = bounded.gradient(tf::reduce_sum(y * weights), {mean, stddev, low, high});
  expect_near(slopes[0], {9, 12}, 1e-5);
  expect_near(slopes[1], {-0.9769861698150635}, 1e-5);
  expect_near(slopes[2], {5.419382095336914}, 1e-5);
  expect_near(slopes[3], {7.8515191078186035}, 1e-5);
}

TEST(RandomDraws, GeneratorsAreTensorFlows) {
  const auto g = random_ns::Generator::from_seed(7);
  EXPECT_EQ(integers(g.make_seeds(2)), (Integers{784853886890614065, 8349095772848317176, 0, 0}));
  EXPECT_EQ(integers(g.state()), (Integers{519, 0, 0}));
  const auto parts = g.split(2);
  EXPECT_EQ(integers(parts[0].state()), (Integers{0, 0, 232523557499378622}));
  EXPECT_EQ(integers(parts[1].state()), (Integers{0, 0, -7459316044095282209}));
  EXPECT_EQ(integers(g.binomial({3, 1}, {30.}, {0.3})), (Integers{12, 6, 14}));
  EXPECT_EQ(integers(g.state()), (Integers{77831, 0, 0}));
  EXPECT_EQ(g.uniform_full_int({2}).to_vector<std::uint64_t>(),
            (std::vector<std::uint64_t>{11131969994540278383u, 16094164166162814574u}));
  const auto h = random_ns::Generator::from_key_counter(5, {1, 2});
  expect_near(h.normal({2}), {1.3698596954345703, -0.8846967816352844});
  EXPECT_EQ(integers(h.state()), (Integers{513, 2, 5}));
  EXPECT_EQ(h.key().item<int>(), 5);
  h.reset({5, 6, 7});
  EXPECT_EQ(integers(h.state()), (Integers{5, 6, 7}));
  h.reset_from_key_counter(1, {2, 3});
  EXPECT_EQ(integers(h.state()), (Integers{2, 3, 1}));
  expect_error<InvalidArgument>([] { random_ns::Generator::from_state({1, 2}); }, "three int64");
}

TEST(RandomDraws, ANegativeSeedIsAWideNumber) {
  const auto g = random_ns::Generator::from_seed(-1);
  EXPECT_EQ(integers(g.state()), (Integers{-1, -1, -1}));
  expect_near(g.normal({2}), {-0.8121082186698914, -1.8994760513305664}, 1e-5);
  expect_near(random_ns::Generator::from_seed(-5).normal({2}), {-0.9325538, 0.31087905}, 1e-5);
  g.reset_from_seed(-7);
  EXPECT_EQ(integers(g.state()), (Integers{-7, -1, -1}));
  g.reset_from_seed(-1);
  g.skip(3);
  EXPECT_EQ(integers(g.state()), (Integers{767, 0, -1}));
}

TEST(RandomDraws, InAFunctionGeneratorsGoOn) {
  const auto g = random_ns::Generator::from_seed(7), h = random_ns::Generator::from_seed(7);
  auto f = tf::function([&](Tensor like) { return g.normal(tf::shape(like)); },
                        {.input_signature = {tf::TensorSpec({tf::None}, tf::float32)}});
  for (int n : {3, 2})
    EXPECT_EQ(f(tf::zeros({n})).to_vector<float>(), h.normal({n}).to_vector<float>());
  EXPECT_EQ(integers(g.state()), integers(h.state()));
}

TEST(RandomDraws, InAFunctionEveryCallDrawsAnew) {
  auto f = tf::function([] { return random_ns::gamma({4}, 2.f, 1, {.seed = 3}); });
  const auto first = f().to_vector<float>(), second = f().to_vector<float>();
  EXPECT_NE(first, second);
  expect_error<InvalidArgument>([] { random_ns::gamma({2}, tf::constant(2., tf::float64)); },
                                "dtype is float32");
}

}  // namespace
