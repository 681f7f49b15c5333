#include "rill/keras/layers/lambda.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::testing::expect_error;

namespace {

TEST(Lambda, CallsAFunction) {
  const layers::Lambda doubled([](Tensor x) { return x * 2.f; });
  EXPECT_EQ(doubled({1.f, 2.f}).to_vector<float>(), (std::vector<float>{2, 4}));
  const layers::Lambda op(tf::nn::relu);
  EXPECT_EQ(op({-1.f, 2.f}).to_vector<float>(), (std::vector<float>{0, 2}));
  const layers::Lambda sum([](const std::vector<Tensor>& x) { return x[0] + x[1]; });
  EXPECT_EQ(sum({tf::constant({1.f}), tf::constant({2.f})}).to_vector<float>(),
            (std::vector<float>{3}));
  const auto input = keras::Input({3});
  const keras::Model model(input, doubled(layers::Dense(2)(input)));
  EXPECT_EQ(model(tf::ones({4, 3})).shape(), tf::TensorShape({4, 2}));
}

TEST(Lambda, ARegisteredFunctionIsSavedByName) {
  keras::utils::register_keras_function("lambda_test_square", [](Tensor x) { return x * x; });
  const layers::Lambda square("lambda_test_square", {.name = "sq"});
  const keras::Config config = layers::serialize(square);
  EXPECT_EQ(config["config"]["function"].as_string(), "lambda_test_square");
  const keras::LayerRef again = layers::deserialize(keras::Config::from_json(config.to_json()));
  EXPECT_EQ((*again)({3.f}).to_vector<float>(), (std::vector<float>{9}));
  EXPECT_EQ(again->name(), "sq");
}

TEST(Lambda, MasksEndHereUnlessTheyAreMade) {
  const Tensor x = tf::constant({{{1.f}, {0.f}}, {{3.f}, {4.f}}});
  const auto doubled = [](Tensor t) { return t * 2.f; };
  const auto means_of = [&](const layers::Lambda& l) {
    keras::Sequential m(
        {layers::Masking({.input_shape = {2, 1}}), l, layers::GlobalAveragePooling1D()});
    return m(x).to_vector<float>();
  };
  EXPECT_EQ(means_of(layers::Lambda(doubled)), (std::vector<float>{1, 7}));
  const layers::Lambda kept(doubled, {.mask = [](const tf::Nest&, const Tensor& m) { return m; }});
  EXPECT_EQ(means_of(kept), (std::vector<float>{2, 7}));
  expect_error<tf::errors::FailedPrecondition>([&] { kept.get_config(); }, "cannot be saved");
}

TEST(Lambda, ArgumentsAreSavedAndGivenToTheFunction) {
  keras::utils::register_keras_function(
      "lambda_test_scaled",
      [](Tensor x, const keras::Config& arguments) { return x * arguments.get("scale", 1.0); });
  const keras::Config scale = keras::Config::dict({{"scale", 2.5}});
  const layers::Lambda scaled("lambda_test_scaled", {.arguments = scale});
  EXPECT_EQ(scaled({2.f}).to_vector<float>(), (std::vector<float>{5}));
  const keras::Config config = layers::serialize(scaled);
  EXPECT_EQ(config["config"]["arguments"], scale);
  const keras::LayerRef again = layers::deserialize(keras::Config::from_json(config.to_json()));
  EXPECT_EQ((*again)({2.f}).to_vector<float>(), (std::vector<float>{5}));
  // A function of the inputs alone says so, and does not drop what the file gives it.
  const layers::Lambda plain([](Tensor x) { return x; }, {.arguments = scale});
  expect_error<tf::errors::InvalidArgument>([&] { plain({1.f}); }, R"(got the arguments {"scale")");
  expect_error<tf::errors::InvalidArgument>(
      [] { layers::Lambda("lambda_test_scaled", {.arguments = 3}); }, "arguments is 3");
}

TEST(Lambda, WhatHasNoNameCannotBeSaved) {
  const layers::Lambda f([](Tensor x) { return x; });
  expect_error<tf::errors::FailedPrecondition>([&] { layers::serialize(f); },
                                               "register_keras_function");
  expect_error<tf::errors::NotFound>([] { layers::Lambda("no_such_function"); },
                                     "no function is registered as \"no_such_function\"");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        layers::deserialize(keras::Config::from_json(
            R"({"class_name": "Lambda", "config": {"function": ["4wE=", null, null],
                "function_type": "lambda"}})"));
      },
      "Python bytecode");
}

}  // namespace
