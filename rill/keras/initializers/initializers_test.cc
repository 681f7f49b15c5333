#include "rill/keras/initializers/initializers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace init = tf::keras::initializers;
using rill::testing::expect_error;
using tf::Tensor;
using Floats = std::vector<float>;

namespace {

// Keras's values (tools/goldens/make_initializer_goldens.py).
Floats golden(const std::string& name) {
  static const auto* all = [] {
    auto* map = new std::map<std::string, Floats>;
    const char* root = std::getenv("RILL_SOURCE_DIR");
    std::ifstream in(std::string(root ? root : ".") +
                     "/rill/keras/initializers/testdata/initializers.txt");
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      for (double v; words >> v;) (*map)[key].push_back(static_cast<float>(v));
    }
    return map;
  }();
  return all->at(name);
}
void expect_golden(const std::string& name, const keras::Initializer& initializer,
                   const tf::TensorShape& shape, float tolerance = 0) {
  SCOPED_TRACE(name);
  const auto got = initializer(shape).to_vector<float>(), want = golden(name);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

TEST(Initializers, ZerosAndOnes) {
  RILL_SHOWS("L30");
  EXPECT_EQ(tf::zeros_initializer()({2}).to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(init::Zeros()({2, 1}, tf::int32).dtype(), tf::int32);
  EXPECT_EQ(init::ones()({2}).to_vector<float>(), (Floats{1, 1}));
}

TEST(Initializers, GlorotUniformStaysWithinItsLimit) {
  RILL_SHOWS("L31", "Q51");
  const float limit = std::sqrt(6.f / (784 + 100));
  EXPECT_FLOAT_EQ(limit, 0.08238526f);
  const auto w = tf::glorot_uniform_initializer()({784, 100});
  EXPECT_LE(tf::reduce_max(tf::abs(w)).item<float>(), limit);
  EXPECT_GT(tf::reduce_max(tf::abs(w)).item<float>(), 0.999f * limit);
  EXPECT_NEAR(tf::reduce_mean(w).item<float>(), 0, 1e-3);
  // A convolution's window counts into both fans: sqrt(6 / (5 * 5 * (3 + 32))).
  const auto kernel = init::GlorotUniform()({5, 5, 3, 32});
  EXPECT_LE(tf::reduce_max(tf::abs(kernel)).item<float>(), std::sqrt(6.f / (25 * 35)));
  EXPECT_GT(tf::reduce_max(tf::abs(kernel)).item<float>(), 0.98f * std::sqrt(6.f / (25 * 35)));
}

TEST(Initializers, ConstantsAndNormals) {
  RILL_SHOWS("L32");
  EXPECT_EQ(init::constant(2.0)({3}).to_vector<float>(), (Floats{2, 2, 2}));
  EXPECT_EQ(tf::constant_initializer(2)({2}, tf::int64).dtype(), tf::int64);
  EXPECT_EQ(init::Constant(tf::constant({1.f, 2.f}))({2, 1}).to_vector<float>(), (Floats{1, 2}));
  const auto x = tf::random_normal_initializer()({10000});
  EXPECT_NEAR(tf::reduce_mean(x).item<float>(), 0, 3e-3);
  EXPECT_NEAR(tf::reduce_std(x).item<float>(), 0.05, 2e-3);
  expect_error<tf::errors::InvalidArgument>(
      [] {
        init::Constant(tf::constant({1.f, 2.f}))({3});
      },
      "2 values do not fill shape [3]");
}

TEST(Initializers, ByName) {
  RILL_SHOWS("L33");
  const auto q = keras::Initializer("orthogonal")({8, 4});
  const auto product = tf::matmul(q, q, {.transpose_a = true});
  EXPECT_LT(tf::reduce_max(tf::abs(product - tf::eye(4))).item<float>(), 1e-6f);
  const auto u = keras::Initializer("uniform")({10000});
  EXPECT_GE(tf::reduce_min(u).item<float>(), -0.05f);
  EXPECT_LT(tf::reduce_max(u).item<float>(), 0.05f);
  EXPECT_GT(tf::reduce_max(u).item<float>(), 0.049f);
  for (const char* name : {"zeros", "Zeros", "zero", "glorot_uniform", "GlorotUniform", "he_normal",
                           "lecun_uniform", "normal", "truncated_normal", "identity"})
    EXPECT_EQ(init::get(name)({3, 3}).shape(), (tf::TensorShape{3, 3})) << name;
  EXPECT_EQ(init::get("he_normal").class_name(), "HeNormal");
  expect_error<tf::errors::InvalidArgument>([] { init::get("glorot_unifrom"); },
                                            "no initializer is called \"glorot_unifrom\"");
}

TEST(Initializers, SeedsGiveKerassNumbers) {
  expect_golden("RandomUniform", init::RandomUniform({.seed = 1}), {2, 3});
  expect_golden("RandomUniform_bounds", init::RandomUniform(-2, 3, 7), {5});
  expect_golden("RandomNormal", init::RandomNormal({.seed = 1}), {2, 3});
  expect_golden("RandomNormal_mean", init::RandomNormal(2, 0.5, 3), {5});
  expect_golden("TruncatedNormal", init::TruncatedNormal({.seed = 5}), {20});
  expect_golden("VarianceScaling", init::VarianceScaling({.seed = 2}), {4, 3});
  expect_golden(
      "VarianceScaling_fan_out",
      init::VarianceScaling(
          {.scale = 3, .mode = "fan_out", .distribution = "untruncated_normal", .seed = 2}),
      {4, 3});
  expect_golden("GlorotUniform", init::GlorotUniform(42), {4, 3});
  expect_golden("GlorotUniform_conv", init::GlorotUniform({.seed = 42}), {2, 2, 3, 4});
  expect_golden("GlorotUniform_vector", init::GlorotUniform(42), {4});
  expect_golden("GlorotUniform_scalar", init::GlorotUniform(42), tf::TensorShape::scalar());
  expect_golden("GlorotNormal", init::GlorotNormal(42), {4, 3});
  expect_golden("HeUniform", init::HeUniform(42), {4, 3});
  expect_golden("HeNormal", init::HeNormal(42), {4, 3});
  expect_golden("LecunUniform", init::LecunUniform(42), {4, 3});
  expect_golden("LecunNormal", init::LecunNormal(42), {4, 3});
  // Keras works the decomposition out in float32, Rill in float64.
  expect_golden("Orthogonal", init::Orthogonal({.seed = 9}), {4, 3}, 5e-7f);
  expect_golden("Orthogonal_wide", init::Orthogonal({.gain = 2, .seed = 9}), {2, 5}, 1e-6f);
  expect_golden("Orthogonal_conv", init::Orthogonal({.seed = 9}), {2, 2, 2, 3}, 5e-7f);
  expect_golden("Identity", init::Identity(2), {2, 3});
}

TEST(Initializers, WithoutSeedsEachCallDrawsAnew) {
  const init::GlorotUniform w;
  EXPECT_NE(w({4}).to_vector<float>(), w({4}).to_vector<float>());
  tf::random::set_seed(3);
  const auto first = w({4}).to_vector<float>();
  tf::random::set_seed(3);
  EXPECT_EQ(w({4}).to_vector<float>(), first);
}

TEST(Initializers, Version1HasItsOwnDefaults) {
  namespace v1 = tf::compat::v1;
  EXPECT_NEAR(tf::reduce_std(v1::random_normal_initializer()({10000})).item<float>(), 1, 0.05);
  EXPECT_GT(tf::reduce_max(v1::random_uniform_initializer()({10000})).item<float>(), 0.99f);
  EXPECT_EQ(v1::zeros_initializer()({1}).item<float>(), 0.f);
}

TEST(Initializers, TakeFunctions) {
  const keras::Initializer mine = [](const tf::TensorShape& shape, tf::DType dtype) {
    return tf::fill(shape, tf::cast(7, dtype));
  };
  EXPECT_EQ(mine({2}, tf::float64).to_vector<double>(), (std::vector<double>{7, 7}));
  EXPECT_FALSE(keras::Initializer().defined());
}

TEST(Initializers, SayTheirArguments) {
  EXPECT_EQ(init::RandomUniform({.seed = 3}).config(),
            "{\"minval\": -0.05, \"maxval\": 0.05, \"seed\": 3}");
  EXPECT_EQ(init::GlorotUniform().config(), "{\"seed\": null}");
  EXPECT_EQ(init::VarianceScaling().config(),
            "{\"scale\": 1.0, \"mode\": \"fan_in\", \"distribution\": \"truncated_normal\", "
            "\"seed\": null}");
  EXPECT_EQ(init::Orthogonal().config(), "{\"gain\": 1.0, \"seed\": null}");
  EXPECT_EQ(init::constant(2.0).config(), "{\"value\": 2.0}");
}

TEST(Initializers, RefuseWhatDoesNotSuit) {
  expect_error<tf::errors::InvalidArgument>(
      [] {
        init::GlorotUniform()({2, 2}, tf::int32);
      },
      "[GlorotUniform] dtype int32; expected a floating-point one");
  expect_error<tf::errors::InvalidArgument>([] { init::Orthogonal()({2}); },
                                            "rank 1; expected 2 or more");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        init::Identity()({2, 2, 2});
      },
      "rank 3; expected a matrix");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        init::Zeros()({tf::None, 2});
      },
      "not fully defined");
  expect_error<tf::errors::InvalidArgument>([] { init::VarianceScaling({.scale = 0}); },
                                            "scale is 0");
  expect_error<tf::errors::InvalidArgument>([] { init::VarianceScaling({.mode = "fan"}); },
                                            "mode is \"fan\"");
  expect_error<tf::errors::InvalidArgument>([] { init::VarianceScaling({.distribution = "flat"}); },
                                            "distribution is \"flat\"");
  expect_error<tf::errors::FailedPrecondition>([] { keras::Initializer()({2}); }, "there is none");
}

TEST(Initializers, AFractionIsNoConstantOfIntegers) {
  expect_error<tf::errors::InvalidArgument>([] { init::Constant(1.5f)({2}, tf::int32); },
                                            "[Constant] the fraction 1.5 does not fit dtype int32");
  EXPECT_EQ(init::Constant(2.f)({2}, tf::int32).to_vector<int>(), (std::vector<int>{2, 2}));
}

}  // namespace
