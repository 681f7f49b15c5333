// Layers that look words up and were never told which: an error, as TensorFlow's table gives.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using rill::testing::expect_error;
using tf::Tensor;
using tf::errors::FailedPrecondition;

namespace {

const char* const kAdvice = "has no vocabulary: call adapt on data, or give it one";

TEST(NotAdapted, LookupsAreAnError) {
  const Tensor words = tf::constant({"a", "b"});
  expect_error<FailedPrecondition>([&] { layers::StringLookup()(words); }, kAdvice);
  expect_error<FailedPrecondition>([&] { layers::IntegerLookup()(tf::constant({1, 2})); }, kAdvice);
  expect_error<FailedPrecondition>([&] { layers::TextVectorization()(words); }, kAdvice);
  expect_error<FailedPrecondition>(
      [&] {
        layers::StringLookup({.invert = true})(tf::constant({1, 2}));
      },
      kAdvice);
  expect_error<FailedPrecondition>([&] { layers::StringLookup({.num_oov_indices = 3})(words); },
                                   kAdvice);
}

TEST(NotAdapted, InFunctionsModelsAndDatasetsToo) {
  layers::StringLookup lookup;
  const Tensor words = tf::constant({"a", "b"});
  const auto f = tf::function([&](const Tensor& t) { return lookup(t); });
  expect_error<FailedPrecondition>([&] { f(words); }, kAdvice);
  // A model is drawn before the layer is adapted, and runs behind it.
  const Tensor in = keras::Input({}, {.dtype = tf::string});
  keras::Model m(in, lookup(in));
  expect_error<FailedPrecondition>([&] { m(words); }, kAdvice);
  expect_error<FailedPrecondition>([&] { m.predict(words, {.verbose = 0}); }, kAdvice);
  lookup.adapt(words);
  EXPECT_EQ(m(words).to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(m.predict(words, {.verbose = 0}).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(f(words).to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 1}));
}

TEST(NotAdapted, LayersWithAVocabularyAreNoError) {
  EXPECT_EQ(layers::StringLookup({.vocabulary = {"a"}})(tf::constant("a")).item<std::int64_t>(), 1);
  layers::TextVectorization text;
  text.set_vocabulary({"a"});
  EXPECT_EQ(text(tf::constant({"a"})).to_vector<std::int64_t>(), std::vector<std::int64_t>{2});
}

}  // namespace
