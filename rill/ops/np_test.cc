#include "rill/ops/np.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rill/core/array_format.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace np = tf::np;
using rill::testing::expect_error;
using tf::Tensor;
using Ints = std::vector<int>;
using Doubles = std::vector<double>;

namespace {

TEST(Np, RandomNumbersAreNumPys) {
  RILL_SHOWS("O32");
  np::random::seed(42);
  EXPECT_EQ(np::random::random({3}).to_vector<double>(),
            (Doubles{0.3745401188473625, 0.9507143064099162, 0.7319939418114051}));
  EXPECT_EQ(np::random::randint(0, 10, 5).to_vector<int>(), (Ints{4, 6, 9, 2, 6}));
  EXPECT_EQ(np::random::randint(std::int64_t{1} << 40, {.size = {2}}).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{319800038858, 375095422324}));
  EXPECT_EQ(np::random::uniform({.low = -1, .high = 1, .size = {2}}).to_vector<double>(),
            (Doubles{0.2022300234864176, 0.416145155592091}));
  EXPECT_EQ(np::random::choice(4, {.size = {6}, .p = np::array({.1, .2, .3, .4})}).to_vector<int>(),
            (Ints{0, 3, 3, 1, 1, 1}));
  auto perm = np::arange(8);
  np::random::shuffle(perm);
  EXPECT_EQ(perm.to_vector<int>(), (Ints{6, 2, 0, 7, 4, 5, 1, 3}));
  EXPECT_EQ(np::random::rand(1, 2).to_vector<double>(),
            (Doubles{0.5247746602583891, 0.3998609717152555}));
  EXPECT_EQ(np::random::choice(5, {.size = {3}}).to_vector<int>(), (Ints{3, 3, 2}));
  const auto rows = np::random::random({1000, 32});
  EXPECT_EQ(rows.shape(), (tf::TensorShape{1000, 32}));
  EXPECT_EQ(rows.dtype(), tf::float64);
}

TEST(Np, MakesAndShapesArrays) {
  RILL_SHOWS("O32");
  EXPECT_EQ(np::array({1, 2}).dtype(), tf::int64);
  EXPECT_EQ(np::array({1., 2.}).dtype(), tf::float64);
  EXPECT_EQ(np::array({0.1}).item<double>(), 0.1);
  EXPECT_EQ(np::array({2013, 2014}, tf::float32).dtype(), tf::float32);
  EXPECT_EQ(np::array(std::vector<float>{1, 2}).dtype(), tf::float32);
  EXPECT_EQ(np::reshape(np::linspace(1, 2, 10), {10, 1}).to_vector<double>()[3],
            1.3333333333333333);
  EXPECT_EQ(np::arange(2, 10, 3).to_vector<int>(), (Ints{2, 5, 8}));
  EXPECT_EQ(np::expand_dims(np::zeros({2, 3}), -1).shape(), (tf::TensorShape{2, 3, 1}));
  EXPECT_EQ(np::concatenate({np::zeros({2, 1}), np::ones({2, 2})}, -1).to_vector<int>(),
            (Ints{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(np::astype(np::array({1.9, -1.9}), tf::int32).to_vector<int>(), (Ints{1, -1}));
  EXPECT_EQ(np::shape(np::zeros({4, 5})), (tf::TensorShape{4, 5}));
  EXPECT_EQ(np::take(np::array({10, 20, 30}), np::array({2, 0})).to_vector<int>(), (Ints{30, 10}));
  const auto a = np::array({10, 20, 30}), perm = np::array({2, 0});
  EXPECT_EQ(a[perm].to_vector<int>(), (Ints{30, 10}));
}

TEST(Np, MultipliesTensors) {
  RILL_SHOWS("E08");
  const auto a = tf::constant({{1, 2}, {3, 4}}), b = tf::add(a, 1);
  const auto product = np::matmul(a, b);
  const auto dims = product.shape().as_list();
  EXPECT_EQ(tf::array_repr({product.dtype(), dims, product.data<int>().data()}),
            "array([[10, 13],\n       [22, 29]], dtype=int32)");
  EXPECT_EQ(np::matmul(np::array({1., 2.}), np::array({3., 4.})).item<double>(), 11);
  EXPECT_EQ(np::matmul(a, tf::constant({1, 1})).to_vector<int>(), (Ints{3, 7}));
  EXPECT_EQ(np::matmul(tf::constant({1, 1}), a).to_vector<int>(), (Ints{4, 6}));
  EXPECT_THROW(np::matmul(a, 2), tf::errors::InvalidArgument);
}

TEST(Np, DividesIntegersInFloat64) {
  EXPECT_EQ(np::divide(np::array({1, 2}), 4).to_vector<double>(), (Doubles{0.25, 0.5}));
  EXPECT_EQ(np::divide(np::array({1, 2}, tf::uint8), 4).dtype(), tf::float64);
  EXPECT_EQ(np::divide(np::array({1, 2}, tf::float32), 4).dtype(), tf::float32);
}

TEST(Np, Reduces) {
  RILL_SHOWS("O32");
  const auto a = np::array({{1., 5., 2.}, {7., 0., 7.}});
  EXPECT_EQ(np::min(a).item<double>(), 0);
  EXPECT_EQ(np::max(a).item<double>(), 7);
  EXPECT_EQ(np::sum(a).item<double>(), 22);
  EXPECT_EQ(np::mean(np::array({1, 2})).item<double>(), 1.5);
  EXPECT_EQ(np::argmax(a, -1).to_vector<int>(), (Ints{1, 0}));
  EXPECT_EQ(np::argmax(a, 0).to_vector<int>(), (Ints{1, 0, 1}));
  EXPECT_EQ(np::argmax(a).item<int>(), 3);
  EXPECT_EQ(np::argmax(np::array({1., std::nan(""), 9.})).item<int>(), 1);
  EXPECT_EQ(np::dot(np::array({1., 2.}), np::array({3., 4.})).item<double>(), 11);
  EXPECT_EQ(np::dot(np::array({{1., 2.}}), np::array({3., 4.})).to_vector<double>(), (Doubles{11}));
  EXPECT_EQ(np::multiply(np::array({51.}), 1.0 / 255.0).item<double>(), 51 * (1.0 / 255.0));
  EXPECT_TRUE(np::allclose({1., 2.}, {1. + 1e-9, 2.}));
  EXPECT_FALSE(np::allclose({1., 2.}, {1.1, 2.}));
}

TEST(Np, RegressionInMixedPrecision) {
  RILL_SHOWS("O33", "Q34");
  const auto x_raw = np::array({2013, 2014, 2015, 2016, 2017}, tf::float32),
             y_raw = np::array({12000, 14000, 15000, 16500, 17500}, tf::float32);
  const auto x = (x_raw - np::min(x_raw)) / (np::max(x_raw) - np::min(x_raw)),
             y = (y_raw - np::min(y_raw)) / (np::max(y_raw) - np::min(y_raw));
  double a = 0, b = 0;
  for (int e = 0; e < 10000; ++e) {
    const auto y_pred = a * x + b;
    const float grad_a = 2 * np::dot(y_pred - y, x).item<float>(),
                grad_b = 2 * np::sum(y_pred - y).item<float>();
    a -= 5e-4 * grad_a, b -= 5e-4 * grad_b;
  }
  EXPECT_NEAR(a, 0.9763702027872221, 1e-9);
  EXPECT_NEAR(b, 0.057564988311377796, 1e-9);
}

TEST(Np, RegressionByTape) {
  RILL_SHOWS("Q35");
  const auto x_raw = np::array({2013, 2014, 2015, 2016, 2017}, tf::float32),
             y_raw = np::array({12000, 14000, 15000, 16500, 17500}, tf::float32);
  const auto x = (x_raw - np::min(x_raw)) / (np::max(x_raw) - np::min(x_raw)),
             y = (y_raw - np::min(y_raw)) / (np::max(y_raw) - np::min(y_raw));
  tf::Variable a(0.f), b(0.f);
  tf::keras::optimizers::SGD sgd({.learning_rate = 5e-4});
  for (int e = 0; e < 10000; ++e) {
    tf::GradientTape tape;
    const auto loss = tf::reduce_sum(tf::square(a * x + b - y));
    sgd.apply_gradients(tape.gradient(loss, {a, b}), {a, b});
  }
  std::ostringstream os;
  os << a << ' ' << b;
  EXPECT_EQ(os.str(),
            "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=0.97637> <tf.Variable "
            "'Variable:0' shape=() dtype=float32, numpy=0.057565063>");
}

TEST(Np, RefusesWhatCannotBe) {
  expect_error<tf::errors::InvalidArgument>([] { np::random::randint(3, 3, 1); },
                                            "low 3 must be below high 3");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        np::random::choice(2, {.p = np::array({0.5, 0.6})});
      },
      "the probabilities sum to 1.1");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        np::random::choice(3, {.p = np::array({0.5, 0.5})});
      },
      "p has shape [2]");
  expect_error<tf::errors::InvalidArgument>([] { np::argmax(np::zeros({0})); }, "is empty");
  expect_error<tf::errors::InvalidArgument>([] { np::random::random({-1}); }, "negative size: -1");
  expect_error<tf::errors::InvalidArgument>([] { np::linspace(0, 1, -1); }, "num is -1");
}

}  // namespace
