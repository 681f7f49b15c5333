// Datasets of datasets: flat_map, interleave and windows.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/dataset_values.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::counted, rill::testing::values;
using rill::testing::List, rill::testing::expect_error, rill::testing::printed;
using tf::Nest, tf::Tensor, tf::data::Dataset;

namespace {

TEST(FlatMap, StringsDatasetsTogether) {
  RILL_SHOWS("D18");
  EXPECT_EQ(values(Dataset::range(4).flat_map([](std::int64_t n) { return Dataset::range(n); })),
            (List{0, 0, 1, 0, 1, 2}));
  const auto ds =
      Dataset::range(1, 4).interleave([](Tensor x) { return Dataset::from_tensors(x).repeat(4); },
                                      {.cycle_length = 2, .block_length = 2});
  EXPECT_EQ(values(ds), (List{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3}));
  for (const std::int64_t calls : {std::int64_t{0}, std::int64_t{2}, tf::data::AUTOTUNE}) {
    const auto growing = Dataset::range(6).interleave(
        [](std::int64_t n) { return Dataset::range(n * 10, n * 10 + n); },
        {.cycle_length = 3, .block_length = 2, .num_parallel_calls = calls});
    EXPECT_EQ(values(growing), (List{10, 20, 21, 30, 31, 40, 41, 32, 42, 43, 50, 51, 52, 53, 54}));
  }
  expect_error<tf::errors::InvalidArgument>(
      [] { Dataset::range(2).flat_map([](Tensor x) { return x; }).as_vector(); },
      "expected a dataset");
}

TEST(Window, IsADatasetOfDatasets) {
  const auto pairs = [](const Dataset& ds) {
    const List all = values(ds.flat_map([](Nest w) { return Dataset::of(w).batch(3); }));
    EXPECT_EQ(ds.cardinality(), static_cast<std::int64_t>(ds.as_vector().size()));
    return all;
  };
  EXPECT_EQ(pairs(Dataset::range(5).window(2)), counted(5));
  EXPECT_EQ(pairs(Dataset::range(5).window(3, {.shift = 1, .drop_remainder = true})),
            (List{0, 1, 2, 1, 2, 3, 2, 3, 4}));
  EXPECT_EQ(pairs(Dataset::range(7).window(2, {.shift = 3, .stride = 2})), (List{0, 2, 3, 5, 6}));
  EXPECT_EQ(pairs(Dataset::range(10).window(3, {.shift = 5, .stride = 2})),
            (List{0, 2, 4, 5, 7, 9}));
  EXPECT_EQ(pairs(Dataset::range(4).window(3, {.shift = 1, .stride = 2})),
            (List{0, 2, 1, 3, 2, 3}));
}

TEST(Window, OfTuplesHasADatasetForEachComponent) {
  const auto ds = Dataset::zip({Dataset::range(5), Dataset::range(10, 15)}).window(3);
  const Nest first = ds.iter().next();
  EXPECT_EQ(values(Dataset::of(first[0])), (List{0, 1, 2}));
  EXPECT_EQ(values(Dataset::of(first[1])), (List{10, 11, 12}));
  const auto batches = ds.flat_map([](Tensor x, Tensor y) {
    return Dataset::zip({Dataset::of(x).batch(3), Dataset::of(y).batch(3)});
  });
  EXPECT_EQ(values(batches), (List{0, 1, 2, 10, 11, 12, 3, 4, 13, 14}));
  EXPECT_EQ(printed(batches.output_shapes()), "((None,), (None,))");
  const auto named =
      Dataset::from_tensor_slices(Nest::dict({{"a", tf::range(4)}, {"b", tf::range(4.f)}}));
  const Nest dict = named.window(2).iter().next();
  EXPECT_EQ(printed(Dataset::of(dict["b"]).element_spec()),
            "TensorSpec(shape=(), dtype=tf.float32, name=None)");
}

TEST(FlatMap, KnowsItsElementsBeforeTheyCome) {
  const auto spec = [](const Dataset& d) { return printed(d.element_spec()); };
  const auto none = Dataset::range(0);
  EXPECT_EQ(
      spec(none.flat_map([](Tensor x) {
        return Dataset::from_tensors(tf::tuple(tf::cast(x, tf::float32), tf::constant({1, 2})));
      })),
      "(TensorSpec(shape=(), dtype=tf.float32, name=None), "
      "TensorSpec(shape=(2,), dtype=tf.int32, name=None))");
  EXPECT_EQ(spec(none.interleave([](Tensor) { return Dataset::range(3).batch(2); })),
            "TensorSpec(shape=(None,), dtype=tf.int64, name=None)");
  EXPECT_EQ(spec(none.batch(2).flat_map([](Tensor x) { return Dataset::from_tensor_slices(x); })),
            "TensorSpec(shape=(), dtype=tf.int64, name=None)");
  // Sizes that vary are not those of the first element.
  EXPECT_EQ(
      spec(Dataset::range(9).batch(2).flat_map([](Tensor x) {
        return Dataset::from_tensors(x).map([](Tensor y) { return tf::cast(y, tf::float32); });
      })),
      "TensorSpec(shape=(None,), dtype=tf.float32, name=None)");
  // A function that needs values has those of an element, or zeros.
  for (const int n : {0, 4})
    EXPECT_EQ(spec(Dataset::range(n).flat_map([](std::int64_t i) { return Dataset::range(i); })),
              "TensorSpec(shape=(), dtype=tf.int64, name=None)");
  for (const int n : {0, 10})
    EXPECT_EQ(spec(Dataset::range(n).window(3).flat_map(
                  [](Nest w) { return Dataset::of(w).batch(3, {.drop_remainder = true}); })),
              "TensorSpec(shape=(3,), dtype=tf.int64, name=None)");
}

}  // namespace
