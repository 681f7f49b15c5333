// Arguments of calls in a drawn model, when it runs and in its configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/io/file.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"

namespace rill::keras {
namespace {

using ::testing::HasSubstr;

void expect_equal(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}
// The same model made of its configuration, with the same weights.
Model again(const Model& m) {
  Model copy = models::from_json(m.to_json());
  copy.set_weights(m.get_weights());
  return copy;
}

TEST(CallArguments, AMaskThatTheModelComputes) {
  const Tensor x = Input({5, 2}, {.name = "x"}), words = Input({5}, {.name = "words"});
  const layers::LSTM lstm(3);
  const Model m(Nest{x, words}, lstm(x, {.mask = not_equal(words, 0.f)}));
  const Tensor a = random::normal({4, 5, 2}, 0, 1, {.seed = 1});
  const Tensor b = constant({1.f, 2.f, 0.f, 3.f, 0.f, 1.f, 1.f, 1.f, 1.f, 1.f,
                             4.f, 0.f, 0.f, 0.f, 0.f, 2.f, 2.f, 0.f, 2.f, 2.f},
                            float32, {4, 5});
  const Tensor want = lstm(a, {.mask = not_equal(b, 0.f)});
  expect_equal(m({a, b}), want);
  EXPECT_NE(want.to_vector<float>(), lstm(a).to_vector<float>());
  EXPECT_THAT(m.to_json(), HasSubstr("\"mask\": [\"tf.math.not_equal"));
  expect_equal(again(m)({a, b}), want);
}

TEST(CallArguments, ValueAndKeyOfAnAttention) {
  const Tensor q = Input({5, 4}, {.name = "q"}), v = Input({6, 4}, {.name = "v"}),
               k = Input({6, 4}, {.name = "k"});
  layers::MultiHeadAttention heads(2, 3);
  const Model m(Nest{q, v, k},
                heads({q, v, k}, {.arguments = Config::dict({{"use_causal_mask", true}})}));
  const Tensor a = random::normal({2, 5, 4}, 0, 1, {.seed = 1}),
               b = random::normal({2, 6, 4}, 0, 1, {.seed = 2}),
               c = random::normal({2, 6, 4}, 0, 1, {.seed = 3});
  const Tensor want = m({a, b, c});
  EXPECT_THAT(m.to_json(), HasSubstr("{\"value\": [\"v\", 0, 0], \"key\": [\"k\", 0, 0], "
                                     "\"use_causal_mask\": true}"));
  expect_equal(again(m)({a, b, c}), want);
  const std::string path = saving_tests::fresh_folder("call_arguments") + "/m.keras";
  m.save(path, {.keras_version = 3});
  expect_equal(models::load_model(path)({a, b, c}), want);
}

TEST(CallArguments, WhatOnlyKeras3HasIsRefused) {
  const Sequential m({layers::Dense(2, {.input_shape = {3}})});
  std::string json = m.to_json();
  json.replace(json.find("\"units\""), 7, "\"quantization_config\": \"int8\", \"units\"");
  testing::expect_error<errors::Unimplemented>([&] { models::from_json(json); },
                                               "quantization_config = \"int8\"");
  const Sequential conv({layers::Conv1DTranspose(2, 3, {.input_shape = {5, 3}})});
  json = conv.to_json();
  json.replace(json.find("\"filters\""), 9, "\"lora_rank\": 4, \"filters\"");
  testing::expect_error<errors::Unimplemented>([&] { models::from_json(json); }, "lora_rank = 4");
}

TEST(CallArguments, WhatOnlyKeras2HasIsNotWrittenForKeras3) {
  const Sequential m({layers::LSTM(2, {.time_major = true, .input_shape = {5, 3}})});
  const std::string path = saving_tests::fresh_folder("call_arguments") + "/m.keras";
  testing::expect_error<errors::Unimplemented>([&] { m.save(path, {.keras_version = 3}); },
                                               "has time_major = true");
  testing::expect_error<errors::InvalidArgument>([&] { m.save(path, {.keras_version = 4}); },
                                                 "keras_version is 4; expected 2 or 3");
  EXPECT_FALSE(io::file_exists(path));
}

}  // namespace
}  // namespace rill::keras
