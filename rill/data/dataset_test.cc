#include "rill/data/dataset.h"

#include <gtest/gtest.h>

#include <optional>

#include "rill/io/file.h"
#include "rill/rill.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::expect_error, rill::testing::printed;
using tf::Nest, tf::Tensor, tf::data::Dataset;

namespace {

// Of scalars or rows: all elements, flat.
std::vector<std::int64_t> values(const Dataset& ds) {
  std::vector<std::int64_t> out;
  for (auto& e : ds)
    for (std::int64_t v : e.as_tensor().to_vector<std::int64_t>()) out.push_back(v);
  return out;
}
using List = std::vector<std::int64_t>;

TEST(Sources, SlicesAreRowsOfEveryComponent) {
  RILL_SHOWS("D02", "D03", "D21");
  const auto a = tf::constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}), b = tf::constant({7, 8, 9});
  int i = 0;
  for (auto& element : Dataset::from_tensor_slices(tf::tuple(a, b)).take(2)) {
    auto [x, y] = element.unpack<2>();
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.f + 2 * i, 2.f + 2 * i}));
    EXPECT_EQ(y.item<int>(), 7 + i);
    ++i;
  }
  EXPECT_EQ(i, 2);
  EXPECT_EQ(values(Dataset::range(1000).take(400)), values(Dataset::range(400)));
  EXPECT_EQ(values(Dataset::range(3).take(400)), (List{0, 1, 2}));  // all there are
}

TEST(Sources, SlicesOfDictsKeepTheirKeys) {
  RILL_SHOWS("D04", "D84");
  const auto ds = Dataset::from_tensor_slices(tf::tuple(
      Nest::dict({{"a", tf::constant({1.f, 2.f})}, {"b", tf::constant({{.9f, .1f}, {.5f, .5f}})}}),
      tf::constant({0, 1})));
  const Nest first = ds.iter().next();
  EXPECT_EQ(first[0]["a"].as_tensor().item<float>(), 1.f);
  EXPECT_EQ(first[0]["b"].as_tensor().to_vector<float>(), (std::vector<float>{.9f, .1f}));
  EXPECT_EQ(first[1].as_tensor().item<int>(), 0);
}

TEST(Sources, SlicesOfStrings) {
  RILL_SHOWS("D71");
  const auto files = tf::concat({tf::constant({"cats/1", "cats/2"}), tf::constant({"dogs/1"})}, -1);
  const auto labels = tf::concat({tf::zeros({2}, tf::int32), tf::ones({1}, tf::int32)}, -1);
  std::vector<std::string> seen;
  for (auto& e : Dataset::from_tensor_slices(tf::tuple(files, labels))) {
    auto [file, label] = e.unpack<2>();
    seen.push_back(file.item<std::string>() + " " + label.to_string());
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"cats/1 0", "cats/2 0", "dogs/1 1"}));
}

TEST(Sources, FromTensorsIsOneElement) {
  RILL_SHOWS("D05", "D01");
  const auto ds = Dataset::from_tensors(tf::constant({{1, 2}, {3, 4}}));
  EXPECT_EQ(ds.cardinality(), 1);
  EXPECT_EQ(ds.as_vector()[0].as_tensor().shape(), tf::TensorShape({2, 2}));
}

TEST(Sources, RangeCountsUpAndDown) {
  RILL_SHOWS("D06");
  EXPECT_EQ(values(Dataset::range(4)), (List{0, 1, 2, 3}));
  EXPECT_EQ(values(Dataset::range(2, 9, 3)), (List{2, 5, 8}));
  EXPECT_EQ(values(Dataset::range(0, -5, -2)), (List{0, -2, -4}));
  EXPECT_EQ(values(Dataset::range(5, 1)), List{});
  EXPECT_EQ(Dataset::range(3).iter().next().as_tensor().dtype(), tf::int64);
  EXPECT_EQ(Dataset::range(INT64_MIN, INT64_MAX, INT64_MAX).cardinality(), 3);
  expect_error<tf::errors::InvalidArgument>([] { Dataset::range(0, 5, 0); }, "step is 0");
}

// `i++ == 5` is true once: a callable that is asked again would go on.
TEST(Sources, GeneratorIsNotAskedAfterItsEnd) {
  int calls = 0;
  const auto ds = Dataset::from_generator(
      [&] {
        return [&calls, i = 0]() mutable -> std::optional<Nest> {
          ++calls;
          if (i++ == 5) return {};
          return tf::constant(i);
        };
      },
      tf::int32, tf::TensorShape::scalar());
  int batches = 0;
  for (auto& e : ds.batch(2)) EXPECT_EQ(e.as_tensor().size(), ++batches < 3 ? 2 : 1);
  EXPECT_EQ(batches, 3);
  EXPECT_EQ(calls, 6);
  auto it = ds.make_iterator();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(it.get_next_as_optional().has_value());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(it.get_next_as_optional().has_value());
}

TEST(Sources, GeneratorMakesEachPassAnew) {
  RILL_SHOWS("D07");
  const auto ds = Dataset::from_generator(
      [] {
        return [i = 0]() mutable -> std::optional<Nest> {
          if (i == 3) return {};
          ++i;
          return tf::tuple(tf::zeros({i, 2}), tf::constant(i));
        };
      },
      {tf::float32, tf::int32}, {{tf::None, 2}, {}});
  for (int pass = 0; pass < 2; ++pass) {
    int n = 0;
    for (auto& e : ds) EXPECT_EQ(e[0].as_tensor().shape().dim(0), ++n);
    EXPECT_EQ(n, 3);
  }
  EXPECT_EQ(ds.cardinality(), tf::data::UNKNOWN_CARDINALITY);
  EXPECT_EQ(printed(ds.output_types()), "(tf.float32, tf.int32)");
}

TEST(Sources, GeneratorIsHeldToItsSignature) {
  RILL_SHOWS("D08", "P83", "Z52");
  const auto batches = [](int last) {
    return [last] {
      return [last, i = 0]() mutable -> std::optional<Nest> {
        if (++i == 3) return {};
        return tf::tuple(tf::zeros({i == 1 ? 11 : last, 28, 28, 1}),
                         tf::zeros({i == 1 ? 11 : last, 10}, tf::uint8));
      };
    };
  };
  const tf::data::Types types{tf::float32, tf::uint8};
  EXPECT_EQ(Dataset::from_generator(batches(1), types, {{tf::None, 28, 28, 1}, {tf::None, 10}})
                .as_vector()
                .size(),
            2u);
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        Dataset::from_generator(batches(1), types, {{11, 28, 28, 1}, {11, 10}}).as_vector();
      },
      "`generator` yielded an element of shape (1, 28, 28, 1) where an element of shape (11, 28, "
      "28, 1) was expected.");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        Dataset::from_generator(
            batches(1), tf::data::ElementSpec{tf::TensorSpec({tf::None, 28, 28, 1}, tf::float64),
                                              tf::TensorSpec({tf::None, 10}, tf::uint8)})
            .as_vector();
      },
      "`generator` yielded an element of type float32 where an element of type float64 was "
      "expected.");
  expect_error<tf::errors::InvalidArgument>(
      [&] { Dataset::from_generator(batches(1), tf::float32).as_vector(); },
      "did not match the expected structure");
}

TEST(Sources, SayWhatTheyCannotSlice) {
  expect_error<tf::errors::InvalidArgument>(
      [] {
        Dataset::from_tensor_slices(tf::tuple(tf::zeros({3, 2}), tf::zeros({4})));
      },
      "component 0 has 3 rows (shape [3, 2]), component 1 has 4 (shape [4])");
  expect_error<tf::errors::InvalidArgument>([] { Dataset::from_tensor_slices(tf::constant(1)); },
                                            "component 0 is a scalar");
}

TEST(Structures, PrintAsTheGuidesPrintThem) {
  RILL_SHOWS("D09", "D10", "D12");
  const auto dataset1 = Dataset::from_tensor_slices(tf::random::uniform({4, 10}));
  EXPECT_EQ(printed(dataset1.output_types()), "tf.float32");
  EXPECT_EQ(printed(dataset1.output_shapes()), "(10,)");
  const auto dataset2 = Dataset::from_tensor_slices(tf::tuple(
      tf::random::uniform({4}), tf::random::uniform({4, 100}, 0, 100, {.dtype = tf::int32})));
  EXPECT_EQ(printed(dataset2.output_types()), "(tf.float32, tf.int32)");
  EXPECT_EQ(printed(dataset2.output_shapes()), "((), (100,))");
  const auto named = Dataset::from_tensor_slices(
      Nest::dict({{"a", tf::random::uniform({4})},
                  {"b", tf::random::uniform({4, 100}, 0, 100, {.dtype = tf::int32})}}));
  EXPECT_EQ(printed(named.output_types()), "{'a': tf.float32, 'b': tf.int32}");
  EXPECT_EQ(printed(named.output_shapes()), "{'a': (), 'b': (100,)}");
}

TEST(Structures, OfZipNest) {
  RILL_SHOWS("D11", "D15", "Q23");
  const auto one = Dataset::from_tensor_slices(tf::zeros({4, 10}));
  const auto two =
      Dataset::from_tensor_slices(tf::tuple(tf::zeros({4}), tf::zeros({4, 100}, tf::int32)));
  const auto ds = Dataset::zip({one, two});
  EXPECT_EQ(printed(ds.output_types()), "(tf.float32, (tf.float32, tf.int32))");
  EXPECT_EQ(printed(ds.output_shapes()), "((10,), ((), (100,)))");
  EXPECT_EQ(ds.iter().next()[1][1].as_tensor().shape(), tf::TensorShape({100}));
}

TEST(Structures, DatasetsPrintTheirKind) {
  RILL_SHOWS("D13", "D14", "D81");
  const auto x = tf::random::uniform({5, 2}, 0, 1, {.dtype = tf::float64});
  EXPECT_EQ(printed(Dataset::from_tensor_slices(x)),
            "<TensorSliceDataset shapes: (2,), types: tf.float64>");
  const auto named = Dataset::from_tensor_slices(
      Nest::dict({{"a", tf::random::uniform({5}, 0, 1, {.dtype = tf::float64})}, {"b", x}}));
  EXPECT_EQ(printed(named),
            "<TensorSliceDataset shapes: {a: (), b: (2,)}, types: {a: tf.float64, b: tf.float64}>");
  EXPECT_EQ(printed(Dataset::range(10).batch(4)),
            "<BatchDataset shapes: (None,), types: tf.int64>");
  EXPECT_EQ(printed(Dataset::range(10).batch(4, {.drop_remainder = true}).element_spec()),
            "TensorSpec(shape=(4,), dtype=tf.int64, name=None)");
}

TEST(Structures, OfArraysPrintAsInTheGuide) {
  RILL_SHOWS("Q41", "Q42");
  const Tensor pairs = tf::np::random::random({5, 2}), numbers = tf::np::random::random({5});
  EXPECT_EQ(printed(Dataset::from_tensor_slices(pairs)),
            "<TensorSliceDataset shapes: (2,), types: tf.float64>");
  EXPECT_EQ(printed(Dataset::from_tensor_slices(Nest::dict({{"a", numbers}, {"b", pairs}}))),
            "<TensorSliceDataset shapes: {a: (), b: (2,)}, types: {a: tf.float64, b: tf.float64}>");
}

TEST(Structures, OfTheGuidesListTwo) {
  RILL_SHOWS("Q21", "Q22", "Q24");
  const auto n = tf::zeros({4, 100}, tf::int32);
  const auto one = Dataset::from_tensor_slices(tf::zeros({4, 10}));
  const auto two = Dataset::from_tensor_slices({tf::zeros({4}), n});
  const auto named = Dataset::from_tensor_slices(Nest::dict({{"a", tf::zeros({4})}, {"b", n}}));
  EXPECT_EQ(printed(one.output_types()) + " " + printed(one.output_shapes()), "tf.float32 (10,)");
  EXPECT_EQ(printed(two.output_types()) + " " + printed(two.output_shapes()),
            "(tf.float32, tf.int32) ((), (100,))");
  EXPECT_EQ(printed(named.output_types()) + " " + printed(named.output_shapes()),
            "{'a': tf.float32, 'b': tf.int32} {'a': (), 'b': (100,)}");
  EXPECT_EQ(named.element_spec()["b"].leaf().shape(), tf::TensorShape({100}));
  EXPECT_EQ(two.element_spec()[1].leaf().dtype(), tf::int32);
}

TEST(Structures, OfMapAreLearntByTracing) {
  const auto ds = Dataset::range(10).map([](Tensor x) {
    return tf::tuple(tf::fill(tf::reshape(tf::cast(x, tf::int32), {1}), x), tf::zeros({2, 3}));
  });
  EXPECT_EQ(printed(ds.output_types()), "(tf.int64, tf.float32)");
  EXPECT_EQ(printed(ds.output_shapes()), "((None,), (2, 3))");
  // Plain C++ that needs a value.
  const auto native = Dataset::range(10).map([](std::int64_t x) { return x * 0.5; });
  EXPECT_EQ(printed(native), "<MapDataset shapes: <unknown>, types: tf.float32>");
}

TEST(Cardinality, IsExact) {
  constexpr auto infinite = tf::data::INFINITE_CARDINALITY, unknown = tf::data::UNKNOWN_CARDINALITY;
  const auto ten = Dataset::range(10);
  EXPECT_EQ(ten.cardinality(), 10);
  EXPECT_EQ(ten.batch(4).cardinality(), 3);
  EXPECT_EQ(ten.batch(4, {.drop_remainder = true}).cardinality(), 2);
  EXPECT_EQ(ten.padded_batch(4).cardinality(), 3);
  EXPECT_EQ(ten.batch(5, {.drop_remainder = true}).unbatch().cardinality(), 10);
  EXPECT_EQ(ten.batch(4).unbatch().cardinality(), unknown);
  EXPECT_EQ(ten.repeat().cardinality(), infinite);
  EXPECT_EQ(ten.repeat(3).cardinality(), 30);
  EXPECT_EQ(ten.repeat(0).cardinality(), 0);
  EXPECT_EQ(ten.repeat().take(7).cardinality(), 7);
  EXPECT_EQ(ten.take(20).cardinality(), 10);
  EXPECT_EQ(ten.take(-1).cardinality(), 10);
  EXPECT_EQ(ten.skip(3).cardinality(), 7);
  EXPECT_EQ(ten.skip(30).cardinality(), 0);
  EXPECT_EQ(ten.repeat().skip(3).cardinality(), infinite);
  EXPECT_EQ(ten.filter([](std::int64_t x) { return x > 2; }).cardinality(), unknown);
  EXPECT_EQ(ten.map([](Tensor x) { return x; }).shuffle(3).cache().prefetch(1).cardinality(), 10);
  EXPECT_EQ(Dataset::zip({ten.repeat(), ten.take(4)}).cardinality(), 4);
  EXPECT_EQ(Dataset::zip({ten.repeat(), ten.repeat()}).cardinality(), infinite);
  EXPECT_EQ(ten.concatenate(ten.take(2)).cardinality(), 12);
  EXPECT_EQ(ten.concatenate(ten.repeat()).cardinality(), infinite);
  EXPECT_EQ(ten.shard(3, 0).cardinality(), 4);
  EXPECT_EQ(ten.shard(3, 1).cardinality(), 3);
  EXPECT_EQ(ten.window(4).cardinality(), 3);
  expect_error<tf::errors::InvalidArgument>([&] { ten.repeat().size(); }, "infinite");
}

// All ways of the guides to go through images and labels.
TEST(Iteration, GivesImagesAndLabels) {
  RILL_SHOWS("D41", "E67");
  const Tensor images = tf::reshape(tf::range(70.f * 28 * 28), {70, 28, 28}),
               labels = tf::range(std::int64_t{70});
  const auto dataset = Dataset::from_tensor_slices(tf::tuple(images, labels)).batch(32);
  for (int again = 0; again < 2; ++again) {  // each loop begins anew
    List seen;
    for (auto& element : dataset) {
      const auto [x, y] = element.unpack<2>();
      const auto count = y.shape().dim(0);
      EXPECT_EQ(x.shape(), (tf::TensorShape{count, 28, 28}));
      EXPECT_EQ(x(0, 0, 0).item<std::int64_t>(), y[0].item<std::int64_t>() * 28 * 28);
      for (const std::int64_t label : y.to_vector<std::int64_t>()) seen.push_back(label);
    }
    EXPECT_EQ(seen, labels.to_vector<std::int64_t>());
  }
  // for (batch, (images, labels)) in enumerate(dataset)
  std::string shapes;
  for (auto& element : dataset.enumerate()) {
    const Tensor batch = element[0];
    const auto [x, y] = element[1].unpack<2>();
    shapes += batch.to_string() + " " + printed(x.shape()) + " " + printed(y.shape()) + "\n";
  }
  EXPECT_EQ(shapes, "0 (32, 28, 28) (32,)\n1 (32, 28, 28) (32,)\n2 (6, 28, 28) (6,)\n");
  // x, y = iter(dataset).next();  it = iter(dataset); next(it)
  const auto [x, y] = dataset.iter().next().unpack<2>();
  EXPECT_EQ(printed(x.shape()) + " " + printed(y.shape()), "(32, 28, 28) (32,)");
  auto it = dataset.iter();
  const auto [x_0, y_0] = it.next().unpack<2>();
  const auto [x_1, y_1] = it.next().unpack<2>();
  EXPECT_EQ(y_0[0].item<int>(), 0);
  EXPECT_EQ(y_1[0].item<int>(), 32);
}

TEST(Iteration, BeginsAnewEachTime) {
  RILL_SHOWS("E61");
  const auto ds = Dataset::range(3);
  EXPECT_EQ(values(ds), (List{0, 1, 2}));
  EXPECT_EQ(values(ds), (List{0, 1, 2}));
  List seen;
  for (auto& e : ds.enumerate(5)) {
    auto [i, x] = e.unpack<2>();
    seen.push_back(i.item<std::int64_t>() * 10 + x.item<std::int64_t>());
  }
  EXPECT_EQ(seen, (List{50, 61, 72}));
}

TEST(Iteration, IteratorKeepsTheDatasetAlive) {
  auto it = Dataset::range(5).map([](Tensor x) { return x + x; }).iter();
  EXPECT_EQ(it.next().as_tensor().item<int>(), 0);
  EXPECT_EQ(it.get_next().as_tensor().item<int>(), 2);
}

TEST(Iteration, EndsWithOutOfRange) {
  RILL_SHOWS("D39", "Z06");
  auto it = Dataset::range(5).iter();
  List seen;
  try {
    for (;;) {
      const Tensor next = it.get_next().as_tensor();
      seen.push_back(tf::add(next, next).item<std::int64_t>());
    }
  } catch (const tf::errors::OutOfRangeError& e) {
    EXPECT_EQ(e.message(), "End of sequence");
  }
  EXPECT_EQ(seen, (List{0, 2, 4, 6, 8}));
  expect_error<tf::errors::OutOfRange>([&] { it.next(); }, "End of sequence");
}

TEST(Iteration, PeeksWithoutLosingAnElement) {
  auto it = Dataset::range(3).begin();
  EXPECT_EQ((*it).as_tensor().item<int>(), 0);
  EXPECT_EQ(it.next().as_tensor().item<int>(), 0);
  EXPECT_EQ(it->as_tensor().item<int>(), 1);
  ++it;
  EXPECT_EQ(it->as_tensor().item<int>(), 2);
  it++;
  EXPECT_TRUE(it == tf::data::Sentinel{});
}

// Arrays are not copied, neither into a graph nor elsewhere: elements look into them.
TEST(Sources, SlicesShareTheMemoryOfTheArrays) {
  RILL_SHOWS("Z08");
  const Tensor features = tf::zeros({1000, 300});
  const auto ds = Dataset::from_tensor_slices(features);
  const auto same = ds.repeat(2).skip(1).iter().next().as_tensor();
  EXPECT_EQ(same.data<float>().data(), features.data<float>().data() + 300);
}

TEST(Iteration, CountsAsInTheGuides) {
  RILL_SHOWS("Q25", "Q26", "P29");
  for (const std::int64_t max_value : {100, 10, 100}) {
    auto it = Dataset::range(max_value).iter();
    for (std::int64_t i = 0; i < max_value; ++i)
      EXPECT_EQ(it.get_next().as_tensor().item<std::int64_t>(), i);
  }
  std::string text;
  auto it = Dataset::range(5).iter();
  try {
    for (;;) {
      const Tensor next = it.get_next().as_tensor();
      text += printed(tf::add(next, next).item<std::int64_t>()) + "\n";
    }
  } catch (const tf::errors::OutOfRangeError&) {
    text += "End of dataset\n";
  }
  EXPECT_EQ(text, "0\n2\n4\n6\n8\nEnd of dataset\n");
}

// Two folders of pictures: their names in a row, and a label by the folder.
TEST(Sources, FoldersOfFilesBecomeNamesAndLabels) {
  RILL_SHOWS("D70");
  const std::string root = rill::saving_tests::fresh_folder("cats_and_dogs");
  for (const char* name : {"/cats/a.jpg", "/cats/b.jpg", "/dogs/c.jpg"}) {
    tf::io::create_folders(root + std::string(name).substr(0, 5));
    tf::io::write_file_atomically(root + name, "");
  }
  const auto names_in = [&](const std::string& folder) {
    std::vector<std::string> names;
    for (const std::string& name : tf::io::list_folder(root + folder))
      names.push_back(root + folder + name);
    return tf::constant(names);
  };
  const Tensor cats = names_in("/cats/"), dogs = names_in("/dogs/");
  const Tensor labels =
      tf::concat({tf::zeros(cats.shape(), tf::int32), tf::ones(dogs.shape(), tf::int32)}, -1);
  const auto ds = Dataset::from_tensor_slices(tf::tuple(tf::concat({cats, dogs}, -1), labels));
  std::vector<std::string> seen;
  for (auto& e : ds) {
    auto [name, label] = e.unpack<2>();
    seen.push_back(name.item<std::string>().substr(root.size()) + " " + label.to_string());
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"/cats/a.jpg 0", "/cats/b.jpg 0", "/dogs/c.jpg 1"}));
}

}  // namespace
