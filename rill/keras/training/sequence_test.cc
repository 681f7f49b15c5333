// Sources of batches that are asked by number, as tf.keras.utils.Sequence.
#include <gtest/gtest.h>

#include <algorithm>

#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/utils/utils.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;

namespace {

// Batch i holds two samples that are all i, of float64 as NumPy makes them.
struct Numbers : keras::utils::Sequence {
  std::int64_t n = 5;
  std::vector<std::int64_t> asked;
  int epochs = 0;
  std::int64_t size() const override { return n; }
  tf::Nest at(std::int64_t index) override {
    asked.push_back(index);
    const Tensor x = tf::fill({2, 3}, tf::constant(static_cast<double>(index)));
    return tf::tuple(x, tf::reduce_sum(x, 1, {.keepdims = true}));
  }
  void on_epoch_end() override { ++epochs; }
};

keras::Sequential model() {
  keras::Sequential m({layers::Dense(1, {.kernel_initializer = "ones", .input_shape = {3}})});
  m.compile({.optimizer = keras::optimizers::SGD(0.01), .loss = "mse", .metrics = {"mae"}});
  return m;
}

TEST(SequenceOfBatches, FitAsksInAnOrderOfChance) {
  keras::utils::set_random_seed(3);
  Numbers numbers;
  numbers.n = 20;
  keras::Sequential m = model();
  const keras::History h = m.fit(numbers, {.epochs = 2, .verbose = 0});
  EXPECT_EQ(numbers.epochs, 2);
  EXPECT_EQ(h.params.steps, 20);
  ASSERT_EQ(numbers.asked.size(), 40u);
  std::vector<std::int64_t> first(numbers.asked.begin(), numbers.asked.begin() + 20),
      second(numbers.asked.begin() + 20, numbers.asked.end()), sorted = first;
  EXPECT_NE(first, second);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NE(first, sorted);
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
}

TEST(SequenceOfBatches, IsTrainedOnAsTheSameDataset) {
  Numbers numbers;
  keras::Sequential a = model(), b = model();
  a.fit(numbers, {.epochs = 2, .verbose = 0, .shuffle = false});
  EXPECT_EQ(numbers.asked, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  const Tensor x = tf::cast(tf::repeat(tf::range(5), 6), tf::float32);
  const Tensor rows = tf::reshape(x, {10, 3});
  const auto data = tf::data::Dataset::from_tensor_slices(
                        tf::tuple(rows, tf::reduce_sum(rows, 1, {.keepdims = true})))
                        .batch(2);
  b.fit(data, {.epochs = 2, .verbose = 0});
  EXPECT_EQ(a.get_weights()[0].to_vector<float>(), b.get_weights()[0].to_vector<float>());
}

TEST(SequenceOfBatches, IsEvaluatedAndPredictedInOrder) {
  Numbers numbers;
  keras::Sequential m = model();
  EXPECT_NEAR(m.evaluate(numbers, {.verbose = 0})["mae"], 0, 1e-6);
  EXPECT_EQ(numbers.epochs, 1);
  EXPECT_EQ(m.predict(numbers, {.verbose = 0}).to_vector<float>(),
            (std::vector<float>{0, 0, 3, 3, 6, 6, 9, 9, 12, 12}));
  EXPECT_EQ(numbers.asked, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

TEST(SequenceOfBatches, IsValidationData) {
  Numbers numbers, others;
  keras::Sequential m = model();
  const keras::History h =
      m.fit(numbers, {.verbose = 0, .validation_data = others, .class_weight = {}});
  EXPECT_EQ(h.history["val_mae"].size(), 1u);
  EXPECT_EQ(others.asked, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(SequenceOfBatches, StepsBeginEachEpochAnew) {
  Numbers numbers;
  keras::Sequential m = model();
  m.fit(numbers, {.epochs = 2, .verbose = 0, .shuffle = false, .steps_per_epoch = 2});
  EXPECT_EQ(numbers.asked, (std::vector<std::int64_t>{0, 1, 0, 1}));
}

TEST(SequenceOfBatches, SaysWhatIsWrong) {
  Numbers empty;
  empty.n = 0;
  keras::Sequential m = model();
  rill::testing::expect_error<tf::errors::InvalidArgument>([&] { m.fit(empty, {.verbose = 0}); },
                                                           "the size() of the sequence is 0");
  Numbers numbers;
  rill::testing::expect_error<tf::errors::InvalidArgument>(
      [&] { m.fit(numbers, {.batch_size = 2}); },
      "batch_size argument must not be specified for a sequence");
  struct Broken : Numbers {
    tf::Nest at(std::int64_t i) override {
      return tf::tuple(tf::reshape(tf::zeros({3}), {i + 1, 2}), tf::zeros({2, 1}));
    }
  } broken;
  rill::testing::expect_error<tf::errors::InvalidArgument>(
      [&] { m.fit(broken, {.verbose = 0, .shuffle = false}); },
      "in at(0) of the sequence given to fit");
}

}  // namespace
