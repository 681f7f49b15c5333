#include "rill/keras/layers/activation.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/keras/layers/layers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::TensorShape;
using tf::testing::expect_error;

namespace {

TEST(Softmax, SumsToOneAlongTheLastAxis) {
  const Tensor y = layers::Softmax()({{1.f, 2.f, 3.f}, {0.f, 0.f, 0.f}});
  const Tensor sums = tf::reduce_sum(y, 1);
  for (float s : sums.to_vector<float>()) EXPECT_NEAR(s, 1, 1e-6);
  EXPECT_NEAR(y.to_vector<float>()[2], 0.66524096, 1e-6);
  EXPECT_NEAR(y.to_vector<float>()[3], 1.0 / 3, 1e-6);
  RILL_SHOWS("K31");
}

TEST(Softmax, AMaskHides) {
  const Tensor mask = tf::constant({{1, 0, 1}}) > 0;
  for (const char* dtype : {"float32", "float16"}) {
    const layers::Softmax softmax({.dtype = dtype});
    const Tensor y = tf::cast(softmax({{1.f, 5.f, 1.f}}, {.mask = mask}), tf::float32);
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0.5, 0, 0.5})) << dtype;
  }
}

TEST(ReLU, ALimitOfZeroIsALimit) {
  EXPECT_EQ(layers::ReLU({.max_value = 0})({-1.f, 2.f}).to_vector<float>(),
            (std::vector<float>{0, 0}));
}

TEST(ReLU, TakesItsLimitByPosition) {
  EXPECT_EQ(layers::ReLU(6.)({-1.f, 2.f, 9.f}).to_vector<float>(),
            (std::vector<float>{0.f, 2.f, 6.f}));
  EXPECT_EQ(layers::ReLU(1, {.negative_slope = 0.5})({-1.f, 2.f}).to_vector<float>(),
            (std::vector<float>{-0.5f, 1.f}));
}

TEST(ReLU, ReadsNumbersAsNewerFilesWriteThem) {
  const auto config = rill::keras::Config::from_json(
      R"({"class_name": "ReLU", "config": {"name": "r", "max_value": null, "negative_slope":
          {"class_name": "__numpy__", "config": {"value": 0.5, "dtype": "float32"}}}})");
  const auto layer = layers::deserialize(config);
  EXPECT_EQ((*layer)({-2.f, 2.f}).to_vector<float>(), (std::vector<float>{-1, 2}));
}

TEST(PReLU, NeedsSizes) {
  const layers::PReLU prelu({.shared_axes = {1}});
  const auto x = rill::keras::Input({tf::None, 3});
  EXPECT_EQ(prelu(x).shape(), TensorShape({tf::None, tf::None, 3}));
  EXPECT_EQ(prelu.weights()[0].shape(), TensorShape({1, 3}));
  expect_error<tf::errors::InvalidArgument>([&] { layers::PReLU()(x); }, "not all is known");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        layers::PReLU({.shared_axes = {2}})(tf::ones({2, 3}));
      },
      "shared_axes contains 2");
}

TEST(ActivationLayers, BadArgumentsAreNamed) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::ReLU({.max_value = -1}); },
                                "[ReLU] max_value is -1; expected 0 or more");
  expect_error<InvalidArgument>([] { layers::ThresholdedReLU(-1); }, "[ThresholdedReLU] theta");
}

}  // namespace
