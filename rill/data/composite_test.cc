// Values made of several tensors as leaves: in nests, functions and datasets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
using tf::Nest, tf::SparseTensor, tf::Tensor;
using tf::testing::expect_error;

namespace {

SparseTensor diagonal(int n, float value) {
  std::vector<std::int64_t> at;
  for (int i = 0; i < n; ++i) at.insert(at.end(), {i, i});
  return {tf::reshape(tf::constant(at), {n, 2}), tf::fill({n}, value), {n, n}};
}
std::vector<float> dense(const SparseTensor& t) {
  return tf::sparse::to_dense(t).to_vector<float>();
}

TEST(Composite, IsOneLeafOfANest) {
  const Nest nest = tf::tuple(diagonal(2, 3.f), tf::constant(1));
  ASSERT_EQ(nest.size(), 2u);
  EXPECT_TRUE(nest[0].is_composite());
  EXPECT_FALSE(nest[0].is_tensor());
  EXPECT_EQ(nest.flatten().size(), 4u);
  EXPECT_EQ(dense(nest[0].as_sparse()), (std::vector<float>{3, 0, 0, 3}));
  EXPECT_EQ(nest.to_string(), "(sparse(int64 [2, 2], float32 [2], int64 [2]), int32 [])");
  // The structure stays with other leaves, and is not that of a plain tuple.
  std::vector<Tensor> leaves = nest.flatten();
  leaves[1] = leaves[1] * 2.f;
  EXPECT_EQ(dense(nest.with_leaves(leaves)[0].as<SparseTensor>()),
            (std::vector<float>{6, 0, 0, 6}));
  const Nest plain = tf::tuple(tf::tuple(leaves[0], leaves[1], leaves[2]), leaves[3]);
  EXPECT_FALSE(nest.same_structure(plain));
  expect_error<tf::errors::InvalidArgument>([&] { plain[0].as_sparse(); },
                                            "expected a sparse tensor, got (int64");
  expect_error<tf::errors::InvalidArgument>([&] { nest[0].as_tensor(); }, "expected one tensor");
}

TEST(Nest, IsFormattedAsPythonPrintsArrays) {
  const Nest nest = tf::dict({{"loss", tf::constant(.5f)}, {"w", tf::constant({1.f, 2.f})}});
  EXPECT_EQ(tf::format("{}", nest), "{'loss': 0.5, 'w': array([1., 2.], dtype=float32)}");
  EXPECT_EQ(tf::format("{:.2f} {}", nest["loss"], nest["w"]), "0.50 [1. 2.]");
  EXPECT_EQ(tf::format("{}", tf::tuple(tf::constant(7))), "(7,)");
}

TEST(Composite, GoesThroughFunctions) {
  const auto doubled = tf::function([](const SparseTensor& t) {
    SparseTensor out = t;
    out.values = t.values * 2.f;
    return out;
  });
  EXPECT_EQ(dense(doubled(diagonal(2, 3.f))), (std::vector<float>{6, 0, 0, 6}));
  EXPECT_EQ(dense(doubled(diagonal(2, 5.f))), (std::vector<float>{10, 0, 0, 10}));
  EXPECT_EQ(doubled.trace_count(), 1);
  const auto summed = tf::function([](const Nest& n) {
    return tf::sparse::reduce_sum(n["a"].as_sparse()) + n["b"].as_tensor();
  });
  EXPECT_EQ(summed(tf::dict({{"a", diagonal(3, 2.f)}, {"b", tf::constant(1.f)}})).item<float>(),
            7.f);
}

TEST(Composite, IsAnElementOfADataset) {
  using tf::data::Dataset;
  const Dataset d = Dataset::from_tensors(tf::tuple(diagonal(2, 3.f), tf::constant(1.f))).repeat(2);
  std::ostringstream spec;
  spec << d.element_spec();
  EXPECT_THAT(spec.str(), testing::HasSubstr("(sparse(TensorSpec("));
  const Dataset mapped = d.map([](const SparseTensor& t, const Tensor& by) {
    SparseTensor out = t;
    out.values = t.values * (by + 1.f);
    return tf::tuple(out, by);
  });
  int seen = 0;
  for (const Nest& element : mapped) {
    EXPECT_EQ(dense(element[0].as_sparse()), (std::vector<float>{6, 0, 0, 6}));
    ++seen;
  }
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(d.map([](const SparseTensor& t, const Tensor&) { return tf::sparse::to_dense(t); })
                .batch(2)
                .as_vector()[0]
                .as_tensor()
                .shape(),
            (tf::TensorShape{2, 2, 2}));
  const Dataset alone = Dataset::from_tensors(diagonal(2, 3.f));
  const auto sums = alone.map([](const SparseTensor& t) { return tf::sparse::reduce_sum(t); });
  EXPECT_EQ(sums.as_vector()[0].item<float>(), 6.f);
  expect_error<tf::errors::Unimplemented>([&] { d.batch(2).as_vector(); }, "tf::sparse::to_dense");
  expect_error<tf::errors::Unimplemented>([&] { Dataset::from_tensor_slices(diagonal(2, 1.f)); },
                                          "[from_tensor_slices]");
}

}  // namespace
