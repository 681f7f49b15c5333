#include "rill/keras/layers/normalization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/base/format.h"
#include "rill/data/dataset.h"
#include "rill/graph/function/function.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/saving/checkpoint_reader.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::TensorShape;
using tf::testing::expect_error;

namespace {

void expect_near(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = tf::cast(a, tf::float32).to_vector<float>(),
             y = tf::cast(b, tf::float32).to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << "element " << i;
}

// The moving mean after `steps` calls in training, eagerly or as a traced function.
std::vector<float> moved(bool traced, const TensorShape& shape) {
  const layers::BatchNormalization norm({.momentum = 0.5});
  const Tensor x = tf::ones(tf::constant(shape.as_list())) * 4.f;
  const auto step = tf::function([norm](Tensor v) { return norm(v, {.training = 1}); });
  norm(x);
  for (int i = 0; i < 2; ++i) traced ? step(x) : norm(x, {.training = 1});
  std::vector<float> all = norm.weights()[2].to_vector<float>();
  const auto variance = norm.weights()[3].to_vector<float>();
  all.insert(all.end(), variance.begin(), variance.end());
  return all;
}
TEST(BatchNormalization, ATracedStepMovesTheStatistics) {
  const std::vector<float> want{3, 3, 0.25, 0.25};  // half way to 4, twice; 1 halved twice
  for (const TensorShape& shape : {TensorShape({6, 2}), TensorShape({2, 3, 3, 2})})
    for (bool traced : {false, true}) EXPECT_EQ(moved(traced, shape), want) << shape << traced;
}

TEST(BatchNormalization, InferenceLeavesTheStatisticsAlone) {
  const layers::BatchNormalization norm;
  norm(tf::random::normal({4, 3}));
  EXPECT_EQ(norm.weights()[2].to_vector<float>(), std::vector<float>(3, 0.f));
  EXPECT_EQ(norm.trainable_variables().size(), 2u);
  EXPECT_EQ(norm.non_trainable_variables().size(), 2u);
  layers::BatchNormalization frozen;
  frozen.set_trainable(false);
  const Tensor x = tf::random::normal({4, 3});
  expect_near(frozen(x, {.training = 1}), frozen(x));
  EXPECT_EQ(frozen.trainable_variables().size(), 0u);
}

TEST(BatchNormalization, HalfTypesAreNormalisedInFloat32) {
  for (const char* policy : {"mixed_bfloat16", "mixed_float16", "bfloat16"})
    for (const TensorShape& shape : {TensorShape({64, 2}), TensorShape({4, 4, 4, 2})}) {
      const layers::BatchNormalization half({.dtype = policy}), full;
      const Tensor x = 100.f + tf::random::normal(tf::constant(shape.as_list()));
      const Tensor y = half(x, {.training = 1});
      EXPECT_EQ(y.dtype(), half.compute_dtype());
      EXPECT_EQ(half.weights()[2].dtype(), tf::float32);
      // The input itself is rounded; given that, only the result is.
      const Tensor rounded = tf::cast(tf::cast(x, y.dtype()), tf::float32);
      expect_near(y, full(rounded, {.training = 1}), 2e-2);
      expect_near(half.weights()[2].value(), full.weights()[2].value(), 1e-4);
    }
}

TEST(BatchNormalization, AMaskLeavesStepsOut) {
  const layers::BatchNormalization norm({.momentum = 0});
  const Tensor x = tf::constant({{{1.f}, {3.f}, {100.f}}});
  norm(x, {.training = 1, .mask = tf::constant({{1, 1, 0}}) > 0});
  EXPECT_FLOAT_EQ(norm.weights()[2].to_vector<float>()[0], 2.f);
  EXPECT_FLOAT_EQ(norm.weights()[3].to_vector<float>()[0], 1.f);
}

TEST(Normalization, UnknownSizesWhenTraced) {
  const auto input = keras::Input({tf::None, tf::None, 4});
  auto x = layers::BatchNormalization()(input);
  x = layers::LayerNormalization()(x);
  x = layers::GroupNormalization(2)(x);
  x = layers::UnitNormalization()(x);
  EXPECT_EQ(x.shape(), TensorShape({tf::None, tf::None, tf::None, 4}));
  const keras::Model model(input, x);
  EXPECT_EQ(model(tf::random::normal({2, 3, 5, 4})).shape(), TensorShape({2, 3, 5, 4}));
}

TEST(GroupNormalization, AMaskLeavesElementsOut) {
  const layers::GroupNormalization norm(1, {.epsilon = 0, .center = false, .scale = false});
  const Tensor x = tf::constant({{{1.f, 3.f}, {50.f, 60.f}}});
  const Tensor y = norm(x, {.mask = tf::constant({{{1}, {0}}}) > 0});
  EXPECT_FLOAT_EQ(y.to_vector<float>()[0], -1.f);
  EXPECT_FLOAT_EQ(y.to_vector<float>()[1], 1.f);
}

TEST(Normalization, AdaptsToTensorsAndDatasets) {
  const Tensor data = tf::random::normal({90, 3}, 5, 2);
  const layers::Normalization whole, batches;
  whole.adapt(data);
  batches.adapt(tf::data::Dataset::from_tensor_slices(data).batch(20));
  expect_near(whole(data), batches(data), 1e-4);
  const auto [mean, variance] = tf::nn::moments(whole(data), {0});
  expect_near(mean, tf::zeros({3}), 1e-4);
  expect_near(variance, tf::ones({3}), 1e-4);
  EXPECT_EQ(batches.weights()[2].item<std::int64_t>(), 90);
  whole.adapt(data * 2.f);  // begins again
  EXPECT_EQ(whole.weights()[2].item<std::int64_t>(), 90);
  const layers::Normalization back(
      {.mean = whole.weights()[0].value(), .variance = whole.weights()[1].value(), .invert = true});
  expect_near(back(whole(data)), data, 1e-4);
}

TEST(Normalization, AdaptsToDataAsKerasDoes) {
  using tf::data::Dataset;
  const Tensor line = tf::constant({1.f, 2.f, 3.f, 4.f});
  // The size of a batch may vary, so that none of its axes is kept.
  const layers::Normalization layer;
  expect_error<tf::errors::InvalidArgument>([&] { layer.adapt(line); },
                                            "must have a size that is known");
  expect_error<tf::errors::InvalidArgument>(
      [&] { layer.adapt(Dataset::from_tensor_slices(line).batch(2)); },
      "must have a size that is known");
  layer.adapt(tf::reshape(line, {2, 2}));  // the failures left nothing behind
  EXPECT_EQ(layer.weights()[0].value().to_vector<float>(), (std::vector<float>{2, 3}));
  const layers::Normalization all({.axis = {}});
  all.adapt(line);
  EXPECT_EQ(all.weights()[0].item<float>(), 2.5f);
  EXPECT_EQ(all.weights()[1].item<float>(), 1.25f);
  // A dataset of single elements has an axis to keep.
  const layers::Normalization rows;
  rows.adapt(Dataset::from_tensor_slices(tf::reshape(tf::range(8.f), {4, 2})));
  EXPECT_EQ(rows.weights()[0].value().to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(rows.weights()[1].value().to_vector<float>(), (std::vector<float>{5, 5}));
}

TEST(Normalization, RefusesToAdaptToNothing) {
  const Tensor none = tf::zeros({0, 2});
  const layers::Normalization layer;
  expect_error<tf::errors::InvalidArgument>([&] { layer.adapt(none); },
                                            "expected input data to be non-empty");
  expect_error<tf::errors::InvalidArgument>(
      [&] { layer.adapt(tf::data::Dataset::from_tensor_slices(none).batch(2)); },
      "expected input data to be non-empty");
}

TEST(Normalization, StatisticsStandInCheckpointsAsKerasNamesThem) {
  const layers::Normalization layer({.input_shape = {2}});
  layer.adapt(tf::constant({{1.f, 2.f}, {3.f, 6.f}}));
  keras::Sequential stack({layer});
  const Tensor x = tf::constant({{2.f, 4.f}});
  const std::vector<float> want = stack(x).to_vector<float>();
  const std::string path = rill::saving_tests::fresh_folder("normalization") + "/stack";
  stack.save_weights(path);
  std::vector<std::string> names;
  for (const auto& [name, shape] : tf::train::list_variables(path)) names.push_back(name);
  for (const char* name : {"mean", "variance", "count"})
    EXPECT_THAT(names, ::testing::Contains(
                           tf::format("layer_with_weights-0/{}/.ATTRIBUTES/VARIABLE_VALUE", name)));
  keras::Sequential again({layers::Normalization()});
  again.load_weights(path);
  EXPECT_EQ(again(x).to_vector<float>(), want);
}

TEST(Normalization, BadArgumentsAreNamed) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::Normalization({.mean = tf::constant(1.f)}); },
                                "only the mean is given");
  expect_error<tf::errors::FailedPrecondition>(
      [] {
        layers::Normalization({.mean = tf::constant(1.f), .variance = tf::constant(1.f)})
            .adapt(tf::ones({2, 2}));
      },
      "was given its mean and variance");
  expect_error<InvalidArgument>(
      [] {
        layers::BatchNormalization({.axis = 3})(tf::ones({2, 2}));
      },
      "axis is 3; expected one of an input of rank 2");
  expect_error<InvalidArgument>(
      [] {
        layers::LayerNormalization({.axis = {1, -1}})(tf::ones({2, 2}));
      },
      "comes twice");
  expect_error<InvalidArgument>(
      [] {
        layers::GroupNormalization(3)(tf::ones({2, 4}));
      },
      "do not divide into 3 groups");
  expect_error<InvalidArgument>([] { layers::GroupNormalization(0); }, "groups is 0");
}

TEST(Rescaling, TakesWholeNumbers) {
  const Tensor pixels = tf::constant({0, 51, 255}, tf::uint8);
  const Tensor y = layers::Rescaling(2.0 / 255, -1.0)(pixels);
  EXPECT_EQ(y.dtype(), tf::float32);
  expect_near(y, tf::constant({-1.f, -0.6f, 1.f}));
}

TEST(Rescaling, OfEachChannel) {
  const layers::Rescaling each({.scale = {0.5, 2}, .offset = {1, 2}}),
      both({.scale = 2, .offset = {1, 2}});
  expect_near(each(tf::ones({1, 2}, tf::uint8)), tf::constant({{1.5f, 4.f}}));
  expect_near(both(tf::ones({1, 2})), tf::constant({{3.f, 4.f}}));
  EXPECT_EQ(each.get_config()["offset"].to_json(), "[1.0, 2.0]");
  expect_near((*layers::from_config("Rescaling", each.get_config()))(tf::ones({1, 2})),
              tf::constant({{1.5f, 4.f}}));
}

}  // namespace
