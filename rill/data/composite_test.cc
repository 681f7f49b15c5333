// Values made of several tensors as leaves: in nests, functions and datasets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

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
  EXPECT_THAT(spec.str(),
              testing::HasSubstr("(SparseTensorSpec(TensorShape([None, None]), tf.float32), "));
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
  expect_error<tf::errors::Unimplemented>([&] { d.padded_batch(2).as_vector(); },
                                          "tf::sparse::to_dense");
}

// What is expected below was printed by TensorFlow 2.15.1.
using tf::RaggedTensor, tf::data::Dataset;
using tf::testing::printed;

RaggedTensor lists() { return tf::ragged::constant({{3, 1, 4, 1}, {}, {5, 9, 2}}); }
std::vector<std::string> texts(const Dataset& d) {
  std::vector<std::string> out;
  for (const Nest& element : d) out.push_back(printed(element));
  return out;
}
std::string spec_text(const Dataset& d) { return printed(d.element_spec()); }

TEST(CompositeRows, OfARaggedTensorAreTensorsThatBatchesJoin) {
  const Dataset rows = Dataset::from_tensor_slices(lists());
  EXPECT_EQ(spec_text(rows), "RaggedTensorSpec(TensorShape([None]), tf.int32, 0, tf.int64)");
  EXPECT_EQ(texts(rows), (std::vector<std::string>{"tf.Tensor([3 1 4 1], shape=(4,), dtype=int32)",
                                                   "tf.Tensor([], shape=(0,), dtype=int32)",
                                                   "tf.Tensor([5 9 2], shape=(3,), dtype=int32)"}));
  EXPECT_EQ(rows.cardinality(), 3);
  const Dataset batches = rows.batch(2);
  EXPECT_EQ(spec_text(batches),
            "RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)");
  EXPECT_EQ(texts(batches), (std::vector<std::string>{"<tf.RaggedTensor [[3, 1, 4, 1], []]>",
                                                      "<tf.RaggedTensor [[5, 9, 2]]>"}));
  EXPECT_EQ(texts(batches.unbatch()), texts(rows));
  const Dataset sums = rows.map([](const Tensor& row) { return tf::reduce_sum(row); });
  EXPECT_EQ(sums.batch(3).as_vector()[0].to_vector<int>(), (std::vector<int>{9, 0, 16}));
  const Dataset batch_sums =
      batches.map([](const RaggedTensor& t) { return tf::reduce_sum(t, 1); });
  EXPECT_EQ(batch_sums.as_vector()[0].to_vector<int>(), (std::vector<int>{9, 0}));
}

TEST(CompositeRows, OfRowsOfRowsAreRagged) {
  const Dataset rows =
      Dataset::from_tensor_slices(tf::ragged::constant({{{1, 2}, {3}}, {}, {{4}}}));
  EXPECT_EQ(spec_text(rows), "RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)");
  EXPECT_EQ(texts(rows),
            (std::vector<std::string>{"<tf.RaggedTensor [[1, 2], [3]]>", "<tf.RaggedTensor []>",
                                      "<tf.RaggedTensor [[4]]>"}));
  EXPECT_EQ(texts(rows.batch(3)),
            (std::vector<std::string>{"<tf.RaggedTensor [[[1, 2], [3]], [], [[4]]]>"}));
  EXPECT_EQ(texts(Dataset::from_tensor_slices(tf::tuple(lists(), tf::constant({1, 2, 3}))))[2],
            "(<tf.Tensor: shape=(3,), dtype=int32, numpy=array([5, 9, 2], dtype=int32)>, "
            "<tf.Tensor: shape=(), dtype=int32, numpy=3>)");
  const Dataset both =
      Dataset::from_tensor_slices(tf::tuple(lists(), tf::constant({1, 2, 3}))).shuffle(3).batch(3);
  EXPECT_EQ(spec_text(both),
            "(RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64), "
            "TensorSpec(shape=(None,), dtype=tf.int32, name=None))");
  const Nest batch = both.as_vector()[0];
  const auto label = batch[1].to_vector<int>();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(batch[0].as_ragged()[i].to_vector<int>(),
              lists()[label[static_cast<std::size_t>(i)] - 1].to_vector<int>());
  expect_error<tf::errors::InvalidArgument>(
      [] {
        Dataset::from_tensor_slices(tf::tuple(lists(), tf::constant({1, 2})));
      },
      "3 and 2 rows");
}

TEST(CompositeRows, OfASparseTensorAreSparse) {
  const SparseTensor st({{0, 0}, {0, 2}, {1, 1}, {3, 0}}, {1.f, 2.f, 3.f, 4.f}, {4, 3});
  const Dataset rows = Dataset::from_tensor_slices(st);
  const auto elements = rows.as_vector();
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_EQ(dense(elements[0].as_sparse()), (std::vector<float>{1, 0, 2}));
  EXPECT_EQ(dense(elements[2].as_sparse()), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(spec_text(rows), "SparseTensorSpec(TensorShape([None]), tf.float32)");
  const auto batches = rows.batch(2).as_vector();
  EXPECT_EQ(batches[1].as_sparse().indices.to_vector<int>(), (std::vector<int>{1, 0}));
  EXPECT_EQ(batches[0].as_sparse().indices.to_vector<int>(), (std::vector<int>{0, 0, 0, 2, 1, 1}));
  EXPECT_EQ(batches[0].as_sparse().dense_shape.to_vector<int>(), (std::vector<int>{2, 3}));
  EXPECT_EQ(dense(rows.batch(4).unbatch().as_vector()[3].as_sparse()),
            (std::vector<float>{4, 0, 0}));
}

TEST(RaggedBatch, JoinsRowsOfAnyLength) {
  const Dataset rows = Dataset::range(3).map([](const Tensor& i) { return tf::range(i); });
  const Dataset batches = rows.ragged_batch(2);
  EXPECT_EQ(texts(batches), (std::vector<std::string>{"<tf.RaggedTensor [[], [0]]>",
                                                      "<tf.RaggedTensor [[0, 1]]>"}));
  EXPECT_EQ(spec_text(batches),
            "RaggedTensorSpec(TensorShape([None, None]), tf.int64, 1, tf.int64)");
  EXPECT_EQ(spec_text(rows.ragged_batch(2, {.drop_remainder = true})),
            "RaggedTensorSpec(TensorShape([2, None]), tf.int64, 1, tf.int64)");
  EXPECT_EQ(texts(rows.apply(tf::data::experimental::dense_to_ragged_batch(2))), texts(batches));
  EXPECT_EQ(Dataset::range(4).ragged_batch(4).as_vector()[0].to_vector<int>(),
            (std::vector<int>{0, 1, 2, 3}));
}

// Features by name, some of them sparse, with labels: what an Estimator is fed.
TEST(Composite, FeaturesMayBeTensorsOrSparse) {
  RILL_SHOWS("D82");
  const auto words = tf::sparse::from_dense(tf::constant({{1.f, 0.f}, {0.f, 2.f}, {3.f, 0.f}}));
  const auto ds =
      tf::data::Dataset::from_tensor_slices(
          tf::tuple(tf::dict({{"age", tf::constant({7.f, 8.f, 9.f})}, {"words", words}}),
                    tf::constant({0, 1, 0})))
          .map([](const Nest& features, const Nest& label) {
            SparseTensor twice = features["words"].as_sparse();
            twice.values = twice.values * 2.f;
            return tf::tuple(features.with("words", twice), label);
          })
          .shuffle(3, {.seed = 1})
          .batch(3);
  const Nest batch = ds.get_single_element();
  float all = 0;
  for (float v : dense(batch[0]["words"].as_sparse())) all += v;
  EXPECT_EQ(all, 12.f);
  EXPECT_EQ(batch[0]["words"].as_sparse().shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(batch[0]["age"].shape(), tf::TensorShape({3}));
  EXPECT_TRUE(ds.element_spec()[0]["words"].is_composite());
}

}  // namespace
