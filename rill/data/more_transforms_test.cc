// Expected values are those of TensorFlow 2.15.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/io/gfile.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill::data {
namespace {

using rill::testing::expect_error;
using ::testing::ElementsAre;
using Ints = std::vector<std::int64_t>;

std::vector<Ints> batches_of(const Dataset& dataset) {
  std::vector<Ints> out;
  for (const Nest& e : dataset) out.push_back(e.to_vector<std::int64_t>());
  return out;
}
Ints numbers_of(const Dataset& dataset) {
  Ints out;
  for (const Nest& e : dataset) out.push_back(e.item<std::int64_t>());
  return out;
}
// After any number of elements a new iterator goes on as the first one does.
void expect_restorable(const Dataset& dataset) {
  const std::size_t n = dataset.as_vector().size();
  for (std::size_t taken = 0; taken <= n; ++taken) {
    Iterator it = dataset.iter();
    for (std::size_t i = 0; i < taken; ++i) it.next();
    const std::string state = it.save();
    Iterator other = dataset.iter();
    other.restore(state);
    for (Nest a, b; it.next(&a);) {
      ASSERT_TRUE(other.next(&b)) << taken;
      EXPECT_EQ(a.to_string(), b.to_string()) << taken;
    }
    Nest rest;
    EXPECT_FALSE(other.next(&rest));
  }
}

TEST(RandomDataset, DrawsTensorFlowsNumbers) {
  random::set_seed(5);
  const Dataset numbers = Dataset::random(4).take(6);
  const Ints expected{3949691112, 1216040066, 825314089, 3986316358, 3335442075, 2799817130};
  EXPECT_EQ(numbers_of(numbers), expected);
  EXPECT_EQ(numbers_of(numbers), expected);  // the same at each pass
  expect_restorable(numbers);
  EXPECT_EQ(Dataset::random(4).cardinality(), INFINITE_CARDINALITY);
}
TEST(Counter, CountsWithoutEnd) {
  EXPECT_THAT(numbers_of(Dataset::counter(5, 2).take(3)), ElementsAre(5, 7, 9));
  EXPECT_EQ(Dataset::counter().cardinality(), INFINITE_CARDINALITY);
}
TEST(Unique, TheFirstOfEach) {
  const Dataset d = Dataset::from_tensor_slices(constant({1, 2, 1, 3, 2, 4})).unique();
  EXPECT_THAT(numbers_of(d), ElementsAre(1, 2, 3, 4));
  expect_restorable(d);
  EXPECT_EQ(Dataset::from_tensor_slices(constant({"a", "b", "a"})).unique().as_vector().size(), 2u);
  expect_error<errors::InvalidArgumentError>(
      [] { Dataset::from_tensor_slices(constant({1.f})).unique().as_vector(); }, "float32");
}
TEST(GroupByWindow, WindowsByKeyAndWhatIsLeft) {
  const Dataset d = Dataset::range(10).group_by_window(
      [](std::int64_t x) { return x % 2; },
      [](const Tensor&, const Dataset& window) { return window.batch(3); }, 4);
  EXPECT_THAT(batches_of(d),
              ElementsAre(Ints{0, 2, 4}, Ints{6}, Ints{1, 3, 5}, Ints{7}, Ints{8}, Ints{9}));
  EXPECT_EQ(d.element_spec().leaf().shape().to_string(), TensorShape({None}).to_string());
  expect_restorable(d);
  const Dataset sized = Dataset::range(6).group_by_window(
      [](std::int64_t x) { return x % 2; },
      [](const Tensor& key, const Dataset& window) {
        return window.map([key](const Tensor& x) { return x + 10 * key; }).batch(9);
      },
      [](const Tensor& key) { return key + 1; });
  EXPECT_THAT(batches_of(sized), ElementsAre(Ints{0}, Ints{2}, Ints{11, 13}, Ints{4}, Ints{15}));
  expect_error<errors::InvalidArgumentError>(
      [] {
        Dataset::range(3)
            .group_by_window([](std::int64_t) { return 1.5f; },
                             [](const Tensor&, const Dataset& w) { return w; }, 2)
            .as_vector();
      },
      "key_func returned");
}
Dataset sequences() {
  return Dataset::from_generator(
      [] {
        const std::vector<Ints> all{
            {0}, {1, 2, 3, 4}, {5, 6, 7}, {7, 8, 9, 10, 11}, {13, 14, 15, 16, 19, 20}, {21, 22}};
        return [all, i = std::size_t{0}]() mutable -> std::optional<Tensor> {
          if (i == all.size()) return std::nullopt;
          return constant(all[i++]);
        };
      },
      Types(int64), Shapes(TensorShape({None})));
}
TEST(BucketBySequenceLength, PadsToTheLongestOrToTheBoundary) {
  const auto length = [](const Tensor& e) { return e.shape().dim(0); };
  const Dataset d = sequences().bucket_by_sequence_length(length, {3, 5}, {2, 2, 2});
  EXPECT_THAT(batches_of(d),
              ElementsAre(Ints{1, 2, 3, 4, 5, 6, 7, 0},
                          Ints{7, 8, 9, 10, 11, 0, 13, 14, 15, 16, 19, 20}, Ints{0, 0, 21, 22}));
  EXPECT_EQ(d.element_spec().leaf().shape().rank(), 2);
  expect_restorable(d);
  const Dataset padded = sequences().bucket_by_sequence_length(
      length, {3, 7}, {2, 2, 2},
      {.padding_values = {std::int64_t{-1}}, .pad_to_bucket_boundary = true});
  EXPECT_EQ(padded.as_vector()[0].shape(), TensorShape({2, 6}));
  expect_error<errors::InvalidArgumentError>(
      [&] {
        sequences()
            .bucket_by_sequence_length(length, {3, 5}, {2, 2, 2}, {.pad_to_bucket_boundary = true})
            .as_vector();
      },
      "as long as the last boundary, 5");
  expect_error<errors::InvalidArgumentError>(
      [&] { sequences().bucket_by_sequence_length(length, {3}, {2}); }, "1 boundaries and 1 batch");
}
TEST(Rebatch, SizesInTurn) {
  const Dataset four = Dataset::range(8).batch(4);
  EXPECT_THAT(batches_of(four.rebatch(3)), ElementsAre(Ints{0, 1, 2}, Ints{3, 4, 5}, Ints{6, 7}));
  EXPECT_THAT(batches_of(four.rebatch({2, 1, 3}, true)),
              ElementsAre(Ints{0, 1}, Ints{2}, Ints{3, 4, 5}, Ints{6, 7}));
  EXPECT_EQ(batches_of(four.rebatch(3, true)).size(), 2u);
  expect_restorable(four.rebatch({2, 1, 3}));
}
TEST(ChooseFromDatasets, EndsWithTheFirstOrGoesOn) {
  const std::vector<Dataset> two{Dataset::range(3), Dataset::range(10, 14)};
  const Dataset choice = Dataset::from_tensor_slices(constant(Ints{0, 1, 0, 0, 0, 1, 1}));
  const Dataset stops = Dataset::choose_from_datasets(two, choice),
                goes_on = Dataset::choose_from_datasets(two, choice, false);
  EXPECT_THAT(numbers_of(stops), ElementsAre(0, 10, 1, 2));
  EXPECT_THAT(numbers_of(goes_on), ElementsAre(0, 10, 1, 2, 11, 12));
  expect_restorable(goes_on);
  expect_error<errors::InvalidArgumentError>(
      [&] { numbers_of(Dataset::choose_from_datasets(two, Dataset::range(3))); },
      "the choice is 2; expected 0 to 1");
  expect_error<errors::InvalidArgumentError>(
      [&] {
        Dataset::choose_from_datasets({two[0], Dataset::from_tensors(constant(1.f))}, choice);
      },
      "the same structure");
}
TEST(SampleFromDatasets, ByWeightsUntilAllAreEmpty) {
  const std::vector<Dataset> two{Dataset::range(1000), Dataset::range(1000, 2000)};
  const Dataset all = Dataset::sample_from_datasets(two, {0.2, 0.8}, {.seed = 1});
  const Ints drawn = numbers_of(all);
  EXPECT_EQ(drawn.size(), 2000u);
  const auto of_first =
      std::count_if(drawn.begin(), drawn.begin() + 1000, [](auto v) { return v < 1000; });
  EXPECT_NEAR(static_cast<double>(of_first), 200, 40);  // three deviations of a binomial count
  EXPECT_EQ(numbers_of(all), drawn);
  EXPECT_NE(numbers_of(Dataset::sample_from_datasets(two, {0.2, 0.8}, {.seed = 2})), drawn);
  EXPECT_LT(numbers_of(Dataset::sample_from_datasets(two, {0.9, 0.1},
                                                     {.seed = 1, .stop_on_empty_dataset = true}))
                .size(),
            1300u);
  expect_error<errors::InvalidArgumentError>([&] { Dataset::sample_from_datasets(two, {1.}); },
                                             "1 weights for 2 datasets");
  expect_error<errors::InvalidArgumentError>(
      [&] {
        Dataset::sample_from_datasets(two, {0., 0.});
      },
      "all weights are 0");
}
TEST(IgnoreErrors, LeavesOutWhatFails) {
  const Dataset d = Dataset::range(4)
                        .map([](std::int64_t x) {
                          if (x == 1) throw errors::InvalidArgumentError("one");
                          return x;
                        })
                        .ignore_errors();
  EXPECT_THAT(numbers_of(d), ElementsAre(0, 2, 3));
  expect_restorable(d);
}
TEST(GetSingleElement, OfOneElementAlone) {
  EXPECT_EQ(Dataset::range(5, 6).get_single_element().item<int>(), 5);
  expect_error<errors::InvalidArgumentError>([] { Dataset::range(0).get_single_element(); },
                                             "Dataset was empty");
  expect_error<errors::InvalidArgumentError>([] { Dataset::range(3).get_single_element(); },
                                             "Dataset had more than one element");
}
TEST(ListFiles, SortedOrShuffled) {
  const std::string folder = rill::testing::fresh_folder("list_files");
  for (const char* name : {"b.txt", "a.txt", "c.png"}) io::gfile::GFile(folder + "/" + name, "w");
  const auto names = [](const Dataset& d) {
    std::vector<std::string> out;
    for (const Nest& e : d) out.push_back(e.item<std::string>());
    return out;
  };
  EXPECT_THAT(names(Dataset::list_files(folder + "/*.txt", {.shuffle = false})),
              ElementsAre(folder + "/a.txt", folder + "/b.txt"));
  EXPECT_THAT(names(Dataset::list_files({folder + "/*.png", folder + "/a*"})),
              ::testing::UnorderedElementsAre(folder + "/a.txt", folder + "/c.png"));
  expect_error<errors::NotFoundError>([&] { Dataset::list_files(folder + "/none*"); },
                                      "No files matched pattern");
}

}  // namespace
}  // namespace rill::data
