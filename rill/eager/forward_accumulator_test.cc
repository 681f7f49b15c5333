#include "rill/eager/forward_accumulator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
using rill::errors::InvalidArgument;
using rill::testing::expect_error;
using tf::Tensor;
using tf::autodiff::ForwardAccumulator;

namespace {

std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TEST(ForwardAccumulator, MultipliesTheJacobianByTheTangent) {
  const Tensor x = tf::constant({2.f, 3.f}), w = tf::constant({{1.f, 2.f}, {3.f, 4.f}});
  ForwardAccumulator acc(x, {1.f, 10.f});
  const Tensor y = tf::linalg::matvec(w, x * x);  // dy = w (2 x dx) = w (4, 60)
  EXPECT_EQ(floats(acc.jvp(y)), (std::vector<float>{124, 252}));
  EXPECT_EQ(floats(acc.jvp(y)), (std::vector<float>{124, 252})) << "any number of times";
  EXPECT_EQ(floats(acc.jvp(x)), (std::vector<float>{1, 10}));
  EXPECT_FALSE(acc.jvp(w).defined());
  EXPECT_EQ(floats(acc.jvp(w, {.unconnected_gradients = "zero"})), std::vector<float>(4, 0));
  EXPECT_FALSE(acc.jvp(tf::cast(x, tf::int32)).defined());
}

TEST(ForwardAccumulator, AddsThePartsOfSeveralPrimals) {
  const Tensor x = tf::constant(3.f);
  const tf::Variable v(5.f);
  ForwardAccumulator acc({x, v}, {1.f, 100.f});
  EXPECT_EQ(acc.jvp(x * v).item<float>(), 5 + 300);
  EXPECT_EQ(acc.jvp(v).item<float>(), 100);
}

TEST(ForwardAccumulator, NestsForHigherOrders) {
  const Tensor x = tf::constant(1.1, tf::float64);
  ForwardAccumulator outer(x, 1.);
  ForwardAccumulator inner(x, 1.);
  const Tensor y = tf::pow(x, 3.5);
  const Tensor first = inner.jvp(y);
  EXPECT_NEAR(first.item<double>(), 3.5 * std::pow(1.1, 2.5), 1e-12);
  EXPECT_NEAR(outer.jvp(first).item<double>(), 3.5 * 2.5 * std::pow(1.1, 1.5), 1e-12);
}

TEST(ForwardAccumulator, OverATapeGivesHessianVectorProducts) {
  const tf::Variable v(tf::constant({1.f, 2.f}));
  ForwardAccumulator acc(v, {1.f, 0.f});
  Tensor back;
  {
    tf::GradientTape tape;
    const Tensor y = tf::reduce_sum(tf::pow(v, 3.f));
    back = tape.gradient(y, v);
  }
  EXPECT_EQ(floats(back), (std::vector<float>{3, 12}));
  EXPECT_EQ(floats(acc.jvp(back)), (std::vector<float>{6, 0}));
}

TEST(ForwardAccumulator, GoesThroughFunctionsAndTheirControlFlow) {
  // x^2 four times over, in a loop; then a branch.
  auto f = tf::function([](Tensor x) {
    const Tensor power =
        std::get<1>(tf::while_loop([](Tensor i, Tensor) { return i < 2; },
                                   [](Tensor i, Tensor y) { return std::tuple(i + 1, y * y); },
                                   std::tuple(tf::constant(0), x)));
    return tf::cond(
        power > 10.f, [&] { return power * 2.f; }, [&] { return power; });
  });
  const Tensor x = tf::constant(2.f);
  ForwardAccumulator acc(x, 1.f);
  EXPECT_EQ(acc.jvp(f(x)).item<float>(), 2 * 4 * 8);
  auto inside = tf::function([](Tensor a) -> Tensor {
    ForwardAccumulator product(a, 3.f);
    return product.jvp(tf::sin(a) * a);
  });
  EXPECT_NEAR(inside(0.5f).item<float>(), 3 * (std::cos(0.5) * 0.5 + std::sin(0.5)), 1e-6);
}

TEST(ForwardAccumulator, SaysWhatItCannotTake) {
  const Tensor x = tf::constant({1.f, 2.f});
  expect_error<InvalidArgument>([&] { ForwardAccumulator({x, x}, {x, x}); }, "comes twice");
  expect_error<InvalidArgument>([&] { ForwardAccumulator({x, x + 1}, {x}); }, "2 primals and 1");
  expect_error<InvalidArgument>([&] { ForwardAccumulator(x, tf::ones({3})); },
                                "expected that of its primal, float32 of shape [2]");
  expect_error<InvalidArgument>([&] { ForwardAccumulator(tf::constant(1), 1); },
                                "a primal is int32");
}

TEST(Hessians, AreSecondDerivativesByEachArgument) {
  // d2/dx2 of x0^2 x1 + y0 x1.
  const auto f =
      tf::hessians_function([](Tensor x, Tensor y) { return x[0] * x[0] * x[1] + y[0] * x[1]; });
  const auto h = f({3.f, 5.f}, {7.f});
  EXPECT_EQ(h[0].shape(), tf::TensorShape({2, 2}));
  EXPECT_EQ(h[0].to_vector<float>(), (std::vector<float>{10, 6, 6, 0}));
  EXPECT_EQ(h[1].to_vector<float>(), std::vector<float>{0});
  auto traced = tf::function([&](Tensor x) -> Tensor { return f(x, {7.f})[0]; });
  EXPECT_EQ(floats(traced({3.f, 5.f})), (std::vector<float>{10, 6, 6, 0}));
  const auto none = tf::hessians_function([](Tensor x, Tensor) { return x * x; });
  EXPECT_FALSE(none(1.f, 2.f)[1].defined());
}

TEST(Hessians, GoThroughFunctions) {
  auto cube = tf::function([](Tensor x) { return tf::reduce_sum(x * x * x); });
  const auto f = tf::hessians_function([&](Tensor x) { return cube(x); });
  EXPECT_EQ(f({1.f, 2.f})[0].to_vector<float>(), (std::vector<float>{6, 0, 0, 12}));
}

}  // namespace
