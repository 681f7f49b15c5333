// What a model takes is compared with its keras::Input, by the rules of Keras 2.15.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using rill::testing::expect_error;
using tf::Nest, tf::None, tf::Tensor, tf::TensorShape;
using tf::errors::InvalidArgument;

namespace {

struct Case {
  TensorShape input, data;
  TensorShape result;  // unknown rank: an error
};

// As TensorFlow 2.15.1 answers to a model that gives back its input.
const Case kCases[] = {
    {{4}, {3, 4}, {3, 4}},
    {{4}, {3, 5, 4}, {}},
    {{4}, {3, 4, 7}, {3, 4, 7}},
    {{4}, {3, 4, 1}, {3, 4}},
    {{4}, {4}, {4}},
    {{4}, {3, 5}, {}},
    {{4}, {3, 1}, {3, 1}},
    {{20, 1}, {8, 20, 1}, {8, 20, 1}},
    {{20, 1}, {8, 10, 1}, {}},
    {{20, 1}, {8, 20}, {8, 20, 1}},
    {{20, 1}, {8, 10}, {}},
    {{20, 1}, {8, 20, 1, 1}, {8, 20, 1}},
    {{20, 1}, {8, 20, 2}, {8, 20, 2}},
    {{20, 1}, {8}, {8}},
    {{1}, {5}, {5, 1}},
    {{1}, {5, 1}, {5, 1}},
    {{1}, {5, 1, 1}, {5, 1}},
    {{1}, {5, 2}, {5, 2}},
    {{None, 3}, {2, 7, 3}, {2, 7, 3}},
    {{None, 3}, {2, 7, 4}, {}},
    {{8, 8, 1}, {1, 7, 7, 1}, {}},
    {{8, 8, 1}, {1, 8, 8}, {1, 8, 8, 1}},
    {{8, 8, 1}, {1, 8, 8, 3}, {1, 8, 8, 3}},
};

TEST(InputShapes, WhatKerasTakesAndWhatItRefuses) {
  for (const Case& c : kCases) {
    const Tensor in = keras::Input(c.input);
    const keras::Model m(in, layers::Identity()(in), "m");
    SCOPED_TRACE(tf::format("{} given to {}", c.data, in.shape()));
    const Tensor x = tf::ones(c.data);
    if (c.result.has_rank()) {
      EXPECT_EQ(m(x).shape(), c.result);
    } else {
      const std::string expected = tf::format(
          "Input 0 of layer \"m\" is incompatible with the layer: expected shape={}, "
          "found shape={}",
          in.shape().to_string(), c.data.to_string());
      expect_error<InvalidArgument>([&] { m(x); }, expected);
    }
  }
}

TEST(InputShapes, AreComparedInTrainingToo) {
  keras::Sequential m({keras::Input({20, 1}), layers::LSTM(4), layers::Dense(1)}, "seq");
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = tf::ones({8, 10, 1}), y = tf::ones({8, 1});
  const std::string text =
      "Input 0 of layer \"seq\" is incompatible with the layer: expected shape=(None, 20, 1), "
      "found "
      "shape=";
  expect_error<InvalidArgument>([&] { m(x); }, text + "(8, 10, 1)");
  expect_error<InvalidArgument>([&] { m.fit(x, y, {.verbose = 0}); }, text + "(None, 10, 1)");
  expect_error<InvalidArgument>([&] { m.evaluate(x, y, {.verbose = 0}); }, text);
  expect_error<InvalidArgument>([&] { m.predict(x, {.verbose = 0}); }, text);
  expect_error<InvalidArgument>([&] { m.train_on_batch(x, y); }, text);
  EXPECT_EQ(m.predict(tf::ones({8, 20}), {.verbose = 0}).shape(), TensorShape({8, 1}));
}

TEST(InputShapes, OfASequentialCountOnlyWhereTheyAreGiven) {
  keras::Sequential by_layer({layers::LSTM(4, {.input_shape = {20, 1}})});
  expect_error<InvalidArgument>([&] { by_layer(tf::ones({8, 10, 1})); }, "(None, 20, 1)");
  keras::Sequential by_call({layers::LSTM(4)});
  by_call(tf::ones({8, 20, 1}));
  EXPECT_EQ(by_call(tf::ones({8, 10, 1})).shape(), TensorShape({8, 4}));
}

TEST(InputShapes, OfSeveralInputsNameTheirNumber) {
  const Tensor a = keras::Input({4}, {.name = "a"}), b = keras::Input({3}, {.name = "b"});
  const Tensor both = layers::Concatenate()({a, b});
  const Tensor four = tf::ones({2, 4});
  const keras::Model list(Nest({a, b}), both, "l");
  const std::string text =
      "Input 1 of layer \"l\" is incompatible with the layer: expected "
      "shape=(None, 3), found shape=(2, 4)";
  expect_error<InvalidArgument>([&] { list({four, four}); }, text);
  expect_error<InvalidArgument>([&] { list.apply(Nest::dict({{"a", four}, {"b", four}})); }, text);
  // Keras looks at no shapes of inputs that are nested deeper.
  const keras::Model nested(Nest({Nest({a, b})}), both);
  EXPECT_EQ(nested.apply(Nest({Nest({four, four})})).as_tensor().shape(), TensorShape({2, 8}));
}

TEST(InputShapes, TextIsNoNumber) {
  const Tensor in = keras::Input({1}, {.dtype = tf::string});
  const keras::Model m(in, layers::StringLookup({.vocabulary = {"a"}})(in), "words");
  expect_error<InvalidArgument>(
      [&] {
        m(tf::constant({1, 2}));
      },
      "Input 0 of layer \"words\" is incompatible with the layer: expected dtype=string, found "
      "dtype=int32");
}

}  // namespace
