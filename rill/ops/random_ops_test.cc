// Streams and distributions; values equal to TensorFlow's are in the conformance
// table and in rill/kernels/functors/random_test.cc.
#include "rill/ops/random_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rill/base/parallel.h"
#include "rill/rill.h"
#include "tests/shows.h"

namespace tf = rill;
using tf::Tensor;
using Floats = std::vector<float>;

namespace {

struct Moments {
  double mean, deviation, low, high;
};
Moments moments(const Tensor& t) {
  const auto v = t.to_vector<double>();
  const double n = static_cast<double>(v.size()),
               mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
  double square = 0;
  for (double x : v) square += (x - mean) * (x - mean);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  return {mean, std::sqrt(square / n), *low, *high};
}

// What TensorFlow 2.15 prints for the same lines: eager ops without a seed draw theirs from
// Python's generator.
TEST(Random, AGlobalSeedAloneGivesTensorFlowsNumbers) {
  namespace r = tf::random;
  const auto near = [](const Tensor& got, const Floats& want) {
    const Floats v = got.to_vector<float>();
    ASSERT_EQ(v.size(), want.size());
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], want[i], 8e-7f) << i;
  };
  for (int round = 0; round < 2; ++round) {
    r::set_seed(1234);
    near(r::uniform({2}), {0.5380393f, 0.36461866f});
    near(r::uniform({2}), {0.3253647f, 0.1387006f});
    near(r::normal({2}), {0.95883226f, -0.3325803f});
    EXPECT_EQ(r::shuffle(tf::range(6)).to_vector<int>(), (std::vector<int>{1, 3, 4, 5, 2, 0}));
    EXPECT_EQ(r::uniform({2}, 0, 100, {.dtype = tf::int32}).to_vector<int>(),
              (std::vector<int>{67, 47}));
    near(r::truncated_normal({2}), {-0.31988043f, 1.3575249f});
    EXPECT_EQ(r::categorical({{0.f, 0.f, 0.f}}, 4).to_vector<int>(),
              (std::vector<int>{1, 1, 0, 1}));
    near(r::uniform({2}, 0., 1., {.seed = 7}), {0.79702616f, 0.05996668f});
    near(r::uniform({2}, 0., 1., {.seed = 7}), {0.16996491f, 0.96266687f});
    near(r::uniform({2}), {0.2962978f, 0.6645019f});
  }
  // An op seed has a stream that continues from call to call.
  const auto thrice = [](auto draw) {
    r::set_seed(5);
    std::vector<int> all;
    for (int call = 0; call < 3; ++call)
      for (const int v : draw().template to_vector<int>()) all.push_back(v);
    return all;
  };
  using Ints = std::vector<int>;
  EXPECT_EQ(thrice([] { return r::uniform({3}, 0, 1000, {.dtype = tf::int32, .seed = 7}); }),
            (Ints{470, 135, 359, 325, 881, 647, 950, 384, 1}));
  EXPECT_EQ(thrice([] { return r::shuffle(tf::range(5), 7); }),
            (Ints{0, 4, 3, 2, 1, 4, 1, 0, 3, 2, 2, 3, 0, 4, 1}));
  EXPECT_EQ(thrice([] {
              return r::categorical(tf::zeros({1, 7}), 3, tf::int64, 7);
            }),
            (Ints{4, 0, 4, 5, 4, 1, 5, 2, 2}));
  EXPECT_EQ(thrice([] {
              return r::categorical(tf::zeros({2, 3}), 5, tf::int64, 7);
            }),
            (Ints{1, 0, 1, 0, 0, 2, 0, 1, 2, 0, 0, 0, 0, 0, 1,
                  1, 0, 2, 0, 1, 0, 0, 2, 0, 2, 2, 2, 0, 2, 2}));
  r::set_seed(5);
  r::normal({3}, 0, 1, {.seed = 7});
  near(r::normal({3}, 0, 1, {.seed = 7}), {0.20115399f, -0.6744497f, 1.5538182f});
  r::set_seed(0);
  near(r::uniform({2}), {0.29197514f, 0.20656645f});
  r::set_seed((std::int64_t{1} << 40) + 3);
  near(r::uniform({2}), {0.9888934f, 0.5550177f});
  r::set_seed(1234);
  near(tf::nn::dropout(tf::ones({6}), 0.5), {2, 0, 2, 0, 0, 2});
  // Tracing a function takes none of them.
  r::set_seed(1234);
  tf::function([](Tensor x) { return x + r::uniform({2}); })(tf::zeros({2}));
  near(r::uniform({2}), {0.5380393f, 0.36461866f});
}

TEST(Random, DistributionsHaveTheirMoments) {
  tf::random::set_seed(1);
  const int n = 200'000;
  const Moments u = moments(tf::random::uniform({n}, -1, 3));
  EXPECT_NEAR(u.mean, 1, 0.01);
  EXPECT_NEAR(u.deviation, 4 / std::sqrt(12.0), 0.01);
  EXPECT_GE(u.low, -1);
  EXPECT_LT(u.high, 3);
  const Moments g = moments(tf::random::normal({n}, 2, 0.5));
  EXPECT_NEAR(g.mean, 2, 0.01);
  EXPECT_NEAR(g.deviation, 0.5, 0.01);
  const Moments t = moments(tf::random::truncated_normal({n}));
  EXPECT_NEAR(t.mean, 0, 0.01);
  EXPECT_NEAR(t.deviation, 0.8796, 0.01);  // of a normal cut at two deviations
  EXPECT_GE(t.low, -2);
  EXPECT_LE(t.high, 2);
  const Moments i = moments(tf::random::uniform({n}, 3, 8, {.dtype = tf::int32}));
  EXPECT_EQ(i.low, 3);
  EXPECT_EQ(i.high, 7);
  EXPECT_NEAR(i.mean, 5, 0.02);
}

TEST(Random, TheGlobalSeedStartsEveryStreamAnew) {
  const auto draw = [](int seed) {
    tf::random::set_seed(seed);
    const auto a = tf::random::uniform({3}), b = tf::random::uniform({3});
    EXPECT_NE(a.to_vector<float>(), b.to_vector<float>());
    return tf::stack({a, b}).to_vector<float>();
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  EXPECT_NE(draw(0), draw(1));
}

TEST(Random, AnOpSeedHasAStreamThatGoesOn) {
  RILL_SHOWS("G63");
  const auto draw = [](std::int64_t seed) {
    return tf::truncated_normal({4}, 0, 0.1, tf::float32, seed).to_vector<float>();
  };
  tf::random::set_seed(5);
  const Floats first = draw(0), second = draw(0);
  EXPECT_NE(first, second);  // the stream continues
  tf::random::set_seed(5);
  tf::random::normal({10});  // does not disturb it
  EXPECT_EQ(draw(0), first);
  EXPECT_EQ(draw(0), second);
}

TEST(Random, WithoutASeedRunsDiffer) {
  const auto a = tf::random::Generator::from_non_deterministic_state().uniform({8});
  const auto b = tf::random::Generator::from_non_deterministic_state().uniform({8});
  EXPECT_NE(a.to_vector<float>(), b.to_vector<float>());
}

TEST(Random, NumbersDoNotDependOnThreads) {
  const auto draw = [](int width) {
    const tf::ComputeWidthScope scope(width);
    tf::random::set_seed(9);
    return tf::random::normal({100'003}).to_vector<float>();
  };
  EXPECT_EQ(draw(1), draw(2));
}

TEST(Random, ShuffleKeepsEveryRow) {
  tf::random::set_seed(3);
  const auto x = tf::reshape(tf::range(200), {100, 2});
  const auto y = tf::random::shuffle(x);
  auto rows = y.to_vector<int>();
  EXPECT_NE(rows, x.to_vector<int>());
  for (std::size_t i = 0; i < rows.size(); i += 2) EXPECT_EQ(rows[i] + 1, rows[i + 1]);
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, x.to_vector<int>());
}

TEST(Random, CategoricalFollowsItsLogits) {
  tf::random::set_seed(4);
  const int n = 50'000;
  const auto drawn = tf::random::categorical(tf::math::log(tf::constant({{0.1f, 0.6f, 0.3f}})), n)
                         .to_vector<int>();
  for (int k = 0; k < 3; ++k) {
    const double share = static_cast<double>(std::count(drawn.begin(), drawn.end(), k)) / n;
    EXPECT_NEAR(share, std::vector<double>({0.1, 0.6, 0.3})[static_cast<std::size_t>(k)], 0.01);
  }
}

TEST(Random, GeneratorsSkipSplitAndStartAnew) {
  const auto g = tf::random::Generator::from_seed(7);
  const Floats first = g.normal({4}).to_vector<float>(), second = g.normal({4}).to_vector<float>();
  EXPECT_NE(first, second);
  g.reset_from_seed(7);
  EXPECT_EQ(g.normal({4}).to_vector<float>(), first);
  const auto h = tf::random::Generator::from_state(tf::random::Generator::from_seed(7).state());
  EXPECT_EQ(h.normal({4}).to_vector<float>(), first);
  EXPECT_EQ(g.make_seeds(3).shape(), tf::TensorShape({2, 3}));
}

TEST(Random, MistakesAreNamed) {
  EXPECT_THROW(tf::random::uniform({2}, 5, 5, {.dtype = tf::int32}), tf::errors::InvalidArgument);
  EXPECT_THROW(tf::random::uniform({-1}), tf::errors::InvalidArgument);
  EXPECT_THROW(tf::random::stateless_normal({2}, {1, 2, 3}), tf::errors::InvalidArgument);
  EXPECT_THROW(tf::random::categorical(tf::ones({3}), 2), tf::errors::InvalidArgument);
}

}  // namespace
