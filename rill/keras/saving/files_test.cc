#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "rill/base/error.h"
#include "rill/base/format.h"
#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/io/hdf5.h"
#include "rill/io/zip.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/saving/checkpoint_reader.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
using rill::saving_tests::fresh_folder;
using rill::testing::expect_error;
using ::testing::HasSubstr;
using tf::Tensor;

namespace {

std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }

keras::Sequential stack() {
  return keras::Sequential({keras::layers::Flatten({.input_shape = {2, 2}}),
                            keras::layers::Dense(3, {.activation = "relu"}),
                            keras::layers::Dense(1)});
}
keras::Model graph() {
  const Tensor a = keras::Input({4}), b = keras::Input({4});
  const keras::layers::Dense shared(4, {.activation = "tanh"});
  const Tensor sum = shared(a) * 2.f + shared(b);
  return keras::Model(tf::Nest{a, b}, keras::layers::Dense(2)(sum + a));
}
struct Block : keras::Model {
  keras::layers::Dense first{3}, last{2};
  Block() {
    track("first", first);
    track("last", last);
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return last(first(x)); }
};
const Tensor& stack_x() {
  static const Tensor x = tf::reshape(tf::range(24.f) / 10.f, {6, 2, 2});
  return x;
}
const Tensor& stack_y() {
  static const Tensor y = tf::reshape(tf::range(6.f), {6, 1});
  return y;
}

// ---- weights
TEST(SaveWeights, WritesACheckpointByDefault) {
  RILL_SHOWS("S01", "S02");
  const std::string folder = fresh_folder("weights_tf");
  keras::Sequential m = stack(), n = stack();
  m.save_weights(folder + "/weights/my_model");
  EXPECT_EQ(
      rill::io::list_folder(folder + "/weights"),
      (std::vector<std::string>{"checkpoint", "my_model.data-00000-of-00001", "my_model.index"}));
  n.load_weights(folder + "/weights/my_model");
  EXPECT_EQ(values(n(stack_x())), values(m(stack_x())));
  // The edges are Keras's.
  std::string names;
  for (const auto& v : tf::train::list_variables(folder + "/weights/my_model"))
    names += v.first + "\n";
  EXPECT_THAT(names, testing::HasSubstr("layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE"));
  m.save_weights(folder + "/weights/my_model");
  expect_error<tf::errors::AlreadyExists>(
      [&] { m.save_weights(folder + "/weights/my_model", {.overwrite = false}); }, "overwrite");
}

TEST(SaveWeights, ACheckpointWaitsForWeights) {
  RILL_SHOWS("S15");
  const std::string path = fresh_folder("weights_lazy") + "/w";
  const keras::Sequential m = stack();
  m.save_weights(path);
  keras::Sequential n({keras::layers::Flatten(), keras::layers::Dense(3, {.activation = "relu"}),
                       keras::layers::Dense(1)});
  n.load_weights(path);
  EXPECT_EQ(values(n(stack_x())), values(m(stack_x())));
}

TEST(SaveWeights, Hdf5InBothLayouts) {
  RILL_SHOWS("S03");
  const std::string folder = fresh_folder("weights_h5");
  for (const char* file : {"/w.h5", "/w.hdf5", "/w.keras", "/w.weights.h5"}) {
    keras::Sequential m = stack(), n = stack();
    m.save_weights(folder + file);
    n.load_weights(folder + file);
    EXPECT_EQ(values(n(stack_x())), values(m(stack_x()))) << file;
    const keras::Model g = graph();
    keras::Model h = graph();
    const tf::Nest x{tf::ones({1, 4}), tf::ones({1, 4})};
    g.save_weights(folder + file, {.save_format = "h5"});
    h.load_weights(folder + file);
    EXPECT_EQ(values(h.apply(x).as_tensor()), values(g.apply(x).as_tensor())) << file;
  }
}

TEST(SaveWeights, Hdf5NeedsWeightsThatAreThere) {
  RILL_SHOWS("S16");
  const std::string path = fresh_folder("weights_unbuilt") + "/w.h5";
  stack().save_weights(path);
  keras::Sequential n({keras::layers::Dense(3), keras::layers::Dense(1)});
  expect_error<tf::errors::FailedPrecondition>([&] { n.load_weights(path); },
                                               "build_model(shape) first");
  expect_error<tf::errors::FailedPrecondition>([&] { n.save_weights(path); },
                                               "not made its weights");
}

TEST(SaveWeights, ALayerHasAsManyWeightsAsItsFile) {
  const std::string file = fresh_folder("weights_count") + "/w.weights.h5";
  const auto dense = [](bool use_bias) {
    return keras::Sequential({keras::layers::Dense(2, {.use_bias = use_bias, .input_shape = {3}})});
  };
  dense(true).save_weights(file);
  keras::Sequential n = dense(false);
  const auto before = values(n.get_weights()[0]);
  expect_error<tf::errors::InvalidArgument>([&] { n.load_weights(file); },
                                            "has 1 weights of its own in the model, and 2 at");
  EXPECT_EQ(values(n.get_weights()[0]), before);
}

TEST(SaveWeights, NothingIsHalfLoaded) {
  RILL_SHOWS("Z11");
  const std::string path = fresh_folder("weights_mismatch");
  for (const std::string file : {"/w.h5", "/w.weights.h5", "/w"}) {
    const keras::Sequential m = stack();
    m.save_weights(path + file);
    keras::Sequential n({keras::layers::Flatten({.input_shape = {2, 2}}),
                         keras::layers::Dense(3, {.activation = "relu"}),
                         keras::layers::Dense(2, {.name = "last"})});
    const auto before = values(n(stack_x()));
    expect_error<tf::errors::InvalidArgument>([&] { n.load_weights(path + file); }, "[3, 2]");
    expect_error<tf::errors::InvalidArgument>([&] { n.load_weights(path + file); }, "[3, 1]");
    EXPECT_EQ(values(n(stack_x())), before);
    if (file == "/w.h5")
      expect_error<tf::errors::InvalidArgument>([&] { n.load_weights(path + file); },
                                                "layer \"last\"");
    keras::Sequential one({keras::layers::Dense(3, {.input_shape = {4}})});
    if (file != "/w")
      expect_error<tf::errors::InvalidArgument>([&] { one.load_weights(path + file); },
                                                "same architecture");
  }
  keras::Sequential m = stack();
  expect_error<tf::errors::NotFound>([&] { m.load_weights(path + "/none"); }, "neither a file");
}

TEST(SaveWeights, ByName) {
  const std::string path = fresh_folder("weights_by_name") + "/w.h5";
  keras::Sequential m({keras::layers::Dense(3, {.input_shape = {4}, .name = "one"}),
                       keras::layers::Dense(2, {.name = "two"})});
  m.save_weights(path);
  keras::Sequential n({keras::layers::Dense(3, {.input_shape = {4}, .name = "one"}),
                       keras::layers::Dense(7, {.name = "two"}),
                       keras::layers::Dense(2, {.name = "new"})});
  expect_error<tf::errors::InvalidArgument>([&] { n.load_weights(path, {.by_name = true}); },
                                            "layer \"two\"");
  EXPECT_NE(values(n.get_weights()[0]), values(m.get_weights()[0]));
  n.load_weights(path, {.by_name = true, .skip_mismatch = true});
  EXPECT_EQ(values(n.get_weights()[0]), values(m.get_weights()[0]));
}

// A kernel that does not fit is passed over, and the bias beside it loaded, as Keras does.
TEST(SaveWeights, SkipMismatchIsForEachWeight) {
  const std::string path = fresh_folder("weights_skip_mismatch") + "/w.h5";
  keras::Sequential m(
      {keras::layers::Dense(3, {.bias_initializer = "ones", .input_shape = {4}, .name = "one"}),
       keras::layers::Dense(2, {.bias_initializer = "ones", .name = "two"}),
       keras::layers::Dense(2, {.use_bias = false, .name = "three"})});
  m.save_weights(path);
  keras::Sequential n({keras::layers::Dense(3, {.input_shape = {5}, .name = "one"}),
                       keras::layers::Dense(2, {.name = "two"}),
                       keras::layers::Dense(2, {.name = "three"})});
  const std::vector<Tensor> before = n.get_weights();
  expect_error<tf::errors::InvalidArgument>([&] { n.load_weights(path, {.by_name = true}); },
                                            "layer \"one\"");
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(values(n.get_weights()[i]), values(before[i]));
  static std::vector<std::string> said;
  said.clear();
  rill::set_log_sink([](rill::LogLevel, std::string_view line) { said.emplace_back(line); });
  const rill::LogLevel level = rill::log_level();
  rill::set_log_level(rill::LogLevel::warning);
  n.load_weights(path, {.by_name = true, .skip_mismatch = true});
  rill::set_log_level(level);
  rill::set_log_sink(nullptr);
  const std::vector<Tensor> after = n.get_weights(), theirs = m.get_weights();
  EXPECT_EQ(values(after[0]), values(before[0]));  // (5, 3) beside (4, 3)
  EXPECT_EQ(values(after[1]), values(theirs[1]));
  EXPECT_EQ(values(after[2]), values(theirs[2]));
  EXPECT_EQ(values(after[3]), values(theirs[3]));
  EXPECT_EQ(values(after[4]),
            values(before[4]));  // one weight beside two: the layer is passed over
  EXPECT_EQ(values(after[5]), values(before[5]));
  EXPECT_THAT(said, ::testing::ElementsAre(::testing::HasSubstr("layer \"one\": weight"),
                                           ::testing::HasSubstr("layer \"three\" has 2 weights")));
}

// By places, a layer is passed over from the weight on that does not fit, as Keras does.
TEST(SaveWeights, SkipMismatchByPlaces) {
  const std::string path = fresh_folder("weights_skip_places") + "/w.weights.h5";
  keras::Sequential m({keras::layers::Dense(3, {.bias_initializer = "ones", .input_shape = {4}}),
                       keras::layers::Dense(2, {.bias_initializer = "ones"}),
                       keras::layers::Dense(2)});
  m.save_weights(path);
  keras::Sequential n({keras::layers::Dense(3, {.input_shape = {5}}), keras::layers::Dense(2)});
  const std::vector<Tensor> before = n.get_weights(), theirs = m.get_weights();
  expect_error<tf::errors::InvalidArgument>([&] { n.load_weights(path); }, "shape");
  n.load_weights(path, {.skip_mismatch = true});
  const std::vector<Tensor> after = n.get_weights();
  EXPECT_EQ(values(after[0]), values(before[0]));
  EXPECT_EQ(values(after[1]), values(before[1]));
  EXPECT_EQ(values(after[2]), values(theirs[2]));
  EXPECT_EQ(values(after[3]), values(theirs[3]));
  expect_error<tf::errors::Unimplemented>([&] { n.load_weights(path, {.by_name = true}); },
                                          "no names");
}

TEST(SaveWeights, OfClassesOfOnesOwn) {
  RILL_SHOWS("S16", "S32", "Z23");
  const std::string folder = fresh_folder("weights_subclassed");
  Block m;
  const Tensor x = tf::random::normal({3, 4}), y = m(x);
  for (const std::string file : {"/w.h5", "/w.weights.h5", "/w"}) {
    m.save_weights(folder + file);
    Block n;
    if (file == "/w") {
      n.load_weights(folder + file);  // waits for the first call
    } else {
      expect_error<tf::errors::FailedPrecondition>([&] { n.load_weights(folder + file); },
                                                   "not made its weights");
      n(x);
      n.load_weights(folder + file);
    }
    EXPECT_EQ(values(n(x)), values(y)) << file;
  }
  EXPECT_TRUE(rill::io::Hdf5Reader(folder + "/w.weights.h5").has_array("last/vars/0"));
}

// Keras 2 and Keras 3 look for a layer of a user-defined model in different places.
TEST(SaveWeights, BothKerasFindTheLayersOfOnesOwnClasses) {
  const std::string path = fresh_folder("weights_places") + "/w.weights.h5";
  Block m;
  m(tf::ones({1, 4}));
  m.save_weights(path);
  const rill::io::Hdf5Reader file(path);
  for (const char* first : {"first/vars/0", "layers/dense/vars/0"})  // "first" < "layers"
    EXPECT_EQ(values(file.read(first)), values(m.first.get_weights()[0])) << first;
  for (const char* last : {"last/vars/1", "layers/dense_1/vars/1"})
    EXPECT_EQ(values(file.read(last)), values(m.last.get_weights()[1])) << last;
}

std::string& last_log() {
  static std::string line;
  return line;
}
TEST(SaveWeights, ACheckpointThatFitsInPartIsTold) {
  const std::string path = fresh_folder("weights_part") + "/w";
  const Tensor x = tf::ones({1, 4});
  struct Other : keras::Model {
    keras::layers::Dense first{3}, second{2};
    Other() {
      track("first", first);
      track("second", second);
    }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return second(first(v)); }
  } other;
  Block m, same;
  m(x), other(x), same(x);
  m.compile({.optimizer = "adam", .loss = "mse"});
  m.train_on_batch(x, tf::ones({1, 2}));
  m.save_weights(path);
  const rill::LogLevel before = rill::log_level();
  rill::set_log_level(rill::LogLevel::warning);
  rill::set_log_sink([](rill::LogLevel, std::string_view line) { last_log() += line; });
  same.load_weights(path);  // without an optimizer
  EXPECT_EQ(last_log(), "");
  other.load_weights(path);
  rill::set_log_sink(nullptr);
  rill::set_log_level(before);
  EXPECT_THAT(last_log(), HasSubstr("weights of the model that the checkpoint"));
  EXPECT_THAT(last_log(), HasSubstr("\n  second/kernel"));
  EXPECT_THAT(last_log(), HasSubstr("\n  last/kernel/.ATTRIBUTES/VARIABLE_VALUE"));
  EXPECT_THAT(last_log(), testing::Not(HasSubstr("first")));
  EXPECT_EQ(values(other.first.get_weights()[0]), values(m.first.get_weights()[0]));
}

TEST(SaveWeights, TheStateOfAnotherOptimizerIsLeftOut) {
  const std::string path = fresh_folder("weights_optimizer") + "/m.weights.h5";
  keras::Sequential m = stack(), same = stack(), other = stack();
  m.compile({.optimizer = "adam", .loss = "mse"});
  m.fit(stack_x(), stack_y(), {.verbose = 0, .shuffle = false});
  m.save_weights(path);
  same.compile({.optimizer = "adam", .loss = "mse"});
  same.load_weights(path);
  EXPECT_EQ(same.optimizer().iterations().item<std::int64_t>(), 1);
  other.compile({.optimizer = "sgd", .loss = "mse"});
  other.load_weights(path);
  EXPECT_EQ(other.optimizer().iterations().item<std::int64_t>(), 0);
  EXPECT_EQ(values(other(stack_x())), values(m(stack_x())));
}

TEST(SaveWeights, Keras3HasTheLearningRateAmongTheState) {
  const std::string folder = fresh_folder("weights_keras3");
  keras::Sequential m = stack(), n = stack();
  m.compile({.optimizer = "adam", .loss = "mse"});
  m.fit(stack_x(), stack_y(), {.verbose = 0, .shuffle = false});
  m.save_weights(folder + "/m.weights.h5");
  const rill::io::Hdf5Reader ours(folder + "/m.weights.h5");
  rill::io::Hdf5Writer theirs;
  for (const char* place : {"layers/dense/vars/", "layers/dense_1/vars/"})
    for (const char* i : {"0", "1"})
      theirs.write(std::string(place) + i, ours.read(std::string(place) + i));
  theirs.write("optimizer/vars/0", ours.read("optimizer/vars/0"));
  theirs.write("optimizer/vars/1", tf::constant(0.001f));
  for (std::size_t i = 1; i < ours.list("optimizer/vars").size(); ++i)
    theirs.write(rill::format("optimizer/vars/{}", i + 1),
                 ours.read(rill::format("optimizer/vars/{}", i)));
  rill::io::write_file_atomically(folder + "/k.weights.h5", theirs.finish());
  n.compile({.optimizer = "adam", .loss = "mse"});
  n.load_weights(folder + "/k.weights.h5");
  const keras::FitOptions more{.epochs = 2, .verbose = 0, .shuffle = false};
  EXPECT_EQ(n.fit(stack_x(), stack_y(), more)["loss"], m.fit(stack_x(), stack_y(), more)["loss"]);
}

// ---- whole models
void expect_training_goes_on(keras::Model a, keras::Model b, const tf::Nest& x, const Tensor& y) {
  EXPECT_EQ(values(a.predict(x, {.verbose = 0})), values(b.predict(x, {.verbose = 0})));
  ASSERT_TRUE(b.compiled());
  EXPECT_EQ(a.optimizer().iterations().item<std::int64_t>(),
            b.optimizer().iterations().item<std::int64_t>());
  const auto ha = a.fit(x, y, {.epochs = 3, .verbose = 0, .shuffle = false}),
             hb = b.fit(x, y, {.epochs = 3, .verbose = 0, .shuffle = false});
  EXPECT_EQ(a.metrics_names(), b.metrics_names());
  for (const std::string& name : a.metrics_names()) EXPECT_EQ(ha[name], hb[name]) << name;
}

TEST(SaveModel, TrainingGoesOnAsIfItHadNotStopped) {
  RILL_SHOWS("S07", "S08");
  const std::string folder = fresh_folder("models");
  for (const char* file : {"/m.h5", "/m.keras"})
    for (const char* optimizer :
         {"adam", "sgd", "rmsprop", "adagrad", "adadelta", "adamax", "ftrl"}) {
      SCOPED_TRACE(std::string(file) + " " + optimizer);
      keras::Sequential m = stack();
      m.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
      m.fit(stack_x(), stack_y(), {.epochs = 2, .verbose = 0, .shuffle = false});
      m.save(folder + file);
      keras::Model loaded = keras::models::load_model(folder + file);
      // A second time without a step between: the state is there, not only on its way.
      loaded.save(folder + file);
      expect_training_goes_on(m, keras::models::load_model(folder + file), stack_x(), stack_y());
    }
}

// The state that belongs to a lone weight is not a learning rate.
TEST(SaveModel, TheOptimizerOfOneWeightGoesOn) {
  const std::string folder = fresh_folder("one_weight");
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    keras::Sequential m(
        {keras::layers::Dense(1, {.use_bias = false, .input_shape = {1}, .name = "one"})});
    m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.01, .momentum = 0.9}),
               .loss = "mse"});
    const Tensor x = tf::ones({4, 1});
    m.fit(x, x * 3.f, {.epochs = 2, .verbose = 0});
    m.save(folder + file);
    keras::Model back = keras::models::load_model(folder + file);
    const auto on = m.fit(x, x * 3.f, {.epochs = 2, .verbose = 0}),
               again = back.fit(x, x * 3.f, {.epochs = 2, .verbose = 0});
    EXPECT_EQ(on["loss"], again["loss"]) << file;
  }
}

TEST(SaveModel, GraphsAndArguments) {
  const std::string folder = fresh_folder("graphs");
  const tf::Nest x{tf::random::normal({5, 4}), tf::random::normal({5, 4})};
  const Tensor y = tf::random::normal({5, 2});
  for (const char* file : {"/m.h5", "/m.keras"}) {
    keras::Model m = graph();
    m.compile({.optimizer = keras::optimizers::SGD(
                   {.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}),
               .loss = keras::losses::mean_absolute_error,
               .metrics = {"mse"}});
    m.fit(x, y, {.verbose = 0, .shuffle = false});
    m.save(folder + file);
    keras::Model loaded = keras::models::load_model(folder + file);
    EXPECT_EQ(loaded.optimizer().learning_rate(), 0.05);
    expect_training_goes_on(m, loaded, x, y);
    const keras::Model bare = keras::models::load_model(folder + file, {.compile = false});
    EXPECT_FALSE(bare.compiled());
    m.save(folder + file, {.include_optimizer = false});
    EXPECT_FALSE(keras::models::load_model(folder + file).compiled());
  }
}

// As Keras reads them.
TEST(SaveModel, AnArchiveThatNamesNoOptimizerIsCompiledWithTheUsualOne) {
  const std::string path = fresh_folder("no_optimizer") + "/m.keras";
  keras::Sequential m = stack();
  m.compile({.optimizer = "sgd", .loss = "mse"});
  m.save(path);
  const rill::io::ZipReader zip = rill::io::ZipReader::open(path);
  keras::Config record = keras::Config::from_json(zip.read("config.json"));
  keras::Config compile = record["compile_config"];
  compile.erase("optimizer");
  record.set("compile_config", compile);
  rill::io::ZipWriter changed;
  changed.add("metadata.json", zip.read("metadata.json"));
  changed.add("config.json", record.to_json());
  changed.add("model.weights.h5", zip.read("model.weights.h5"));
  rill::io::write_file_atomically(path, changed.finish());
  const keras::Model back = keras::models::load_model(path);
  ASSERT_TRUE(back.compiled());
  EXPECT_EQ(back.optimizer().name(), "RMSprop");
}

TEST(SaveModel, SeveralOutputs) {
  const Tensor i = keras::Input({3});
  keras::Model m(i, tf::Nest{keras::layers::Dense(2, {.name = "p"})(i),
                             keras::layers::Dense(1, {.name = "q"})(i)});
  m.compile({.optimizer = "adam",
             .loss = {{"p", "mse"}, {"q", "mae"}},
             .metrics = {{"q", {"mse"}}},
             .loss_weights = {{"p", 0.5}}});
  const Tensor x = tf::random::normal({4, 3});
  const tf::Nest y{tf::ones({4, 2}), tf::ones({4, 1})};
  m.fit(x, y, {.verbose = 0, .shuffle = false});
  for (const char* file : {"/m.h5", "/m.keras"}) {
    const std::string path = fresh_folder("outputs") + file;
    m.save(path);
    keras::Model n = keras::models::load_model(path);
    const auto a = n.evaluate(x, y, {.verbose = 0}), b = m.evaluate(x, y, {.verbose = 0});
    for (const std::string& name : m.metrics_names()) EXPECT_EQ(a[name], b[name]) << name;
  }
}

TEST(SaveModel, PathsAndFormats) {
  const std::string folder = fresh_folder("paths");
  keras::Sequential m = stack();
  expect_error<tf::errors::Unimplemented>([&] { m.save(folder + "/model"); }, ".keras or .h5");
  expect_error<tf::errors::InvalidArgument>(
      [&] { m.save(folder + "/m.h5", {.save_format = "pickle"}); }, "\"pickle\"");
  m.save(folder + "/model", {.save_format = "h5"});
  keras::models::load_model(folder + "/model");
  expect_error<tf::errors::AlreadyExists>(
      [&] { m.save(folder + "/model", {.overwrite = false, .save_format = "h5"}); }, "overwrite");
  std::filesystem::create_directory(folder + "/saved");
  expect_error<tf::errors::Unimplemented>([&] { keras::models::load_model(folder + "/saved"); },
                                          "SavedModel");
  expect_error<tf::errors::NotFound>([&] { keras::models::load_model(folder + "/none.h5"); },
                                     "none.h5");
  // A save that fails leaves what was there.
  const std::string before = rill::io::file_contents(folder + "/model");
  m.compile({.optimizer = keras::optimizers::SGD([](const Tensor&) { return tf::constant(0.1f); }),
             .loss = "mse"});
  expect_error<tf::errors::FailedPrecondition>(
      [&] { m.save(folder + "/model", {.save_format = "h5"}); }, "user-defined function");
  EXPECT_EQ(rill::io::file_contents(folder + "/model"), before);
  EXPECT_EQ(rill::io::list_folder(folder), (std::vector<std::string>{"model", "saved"}));
}

TEST(SaveModel, AFolderThatIsNotThereIsNamed) {
  const std::string path = fresh_folder("no_folder") + "/none/m";
  for (const char* suffix : {".h5", ".keras"})
    expect_error<tf::errors::NotFound>([&] { stack().save(path + suffix); },
                                       "\"" + path + suffix + "\": there is no folder");
}

// Several threads save and load at once, each its own model and one that they share.
TEST(SaveModel, InThreads) {
  const std::string folder = fresh_folder("threads");
  keras::Sequential shared = stack();
  shared.compile({.optimizer = "adam", .loss = "mse"});
  for (const char* suffix : {".h5", ".keras"}) shared.save(folder + "/shared" + suffix);
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      try {
        keras::Sequential m = stack();
        m.compile({.optimizer = "adam", .loss = "mse"});
        for (int round = 0; round < 8; ++round)
          for (const std::string suffix : {".h5", ".keras", ".weights.h5"}) {
            const std::string path = folder + "/" + std::to_string(t) + suffix;
            keras::Model back = stack(), same = shared;
            if (suffix == ".weights.h5") {
              m.save_weights(path);
              back.load_weights(path);
            } else {
              m.save(path);
              back = keras::models::load_model(path);
              same = keras::models::load_model(folder + "/shared" + suffix);
            }
            for (std::size_t i = 0; i < 4; ++i)
              if (values(back.get_weights()[i]) != values(m.get_weights()[i]) ||
                  values(same.get_weights()[i]) != values(shared.get_weights()[i]))
                wrong[static_cast<std::size_t>(t)] = "other weights from " + path;
          }
      } catch (const std::exception& e) {
        wrong[static_cast<std::size_t>(t)] = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(wrong, ::testing::Each(""));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// ---- files that are damaged, or of others
TEST(LoadModel, ForeignAndDamagedFiles) {
  const std::string folder = fresh_folder("damaged");
  keras::Sequential m = stack();
  m.compile({.optimizer = "adam", .loss = "mse"});
  for (const std::string file : {"/m.h5", "/m.keras"}) {
    m.save(folder + file);
    const std::string whole = rill::io::file_contents(folder + file);
    // Cut short anywhere, a file is never read.
    for (std::size_t n = 0; n < whole.size(); n += 1 + whole.size() / 40) {
      rill::io::write_file_atomically(folder + "/cut", whole.substr(0, n));
      expect_error<tf::errors::DataLoss>([&] { keras::models::load_model(folder + "/cut"); },
                                         "cut");
    }
  }
  rill::io::write_file_atomically(folder + "/text.h5", "hello");
  expect_error<tf::errors::DataLoss>([&] { keras::models::load_model(folder + "/text.h5"); },
                                     "neither HDF5 nor a .keras archive");
  m.save_weights(folder + "/w.h5");
  expect_error<tf::errors::InvalidArgument>([&] { keras::models::load_model(folder + "/w.h5"); },
                                            "load_weights");
  rill::io::Hdf5Writer other;
  other.write("data", tf::ones({3}));
  rill::io::write_file_atomically(folder + "/other.h5", other.finish());
  expect_error<tf::errors::DataLoss>([&] { m.load_weights(folder + "/other.h5"); },
                                     "no weights of Keras");
}

TEST(SaveModel, Hdf5IsForStacksAndGraphsOnly) {
  RILL_SHOWS("Z37");
  const std::string folder = fresh_folder("h5_kinds");
  const keras::Sequential s = stack();
  s.save(folder + "/stack.h5");
  EXPECT_EQ(values(keras::models::load_model(folder + "/stack.h5")(stack_x())),
            values(s(stack_x())));
  const keras::Model g = graph();
  g.save(folder + "/graph.h5");
  const tf::Nest x{tf::ones({1, 4}), tf::ones({1, 4})};
  EXPECT_EQ(values(keras::models::load_model(folder + "/graph.h5").apply(x).as_tensor()),
            values(g.apply(x).as_tensor()));
  Block block;
  block(tf::ones({1, 4}));
  expect_error<tf::errors::Unimplemented>([&] { block.save(folder + "/block.h5"); }, "class Block");
  EXPECT_FALSE(std::filesystem::exists(folder + "/block.h5"));
}

}  // namespace
