#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "rill/base/parallel.h"
#include "rill/core/device.h"
#include "rill/rill.h"
#include "tests/dataset_values.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::counted, rill::testing::values;
using rill::testing::expect_error, rill::testing::printed;
using tf::Nest, tf::Tensor, tf::data::Dataset;

namespace {

using List = rill::testing::List;
List sorted(List v) {
  std::sort(v.begin(), v.end());
  return v;
}
// The same elements without rows to go by.
Dataset plain(const Dataset& ds) {
  return ds.map([](Nest n) { return n; });
}

TEST(Batch, StacksConsecutiveElements) {
  RILL_SHOWS("D22", "D23", "Q27");
  const auto ds = Dataset::zip({Dataset::range(100), Dataset::range(0, -100, -1)}).batch(4);
  std::vector<std::string> lines;
  for (auto& e : ds.take(3)) {
    auto [a, b] = e.unpack<2>();
    lines.push_back(a.to_string() + " " + b.to_string());
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"[0 1 2 3] [ 0 -1 -2 -3]", "[4 5 6 7] [-4 -5 -6 -7]",
                                             "[ 8  9 10 11] [ -8  -9 -10 -11]"}));
}

TEST(Batch, KeepsOrDropsTheRest) {
  RILL_SHOWS("Z22");
  for (const Dataset& source : {Dataset::range(10), plain(Dataset::range(10))}) {
    List sizes;
    for (auto& e : source.batch(4)) sizes.push_back(e.as_tensor().shape().dim(0));
    EXPECT_EQ(sizes, (List{4, 4, 2}));
    EXPECT_EQ(values(source.batch(4, {.drop_remainder = true})), counted(8));
    EXPECT_EQ(values(source.batch(1LL << 40)), counted(10));
  }
}

TEST(Batch, GathersEveryDtypeAndShape) {
  const Nest columns = Nest::dict({{"words", tf::constant({"a", "bb", "ccc"})},
                                   {"flags", tf::constant({true, false, true})},
                                   {"boxes", tf::reshape(tf::range(12), {3, 2, 2})},
                                   {"none", tf::zeros({3, 0})}});
  for (const Dataset& ds :
       {Dataset::from_tensor_slices(columns), plain(Dataset::from_tensor_slices(columns))}) {
    const Nest b = ds.shard(2, 0).batch(5).iter().next();
    EXPECT_EQ(b["words"].as_tensor().to_vector<std::string>(),
              (std::vector<std::string>{"a", "ccc"}));
    EXPECT_EQ(b["flags"].as_tensor().shape(), tf::TensorShape({2}));
    EXPECT_EQ(b["boxes"].as_tensor().to_vector<int>(),
              (std::vector<int>{0, 1, 2, 3, 8, 9, 10, 11}));
    EXPECT_EQ(b["none"].as_tensor().shape(), tf::TensorShape({2, 0}));
  }
}

TEST(Batch, SaysWhatDiffers) {
  RILL_SHOWS("Z09");
  const auto growing =
      Dataset::range(1, 4).map([](Tensor x) { return tf::fill(tf::reshape(x, {1}), x); });
  expect_error<tf::errors::InvalidArgument>([&] { growing.batch(2).as_vector(); },
                                            "[batch] component 0: element 0 of the batch has shape "
                                            "[1], element 1 has shape [2]; expected "
                                            "one shape. Use padded_batch()");
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(3).batch(0); }, "batch_size is 0");
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(3).shuffle(-1); },
                                            "[shuffle] buffer_size is -1");
}

TEST(Batch, AfterMapInOneCall) {
  RILL_SHOWS("D32");
  const auto square = [](Tensor x) { return x * x; };
  const auto ds = Dataset::range(7).apply(tf::data::experimental::map_and_batch(
      square, 3, {.drop_remainder = true, .num_parallel_calls = 2}));
  EXPECT_EQ(values(ds), (List{0, 1, 4, 9, 16, 25}));
  EXPECT_EQ(ds.cardinality(), 2);
}

TEST(PaddedBatch, PadsToTheLongest) {
  RILL_SHOWS("D24", "D78", "Q29");
  const auto ds =
      Dataset::range(100)
          .map([](Tensor x) { return tf::fill(tf::reshape(tf::cast(x, tf::int32), {1}), x); })
          .padded_batch(4, {{tf::None}});
  auto it = ds.iter();
  EXPECT_EQ(it.next().as_tensor().to_string(), "[[0 0 0]\n [1 0 0]\n [2 2 0]\n [3 3 3]]");
  EXPECT_EQ(it.next().as_tensor().to_string(),
            "[[4 4 4 4 0 0 0]\n [5 5 5 5 5 0 0]\n [6 6 6 6 6 6 0]\n [7 7 7 7 7 7 7]]");
  EXPECT_EQ(printed(ds.output_shapes()), "(None, None)");
}

TEST(PaddedBatch, TakesShapesAndValuesAComponent) {
  const auto ds = Dataset::range(1, 3).map([](std::int64_t n) {
    return tf::tuple(tf::ones({static_cast<int>(n), 1}), tf::constant({"x"}), tf::constant(5));
  });
  const Nest b = ds.padded_batch(2, {{tf::None, 3}, {2}, {}}, {.padding_values = {-1.f, "-", 0}})
                     .iter()
                     .next();
  EXPECT_EQ(b[0].as_tensor().to_vector<float>(),
            (std::vector<float>{1, -1, -1, -1, -1, -1, 1, -1, -1, 1, -1, -1}));
  EXPECT_EQ(b[1].as_tensor().to_vector<std::string>(),
            (std::vector<std::string>{"x", "-", "x", "-"}));
  EXPECT_EQ(b[2].as_tensor().to_vector<int>(), (std::vector<int>{5, 5}));
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        ds.padded_batch(2, {{1, 1}, {1}, {}}).as_vector();
      },
      "element 1 of the batch has shape [2, 1], larger than the padded shape [1, 1]");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        ds.padded_batch(2, {}, {.padding_values = {0.5f, "", 0.5f}}).as_vector();
      },
      "component 2 is float32 []; expected a scalar of the component's dtype int32. Cast it");
  EXPECT_EQ(ds.padded_batch(2, {}, {.drop_remainder = true}).as_vector().size(), 1u);
  const auto complex = Dataset::range(1, 3).map(
      [](std::int64_t n) { return tf::cast(tf::ones({static_cast<int>(n)}), tf::complex64); });
  const Tensor padded =
      complex.padded_batch(2, {}, {.padding_values = {tf::cast(-1.f, tf::complex64)}})
          .iter()
          .next()
          .as_tensor();
  EXPECT_EQ(tf::math::real(padded).to_vector<float>(), (std::vector<float>{1, -1, 1, 1}));
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        complex.padded_batch(2, {}, {.padding_values = {tf::constant({1.f, 2.f})}}).as_vector();
      },
      "is float32 [2]; expected a scalar of the component's dtype complex64");
}

TEST(Unbatch, UndoesBatch) {
  EXPECT_EQ(values(Dataset::range(7).batch(3).unbatch()), counted(7));
  EXPECT_EQ(printed(Dataset::range(7).batch(3).unbatch().output_shapes()), "()");
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(3).unbatch().as_vector(); },
                                            "[unbatch] component 0 is a scalar");
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(3).unbatch().element_spec(); },
                                            "with a scalar among them");
}

TEST(Shuffle, IsAPermutationWithinItsBuffer) {
  RILL_SHOWS("D26");  // D27: shuffle_test.cc
  for (const Dataset& source : {Dataset::range(200), plain(Dataset::range(200))}) {
    const auto ds = source.shuffle(10);
    const List order = values(ds), again = values(ds);
    EXPECT_EQ(sorted(order), counted(200));
    EXPECT_EQ(sorted(again), counted(200));
    EXPECT_NE(order, again);
    EXPECT_NE(order, counted(200));
    for (std::int64_t p = 0; p < 200; ++p)
      EXPECT_GE(p, order[static_cast<std::size_t>(p)] - 9) << "too early";
    EXPECT_EQ(values(source.shuffle(1)), counted(200));
  }
}

TEST(Shuffle, FollowsItsSeeds) {
  const auto order = [](const Dataset& ds) { return values(ds); };
  const auto ds = Dataset::range(50);
  const auto make = [&] { return ds.shuffle(50, {.seed = 3}); };
  const auto one = make();
  const List first = order(one), second = order(one);
  EXPECT_NE(first, second);
  const auto other = make();
  EXPECT_EQ(order(other), first);
  EXPECT_EQ(order(other), second);
  EXPECT_NE(order(ds.shuffle(50, {.seed = 4})), first);
  // With and without rows to go by.
  EXPECT_EQ(order(plain(ds).shuffle(50, {.seed = 3})), first);
  EXPECT_EQ(order(plain(ds).shuffle(7, {.seed = 3})), order(ds.shuffle(7, {.seed = 3})));

  const auto fixed = ds.shuffle(50, {.seed = 3, .reshuffle_each_iteration = false});
  EXPECT_EQ(order(fixed), order(fixed));

  tf::random::set_seed(5);
  const List a = order(ds.shuffle(50)), b = order(ds.shuffle(50));
  const float number = tf::random::uniform({}).item<float>();
  tf::random::set_seed(5);
  EXPECT_EQ(order(ds.shuffle(50)), a);
  EXPECT_EQ(order(ds.shuffle(50)), b);
  EXPECT_NE(a, b);
  tf::random::set_seed(5);  // datasets do not move the streams of ops
  EXPECT_EQ(tf::random::uniform({}).item<float>(), number);
}

TEST(Shuffle, MixesEpochsByItsPlace) {
  RILL_SHOWS("D28", "D25");
  const auto ds = Dataset::range(8);
  const List apart = values(ds.shuffle(8).repeat(3));
  for (std::size_t e = 0; e < 3; ++e)
    EXPECT_EQ(sorted(List(apart.begin() + 8 * e, apart.begin() + 8 * e + 8)), counted(8));
  EXPECT_NE(List(apart.begin(), apart.begin() + 8), List(apart.begin() + 8, apart.begin() + 16));
  // Without a number it has no end.
  EXPECT_EQ(values(Dataset::range(3).repeat().take(7)), (List{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(Dataset::range(3).repeat().cardinality(), tf::data::INFINITE_CARDINALITY);
  // shuffle.repeat.batch has batches across epochs, shuffle.batch.repeat has none.
  List sizes;
  for (auto& b : ds.shuffle(8).repeat(2).batch(3)) sizes.push_back(b.as_tensor().size());
  EXPECT_EQ(sizes, (List{3, 3, 3, 3, 3, 1}));
  sizes.clear();
  for (auto& b : ds.shuffle(8).batch(3).repeat(2)) sizes.push_back(b.as_tensor().size());
  EXPECT_EQ(sizes, (List{3, 3, 2, 3, 3, 2}));
}

TEST(Repeat, OfNothingEnds) {
  EXPECT_EQ(values(Dataset::range(0).repeat()), List{});
  EXPECT_EQ(values(Dataset::range(3).repeat(0)), List{});
  EXPECT_EQ(values(Dataset::range(2).repeat().take(5)), (List{0, 1, 0, 1, 0}));
}

TEST(Map, UnpacksTuplesDictsAndNests) {
  RILL_SHOWS("D16");
  const auto pairs = Dataset::zip({Dataset::range(3), Dataset::range(10, 13)});
  EXPECT_EQ(values(pairs.map([](Tensor a, Tensor b) { return a + b; })), (List{10, 12, 14}));
  EXPECT_EQ(values(pairs.map([](auto a, auto b) { return tf::tuple(b, a); })),
            (List{10, 0, 11, 1, 12, 2}));
  EXPECT_EQ(values(pairs.map([](Nest e) { return e[1]; })), (List{10, 11, 12}));
  EXPECT_EQ(values(pairs.map([](int a, std::int64_t b) { return a * b; })), (List{0, 11, 24}));
  EXPECT_EQ(values(pairs.enumerate().map([](Tensor i, Nest ab) { return i + ab[1].as_tensor(); })),
            (List{10, 12, 14}));
  const auto named = Dataset::from_tensor_slices(
      tf::tuple(Nest::dict({{"a", tf::constant({1, 2})}}), tf::constant({5, 6})));
  EXPECT_EQ(values(named.map([](Nest f, Tensor y) { return f["a"].as_tensor() * y; })),
            (List{5, 12}));
  expect_error<tf::errors::InvalidArgument>(
      [&] { pairs.map([](Tensor a) { return a; }).as_vector(); },
      "the function takes 1 argument, the element has 2");
}

TEST(Map, KeepsOrderInParallel) {
  RILL_SHOWS("D17", "P68");
  for (const std::int64_t calls :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, tf::data::AUTOTUNE}) {
    const auto ds = Dataset::range(300).map(
        [](std::int64_t x) {
          if (x % 7 == 0) std::this_thread::yield();
          return x;
        },
        {.num_parallel_calls = calls});
    EXPECT_EQ(values(ds), counted(300));
    EXPECT_EQ(values(ds.prefetch(tf::data::AUTOTUNE)), counted(300));
    EXPECT_EQ(printed(ds).substr(0, 19), "<ParallelMapDataset");
  }
  const auto unordered = Dataset::range(100).map([](Tensor x) { return x; },
                                                 {.num_parallel_calls = 3, .deterministic = false});
  EXPECT_EQ(sorted(values(unordered)), counted(100));
}

TEST(Map, TurnsImagesThatAreThenShuffled) {
  RILL_SHOWS("P67", "D83");
  const auto images = tf::reshape(tf::cast(tf::range(40 * 28 * 28), tf::float32), {40, 28, 28, 1});
  const auto ds = Dataset::from_tensor_slices(tf::tuple(images, tf::range(40)));
  const auto turned =
      ds.map([](Tensor image, Tensor label) { return tf::tuple(tf::image::rot90(image), label); },
             {.num_parallel_calls = tf::data::AUTOTUNE});
  const auto batches = turned.shuffle(10000).batch(4);
  std::string order[2];
  for (std::string& o : order)
    for (auto& b : batches) {
      auto [x, y] = b.unpack<2>();
      ASSERT_EQ(x.shape(), tf::TensorShape({4, 28, 28, 1}));
      o += y.to_string();
      // Counter-clockwise: the last column becomes the first row.
      EXPECT_EQ(x(0, 0, 3, 0).item<float>(), images(y[0], 3, 27, 0).item<float>());
    }
  EXPECT_NE(order[0], order[1]);
  EXPECT_EQ(printed(batches.output_shapes()), "((None, 28, 28, 1), (None,))");
}

TEST(Map, RunsAsAGraphWhenAsked) {
  const auto ds = Dataset::range(4).map([](Tensor x) { return x * x; }, {.traced = true});
  EXPECT_EQ(values(ds), (List{0, 1, 4, 9}));
  const auto pairs = Dataset::zip({Dataset::range(3), Dataset::range(3)})
                         .map([](Tensor a, Tensor b) { return tf::tuple(a + b, a); },
                              {.num_parallel_calls = 2, .traced = true});
  EXPECT_EQ(values(pairs), (List{0, 0, 2, 1, 4, 2}));
}

TEST(Map, DrawsRandomNumbersByElement) {
  RILL_SHOWS("D77");
  const auto draws = [](std::int64_t calls, bool op_seed, bool traced) {
    tf::random::set_seed(11);
    const auto ds = Dataset::range(20).map(
        [=](Tensor x) {
          return x + tf::random::uniform({}, -1000, 1000,
                                         {.dtype = tf::int64, .seed = op_seed ? 3 : -1});
        },
        {.num_parallel_calls = calls, .traced = traced});
    List out = values(ds);
    const List second = values(ds);
    out.insert(out.end(), second.begin(), second.end());
    return out;
  };
  for (const bool op_seed : {false, true}) {
    const List alone = draws(0, op_seed, false);
    EXPECT_EQ(draws(0, op_seed, false), alone);
    EXPECT_EQ(draws(2, op_seed, false), alone);
    EXPECT_EQ(draws(7, op_seed, false), alone);
    EXPECT_GT(std::set<std::int64_t>(alone.begin(), alone.end()).size(), 35u);  // fresh each time
    const List traced = draws(0, op_seed, true);
    EXPECT_EQ(draws(0, op_seed, true), traced);
    EXPECT_EQ(draws(4, op_seed, true), traced);
    EXPECT_GT(std::set<std::int64_t>(traced.begin(), traced.end()).size(), 35u);
  }
  // To ask what a map yields does not move the streams of the program.
  tf::random::set_seed(1);
  const float number = tf::random::uniform({}).item<float>();
  tf::random::set_seed(1);
  EXPECT_EQ(printed(Dataset::range(3).map([](Tensor) { return tf::random::normal({2}); })),
            "<MapDataset shapes: (2,), types: tf.float32>");
  EXPECT_EQ(tf::random::uniform({}).item<float>(), number);
}

TEST(Map, IsNotTaped) {
  const auto ds = Dataset::from_tensor_slices(tf::constant({1.f, 2.f}));
  tf::Variable v(3.f);
  tf::GradientTape tape;
  Tensor y = tf::constant(0.f);
  for (auto& e : ds.map([&](Tensor x) { return x * v; })) y = y + e.as_tensor();
  EXPECT_FALSE(tape.gradient(y, v).defined());
}

TEST(Map, ErrorsArriveWhereTheElementIsWanted) {
  const auto fail = [](std::int64_t x) -> Tensor {
    if (x == 2) return tf::matmul(tf::zeros({2, 3}), tf::zeros({2, 3}));
    return tf::constant(x);
  };
  for (const auto& ds :
       {Dataset::range(4).map(fail), Dataset::range(4).map(fail, {.num_parallel_calls = 2}),
        Dataset::range(4).map(fail).prefetch(2)}) {
    auto it = ds.iter();
    it.next();
    it.next();
    expect_error<tf::errors::InvalidArgument>([&] { it.next(); },
                                              "while the function of map() was at element 2");
    EXPECT_EQ(it.next().as_tensor().item<int>(), 3);  // it continues behind it
  }
  auto it =
      Dataset::range(1).map([](Tensor) -> Tensor { throw std::runtime_error("mine"); }).iter();
  EXPECT_THROW(it.next(), std::runtime_error);
}

TEST(Threads, EndWithTheIterator) {
  static std::atomic<int> calls{0};
  {
    auto it = Dataset::range(1000000)
                  .map([](Tensor x) { return ++calls, x; }, {.num_parallel_calls = 3})
                  .prefetch(4)
                  .iter();
    it.next();
  }
  const int seen = calls;
  EXPECT_LT(seen, 1000);  // a few jobs of at most 64
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(calls, seen);
}

TEST(Threads, HaveAComputeWidthOfOne) {
  for (const auto& ds : {Dataset::range(8).map([](Tensor) { return tf::compute_width(); },
                                               {.num_parallel_calls = 2})})
    for (auto& e : ds) EXPECT_EQ(e.as_tensor().item<int>(), 1);
}

TEST(Prefetch, ToADevice) {
  const auto ds = Dataset::range(5).map(
      [](Tensor x) { return tf::tuple(tf::cast(x, tf::float32), tf::as_string(x)); });
  std::vector<float> numbers;
  for (auto& e : ds.prefetch_to_device("/device:TEST:0")) {
    EXPECT_EQ(e[0].as_tensor().device().type(), tf::DeviceType::test);
    EXPECT_EQ(e[1].as_tensor().device().type(), tf::DeviceType::cpu);
    numbers.push_back((e[0].as_tensor() + 1.f).item<float>());
  }
  EXPECT_EQ(numbers, (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(ds.prefetch_to_device("TEST:0", 1).cardinality(), 5);
  expect_error<tf::errors::InvalidArgument>([&] { ds.prefetch_to_device("/gpu:99"); }, "/gpu:99");
  // An error comes where its element was, and the rest after it.
  auto it = Dataset::range(4)
                .map([](std::int64_t x) {
                  if (x == 1) throw tf::errors::InvalidArgument("one");
                  return x;
                })
                .prefetch_to_device("TEST:0", 0)
                .iter();
  EXPECT_EQ(it.next().as_tensor().item<std::int64_t>(), 0);
  EXPECT_THROW(it.next(), tf::errors::InvalidArgument);
  EXPECT_EQ(it.next().as_tensor().item<std::int64_t>(), 2);
}

TEST(Prefetch, PreparesWhileTheConsumerWorks) {
  RILL_SHOWS("D29", "D30");
  using std::chrono::milliseconds;
  const auto slow = Dataset::range(10).map([](Tensor x) {
    std::this_thread::sleep_for(milliseconds(10));
    return x;
  });
  const auto time = [](const Dataset& ds) {
    const auto start = std::chrono::steady_clock::now();
    for ([[maybe_unused]] auto& e : ds) std::this_thread::sleep_for(milliseconds(10));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  EXPECT_EQ(values(slow.prefetch(2)), counted(10));
  EXPECT_LT(time(slow.prefetch(tf::data::experimental::AUTOTUNE)), 0.8 * time(slow));
  EXPECT_EQ(values(Dataset::range(3).prefetch(0)), counted(3));
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(3).prefetch(-2); },
                                            "[prefetch] buffer_size is -2");
}

TEST(Filter, KeepsWhatIsTrue) {
  RILL_SHOWS("D19");
  EXPECT_EQ(values(Dataset::range(6).filter([](std::int64_t x) { return x % 2 == 1; })),
            (List{1, 3, 5}));
  EXPECT_EQ(
      values(Dataset::zip({Dataset::range(4), Dataset::range(4)}).filter([](Tensor a, Tensor b) {
        return a + b > 3;
      })),
      (List{2, 2, 3, 3}));
  EXPECT_EQ(values(Dataset::range(9).take_while([](Tensor x) { return x < 3; })), counted(3));
  expect_error<tf::errors::InvalidArgument>(
      [] { Dataset::range(3).filter([](Tensor x) { return x; }).as_vector(); },
      "[filter] the function returned int64 []; expected a bool");
}

TEST(Order, TakeSkipShardConcatenate) {
  RILL_SHOWS("D20");
  for (const Dataset& ds : {Dataset::range(7), plain(Dataset::range(7))}) {
    EXPECT_EQ(values(ds.skip(5)), (List{5, 6}));
    EXPECT_EQ(values(ds.skip(-1)), List{});
    EXPECT_EQ(values(ds.take(2)), (List{0, 1}));
    EXPECT_EQ(values(ds.shard(3, 1)), (List{1, 4}));
    EXPECT_EQ(values(ds.shard(3, 0).batch(2)), (List{0, 3, 6}));
    EXPECT_EQ(values(ds.skip(2).take(3).repeat(2).batch(4)), (List{2, 3, 4, 2, 3, 4}));
    EXPECT_EQ(values(ds.take(2).concatenate(Dataset::range(20, 22))), (List{0, 1, 20, 21}));
  }
  const auto floats = Dataset::from_tensor_slices(tf::constant({1.f}));
  expect_error<tf::errors::InvalidArgument>(
      [&] { Dataset::range(1).concatenate(floats).as_vector(); },
      "[concatenate] elements of the first dataset are tf.int64, of the second tf.float32");
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(3).shard(2, 2); }, "index 2 of 2");
}

TEST(Zip, EndsWithTheShortest) {
  EXPECT_EQ(values(Dataset::zip({Dataset::range(5), Dataset::range(2)})), (List{0, 0, 1, 1}));
  // A shuffled dataset beside itself is shuffled twice.
  const auto shuffled = Dataset::range(50).shuffle(50);
  int same = 0;
  for (auto& e : Dataset::zip({shuffled, shuffled}))
    same += e[0].as_tensor().item<int>() == e[1].as_tensor().item<int>();
  EXPECT_LT(same, 20);
}

TEST(Cache, CallsTheFunctionOnce) {
  for (const bool shuffled : {false, true}) {
    int calls = 0;
    auto source = Dataset::range(5);
    if (shuffled) source = source.shuffle(5);
    const auto ds = source.map([&](Tensor x) { return ++calls, x; }).cache();
    const List first = values(ds);
    EXPECT_EQ(values(ds.repeat(3)).size(), 15u);
    EXPECT_EQ(values(ds), first);
    EXPECT_EQ(calls, 5);
  }
  const auto rows = Dataset::range(20).shuffle(20).cache();  // rows by number
  EXPECT_EQ(values(rows), values(rows.batch(6)));
}

// What comes after an error is where it would have been without.
TEST(Errors, LeaveTheElementsAfterThemInTheirPlaces) {
  const auto m = Dataset::range(10).map([](std::int64_t x) {
    if (x == 2 || x == 5) throw tf::errors::InvalidArgument("no " + std::to_string(x));
    return x;
  });
  const auto steps = [](const Dataset& d) {
    std::string out;
    auto it = d.iter();
    for (;;) try {
        Nest e;
        if (!it.next(&e)) return out;
        for (const Tensor& t : e.flatten())
          if (t.dtype() == tf::variant)
            out += "w" + Dataset::of(t).batch(9).as_vector()[0].as_tensor().to_string();
          else
            out += t.to_string() + " ";
      } catch (const tf::errors::InvalidArgument&) {
        out += "! ";
      }
  };
  EXPECT_EQ(steps(m.batch(2)), "[0 1] ! ! [6 7] [8 9] ");
  EXPECT_EQ(steps(m.enumerate()), "0 0 1 1 ! 3 3 4 4 ! 6 6 7 7 8 8 9 9 ");
  const auto short_one = Dataset::range(5);
  EXPECT_EQ(steps(Dataset::zip({m, short_one})), "0 0 1 1 ! 3 3 4 4 ! ");
  EXPECT_EQ(steps(Dataset::zip({short_one, m})), "0 0 1 1 ! 3 3 4 4 ");
  EXPECT_EQ(steps(m.window(2)), "w[0 1]! ! w[6 7]w[8 9]");
  EXPECT_EQ(steps(m.window(2, {.shift = 3})), "w[0 1]w[3 4]w[6 7]w[9]");
  EXPECT_EQ(steps(m.window(2, {.shift = 1, .stride = 2})),
            "! w[1 3]! ! w[4 6]! w[6 8]w[7 9]w[8]w[9]");
}

TEST(Zip, OfNamedDatasetsGivesDicts) {
  const auto r = Dataset::range(3);
  for (const auto& second : {r, r.filter([](Tensor) { return true; })}) {  // rows, and elements
    const auto ds = Dataset::zip({{"x", r}, {"y", Dataset::zip({r, second})}});
    EXPECT_EQ(printed(ds.output_types()), "{'x': tf.int64, 'y': (tf.int64, tf.int64)}");
    const Nest last = ds.as_vector()[2];
    EXPECT_EQ(last["x"].as_tensor().item<int>(), 2);
    EXPECT_EQ(last["y"][1].as_tensor().item<int>(), 2);
    EXPECT_EQ(ds.batch(3).iter().next()["x"].as_tensor().to_string(), "[0 1 2]");
  }
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        Dataset::zip({{"x", r}, {"x", r}});
      },
      "two datasets are called \"x\"");
}

// The guide's lambda x, (y, z), which Python 3 does not have: the pair comes as a Nest.
TEST(Filter, TakesNestedElementsApart) {
  RILL_SHOWS("D19", "Z07");
  const auto nested = Dataset::zip(
      {Dataset::range(4), Dataset::zip({Dataset::range(4, 8), Dataset::range(8, 12)})});
  const auto kept = nested.filter([](Tensor x, Nest yz) {
    auto [y, z] = yz.unpack<2>();
    return x + y + z > 15;
  });
  EXPECT_EQ(values(kept), (List{2, 6, 10, 3, 7, 11}));
}

// What the guide's pictures show: who prepares waits for who trains, and the other way round,
// unless elements are made ahead and by several threads.
TEST(Prefetch, AndParallelMapHalveTheTime) {
  RILL_SHOWS("D31", "T07", "T09");
  using std::chrono::steady_clock, std::chrono::milliseconds;
  struct Span {
    steady_clock::time_point begin, end;
  };
  struct Timeline {
    std::mutex mutex;
    std::vector<Span> preparing, training;
    // How often an element was trained on while another one was prepared.
    int overlaps() const {
      int n = 0;
      for (const Span& t : training)
        n += std::any_of(preparing.begin(), preparing.end(),
                         [&](const Span& p) { return p.begin < t.end && t.begin < p.end; });
      return n;
    }
    double seconds() const {
      const auto all = training.back().end - preparing.front().begin;
      return std::chrono::duration<double>(all).count();
    }
  };
  const auto work = [](int ms) {
    const auto begin = steady_clock::now();
    std::this_thread::sleep_for(milliseconds(ms));
    return Span{begin, steady_clock::now()};
  };
  const auto run = [&](Timeline& line, bool ahead) {
    auto ds = Dataset::range(20).map(
        [&](Tensor x) {
          const Span span = work(20);
          const std::lock_guard lock(line.mutex);
          line.preparing.push_back(span);
          return x;
        },
        {.num_parallel_calls = ahead ? 4 : 0});
    if (ahead) ds = ds.prefetch(tf::data::experimental::AUTOTUNE);
    for ([[maybe_unused]] auto& element : ds) line.training.push_back(work(8));
  };
  Timeline one_by_one, ahead;
  run(one_by_one, false);
  run(ahead, true);
  EXPECT_EQ(one_by_one.overlaps(), 0);
  EXPECT_GT(ahead.overlaps(), 10);
  EXPECT_LT(ahead.seconds(), one_by_one.seconds() / 2);
}

}  // namespace
