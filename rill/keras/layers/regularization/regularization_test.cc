#include "rill/keras/layers/regularization.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rill/base/error.h"
#include "rill/graph/function/function.h"
#include "rill/keras/layers/layers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::TensorShape;
using tf::testing::expect_error;

namespace {

struct Moments {
  double mean, deviation;
};
Moments moments(const Tensor& x) {
  const auto [mean, variance] = tf::nn::moments(tf::reshape(x, {-1}), {0});
  return {mean.item<float>(), std::sqrt(variance.item<float>())};
}

TEST(GaussianNoise, AddsInTraining) {
  const layers::GaussianNoise noise(0.5);
  const Tensor x = tf::ones({200, 200});
  EXPECT_EQ(noise(x).to_vector<float>(), x.to_vector<float>());
  const Moments m = moments(noise(x, {.training = 1}));
  EXPECT_NEAR(m.mean, 1, 0.02);
  EXPECT_NEAR(m.deviation, 0.5, 0.02);
}

TEST(GaussianDropout, MultipliesInTraining) {
  const layers::GaussianDropout dropout(0.2);
  const Moments m = moments(dropout(tf::ones({200, 200}) * 4.f, {.training = 1}));
  EXPECT_NEAR(m.mean, 4, 0.05);
  EXPECT_NEAR(m.deviation, 4 * std::sqrt(0.2 / 0.8), 0.05);
}

TEST(AlphaDropout, KeepsMeanAndVariance) {
  const layers::AlphaDropout dropout(0.3);
  const Tensor x = tf::random::normal({300, 300});
  const Tensor y = dropout(x, {.training = 1});
  const Moments m = moments(y);
  EXPECT_NEAR(m.mean, 0, 0.03);
  EXPECT_NEAR(m.deviation, 1, 0.03);
  // Rows are decided as one.
  const layers::AlphaDropout rows(0.5, {.noise_shape = {tf::None, 1}});
  const Tensor lines = rows(tf::ones({20, 4}), {.training = 1});
  const auto v = lines.to_vector<float>();
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(v[i], v[i / 4 * 4]);
}

// Whole channels are 0 or scaled, and of both there are some.
template <class L>
void expect_whole_channels(const TensorShape& shape, bool channels_first) {
  const L dropout(0.5, {.data_format = channels_first ? "channels_first" : "channels_last"});
  const Tensor x = tf::ones(tf::constant(shape.as_list()));
  Tensor y = dropout(x, {.training = 1});
  const int last = shape.rank() - 1;
  std::vector<int> over;
  for (int i = 1; i <= last; ++i)
    if (i != (channels_first ? 1 : last)) over.push_back(i);
  const auto low = tf::reduce_min(y, over).to_vector<float>(),
             high = tf::reduce_max(y, over).to_vector<float>();
  EXPECT_EQ(low, high);
  int dropped = 0;
  for (float v : low) {
    EXPECT_TRUE(v == 0 || v == 2);
    dropped += v == 0;
  }
  EXPECT_GT(dropped, 0);
  EXPECT_LT(dropped, static_cast<int>(low.size()));
}
TEST(SpatialDropout, DropsWholeChannels) {
  expect_whole_channels<layers::SpatialDropout1D>({4, 3, 16}, false);
  expect_whole_channels<layers::SpatialDropout2D>({4, 3, 2, 16}, false);
  expect_whole_channels<layers::SpatialDropout3D>({4, 3, 2, 2, 16}, false);
  expect_whole_channels<layers::SpatialDropout2D>({4, 16, 3, 2}, true);
  const layers::SpatialDropout2D first(0.5, {.data_format = "channels_first"});
  EXPECT_EQ(layers::deserialize(layers::serialize(first))->get_config().to_json(),
            first.get_config().to_json());
}

TEST(Noise, IsNewAtEachCallOfATracedFunction) {
  const layers::GaussianNoise noise(1);
  const layers::AlphaDropout alpha(0.5);
  const auto f =
      tf::function([=](Tensor x) { return alpha(noise(x, {.training = 1}), {.training = 1}); });
  const Tensor x = tf::zeros({8});
  const Tensor a = f(x), b = f(x);
  EXPECT_NE(a.to_vector<float>(), b.to_vector<float>());
}

TEST(ActivityRegularization, AddsALoss) {
  const layers::ActivityRegularization layer({.l1 = 0.5, .l2 = 0.25});
  const Tensor x = tf::constant({{1.f, -2.f}, {3.f, 0.f}});
  EXPECT_EQ(layer(x).to_vector<float>(), x.to_vector<float>());
  ASSERT_EQ(layer.losses().size(), 1u);
  EXPECT_FLOAT_EQ(layer.losses()[0].item<float>(), (0.5f * 6 + 0.25f * 14) / 2);
}

TEST(Regularization, BadArgumentsAreNamed) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::SpatialDropout2D(1.5); }, "[SpatialDropout2D] rate");
  expect_error<InvalidArgument>([] { layers::GaussianNoise(-1); }, "[GaussianNoise] stddev is -1");
  expect_error<InvalidArgument>([] { layers::AlphaDropout(-0.5); }, "[AlphaDropout] rate");
}

}  // namespace
