// Loss scaling in user-defined models and loops. That the steps are Keras's is shown by
// tests/keras_losses_metrics, that the files are by saving/goldens_test.cc.
#include <cmath>

#include "rill/rill.h"
#include "rill/saving/checkpoint_reader.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace o = keras::optimizers;
using keras::mixed_precision::LossScaleOptimizer;
using rill::saving_tests::fresh_folder;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

class LossScale : public ::testing::Test {
 protected:
  void SetUp() override {
    tf::random::set_seed(3);
    keras::mixed_precision::set_global_policy("mixed_float16");
  }
  void TearDown() override { keras::mixed_precision::set_global_policy("float32"); }
  static keras::Sequential model() {
    return keras::Sequential(
        {keras::layers::Dense(8, {.activation = "tanh", .input_shape = {2}, .name = "hidden"}),
         keras::layers::Dense({.units = 1, .name = "out", .dtype = "float32"})});
  }
  static Tensor x() { return tf::random::stateless_uniform({64, 2}, {1, 2}, -1, 1); }
  static Tensor y() { return tf::expand_dims(x()(tf::all, 0) * 2.f - x()(tf::all, 1), -1); }
};

TEST_F(LossScale, CompileWrapsTheOptimizerOfAMixedFloat16Model) {
  keras::Sequential m = model();
  m.compile({.optimizer = "adam", .loss = "mse"});
  const auto optimizer = LossScaleOptimizer::of(m.optimizer());
  EXPECT_EQ(optimizer.inner_optimizer().class_name(), "Adam");
  EXPECT_EQ(optimizer.loss_scale().item<float>(), 32768.f);
  EXPECT_EQ(optimizer.dynamic_growth_steps(), 2000);
  // The model's own policy decides, which is that of its making.
  keras::mixed_precision::set_global_policy("float32");
  m.compile({.optimizer = o::SGD(0.1), .loss = "mse"});
  EXPECT_EQ(LossScaleOptimizer::of(m.optimizer()).inner_optimizer().class_name(), "SGD");
  keras::Sequential plain = model();
  plain.compile({.optimizer = "sgd", .loss = "mse"});
  expect_error<tf::errors::InvalidArgument>([&] { LossScaleOptimizer::of(plain.optimizer()); },
                                            "the optimizer is a SGD, which scales no loss");
  // One that is given stays as it is.
  const LossScaleOptimizer own(o::SGD(0.1), {.dynamic = false, .initial_scale = 4});
  m.compile({.optimizer = own, .loss = "mse"});
  EXPECT_EQ(LossScaleOptimizer::of(m.optimizer()).initial_scale(), 4);
}

TEST_F(LossScale, MixedFloat16ModelsLearn) {
  for (const bool eagerly : {false, true}) {
    keras::Sequential m = model();
    m.compile({.optimizer = o::Adam(0.05), .loss = "mse", .run_eagerly = eagerly});
    const auto history = m.fit(x(), y(), {.epochs = 20, .verbose = 0});
    EXPECT_LT(history["loss"].back(), 0.05 * history["loss"].front());
    EXPECT_EQ(m.trainable_variables()[0].dtype(), tf::float32);
    EXPECT_EQ(m.optimizer().iterations().item<std::int64_t>(), 40);
  }
}

// The loss itself is finite, so that it is the scale which is too large.
TEST_F(LossScale, AStepThatOverflowsIsLeftOutAndHalvesTheScale) {
  for (const bool eagerly : {false, true}) {
    SCOPED_TRACE(eagerly);
    keras::Sequential m = model();
    const LossScaleOptimizer optimizer(o::RMSprop(0.01),
                                       {.initial_scale = 0x1p30, .dynamic_growth_steps = 2});
    m.compile({.optimizer = optimizer, .loss = "mse", .run_eagerly = eagerly});
    const std::vector<Tensor> before = m.get_weights();
    const double loss = m.train_on_batch(x(), y())["loss"];
    EXPECT_TRUE(std::isfinite(loss));
    EXPECT_EQ(optimizer.loss_scale().item<float>(), 0x1p29f);
    EXPECT_EQ(optimizer.dynamic_counter().item<std::int64_t>(), 0);
    const std::vector<Tensor> after = m.get_weights();
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(before[i].to_vector<float>(), after[i].to_vector<float>());
    const std::vector<tf::Variable> state = optimizer.inner_optimizer().variables();
    EXPECT_GT(state.size(), 1u);
    for (std::size_t i = 1; i < state.size(); ++i)
      for (const float v : state[i].to_vector<float>()) EXPECT_EQ(v, 0.f) << state[i].name();
    // Halved until it fits, it grows again.
    for (int i = 0; i < 40; ++i) m.train_on_batch(x(), y());
    EXPECT_LT(optimizer.loss_scale().item<float>(), 0x1p24f);
    EXPECT_GT(optimizer.loss_scale().item<float>(), 0x1p8f);
    EXPECT_NE(before[0].to_vector<float>(), m.get_weights()[0].to_vector<float>());
  }
}

TEST_F(LossScale, GradientsThatVanishInFloat16AreKept) {
  const tf::Variable w(1.f);
  const auto step = [&](keras::Optimizer optimizer) {
    w.assign(tf::constant(1.f));
    optimizer.minimize([&] { return tf::cast(w, tf::float16) * tf::cast(3e-8f, tf::float16); },
                       {w});
    return 1 - w.item<double>();
  };
  EXPECT_NEAR(step(LossScaleOptimizer(o::SGD(1024))), 1024 * 5.96e-8, 1e-6);
  const auto squares = [&](keras::Optimizer optimizer) {
    w.assign(tf::constant(1.f));
    optimizer.minimize(
        [&] {
          const Tensor small = tf::cast(w, tf::float16) * tf::cast(1e-4f, tf::float16);
          return small * tf::cast(1e-4f, tf::float16);
        },
        {w});
    return 1 - w.item<double>();
  };
  EXPECT_EQ(squares(o::SGD(1024)), 0);  // 1e-8 is not a float16
  EXPECT_NEAR(squares(LossScaleOptimizer(o::SGD(1024))), 1024 * 1e-8, 1e-7);
}

TEST_F(LossScale, CheckpointsHoldTheScaleBesideTheState) {
  const std::string path = fresh_folder("loss_scale") + "/model";
  keras::Sequential m = model();
  m.compile(
      {.optimizer = LossScaleOptimizer(o::Adam(), {.dynamic_growth_steps = 1}), .loss = "mse"});
  m.train_on_batch(x(), y());
  m.save_weights(path);
  const auto shapes = tf::train::load_checkpoint(path).get_variable_to_shape_map();
  for (const char* key :
       {"optimizer/loss_scale/current_loss_scale", "optimizer/loss_scale/good_steps",
        "optimizer/_iterations", "optimizer/_learning_rate", "optimizer/_variables/8"})
    EXPECT_TRUE(shapes.count(std::string(key) + "/.ATTRIBUTES/VARIABLE_VALUE")) << key;
  keras::Sequential n = model();  // restored before the optimizer has any state
  n.compile(
      {.optimizer = LossScaleOptimizer(o::Adam(), {.dynamic_growth_steps = 1}), .loss = "mse"});
  n.load_weights(path);
  EXPECT_EQ(LossScaleOptimizer::of(n.optimizer()).loss_scale().item<float>(), 65536.f);
  m.train_on_batch(x(), y());
  n.train_on_batch(x(), y());
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(m.get_weights()[i].to_vector<float>(), n.get_weights()[i].to_vector<float>());
}

TEST_F(LossScale, FilesGoOnAsIfTrainingHadNotStopped) {
  const std::string folder = fresh_folder("loss_scale_files");
  for (const char* file : {"/m.h5", "/m.keras"}) {
    keras::Sequential m = model();
    m.compile({.optimizer = "adam", .loss = "mse"});
    m.fit(x(), y(), {.epochs = 2, .verbose = 0, .shuffle = false});
    m.save(folder + file);
    keras::mixed_precision::set_global_policy("float32");
    keras::Model n = keras::models::load_model(folder + file);
    EXPECT_EQ(LossScaleOptimizer::of(n.optimizer()).inner_optimizer().class_name(), "Adam");
    EXPECT_EQ(n.optimizer().iterations().item<std::int64_t>(), 4);
    m.train_on_batch(x(), y());
    n.train_on_batch(x(), y());
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(m.get_weights()[i].to_vector<float>(), n.get_weights()[i].to_vector<float>());
    keras::mixed_precision::set_global_policy("mixed_float16");
  }
}

TEST_F(LossScale, WrongArgumentsAreNamed) {
  using tf::errors::InvalidArgument;
  const o::SGD sgd;
  expect_error<InvalidArgument>([&] { LossScaleOptimizer(sgd, {.dynamic = false}); },
                                "initial_scale must be specified if dynamic is false");
  expect_error<InvalidArgument>(
      [&] {
        LossScaleOptimizer(sgd, {.dynamic = false, .initial_scale = 2, .dynamic_growth_steps = 3});
      },
      "a fixed scale does not grow");
  expect_error<InvalidArgument>([&] { LossScaleOptimizer(sgd, {.initial_scale = 0}); },
                                "expected a scale above 0");
  const LossScaleOptimizer one(sgd);
  const keras::Optimizer& same = one;
  expect_error<InvalidArgument>([&] { LossScaleOptimizer{same}; },
                                "cannot wrap another LossScaleOptimizer");
  keras::Sequential m = model();
  expect_error<InvalidArgument>(
      [&] { m.compile({.optimizer = tf::compat::v1::train::AdamOptimizer(0.1), .loss = "mse"}); },
      "expected one of keras::optimizers");
}

}  // namespace
