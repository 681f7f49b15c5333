#include "rill/ops/sparse_ops.h"

#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::expect_error;

namespace {

tf::SparseTensor sample() { return tf::SparseTensor({{1, 2}, {0, 0}}, {5.f, 3.f}, {2, 3}); }

TEST(SparseTensor, IsCoordinatesValuesAndAShape) {
  RILL_SHOWS("O31");
  const auto s = sample();
  EXPECT_EQ(s.shape(), tf::TensorShape({2, 3}));
  EXPECT_EQ(s.dtype(), tf::float32);
  EXPECT_EQ(s.indices.dtype(), tf::int64);
  EXPECT_EQ(tf::sparse::to_dense(tf::sparse::reorder(s)).to_vector<float>(),
            (std::vector<float>{3, 0, 0, 0, 0, 5}));
  EXPECT_EQ(tf::sparse::to_dense(tf::sparse::reorder(s), -1).to_vector<float>(),
            (std::vector<float>{3, -1, -1, -1, -1, 5}));
  const tf::IndexedSlices rows{tf::constant({{1.f, 2.f}, {3.f, 4.f}}), tf::constant({2, 0}),
                               tf::TensorShape({3, 2})};
  EXPECT_EQ(tf::densify(rows).to_vector<float>(), (std::vector<float>{3, 4, 0, 0, 1, 2}));
}

TEST(SparseTensor, CastsItsValues) {
  RILL_SHOWS("O05");
  EXPECT_EQ(tf::cast(tf::constant({1.8, -2.7}), tf::int32).to_vector<int>(),
            (std::vector<int>{1, -2}));
  const auto s = tf::cast(sample(), tf::int32);
  EXPECT_EQ(s.dtype(), tf::int32);
  EXPECT_EQ(s.values.to_vector<int>(), (std::vector<int>{5, 3}));
  EXPECT_EQ(s.indices.to_vector<int>(), (std::vector<int>{1, 2, 0, 0}));
  const tf::IndexedSlices rows{tf::constant({{1.5f}}), tf::constant({2}), tf::TensorShape({3, 1})};
  EXPECT_EQ(tf::cast(rows, tf::float64).values.dtype(), tf::float64);
}

TEST(SparseTensor, ComesFromADenseOneInOrder) {
  const auto s = tf::sparse::from_dense(tf::constant({{0, 7, 0}, {8, 0, 9}}));
  EXPECT_EQ(s.indices.to_vector<int>(), (std::vector<int>{0, 1, 1, 0, 1, 2}));
  EXPECT_EQ(s.values.to_vector<int>(), (std::vector<int>{7, 8, 9}));
  EXPECT_EQ(tf::sparse::reorder(sample()).values.to_vector<float>(), (std::vector<float>{3, 5}));
  EXPECT_EQ(tf::sparse::from_dense(tf::zeros({2, 2})).values.size(), 0);
}

TEST(SparseTensor, MultipliesByItsValuesAloneAndDifferentiates) {
  const auto b = tf::constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const auto s = sample();
  tf::GradientTape tape;
  tape.watch(s.values);
  tape.watch(b);
  const auto y = tf::sparse::sparse_dense_matmul(s, b);
  EXPECT_EQ(y.to_vector<float>(),
            tf::matmul(tf::sparse::to_dense(tf::sparse::reorder(s)), b).to_vector<float>());
  const auto g = tape.gradient(y, {s.values, b});
  EXPECT_EQ(g[0].to_vector<float>(), (std::vector<float>{11, 3}));
  EXPECT_EQ(g[1].to_vector<float>(), (std::vector<float>{3, 3, 0, 0, 5, 5}));
}

TEST(SparseTensor, RefusesWhatDoesNotFit) {
  EXPECT_THROW(tf::SparseTensor({{1, 2}}, {5.f, 3.f}, {2, 3}), tf::errors::InvalidArgument);
  EXPECT_THROW(tf::SparseTensor({{1}}, {5.f}, {2, 3}), tf::errors::InvalidArgument);
  EXPECT_THROW(tf::sparse::to_dense(tf::SparseTensor({{1, 3}}, {5.f}, {2, 3})),
               tf::errors::InvalidArgument);
  EXPECT_THROW(tf::sparse::sparse_dense_matmul(sample(), tf::ones({2, 2})),
               tf::errors::InvalidArgument);
}

TEST(SparseTensor, ToDenseWantsItsCoordinatesInOrderAndOnce) {
  auto dense = [](const tf::Operand& indices) {
    tf::sparse::to_dense(tf::SparseTensor(indices, {1.f, 2.f}, {2, 2}));
  };
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        dense({{1, 0}, {0, 0}});
      },
      "[sparse.to_dense] indices[1] = [0 0] is out of order; use tf::sparse::reorder");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        dense({{0, 1}, {0, 1}});
      },
      "[sparse.to_dense] indices[1] = [0 1] is repeated");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        dense({{0, 1}, {5, 0}});
      },
      "[sparse.to_dense] indices[1] = [5 0] is not inside shape [2 2]");
}

}  // namespace
