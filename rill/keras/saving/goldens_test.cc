// Files between Rill and Keras. tools/keras_files.py runs these tests on what Keras writes again
// (RILL_KERAS_GOLDENS), and gives Keras what Rill writes (RILL_KERAS_OUT).
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/optimizers/loss_scale_optimizer.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/ops/sparse_ops.h"
#include "rill/saving/checkpoint.h"
#include "tests/checkpoint_files.h"
#include "tests/keras_goldens.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
using tf::Tensor;

namespace {

std::string golden(const std::string& name) {
  if (const char* fresh = std::getenv("RILL_KERAS_GOLDENS")) return std::string(fresh) + "/" + name;
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/keras/saving/testdata/" + name;
}

using rill::keras_goldens::expect_near, rill::keras_goldens::numbers;

tf::Nest inputs_of(const std::string& name) {
  if (name == "stack") return numbers({6, 2, 2});
  if (name == "cells") return numbers({6, 5, 4});
  if (name == "graph") return tf::Nest{numbers({6, 4}), -numbers({6, 4}) / 2.f};
  if (name == "calls")
    return tf::Nest{numbers({6, 3, 4}), numbers({6, 5, 4}) / 2.f, numbers({6, 5}) > -0.5f,
                    numbers({6, 3, 5}) > -0.7f};
  if (name == "ragged") {
    const Tensor lengths = tf::constant({2, 1, 5, 1, 3, 4}, tf::int64),
                 words = tf::cast(tf::abs(numbers({16})) * 8.f, tf::int32) % 7;
    return tf::Nest::make({tf::RaggedTensor::from_row_lengths(words, lengths),
                           tf::RaggedTensor::from_row_lengths(numbers({16, 3}), lengths)});
  }
  if (name == "sparse") {
    const Tensor all = numbers({6, 5}), rows = all * tf::cast(all > 0.3f, tf::float32);
    return tf::Nest::make({tf::sparse::from_dense(rows), numbers({6, 4})});
  }
  return numbers({6, 4});
}

keras::Config results(keras::Model& m, const std::string& name) {
  return rill::keras_goldens::results(m, inputs_of(name));
}

const char* const kModels[] = {"stack", "graph",  "nested", "ops",    "scaled",
                               "calls", "arrays", "cells",  "ragged", "sparse"};

TEST(KerasFiles, WholeModelsOfKerasGoOn) {
  RILL_SHOWS("S07", "S08");
  const keras::Config expected =
      keras::Config::from_json(rill::io::file_contents(golden("expected.json")));
  for (const std::string name : kModels)
    for (const char* suffix : {".h5", ".keras"}) {
      SCOPED_TRACE(name + suffix);
      keras::Model m = keras::models::load_model(golden(name + suffix));
      EXPECT_EQ(m.name(), name);
      expect_near(results(m, name), expected[name]);
    }
}

TEST(KerasFiles, ArchitectureAndWeightsOfKeras) {
  RILL_SHOWS("S02", "S03", "S04");
  const keras::Config expected =
      keras::Config::from_json(rill::io::file_contents(golden("expected.json")));
  for (const std::string name : kModels)
    for (const char* suffix : {"", ".weights.h5", ".h5", ".keras"}) {
      SCOPED_TRACE(name + suffix);
      keras::Model m = keras::models::from_json(rill::io::file_contents(golden(name + ".json")));
      m.load_weights(golden(name + suffix));
      const Tensor y = m.predict_on_batch(inputs_of(name)).as_tensor();
      const auto got = y.to_vector<float>();
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], expected[name]["before"][i].as_double(), 4e-6) << i;
    }
}

TEST(KerasFiles, WeightsOfClassesOfOnesOwn) {
  const keras::Config want =
      keras::Config::from_json(rill::io::file_contents(golden("expected.json")))["own"];
  for (const char* suffix : {"", ".weights.h5", "_weights.h5"}) {
    SCOPED_TRACE(suffix);
    keras_goldens_classes::Own m;
    m(numbers({6, 4}));
    m.load_weights(golden(std::string("own") + suffix));
    rill::keras_goldens::expect_near_before(rill::keras_goldens::before(m, numbers({6, 4})), want);
  }
}

TEST(KerasFiles, ACheckpointOfKerasHasTheOptimizer) {
  const keras::Config expected =
      keras::Config::from_json(rill::io::file_contents(golden("expected.json")));
  keras::Model m = keras::models::from_json(rill::io::file_contents(golden("stack.json")));
  m.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  m.load_weights(golden("stack"));
  expect_near(results(m, "stack"), expected["stack"]);
}

keras::mixed_precision::LossScaleOptimizer scaled_sgd() {
  return keras::mixed_precision::LossScaleOptimizer(
      keras::optimizers::SGD(0.05), {.initial_scale = 64, .dynamic_growth_steps = 1});
}

TEST(KerasFiles, ACheckpointOfKerasHasTheLossScale) {
  const keras::Config expected =
      keras::Config::from_json(rill::io::file_contents(golden("expected.json")));
  keras::Model m = keras::models::from_json(rill::io::file_contents(golden("scaled.json")));
  const auto optimizer = scaled_sgd();
  m.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
  m.load_weights(golden("scaled"));
  EXPECT_EQ(optimizer.loss_scale().item<float>(), 128.f);
  EXPECT_EQ(optimizer.iterations().item<std::int64_t>(), 1);
  expect_near(results(m, "scaled"), expected["scaled"]);
  EXPECT_EQ(optimizer.loss_scale().item<float>(), 256.f);
}

// ---- layers that have looked at the data
Tensor texts() {
  return tf::constant({{"a", "b"}, {"a", "c"}, {"d", "a"}, {"a", "b"}, {"a", "c"}, {"d", "a"}});
}
tf::Nest adapted_inputs() { return tf::Nest{numbers({6, 3}), texts()}; }
// Adapted to the numbers times `scale`, unless that is 0; to the words always, since no checkpoint
// holds them.
keras::Model made_adapted(float scale) {
  namespace layers = keras::layers;
  const Tensor x = keras::Input({3}, {.name = "x"}),
               w = keras::Input({2}, {.name = "w", .dtype = tf::string});
  const layers::Normalization norm({.name = "norm"});
  const layers::Discretization bins({.num_bins = 3, .name = "bins"});
  const layers::StringLookup words({.output_mode = "multi_hot", .name = "words"});
  words.adapt(texts());
  if (scale != 0) norm.adapt(numbers({6, 3}) * scale), bins.adapt(numbers({6, 3}) * scale);
  const Tensor y = layers::Concatenate()({norm(x), tf::cast(bins(x), tf::float32), words(w)});
  return keras::Model(tf::Nest{x, w}, layers::Dense(2, {.name = "out"})(y), "adapted");
}
TEST(KerasFiles, ACheckpointOfKerasHasWhatAdaptFound) {
  const keras::Config want =
      keras::Config::from_json(rill::io::file_contents(golden("expected.json")))["adapted"];
  keras::Model fresh = made_adapted(0);
  fresh.load_weights(golden("adapted"));
  rill::keras_goldens::expect_near_before(rill::keras_goldens::before(fresh, adapted_inputs()),
                                          want);
  // Beside what another adapt had found.
  keras::Model other = made_adapted(3);
  other.load_weights(golden("adapted"));
  rill::keras_goldens::expect_near_before(rill::keras_goldens::before(other, adapted_inputs()),
                                          want);
}

TEST(KerasFiles, CheckpointsHoldWhatAdaptFound) {
  const std::string folder = rill::saving_tests::fresh_folder("adapted_checkpoints");
  keras::Model m = made_adapted(1);
  const keras::Config want = rill::keras_goldens::before(m, adapted_inputs());
  m.save_weights(folder + "/weights");
  tf::train::Checkpoint(m).write(folder + "/checkpoint");
  for (const char* how : {"/weights", "/checkpoint"}) {
    SCOPED_TRACE(how);
    keras::Model again = made_adapted(2);
    if (std::string(how) == "/weights")
      again.load_weights(folder + how);
    else
      tf::train::Checkpoint(again).restore(folder + how).assert_consumed();
    rill::keras_goldens::expect_near_before(rill::keras_goldens::before(again, adapted_inputs()),
                                            want);
  }
}

// The layers in their order, with what each is called on.
std::vector<std::string> calls_of(const std::string& json) {
  const keras::Config c = keras::Config::from_json(json);
  std::vector<std::string> calls;
  for (const keras::Config& l : c["config"]["layers"].items())
    calls.push_back(l["config"]["name"].as_string() + l.get("inbound_nodes").to_json());
  return calls;
}

TEST(KerasFiles, LayersAreListedAsKerasListsThem) {
  for (const std::string name : {"stack", "graph", "nested", "calls", "ragged", "sparse"}) {
    const std::string theirs = rill::io::file_contents(golden(name + ".json"));
    EXPECT_EQ(calls_of(keras::models::from_json(theirs).to_json()), calls_of(theirs)) << name;
  }
}

// ---- what Rill writes, for Keras
keras::Model made_of_calls() {
  namespace layers = keras::layers;
  const Tensor x = keras::Input({3, 4}, {.name = "x"}), y = keras::Input({5, 4}, {.name = "y"}),
               keep = keras::Input({5}, {.name = "keep", .dtype = tf::bool_}),
               sees = keras::Input({3, 5}, {.name = "sees", .dtype = tf::bool_});
  const Tensor a = layers::MultiHeadAttention(2, 3)(x, y, {.attention_mask = sees}),
               b = layers::MultiHeadAttention(2, 3)(a, x, {.key = a, .use_causal_mask = true});
  const auto [c, scores] = layers::Attention().with_scores(b, y, {.value_mask = keep});
  const Tensor h = layers::Dense(3)(layers::Flatten()(scores)),
               g = layers::GRU(3)(c, {.initial_state = {h}}),
               l = layers::LSTM(3)(y, {.mask = keep});
  const auto [o, states] = layers::LSTMCell(3)(g, {h, l});
  const Tensor z = layers::BatchNormalization()(
      layers::concatenate({layers::add({o, g}), states[0], states[1]}), {.training = 0});
  return keras::Model(tf::Nest{x, y, keep, sees}, layers::Dense(2)(z), "calls");
}

// Plain ops that build arrays and take them apart.
keras::Model made_of_arrays() {
  const Tensor x = keras::Input({4}, {.name = "x"}), h = keras::layers::Dense(4)(x);
  const std::vector<Tensor> halves = tf::split(h, 2, 1), parts = tf::split(h, {1, 2, 1}, -1);
  const std::vector<Tensor> p = tf::unstack(tf::stack({halves[0], halves[1] * 2.f}, 1), 1);
  Tensor w =
      tf::where(p[0] > 0.25f, p[1], tf::zeros_like(p[1])) + tf::where(p[1] > 0.f, 0.5f, p[0]);
  w = tf::squeeze(tf::expand_dims(w, 1), 1) + tf::ones_like(w);
  Tensor t = tf::pad(tf::tile(parts[1], {1, 2}), {{0, 0}, {1, 0}});
  t = tf::pad(t, {{0, 0}, {0, 1}}, {.constant_values = 2}) +
      tf::pad(h, {{0, 0}, {0, 2}}, {.mode = "REFLECT"});
  t = tf::gather(t, {2, 0, 5, 1}, 1);
  const Tensor k = tf::one_hot(tf::argmax(h, -1), 4) * tf::clip_by_value(h, -0.5f, 0.5f);
  const Tensor m = h % 0.75f + tf::floordiv(h, 0.75f) * 0.125f +
                   tf::cast(tf::cast(h * 4.f, tf::int32), tf::float32);
  const Tensor n =
      (h(tf::all, tf::newaxis, tf::ellipsis, tf::slice(1, 3)) +
       tf::ones_like(h)(tf::ellipsis, tf::newaxis, tf::slice(tf::None, 2)))(tf::all, 0);
  Tensor r = tf::nn::l2_normalize(tf::cumsum(h, 1), -1) + tf::reverse(tf::floor(h), {1});
  r = r + tf::reduce_sum(tf::sin(h), 1, {.keepdims = true});
  return keras::Model(x, keras::layers::Dense(2)(tf::concat({parts[0], w, t, k, m, n, r}, 1)),
                      "arrays");
}

keras::Model made_of_cells() {
  namespace layers = keras::layers;
  const Tensor x = keras::Input({5, 4}, {.name = "x"});
  const layers::RNN rnn(
      std::vector<keras::LayerRef>{layers::LSTMCell(2), layers::GRUCell(3), layers::LSTMCell(2)});
  return keras::Model(x, layers::Dense(2)(rnn(x)), "cells");
}

keras::Model made_of_rows() {
  namespace layers = keras::layers;
  const auto words =
      keras::Input({tf::None}, {.name = "words", .dtype = tf::int32, .ragged = true});
  const auto steps = keras::Input({tf::None, 3}, {.name = "steps", .ragged = true});
  const tf::Nest y = layers::Dense(3, {.activation = "tanh"})(
      layers::LSTM(4, {.return_sequences = true})(layers::Embedding(7, 4)(words)));
  const tf::Nest mean = layers::GlobalAveragePooling1D()(y), last = layers::GRU(3)(steps);
  const Tensor z = layers::Concatenate()({mean.as_tensor(), last.as_tensor()});
  return keras::Model(tf::Nest::make({words, steps}), layers::Dense(2)(z), "ragged");
}

keras::Model made_of_few() {
  namespace layers = keras::layers;
  const auto x = keras::Input({5}, {.name = "x", .sparse = true});
  const Tensor y = keras::Input({4}, {.name = "y"});
  const Tensor z = layers::Dense(3, {.activation = "tanh"})(x).as_tensor() + layers::Dense(3)(y);
  return keras::Model(tf::Nest::make({x, y}), layers::Dense(2)(z), "sparse");
}

keras::Model made(const std::string& name) {
  if (name == "ragged") return made_of_rows();
  if (name == "sparse") return made_of_few();
  using keras::layers::Dense, keras::layers::Flatten, keras::layers::Dropout;
  if (name == "stack")
    return keras::Sequential({Flatten({.input_shape = {2, 2}}), Dense(3, {.activation = "relu"}),
                              Dropout(0.0), Dense(2)},
                             "stack");
  if (name == "graph") {
    const Tensor a = keras::Input({4}, {.name = "a"}), b = keras::Input({4}, {.name = "b"});
    const Dense shared(4, {.activation = "tanh", .name = "shared"});
    const Tensor sum = Dense(4)(shared(a) + shared(b)) + Dense(4)(a);
    return keras::Model(tf::Nest{a, b}, Dense(2)(sum), "graph");
  }
  if (name == "scaled")
    return keras::Sequential({Dense(3, {.activation = "tanh", .input_shape = {4}}), Dense(2)},
                             "scaled");
  if (name == "calls") return made_of_calls();
  if (name == "arrays") return made_of_arrays();
  if (name == "cells") return made_of_cells();
  const Tensor x = keras::Input({4}, {.name = "x"});
  if (name == "nested") {
    const keras::Sequential inner({Dense(4, {.activation = "tanh", .input_shape = {4}})}, "inner");
    const Tensor i = keras::Input({4}, {.name = "i"});
    const keras::Model block(i, Dense(4)(i) + i, "block");
    return keras::Model(x, Dense(2)(block(inner(block(inner(x))))), "nested");
  }
  const Tensor h = Dense(4)(x);
  Tensor z = tf::concat(
      {tf::nn::relu(h) * 2.f - 1.f, 1.f - x, tf::square(h) / tf::constant({1.f, 2.f, 4.f, 8.f})},
      -1);
  z = z(tf::all, tf::slice(1, 11)) + tf::reduce_mean(z, 1, {.keepdims = true});
  z = tf::reshape(tf::transpose(tf::reshape(z, {-1, 2, 5}), {0, 2, 1}), {-1, 10});
  return keras::Model(x, Dense(2)(tf::maximum(z, -0.5f)), "ops");
}

TEST(KerasFiles, RillWritesForKeras) {
  const char* out = std::getenv("RILL_KERAS_OUT");
  const std::string folder = out ? out : rill::saving_tests::fresh_folder("keras_out");
  rill::io::create_folders(folder);
  keras::Config expected = keras::Config::dict();
  for (const std::string name : kModels) {
    keras::Model m = made(name);
    keras::OptimizerRef optimizer = "adam";
    if (name == "nested")
      optimizer = keras::optimizers::SGD({.learning_rate = 0.05, .momentum = 0.9});
    if (name == "scaled") optimizer = scaled_sgd();
    m.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
    m.train_on_batch(inputs_of(name), numbers({6, 2}));
    m.reset_metrics();
    const std::string path = folder + "/" + name;
    m.save(path + ".h5");
    m.save(path + ".keras");
    m.save_weights(path);
    m.save_weights(path + ".weights.h5");
    m.save_weights(path + "_weights.h5");
    rill::io::write_file_atomically(path + ".json", m.to_json());
    expected.set(name, results(m, name));
  }
  keras_goldens_classes::Own own;
  own(numbers({6, 4}));
  own.compile({.optimizer = "adam", .loss = "mse"});
  own.train_on_batch(numbers({6, 4}), numbers({6, 2}));
  for (const char* suffix : {"", ".weights.h5", "_weights.h5"})
    own.save_weights(folder + "/own" + suffix);
  expected.set("own", rill::keras_goldens::before(own, numbers({6, 4})));
  keras::Model adapted = made_adapted(1);
  adapted.save_weights(folder + "/adapted");
  expected.set("adapted", rill::keras_goldens::before(adapted, adapted_inputs()));
  rill::io::write_file_atomically(folder + "/expected.json", expected.to_json());
  for (const std::string name : kModels)
    for (const char* suffix : {".h5", ".keras"}) {
      keras::Model m = keras::models::load_model(folder + "/" + name + suffix);
      expect_near(results(m, name), expected[name]);
    }
}

}  // namespace
