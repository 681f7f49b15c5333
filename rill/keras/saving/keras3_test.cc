// Files between Rill and Keras 3. tools/keras_newest.py runs these tests on what the newest Keras
// writes again (RILL_KERAS3_GOLDENS), and gives Keras what Rill writes (RILL_KERAS3_OUT).
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/io/zip.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/losses/loss_classes.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/optimizers/loss_scale_optimizer.h"
#include "rill/keras/optimizers/schedules.h"
#include "rill/keras/saving/saving.h"
#include "rill/keras/utils/utils.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/saving/checkpoint.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/keras_goldens.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;

namespace {

const char* const kModels[] = {"stack",     "graph",     "nested", "conv", "recurrent",
                               "attention", "operators", "arrays", "cells"};

bool made_anew() { return std::getenv("RILL_KERAS3_GOLDENS") != nullptr; }
std::string golden(const std::string& name) {
  if (const char* fresh = std::getenv("RILL_KERAS3_GOLDENS"))
    return std::string(fresh) + "/" + name;
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/keras/saving/testdata/keras3/" + name;
}
// Of what is not an archive only some files are checked in.
bool is_there(const std::string& name) {
  return made_anew() || rill::io::file_exists(golden(name));
}

// What scales losses, layers of the applications, tensors as arguments of calls.
const char* const kMoreModels[] = {"mixed",     "factor",    "scaling",     "parts",
                                   "states",    "constants", "newer",       "muon",
                                   "gathering", "pairs",     "scaled_pairs"};

using rill::keras_goldens::expect_near, rill::keras_goldens::numbers;

tf::Nest inputs_of(const std::string& name) {
  if (name == "stack") return numbers({6, 2, 2});
  if (name == "states") return tf::Nest{numbers({6, 5, 4}), numbers({6, 3})};
  if (name == "graph") return tf::Nest{numbers({6, 4}), -numbers({6, 4}) / 2.f};
  if (name == "conv") return numbers({6, 8, 8, 2});
  if (name == "recurrent" || name == "masks")
    return tf::cast(tf::abs(numbers({6, 5})) * 8.f, tf::int32) % 7;
  if (name == "attention" || name == "cells" || name == "hard" || name == "newer")
    return numbers({6, 5, 4});
  return numbers({6, 4});
}

keras::Config results(keras::Model& m, const std::string& name) {
  return rill::keras_goldens::results(m, inputs_of(name));
}

keras::Config expected() {
  return keras::Config::from_json(rill::io::file_contents(golden("expected.json")));
}

class Keras3Files : public ::testing::TestWithParam<const char*> {};

TEST_P(Keras3Files, WholeModelsGoOn) {
  const std::string name = GetParam();
  const keras::Config want = expected()[name];
  for (const char* suffix : {".keras", ".h5"}) {
    if (!is_there(name + suffix)) continue;
    SCOPED_TRACE(name + suffix);
    keras::Model m = keras::models::load_model(golden(name + suffix));
    EXPECT_EQ(m.name(), name);
    expect_near(results(m, name), want);
  }
}

TEST_P(Keras3Files, ArchitectureAndWeights) {
  const std::string name = GetParam();
  const keras::Config want = expected()[name]["before"];
  for (const char* suffix : {".keras", ".weights.h5", ".h5"}) {
    if (!is_there(name + suffix)) continue;
    SCOPED_TRACE(name + suffix);
    keras::Model m = keras::models::from_json(rill::io::file_contents(golden(name + ".json")));
    m.load_weights(golden(name + suffix));
    const auto got = m.predict_on_batch(inputs_of(name)).as_tensor().to_vector<float>();
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i].as_double(), 4e-6) << i;
  }
}

// Where Keras 2 and 3 differ, a model goes on as the one that wrote it, also through files of ours.
class Keras3Behaviour : public ::testing::TestWithParam<const char*> {};

TEST_P(Keras3Behaviour, StaysThatOfTheFile) {
  const std::string name = GetParam();
  const keras::Config want = expected()[name];
  const std::string folder = rill::saving_tests::fresh_folder("keras3_" + name);
  for (const char* suffix : {".keras", ".h5"}) {
    if (!is_there(name + suffix)) continue;
    SCOPED_TRACE(name + suffix);
    keras::Model m = keras::models::load_model(golden(name + suffix));
    for (const char* again : {".keras", ".h5"}) m.save(folder + again);
    const keras::Model clone = keras::models::clone_model(m);
    clone.set_weights(m.get_weights());
    keras::Model of_json = keras::models::from_json(m.to_json());
    of_json.set_weights(m.get_weights());
    expect_near(results(m, name), want);
    for (const char* again : {".keras", ".h5"}) {
      SCOPED_TRACE(again);
      keras::Model copy = keras::models::load_model(folder + again);
      expect_near(results(copy, name), want);
    }
    for (keras::Model copy : {clone, of_json}) {
      ASSERT_EQ(copy.weights().size(), m.weights().size());
      for (std::size_t i = 0; i < copy.weights().size(); ++i)
        EXPECT_EQ(copy.weights()[i].name(), m.weights()[i].name());
      const auto got = copy.predict_on_batch(inputs_of(name)).as_tensor().to_vector<float>();
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], want["before"][i].as_double(), 4e-6) << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, Keras3Behaviour, ::testing::Values("masks", "hard"),
                         [](const auto& i) { return i.param; });

// ---- what Rill writes, for Keras.
keras::Model made(const std::string& name) {
  using keras::Sequential, layers::Dense;
  if (name == "stack")
    return Sequential({layers::Flatten({.input_shape = {2, 2}}), Dense(3, {.activation = "relu"}),
                       layers::Dropout(0.0), Dense(2)},
                      "stack");
  if (name == "conv")
    return Sequential(
        {layers::Conv2D(4, 3, {.padding = "same", .activation = "relu", .input_shape = {8, 8, 2}}),
         layers::BatchNormalization(), layers::MaxPooling2D(2), layers::SeparableConv2D(3, 2),
         layers::DepthwiseConv2D(2, {.depth_multiplier = 2}),
         layers::Conv2DTranspose(2, 2, {.strides = 2}), layers::LayerNormalization(),
         layers::GlobalAveragePooling2D(), Dense(2, {.kernel_regularizer = "l2"})},
        "conv");
  if (name == "graph") {
    const Tensor a = keras::Input({4}, {.name = "a"}), b = keras::Input({4}, {.name = "b"});
    const Dense shared(4, {.activation = "tanh", .name = "shared"});
    const Tensor both = layers::Concatenate()({shared(a), shared(b)});
    const Tensor sum = layers::Add()({Dense(4)(both), Dense(4)(a)});
    return keras::Model(tf::Nest{a, b}, Dense(2)(sum), "graph");
  }
  if (name == "recurrent") {
    const Tensor x = keras::Input({5}, {.name = "words", .dtype = tf::int32});
    Tensor y = layers::Embedding(7, 4, {.mask_zero = true, .input_length = 5})(x);
    y = layers::SpatialDropout1D(0.0)(y);
    y = layers::Bidirectional(layers::LSTM(3, {.return_sequences = true}))(y);
    y = layers::GRU(3, {.return_sequences = true})(y);
    y = layers::SimpleRNN(3, {.activation = "relu"})(y);
    return keras::Model(x, Dense(2)(y), "recurrent");
  }
  if (name == "attention") {
    const Tensor x = keras::Input({5, 4}, {.name = "x"});
    Tensor y = layers::MultiHeadAttention(2, 3)({x, x});
    y = layers::LayerNormalization()(layers::Add()({x, y}));
    y = layers::TimeDistributed(Dense(3, {.activation = "gelu"}))(y);
    y = layers::Reshape({15})(layers::LeakyReLU(0.1)(y));
    return keras::Model(x, Dense(2)(y), "attention");
  }
  if (name == "factor" || name == "scaling" || name == "gathering" || name == "pairs" ||
      name == "scaled_pairs")
    return Sequential({Dense(3, {.activation = "tanh", .input_shape = {4}}), Dense(2)}, name);
  if (name == "mixed")
    return Sequential(
        {Dense(3, {.activation = "relu", .input_shape = {4}, .dtype = "mixed_float16"}),
         Dense(2, {.dtype = "float32"})},
        name);
  const Tensor x = keras::Input({4}, {.name = "x"});
  if (name == "muon")
    return Sequential({Dense(3, {.activation = "tanh", .input_shape = {4}}), Dense(2)}, name);
  if (name == "newer") {
    const Tensor steps = keras::Input({5, 4}, {.name = "steps"});
    Tensor y = layers::GroupQueryAttention(2, 4, 2)(steps, steps, {.use_causal_mask = true});
    y = Dense(3, {.activation = "hard_silu"})(layers::RMSNormalization()(y));
    return keras::Model(steps, Dense(2)(layers::Flatten()(y)), name);
  }
  if (name == "constants") {
    const Tensor h = Dense(4)(x);
    return keras::Model(x, Dense(2)(layers::Multiply()({h, numbers({1, 4})})), name);
  }
  if (name == "states") {
    const Tensor steps = keras::Input({5, 4}, {.name = "steps"}),
                 s = keras::Input({3}, {.name = "s"}), h = Dense(3)(layers::Flatten()(steps));
    const Tensor g = layers::GRU(3)(steps, {.initial_state = {h}}),
                 l = layers::LSTM(3)(steps, {.initial_state = {h, s}});
    return keras::Model(tf::Nest{steps, s}, Dense(2)(layers::Concatenate()({g, l})), name);
  }
  if (name == "parts") {
    const Tensor scaled = layers::LayerScale(0.5, 4)(Dense(4)(x));
    const Tensor sum = layers::CustomScaleLayer(0.25)({x, layers::StochasticDepth(0.0)(scaled)});
    return keras::Model(x, Dense(2)(sum), name);
  }
  if (name == "operators") {
    const Tensor h = Dense(4)(x), positive = tf::cast(tf::greater(h, 0.f), tf::float32);
    Tensor y = tf::nn::relu(h) * 2.f - 1.f + tf::exp(tf::negative(tf::square(h))) * positive;
    y = tf::concat({y, 1.f - x, tf::sigmoid(h) / 4.f, tf::nn::softmax(tf::tanh(h))}, -1);
    y = y(tf::all, tf::slice(1, 13)) + tf::reduce_mean(y, 1, {.keepdims = true});
    const Tensor scale = tf::pow(tf::abs(y(tf::all, tf::slice(0, 1))), 2.f);
    y = tf::reshape(y, {-1, 3, 4}) * tf::reshape(scale, {-1, 1, 1});
    y = tf::matmul(y, tf::transpose(y, {0, 2, 1})) * 0.125f;
    return keras::Model(x, Dense(2)(tf::maximum(tf::reshape(y, {-1, 9}), -0.5f)), "operators");
  }
  if (name == "arrays") {
    const Tensor h = Dense(4)(x);
    const std::vector<Tensor> halves = tf::split(h, 2, 1), parts = tf::split(h, {1, 2, 1}, -1);
    const std::vector<Tensor> p = tf::unstack(tf::stack({halves[0], halves[1] * 2.f}, 1), 1);
    Tensor w = tf::where(p[0] > 0.25f, p[1], 0.f) + tf::where(p[1] > 0.f, 0.5f, p[0]);
    w = tf::squeeze(tf::expand_dims(w, 1), 1);
    Tensor t = tf::pad(tf::tile(parts[1], {1, 2}), {{0, 0}, {1, 0}});
    t = tf::pad(t, {{0, 0}, {0, 1}}, {.constant_values = 2}) +
        tf::pad(h, {{0, 0}, {0, 2}}, {.mode = "REFLECT"});
    t = tf::gather(t, {2, 0, 5, 1}, 1);
    const Tensor k = tf::one_hot(tf::argmax(h, -1), 4) * tf::clip_by_value(h, -0.5f, 0.5f);
    const Tensor m = h % 0.75f + tf::floordiv(h, 0.75f) * 0.125f +
                     tf::cast(tf::cast(h * 4.f, tf::int32), tf::float32);
    const Tensor n = (h(tf::all, tf::newaxis, tf::ellipsis, tf::slice(1, 3)) +
                      h(tf::ellipsis, tf::newaxis, tf::slice(tf::None, 2)))(tf::all, 0);
    const Tensor r = tf::cumsum(h, 1) + tf::reverse(tf::floor(tf::sin(h)), {1});
    return keras::Model(x, Dense(2)(tf::concat({parts[0], w, t, k, m, n, r}, 1)), "arrays");
  }
  if (name == "cells") {
    const Tensor words = keras::Input({5, 4}, {.name = "x"});
    const layers::RNN rnn(
        std::vector<keras::LayerRef>{layers::LSTMCell(2), layers::GRUCell(3), layers::LSTMCell(2)});
    return keras::Model(words, Dense(2)(rnn(words)), "cells");
  }
  const Sequential inner({Dense(4, {.activation = "tanh", .input_shape = {4}})}, "inner");
  const Tensor i = keras::Input({4}, {.name = "i"});
  const keras::Model block(i, layers::Add()({Dense(4)(i), i}), "block");
  return keras::Model(x, Dense(2)(block(inner(block(inner(x))))), "nested");
}

keras::OptimizerRef optimizer_for(const std::string& name) {
  namespace optimizers = keras::optimizers;
  if (name == "nested") return optimizers::SGD({.learning_rate = 0.05, .momentum = 0.9});
  if (name == "conv") return optimizers::RMSprop({.learning_rate = 0.01, .momentum = 0.5});
  if (name == "graph" || name == "parts" || name == "states" || name == "constants") return "sgd";
  if (name == "muon") return optimizers::Muon({.learning_rate = 0.05});
  if (name == "newer") return optimizers::Lamb({.learning_rate = 0.01, .epsilon = 1e-3});
  using Scaling = keras::mixed_precision::LossScaleOptimizer;
  if (name == "gathering")
    return optimizers::Adam({.learning_rate = 0.05, .gradient_accumulation_steps = 3});
  if (name == "pairs")
    return optimizers::SGD({.learning_rate = 0.05,
                            .use_ema = true,
                            .ema_momentum = 0.5,
                            .ema_overwrite_frequency = 1,
                            .gradient_accumulation_steps = 2});
  if (name == "scaled_pairs")
    return Scaling(optimizers::Nadam({.learning_rate = 0.05, .gradient_accumulation_steps = 2}),
                   {.initial_scale = 64.0, .dynamic_growth_steps = 2});
  if (name == "factor")
    return Scaling(optimizers::SGD({.learning_rate = 0.05, .momentum = 0.9}),
                   {.dynamic = false, .initial_scale = 128.0});
  if (name == "scaling" || name == "mixed")
    return Scaling(optimizers::Adam({.learning_rate = 0.05, .epsilon = 1e-3}),
                   {.initial_scale = 64.0, .dynamic_growth_steps = 2});
  if (name == "recurrent")
    return optimizers::SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true});
  // Of gradients that are all but zero a smaller epsilon would make steps of full size.
  return optimizers::Adam({.learning_rate = 0.01, .epsilon = 1e-3});
}

// ---- adapted layers
Tensor words() { return tf::cast(tf::abs(numbers({6, 5})) * 8.f, tf::int32) % 7; }

// The models of make_models.py.
keras::Model adapted_filters() {
  const Tensor x = keras::Input({4, 4, 4}, {.name = "x"});
  Tensor y = layers::Reshape({4, 4, 4, 1})(x);
  y = layers::Conv3D(2, 2, {.name = "three", .lora_rank = 1})(y);
  y = layers::Reshape({3, 3, 6})(y);
  y = layers::Conv2D(4, {2, 3},
                     {.padding = "same", .groups = 2, .activation = "tanh", .name = "two"})(y);
  y = layers::Reshape({9, 4})(y);
  y = layers::Conv1D(3, 3,
                     {.strides = 2,
                      .padding = "causal",
                      .use_bias = false,
                      .name = "one",
                      .lora_rank = 2,
                      .lora_alpha = 4})(y);
  keras::Model m(x, layers::Dense(2)(layers::Flatten()(y)), "filters");
  m.get_layer("two")->enable_lora(2, {.b_initializer = "ones"});
  return m;
}
keras::Model adapted_model() {
  const Tensor x = keras::Input({5}, {.name = "x", .dtype = tf::int32});
  const layers::Embedding embedding(
      7, 4, {.embeddings_initializer = keras::initializers::RandomUniform(-1, 1), .name = "words"});
  Tensor y = layers::EinsumDense(
      "abc,cd->abd", {5, 3},
      {.bias_axes = "d", .name = "einsum", .lora_rank = 2, .lora_alpha = 4})(embedding(x));
  y = layers::TimeDistributed(layers::Dense(3, {.activation = "tanh", .lora_rank = 1}),
                              {.name = "each"})(y);
  keras::Model m(x, layers::Dense(2, {.name = "out"})(layers::Flatten({.name = "flat"})(y)),
                 "lora");
  m.get_layer("words")->enable_lora(2, {.b_initializer = "ones"});
  return m;
}
Tensor adapted_inputs(const std::string& name) {
  return name == "lora" ? words() : numbers({6, 4, 4, 4});
}
// What the model computes, going on as in Keras: there both factors are 0 after loading.
keras::Config results_with_no_factors(const std::string& path, const Tensor& x) {
  keras::Model m = keras::models::load_model(path);
  for (const tf::Variable& v : m.weights())
    if (v.name().find("lora_") != std::string::npos) v.assign(tf::zeros(v.shape()));
  return rill::keras_goldens::results(m, x);
}

TEST(AdaptedKeras3Files, SumsInTheNewLayoutFactorsInTheOld) {
  for (const std::string name : {"lora", "filters"}) {
    SCOPED_TRACE(name);
    const Tensor x = adapted_inputs(name);
    const keras::Config want = expected()[name];
    expect_near(results_with_no_factors(golden(name + ".keras"), x), want);
    keras::Model m = keras::models::load_model(golden(name + ".h5"));
    EXPECT_TRUE(m.get_layer(name == "lora" ? "words" : "two")->lora_enabled());
    expect_near(rill::keras_goldens::results(m, x), expected()[name + "_h5"]);
    for (const char* suffix : {".weights.h5", ".keras", ".h5"}) {
      if (!is_there(name + suffix)) continue;
      SCOPED_TRACE(suffix);
      keras::Model of_json =
          keras::models::from_json(rill::io::file_contents(golden(name + ".json")));
      of_json.load_weights(golden(name + suffix));
      rill::keras_goldens::expect_near_before(rill::keras_goldens::before(of_json, x), want);
    }
  }
}

TEST(AdaptedKeras3Files, LearnOnAfterLoading) {
  keras::Model m = keras::models::load_model(golden("lora.keras"));
  const std::vector<tf::Variable> factors = [&] {
    std::vector<tf::Variable> list;
    for (const tf::Variable& v : m.get_layer("einsum")->trainable_variables())
      if (v.name().find("lora_") != std::string::npos) list.push_back(v);
    return list;
  }();
  ASSERT_EQ(factors.size(), 2u);
  EXPECT_GT(tf::reduce_max(tf::abs(factors[0].value())).item<float>(), 0.f);
  EXPECT_EQ(tf::reduce_max(tf::abs(factors[1].value())).item<float>(), 0.f);
}

TEST(Keras3, RillWritesForKeras) {
  const char* out = std::getenv("RILL_KERAS3_OUT");
  const std::string folder = out ? out : rill::saving_tests::fresh_folder("keras3_out");
  rill::io::create_folders(folder);
  keras::utils::set_random_seed(1);
  keras::Config want = keras::Config::dict();
  std::vector<std::string> names(std::begin(kModels), std::end(kModels));
  names.insert(names.end(), std::begin(kMoreModels), std::end(kMoreModels));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    keras::Model m = made(name);
    m.compile({.optimizer = optimizer_for(name), .loss = "mse", .metrics = {"mae"}});
    m.train_on_batch(inputs_of(name), numbers({6, 2}));
    m.reset_metrics();
    const std::string path = folder + "/" + name;
    m.save(path + ".keras", {.keras_version = 3});
    m.save(path + ".h5", {.keras_version = 3});
    m.save_weights(path + ".weights.h5");
    want.set(name, results(m, name));
    for (const char* suffix : {".keras", ".h5"}) {
      keras::Model again = keras::models::load_model(path + suffix);
      expect_near(results(again, name), want[name]);
    }
  }
  for (const std::string name : {"lora", "filters"}) {
    SCOPED_TRACE(name);
    const std::string path = folder + "/" + name;
    const Tensor x = adapted_inputs(name);
    keras::Model m = name == "lora" ? adapted_model() : adapted_filters();
    m.compile({.optimizer = keras::optimizers::Adam({.learning_rate = 0.01, .epsilon = 1e-3}),
               .loss = "mse",
               .metrics = {"mae"}});
    for (int i = 0; i < 3; ++i) m.train_on_batch(x, numbers({6, 2}));
    m.reset_metrics();
    m.save(path + ".keras", {.keras_version = 3});
    m.save(path + ".h5", {.keras_version = 3});
    m.save_weights(path + ".weights.h5");
    m.save(path + "2.keras");
    m.save(path + "2.h5");
    want.set(name, results_with_no_factors(path + ".keras", x));
    want.set(name + "_h5", rill::keras_goldens::results(m, x));
    keras::Model again = keras::models::load_model(path + ".h5");
    expect_near(rill::keras_goldens::results(again, x), want[name + "_h5"]);
  }
  keras_goldens_classes::Own own;
  own(numbers({6, 4}));
  own.save_weights(folder + "/own.weights.h5");
  want.set("own", rill::keras_goldens::before(own, numbers({6, 4})));
  rill::io::write_file_atomically(folder + "/expected.json", want.to_json());
}

TEST(OwnKeras3Files, WeightsOfClassesOfOnesOwn) {
  keras_goldens_classes::Own m;
  m(numbers({6, 4}));
  m.load_weights(golden("own.weights.h5"));
  rill::keras_goldens::expect_near_before(rill::keras_goldens::before(m, numbers({6, 4})),
                                          expected()["own"]);
}

TEST(OwnKeras3Files, CheckpointsOfClassesOfOnesOwn) {
  keras_goldens_classes::Own m;
  m(numbers({6, 4}));
  m.load_weights(golden("own"));
  rill::keras_goldens::expect_near_before(rill::keras_goldens::before(m, numbers({6, 4})),
                                          expected()["own"]);
}

TEST(Keras3, PlainOpsThatItHasNot) {
  const Tensor x = keras::Input({4, 4});
  keras::Model m(x, tf::matmul(x, x, {.transpose_b = true}));
  const std::string path = rill::saving_tests::fresh_folder("keras3_ops") + "/m.keras";
  rill::testing::expect_error<rill::errors::Unimplemented>(
      [&] { m.save(path, {.keras_version = 3}); },
      "as a plain op with transpose_b = true, which is not written for Keras 3");
  EXPECT_FALSE(rill::io::file_exists(path));
}

TEST(Keras3, LayersThatItHasNot) {
  keras::Sequential m({layers::ThresholdedReLU(0.5, {.input_shape = {4}})}, "m");
  const std::string folder = rill::saving_tests::fresh_folder("keras3_layers");
  for (const char* file : {"/m.keras", "/m.h5"}) {
    rill::testing::expect_error<rill::errors::Unimplemented>(
        [&] { m.save(folder + file, {.keras_version = 3}); },
        "is a ThresholdedReLU, which Keras 3 does not have");
    EXPECT_FALSE(rill::io::file_exists(folder + file));
    m.save(folder + file);
  }
}

TEST(Keras3, ConstantsThatAreArrays) {
  const Tensor x = keras::Input({2}, {.dtype = tf::int32});
  const Tensor y = tf::gather(tf::constant({1.5f, 2.5f, 3.5f}), x);
  keras::Model m(x, tf::stack({tf::reduce_sum(y), tf::constant(4.f)}));
  const std::string path = rill::saving_tests::fresh_folder("keras3_arrays") + "/m.keras";
  m.save(path, {.keras_version = 3});
  const keras::Model back = keras::models::load_model(path);
  EXPECT_EQ(back(tf::constant({{0, 2}})).to_vector<float>(), (std::vector<float>{5.f, 4.f}));
}

// What was read from Keras 3 is written again, and read again.
TEST_P(Keras3Files, ModelsComeBackFromOurFiles) {
  const std::string name = GetParam(), folder = rill::saving_tests::fresh_folder("keras3_" + name);
  const keras::Config want = expected()[name];
  for (const char* suffix : {".keras", ".h5"}) {
    SCOPED_TRACE(suffix);
    keras::models::load_model(golden(name + ".keras")).save(folder + "/m" + suffix);
    keras::Model m = keras::models::load_model(folder + "/m" + suffix);
    expect_near(results(m, name), want);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Keras3Files, ::testing::ValuesIn(kModels),
                         [](const auto& p) { return std::string(p.param); });

INSTANTIATE_TEST_SUITE_P(More, Keras3Files, ::testing::ValuesIn(kMoreModels),
                         [](const auto& p) { return std::string(p.param); });

// tf.train.Checkpoint of a model of Keras 3 and its optimizer: into models that have made their
// state, and into those that make it at the next step.
class Keras3FilesOfTensorFlow : public ::testing::TestWithParam<const char*> {};

TEST_P(Keras3FilesOfTensorFlow, TrainingGoesOn) {
  const std::string name = GetParam();
  const keras::Model saved = keras::models::load_model(golden(name + ".keras"));
  for (const bool first : {true, false}) {
    SCOPED_TRACE(first);
    keras::Model m = keras::models::from_json(rill::io::file_contents(golden(name + ".json")));
    m.compile({.optimizer =
                   keras::optimizers::deserialize(keras::optimizers::serialize(saved.optimizer())),
               .loss = "mse",
               .metrics = {"mae"}});
    if (!first) m.train_on_batch(inputs_of(name), numbers({6, 2}));
    m.reset_metrics();
    const tf::train::Checkpoint checkpoint({{"model", m}, {"optimizer", m.optimizer()}});
    const auto status = checkpoint.read(golden(name));
    expect_near(results(m, name), expected()[name]);
    for (const std::string& path : status.extra()) ADD_FAILURE() << path << " was not restored";
  }
}
INSTANTIATE_TEST_SUITE_P(All, Keras3FilesOfTensorFlow,
                         ::testing::Values("graph", "nested", "conv", "recurrent", "mixed",
                                           "scaling", "gathering"),
                         [](const auto& p) { return std::string(p.param); });

// Behind the slots of Nadam stands the product of its momenta. Files of Keras 2 do not hold it, but
// the count of steps tells it. Of several variables Keras 2 and 3 have other products.
TEST(Keras3, NadamGoesOn) {
  const std::string folder = rill::saving_tests::fresh_folder("keras3_nadam");
  const Tensor x = numbers({6, 4}), y = tf::ones({6, 2});
  const keras::optimizers::LearningRate rates[] = {
      0.1, keras::optimizers::schedules::ExponentialDecay(
               {.initial_learning_rate = 0.1, .decay_steps = 2, .decay_rate = 0.5})};
  for (const keras::optimizers::LearningRate& rate : rates)
    for (const int version : {2, 3})
      for (const std::string file : {"/m.keras", "/m.h5"}) {
        keras::Sequential m({layers::Dense(2, {.use_bias = version == 2, .input_shape = {4}})});
        m.compile({.optimizer = keras::optimizers::Nadam({.learning_rate = rate}), .loss = "mse"});
        const auto train = [&](keras::Model& model) {
          for (int i = 0; i < 3; ++i) model.train_on_batch(x, y);
          return model.get_weights()[0].to_vector<float>();
        };
        train(m);
        m.save(folder + file, {.keras_version = version});
        keras::Model back = keras::models::load_model(folder + file);
        EXPECT_EQ(train(back), train(m)) << file << version;
      }
}

// Archives name the modules of objects, and Keras 3 has no reduction "auto".
TEST(Keras3, ObjectsOfCompileStandWithTheirModules) {
  const std::string folder = rill::saving_tests::fresh_folder("compiled_objects");
  keras::Sequential m({layers::Dense(2, {.input_shape = {4}})});
  m.compile({.optimizer = keras::optimizers::SGD(keras::optimizers::schedules::CosineDecay(
                 {.initial_learning_rate = 0.1, .decay_steps = 10})),
             .loss = keras::losses::Huber(),
             .metrics = {keras::metrics::Precision(), "mae"}});
  for (const int version : {2, 3}) {
    m.save(folder + "/m.keras", {.keras_version = version});
    const keras::Config c = keras::Config::from_json(
        rill::io::ZipReader::open(folder + "/m.keras").read("config.json"))["compile_config"];
    const keras::Config &loss = c["loss"], &metric = c["metrics"][0],
                        &rate = c["optimizer"]["config"]["learning_rate"];
    EXPECT_EQ(loss["module"], keras::Config("keras.losses"));
    EXPECT_TRUE(loss.contains("registered_name") && loss["registered_name"].is_null());
    EXPECT_EQ(loss["config"]["reduction"],
              keras::Config(version == 3 ? "sum_over_batch_size" : "auto"));
    EXPECT_EQ(metric["module"], keras::Config("keras.metrics"));
    EXPECT_EQ(c["metrics"][1], keras::Config("mae"));
    EXPECT_EQ(rate["module"], keras::Config("keras.optimizers.schedules"));
    EXPECT_EQ(rate["config"].contains("name"), version == 2);
    keras::Model back = keras::models::load_model(folder + "/m.keras");
    EXPECT_EQ(back.evaluate(numbers({6, 4}), numbers({6, 2}), {.verbose = 0})["precision"],
              m.evaluate(numbers({6, 4}), numbers({6, 2}), {.verbose = 0})["precision"]);
  }
}

}  // namespace
