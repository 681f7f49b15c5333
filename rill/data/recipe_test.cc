// Datasets whose sizes, seeds and files are the arguments of traced functions; what explain() and
// profile() tell.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "rill/rill.h"
#include "tests/dataset_values.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
using rill::testing::expect_error, rill::testing::values, rill::testing::counted;
using tf::Nest, tf::Tensor, tf::data::Dataset;

namespace {

Tensor zero() { return tf::constant(0, tf::int64); }
Tensor sum(Tensor s, Tensor x) { return s + tf::reduce_sum(x); }
// Each element as a digit behind those before.
Tensor digits(Tensor s, Tensor x) { return s * std::int64_t{10} + tf::reduce_sum(x); }

TEST(Size, IsANumberOrAScalar) {
  EXPECT_EQ(values(Dataset::range(tf::constant(4))), counted(4));
  EXPECT_EQ(values(Dataset::range(10).take(tf::constant(std::int64_t{3}))), counted(3));
  EXPECT_EQ(Dataset::range(6).batch(tf::constant(4)).as_vector().size(), 2u);
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(tf::constant(1.5)); },
                                            "a size is float32");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        Dataset::range(tf::constant({1, 2}));
      },
      "an int64 or int32 scalar");
}

TEST(Recipe, OfATracedFunctionsArgument) {
  int traces = 0;
  auto total = tf::function([&](Tensor n) {
    ++traces;
    return Dataset::range(n).map([](Tensor x) { return x * x; }).reduce(zero(), sum);
  });
  EXPECT_EQ(total(tf::constant(std::int64_t{4})).item<int>(), 0 + 1 + 4 + 9);
  EXPECT_EQ(total(tf::constant(std::int64_t{3})).item<int>(), 0 + 1 + 4);
  EXPECT_EQ(traces, 1);
}
TEST(Recipe, EverySizeMayBeOne) {
  const auto with = [](auto make) {
    auto f = tf::function([make](Tensor n) { return make(n).reduce(zero(), digits); });
    return f(tf::constant(std::int64_t{2})).template item<std::int64_t>();
  };
  const Dataset r = Dataset::range(1, 6);
  EXPECT_EQ(with([&](Tensor n) { return r.take(n); }), 12);
  EXPECT_EQ(with([&](Tensor n) { return r.skip(n); }), 345);
  EXPECT_EQ(with([&](Tensor n) { return r.take(2).repeat(n); }), 1212);
  EXPECT_EQ(with([&](Tensor n) { return r.batch(n); }), 375);
  EXPECT_EQ(with([&](Tensor n) { return r.batch(n, {.drop_remainder = true}); }), 37);
  EXPECT_EQ(with([&](Tensor n) { return r.padded_batch(n); }), 375);
  EXPECT_EQ(with([&](Tensor n) { return r.shard(n, 1); }), 24);
  EXPECT_EQ(with([&](Tensor n) { return r.prefetch(n); }), 12345);
  EXPECT_EQ(with([&](Tensor n) { return Dataset::range(n, n + 3, n); }), 24);
  EXPECT_EQ(with([&](Tensor n) {
              return r.window(n).flat_map([](Nest w) { return Dataset::of(w).batch(2); });
            }),
            375);
  EXPECT_EQ(with([&](Tensor n) { return r.shuffle(n, {.seed = n}); }), [&] {
    std::int64_t all = 0;
    for (std::int64_t v : values(r.shuffle(2, {.seed = 2}))) all = 10 * all + v;
    return all;
  }());
  EXPECT_EQ(with([&](Tensor n) {
              return Dataset::zip({r.take(n), r.skip(n)}).map([](Tensor a, Tensor b) {
                return a * std::int64_t{2} + b;
              });
            }),
            5 * 10 + 8);
  EXPECT_EQ(with([&](Tensor n) {
              return Dataset::from_tensor_slices(n + tf::range(0, 3, 1, tf::int64));
            }),
            234);
  EXPECT_EQ(with([&](Tensor n) { return Dataset::from_tensors(n).concatenate(r.take(n)); }), 212);
}
TEST(Recipe, NamesOfFilesMayBeOne) {
  const std::string folder = rill::testing::fresh_folder("recipe");
  tf::io::write_file(folder + "/a", "x\ny\n");
  tf::io::write_file(folder + "/b", "z\n");
  auto joined = tf::function([](Tensor names) {
    return tf::data::TextLineDataset(names).reduce(tf::constant(""), [](Tensor s, Tensor line) {
      return tf::strings::join({s, line});
    });
  });
  EXPECT_EQ(joined(tf::constant({folder + "/a", folder + "/b"})).item<std::string>(), "xyz");
  EXPECT_EQ(joined(tf::constant({folder + "/b"})).item<std::string>(), "z");
  expect_error<tf::errors::NotFound>([&] { joined(tf::constant({folder + "/c"})); }, folder + "/c");
}
TEST(Recipe, TellsWhatItsElementsAreLike) {
  auto f = tf::function([](Tensor n) {
    const Dataset d = Dataset::range(n).map([](Tensor x) { return tf::cast(x, tf::float32); });
    EXPECT_EQ(d.batch(n, {.drop_remainder = true}).to_string(),
              "<BatchDataset shapes: (None,), types: tf.float32>");
    EXPECT_EQ(d.cardinality(), tf::data::UNKNOWN_CARDINALITY);
    expect_error<tf::errors::FailedPrecondition>([&] { d.iter(); }, "symbolic");
    const Tensor all = d.batch(n).get_single_element().as_tensor();
    EXPECT_EQ(all.shape().to_string(), "(None,)");
    return all;
  });
  EXPECT_EQ(f(tf::constant(3)).to_string(), "[0. 1. 2.]");
}
// What a function of the dataset captured is gone with the traced function.
TEST(Recipe, IsFreedWithItsFunction) {
  const auto token = std::make_shared<int>(0);
  const auto used = [token](Tensor x) { return x + static_cast<std::int64_t>(*token); };
  const auto total = [used](Tensor n, Tensor start, Tensor list) {
    const Dataset d = Dataset::range(n)
                          .shuffle(n, {.seed = n, .reshuffle_each_iteration = false})
                          .batch(n)
                          .unbatch()
                          .shard(n, 0)
                          .concatenate(Dataset::from_tensor_slices(list))
                          .concatenate(Dataset::from_tensors(n))
                          .map(used);
    return d.reduce(start, sum) + tf::reduce_sum(d.batch(100).get_single_element().as_tensor());
  };
  const Tensor n = tf::constant(std::int64_t{3}), list = tf::constant({7, 8}, tf::int64);
  const long before = token.use_count();
  {
    auto f = tf::function(total);
    EXPECT_EQ(f(n, zero(), list).item<int>(), total(n, zero(), list).item<int>());
    EXPECT_GT(token.use_count(), before + 1);
  }
  EXPECT_EQ(token.use_count(), before);
}
TEST(Recipe, OutlivesItsFunctionWithoutUse) {
  std::optional<Dataset> kept;
  {
    auto f = tf::function([&](Tensor n) {
      kept = Dataset::range(n);
      return kept->reduce(zero(), sum);
    });
    EXPECT_EQ(f(tf::constant(std::int64_t{4})).item<int>(), 6);
  }
  EXPECT_EQ(kept->to_string(), "<RangeDataset shapes: (), types: tf.int64>");
  auto other = tf::function([&](Tensor n) { return kept->take(n).reduce(zero(), sum); });
  expect_error<tf::errors::FailedPrecondition>([&] { other(tf::constant(1)); },
                                               "whose function is not being traced");
  expect_error<tf::errors::FailedPrecondition>([&] { kept->reduce(zero(), sum); },
                                               "whose function is not being traced");
}
TEST(Recipe, OfAFunctionAroundTheTracedOne) {
  auto outer = tf::function([](Tensor n) {
    auto inner = tf::function([n](Tensor x) { return Dataset::range(n).reduce(x, sum); });
    return inner(n) + inner(n);
  });
  EXPECT_EQ(outer(tf::constant(std::int64_t{4})).item<int>(), 2 * (4 + 6));
}

TEST(Explain, ShowsStagesAsATree) {
  const Dataset d = Dataset::zip({Dataset::range(5).shuffle(3, {.seed = 1}),
                                  tf::data::TextLineDataset({"a.txt", "b.txt"})})
                        .map([](Tensor a, Tensor) { return a; }, {.num_parallel_calls = 2})
                        .batch(2)
                        .prefetch(tf::data::AUTOTUNE);
  EXPECT_EQ(d.explain(),
            "PrefetchDataset(buffer_size=AUTOTUNE)\n"
            "+- BatchDataset(batch_size=2, drop_remainder=false)\n"
            "   +- ParallelMapDataset(num_parallel_calls=2)\n"
            "      +- ZipDataset\n"
            "         +- ShuffleDataset(buffer_size=3, seed=1, reshuffle_each_iteration=true)\n"
            "         |  +- RangeDataset(elements=5, start=0, step=1)\n"
            "         +- TextLineDataset\n"
            "                 a.txt\n"
            "                 b.txt\n");
  EXPECT_EQ(d.files(), (std::vector<std::string>{"a.txt", "b.txt"}));
}

TEST(DatasetProfile, NamesTheBottleneck) {
  const auto slow = [](Tensor x) {
    Tensor y = tf::ones({64, 64});
    for (int i = 0; i < 40; ++i) y = tf::matmul(y, y) / 64.f;
    return tf::cast(x, tf::float32) + y[0][0];
  };
  const Dataset d = Dataset::range(200)
                        .map([](Tensor x) { return x + std::int64_t{1}; })
                        .map(slow, {.num_parallel_calls = 2})
                        .batch(4)
                        .prefetch(2);
  const tf::data::PipelineProfile p = d.profile({.elements = 20});
  EXPECT_EQ(p.elements, 20);
  ASSERT_EQ(p.stages.size(), 5u);
  EXPECT_EQ(p.stages[0].stage, "PrefetchDataset");
  EXPECT_EQ(p.stages[0].elements, 20);
  EXPECT_EQ(p.stages[0].room, 2);
  EXPECT_EQ(p.stages[2].stage, "ParallelMapDataset");
  EXPECT_EQ(p.stages[2].threads, 2);
  EXPECT_GE(p.stages[2].elements, 80);
  EXPECT_GT(p.stages[2].work_ms, p.stages[3].work_ms);
  EXPECT_EQ(p.stages[4].stage, "RangeDataset");
  EXPECT_EQ(p.bottleneck, "ParallelMapDataset");
  EXPECT_NE(p.table().find("The bottleneck is ParallelMapDataset"), std::string::npos) << p;
  // Inside of interleave, too.
  const auto nested =
      Dataset::range(3)
          .interleave([&](std::int64_t n) { return Dataset::range(n + 1).map(slow); },
                      {.cycle_length = 2})
          .profile();
  ASSERT_EQ(nested.stages.size(), 4u) << nested;
  EXPECT_EQ(nested.stages[0].elements, 6);
  EXPECT_EQ(nested.bottleneck, "MapDataset");
}

TEST(DatasetProfile, OfAShuffledDatasetOfElements) {
  const auto p = Dataset::range(20).map([](Tensor x) { return x; }).shuffle(4).profile();
  EXPECT_EQ(p.elements, 20);
  EXPECT_EQ(p.stages[0].stage, "ShuffleDataset");
  EXPECT_EQ(p.stages[0].room, 4);
  EXPECT_GT(p.stages[0].filled, 1);
  EXPECT_GE(p.stages[0].bytes, 16);
}
TEST(DatasetProfile, StagesAreInTheProfilersTrace) {
  tf::profiler::Profile profile;
  values(Dataset::range(6).map([](Tensor x) { return x + std::int64_t{1}; }).batch(2).prefetch(1));
  const auto report = profile.stop();
  const std::string table = report.table();
  for (const char* stage : {"PrefetchDataset", "BatchDataset", "MapDataset", "RangeDataset"})
    EXPECT_NE(table.find(stage), std::string::npos) << table;
}

}  // namespace
