#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace linalg = tf::linalg;
using rill::errors::InvalidArgument;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TEST(LinearOperator, SaysItsShapeAndHints) {
  const linalg::LinearOperatorDiag d(tf::ones({4, 3}), {.is_positive_definite = true});
  EXPECT_EQ(d.name(), "LinearOperatorDiag");
  EXPECT_EQ(d.shape(), tf::TensorShape({4, 3, 3}));
  EXPECT_EQ(d.batch_shape(), tf::TensorShape({4}));
  EXPECT_EQ(d.is_non_singular(), true) << "a positive definite one is";
  EXPECT_EQ(d.is_self_adjoint(), true) << "a real one is";
  const linalg::LinearOperatorFullMatrix m(tf::ones({2, 3}));
  EXPECT_EQ(m.is_square(), false);
  EXPECT_EQ(m.is_non_singular(), std::nullopt);
  EXPECT_EQ(m.range_dimension(), 2);
  EXPECT_EQ(m.adjoint().shape(), tf::TensorShape({3, 2}));
}

TEST(LinearOperator, ProductsTakeTheSimpleForm) {
  const linalg::LinearOperatorDiag d(tf::constant({1.f, 2.f})), e(tf::constant({3.f, 4.f}));
  EXPECT_EQ(d.matmul(e).name(), "LinearOperatorDiag");
  EXPECT_EQ(floats(d.matmul(e).to_dense()), (std::vector<float>{3, 0, 0, 8}));
  const linalg::LinearOperatorIdentity one(2);
  EXPECT_EQ(one.matmul(d).name(), "LinearOperatorDiag");
  EXPECT_EQ(floats(one.matmul(d).to_dense()), (std::vector<float>{1, 0, 0, 2}));
  EXPECT_EQ(d.matmul(one).name(), "LinearOperatorDiag");
  EXPECT_EQ(linalg::LinearOperatorZeros(2).matmul(d).name(), "LinearOperatorZeros");
  const linalg::LinearOperatorHouseholder h(tf::constant({1.f, 1.f}));
  EXPECT_EQ(d.matmul(h).name(), "LinearOperatorComposition");
  EXPECT_EQ(d.inverse().name(), "LinearOperatorDiag");
  EXPECT_EQ(linalg::LinearOperatorInversion(h).inverse().name(), "LinearOperatorHouseholder");
}

TEST(LinearOperator, OfSeveralSizesActOnTheirParts) {
  const Tensor a = tf::reshape(tf::range(6.f), {2, 3}), b = tf::reshape(tf::range(2.f), {1, 2});
  const linalg::LinearOperatorFullMatrix fa(a), fb(b);
  const linalg::LinearOperatorKronecker k({fa, fb});
  EXPECT_EQ(k.shape(), tf::TensorShape({2, 6}));
  // Each element of a times b.
  EXPECT_EQ(floats(k.to_dense()), (std::vector<float>{0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5}));
  const Tensor x = tf::ones({2, 1});
  EXPECT_EQ(floats(k.matmul(x, {.adjoint = true})), (std::vector<float>{0, 3, 0, 5, 0, 7}));
  const linalg::LinearOperatorBlockDiag blocks({fa, fb});
  EXPECT_EQ(blocks.shape(), tf::TensorShape({3, 5}));
  EXPECT_EQ(floats(blocks.matvec(tf::ones({5}))), (std::vector<float>{3, 12, 1}));
}

TEST(LinearOperator, WorksInFunctionsAndHasGradients) {
  auto solve = tf::function([](Tensor d, Tensor u, Tensor b) {
    return linalg::LinearOperatorLowRankUpdate(linalg::LinearOperatorDiag(d), u).solvevec(b);
  });
  const Tensor d = tf::constant({2.f, 4.f}), u = tf::constant({{1.f}, {1.f}}),
               b = tf::constant({5.f, 7.f});
  // {{3, 1}, {1, 5}} x = {5, 7}
  const auto x = floats(solve(d, u, b));
  EXPECT_NEAR(x[0], 18. / 14, 1e-6);
  EXPECT_NEAR(x[1], 16. / 14, 1e-6);
  tf::GradientTape tape;
  tape.watch(d);
  const auto slope = tape.gradient(linalg::LinearOperatorDiag(d).log_abs_determinant(), d);
  EXPECT_EQ(slope.to_vector<float>(), (std::vector<float>{0.5, 0.25}));
}

TEST(LinearOperator, SaysWhatDoesNotFit) {
  const linalg::LinearOperatorDiag d(tf::ones({3}));
  expect_error<InvalidArgument>(
      [&] {
        d.matmul(tf::ones({2, 2}));
      },
      "[LinearOperatorDiag.matmul] the operator has shape [3, 3], the "
      "argument [2, 2]; expected 3 rows");
  expect_error<InvalidArgument>(
      [&] {
        d.matmul(tf::ones({3, 2}, tf::float64));
      },
      "tf::cast(x, tf::float32)");
  expect_error<InvalidArgument>(
      [] {
        linalg::LinearOperatorFullMatrix(tf::ones({2, 3})).determinant();
      },
      "determinant is of square operators; this one has shape [2, 3]");
  expect_error<InvalidArgument>(
      [] {
        linalg::LinearOperatorFullMatrix(tf::ones({2, 3}), {.is_non_singular = true});
      },
      "is_non_singular is promised of an operator of shape [2, 3]");
  expect_error<InvalidArgument>(
      [] {
        linalg::LinearOperatorZeros(2).solvevec({1.f, 2.f});
      },
      "the operator is singular, as its hint says");
  expect_error<InvalidArgument>([&] { d.cholesky(); }, "is_positive_definite");
  expect_error<InvalidArgument>(
      [] {
        linalg::LinearOperatorDiag(tf::constant({1, 2}));
      },
      "expected floating-point or complex numbers");
}

}  // namespace
