// What is expected here was computed by TensorFlow 2.15.1.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace sparse = tf::sparse;
using tf::SparseTensor, tf::Tensor;
using tf::testing::expect_error;
using Ints = std::vector<int>;
using Floats = std::vector<float>;

namespace {

SparseTensor four() {
  return SparseTensor({{0, 0}, {0, 2}, {1, 1}, {3, 0}}, {1.f, 2.f, 3.f, 4.f}, {4, 3});
}
void expect_sparse(const SparseTensor& s, const Ints& indices, const Floats& values,
                   const Ints& shape) {
  EXPECT_EQ(s.indices.to_vector<int>(), indices);
  EXPECT_EQ(s.values.to_vector<float>(), values);
  EXPECT_EQ(s.dense_shape.to_vector<int>(), shape);
}

TEST(SparseShapes, ReshapeTransposeAndParts) {
  expect_sparse(sparse::reshape(four(), {3, -1}), {0, 0, 0, 2, 1, 0, 2, 1}, {1, 2, 3, 4}, {3, 4});
  expect_sparse(sparse::transpose(four()), {0, 0, 0, 3, 1, 1, 2, 0}, {1, 4, 3, 2}, {3, 4});
  expect_sparse(sparse::slice(four(), {0, 1}, {2, 5}), {0, 1, 1, 0}, {2, 3}, {2, 2});
  const auto parts = sparse::split(four(), 2, 1);
  expect_sparse(parts[0], {0, 0, 1, 1, 3, 0}, {1, 3, 4}, {4, 2});
  expect_sparse(parts[1], {0, 0}, {2}, {4, 1});
  expect_error<tf::errors::InvalidArgument>([] { sparse::reshape(four(), {5, 2}); }, "12 places");
  expect_error<tf::errors::InvalidArgument>([] { sparse::reshape(four(), {-1, 5}); }, "12 places");
  expect_error<tf::errors::InvalidArgument>([] { sparse::transpose(four(), {0, 0}); }, "each axis");
}

TEST(SparseShapes, ConcatAndNewShapes) {
  expect_sparse(sparse::concat(0, {four(), four()}),
                {0, 0, 0, 2, 1, 1, 3, 0, 4, 0, 4, 2, 5, 1, 7, 0}, {1, 2, 3, 4, 1, 2, 3, 4}, {8, 3});
  expect_sparse(sparse::concat(1, {four(), four()}),
                {0, 0, 0, 2, 0, 3, 0, 5, 1, 1, 1, 4, 3, 0, 3, 3}, {1, 2, 1, 2, 3, 3, 4, 4}, {4, 6});
  expect_sparse(sparse::concat(0, {four(), sparse::eye(2)}, true),
                {0, 0, 0, 2, 1, 1, 3, 0, 4, 0, 5, 1}, {1, 2, 3, 4, 1, 1}, {6, 3});
  expect_error<tf::errors::InvalidArgument>(
      [] {
        sparse::concat(0, {four(), sparse::eye(2)});
      },
      "expand_nonconcat_dims");
  EXPECT_EQ(sparse::expand_dims(four()).dense_shape.to_vector<int>(), (Ints{4, 3, 1}));
  EXPECT_EQ(sparse::expand_dims(four(), 0).indices[3].to_vector<int>(), (Ints{0, 3, 0}));
  EXPECT_EQ(sparse::reset_shape(four()).dense_shape.to_vector<int>(), (Ints{4, 3}));
  EXPECT_EQ(sparse::reset_shape(four(), {5, 5}).dense_shape.to_vector<int>(), (Ints{5, 5}));
  expect_error<tf::errors::InvalidArgument>([] { sparse::reset_shape(four(), {3, 5}); }, "smaller");
  expect_sparse(sparse::eye(2, 3), {0, 0, 1, 1}, {1, 1}, {2, 3});
}

TEST(SparseShapes, RowsAndValues) {
  expect_sparse(sparse::retain(four(), {true, false, false, true}), {0, 0, 3, 0}, {1, 4}, {4, 3});
  const sparse::FilledRows filled = sparse::fill_empty_rows(four(), -1.f);
  expect_sparse(filled.sp, {0, 0, 0, 2, 1, 1, 2, 0, 3, 0}, {1, 2, 3, -1, 4}, {4, 3});
  EXPECT_EQ(filled.empty_row_indicator.to_vector<int>(), (Ints{0, 0, 1, 0}));
  EXPECT_EQ(
      sparse::map_values([](Tensor v) { return tf::square(v); }, four()).values.to_vector<float>(),
      (Floats{1, 4, 9, 16}));
  EXPECT_EQ((four() * tf::constant({{1.f}, {2.f}, {3.f}, {4.f}})).values.to_vector<float>(),
            (Floats{1, 2, 6, 16}));
  EXPECT_EQ((four() / 2).values.to_vector<float>(), (Floats{.5, 1, 1.5, 2}));
  const tf::IndexedSlices rows{tf::constant({{0.f, 1.f}, {2.f, 3.f}, {4.f, 5.f}}),
                               tf::constant({0, 4, 2}), tf::TensorShape({5, 2})};
  EXPECT_EQ(sparse::mask(rows, {4}).indices.to_vector<int>(), (Ints{0, 2}));
}

TEST(SparseArithmetic, SumsAndReductions) {
  const SparseTensor minus = four() * -1.f;
  expect_sparse(sparse::add(four(), sparse::transpose(sparse::eye(3, 4))),
                {0, 0, 0, 2, 1, 1, 2, 2, 3, 0}, {2, 2, 4, 1, 4}, {4, 3});
  expect_sparse(sparse::add(four(), minus), {0, 0, 0, 2, 1, 1, 3, 0}, {0, 0, 0, 0}, {4, 3});
  EXPECT_EQ(sparse::add(four(), minus, .1).values.size(), 0);
  EXPECT_EQ(sparse::add(four(), tf::ones({4, 3})).to_vector<float>(),
            (Floats{2, 1, 3, 1, 4, 1, 1, 1, 1, 5, 1, 1}));
  EXPECT_EQ(sparse::reduce_sum(four(), 1).to_vector<float>(), (Floats{3, 3, 0, 4}));
  EXPECT_EQ(sparse::reduce_sum(four(), 0, {.keepdims = true}).shape(), (tf::TensorShape{1, 3}));
  EXPECT_EQ(sparse::reduce_sum(four(), 0).to_vector<float>(), (Floats{5, 3, 2}));
  EXPECT_EQ(sparse::reduce_sum(four()).item<float>(), 10);
  EXPECT_EQ(sparse::reduce_max(minus, 1).to_vector<float>(), (Floats{-1, -3, 0, -4}));
  EXPECT_EQ(sparse::reduce_max(four(), {0, 1}).item<float>(), 4);
  const auto soft = sparse::softmax(four()).values.to_vector<float>();
  EXPECT_NEAR(soft[0], .26894143f, 1e-6);
  EXPECT_EQ(soft[2], 1);
  expect_error<tf::errors::InvalidArgument>([] { sparse::add(four(), sparse::eye(3)); },
                                            "[4, 3] and [3, 3]");
}

TEST(SparseArithmetic, ProductsOfAdjointsAndTheirGradients) {
  EXPECT_EQ(
      sparse::sparse_dense_matmul(four(), tf::ones({4, 2}), {.adjoint_a = true}).to_vector<float>(),
      (Floats{5, 5, 3, 3, 2, 2}));
  const auto b = tf::reshape(tf::range(6.f), {2, 3});
  const SparseTensor a = four();
  tf::GradientTape tape;
  tape.watch(a.values);
  const auto y = sparse::sparse_dense_matmul(a, b, {.adjoint_b = true});
  EXPECT_EQ(y.to_vector<float>(), (Floats{4, 13, 3, 12, 0, 0, 0, 12}));
  EXPECT_EQ(tape.gradient(y, a.values).to_vector<float>(), (Floats{3, 7, 5, 3}));
}

TEST(EmbeddingLookupSparse, JoinsTheRowsOfATable) {
  const auto table = tf::reshape(tf::range(10.f), {5, 2});
  const SparseTensor ids({{0, 0}, {0, 1}, {2, 0}}, {1, 3, 4}, {4, 2});
  const SparseTensor w({{0, 0}, {0, 1}, {2, 0}}, {2.f, 1.f, .5f}, {4, 2});
  auto near = [](const Tensor& t, const Floats& want) {
    const auto have = t.to_vector<float>();
    ASSERT_EQ(have.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(have[i], want[i], 1e-5) << i;
  };
  near(tf::nn::embedding_lookup_sparse(table, ids), {4, 5, 0, 0, 8, 9});
  near(tf::nn::embedding_lookup_sparse(table, ids, w), {3.333333f, 4.333333f, 0, 0, 8, 9});
  near(tf::nn::embedding_lookup_sparse(table, ids, w, {.combiner = "sqrtn"}),
       {4.472136f, 5.8137765f, 0, 0, 8, 9});
  near(tf::nn::embedding_lookup_sparse(table, ids, w, {.combiner = "sum"}), {10, 13, 0, 0, 4, 4.5});
  near(tf::nn::embedding_lookup_sparse(table, ids, {.combiner = "sqrtn"}),
       {5.656854f, 7.071068f, 0, 0, 8, 9});
  near(tf::nn::embedding_lookup_sparse(table, ids, {.combiner = "sum", .max_norm = 2}),
       {2.410983f, 3.182614f, 0, 0, 1.328728f, 1.494819f});
  near(tf::nn::embedding_lookup_sparse(table, tf::ragged::constant({{1, 3}, {}, {4}})),
       {4, 5, 0, 0, 8, 9});
  expect_error<tf::errors::InvalidArgument>(
      [&] { tf::nn::embedding_lookup_sparse(table, ids, {.combiner = "max"}); }, "\"max\"");
}

TEST(EmbeddingLookupSparse, SafelyGivesEveryRow) {
  const auto table = tf::reshape(tf::range(10.f), {5, 2});
  const SparseTensor ids({{0, 0}, {0, 1}, {2, 0}}, {1, 3, 4}, {4, 2});
  const SparseTensor negative({{0, 0}, {0, 1}, {2, 0}}, {1, -1, 4}, {4, 2});
  const SparseTensor w({{0, 0}, {0, 1}, {2, 0}}, {2.f, 1.f, 0.f}, {4, 2});
  using tf::nn::safe_embedding_lookup_sparse;
  EXPECT_EQ(safe_embedding_lookup_sparse(table, negative).to_vector<float>(),
            (Floats{2, 3, 0, 0, 8, 9, 0, 0}));
  EXPECT_EQ(safe_embedding_lookup_sparse(table, negative, {.default_id = 2}).to_vector<float>(),
            (Floats{2, 3, 4, 5, 8, 9, 4, 5}));
  EXPECT_EQ(safe_embedding_lookup_sparse(table, ids, w, {.combiner = "sum"}).to_vector<float>(),
            (Floats{10, 13, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(safe_embedding_lookup_sparse(table, sparse::reshape(ids, {2, 2, 2})).shape(),
            (tf::TensorShape{2, 2, 2}));
}

TEST(EmbeddingLookupSparse, HasASparseGradientOfTheTable) {
  const tf::Variable table(tf::reshape(tf::range(10.f), {5, 2}));
  const SparseTensor ids({{0, 0}, {0, 1}, {2, 0}}, {1, 3, 4}, {4, 2});
  tf::GradientTape tape;
  const auto y = tf::reduce_sum(tf::nn::embedding_lookup_sparse(table, ids));
  const tf::Gradient g = tape.gradient(y, table);
  EXPECT_TRUE(g.is_sparse());
  EXPECT_EQ(g.to_vector<float>(), (Floats{0, 0, .5, .5, 0, 0, .5, .5, 1, 1}));
}

}  // namespace
