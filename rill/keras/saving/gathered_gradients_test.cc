// gradient_accumulation_steps beyond the numbers of Keras 3 (tests/keras_losses_metrics,
// keras3_test.cc): what a step is made of, what files and checkpoints hold.
#include <gtest/gtest.h>

#include "rill/keras/layers/layers.h"
#include "rill/keras/optimizers/loss_scale_optimizer.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/saving/checkpoint.h"
#include "tests/expect_error.h"
#include "tests/keras_goldens.h"
#include "tests/scratch_folder.h"

namespace rill::keras {
namespace {

using keras_goldens::numbers;
using testing::expect_error;

Sequential model() {
  return Sequential(
      {layers::Dense(3, {.activation = "tanh", .kernel_initializer = "ones", .input_shape = {4}}),
       layers::Dense(2, {.kernel_initializer = "ones"})});
}
std::vector<float> weights_of(const Model& m) {
  std::vector<float> all;
  for (const Tensor& w : m.get_weights())
    for (const float v : w.to_vector<float>()) all.push_back(v);
  return all;
}
void expect_close(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6) << i;
}
optimizers::Adam gathering() {
  return optimizers::Adam(
      {.learning_rate = 0.05, .epsilon = 1e-3, .gradient_accumulation_steps = 3});
}

// Three batches of two are a batch of six.
TEST(GatheredGradients, AreThoseOfALargerBatch) {
  const Tensor x = numbers({12, 4}), y = numbers({12, 2});
  Sequential whole = model();
  whole.compile(
      {.optimizer = optimizers::Adam({.learning_rate = 0.05, .epsilon = 1e-3}), .loss = "mse"});
  whole.fit(x, y, {.batch_size = 6, .epochs = 2, .verbose = 0, .shuffle = false});
  for (const bool eager : {false, true}) {
    Sequential parts = model();
    parts.compile({.optimizer = gathering(), .loss = "mse", .run_eagerly = eager});
    parts.fit(x, y, {.batch_size = 2, .epochs = 2, .verbose = 0, .shuffle = false});
    expect_close(weights_of(parts), weights_of(whole));
    EXPECT_EQ(parts.optimizer().iterations().item<int>(), 4);
  }
}

TEST(GatheredGradients, CountStepsAndCalls) {
  Variable v(1.f);
  optimizers::SGD sgd({.learning_rate = 1., .gradient_accumulation_steps = 2});
  for (int call = 1; call <= 5; ++call) {
    EXPECT_EQ(sgd.apply_gradients({{constant(1.f), v}}).item<int>(), call);
    EXPECT_EQ(sgd.iterations().item<int>(), call / 2);
    EXPECT_EQ(v.item<float>(), 1.f - static_cast<float>(call / 2));
  }
  // The count of calls, the sum, the momentum.
  ASSERT_EQ(sgd.variables().size(), 3u);
  EXPECT_EQ(sgd.variables()[1].item<float>(), 1.f);
}

TEST(GatheredGradients, MayBeRows) {
  const auto trained = [](bool rows) {
    Variable v({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    optimizers::SGD sgd({.learning_rate = 0.5, .gradient_accumulation_steps = 2});
    const IndexedSlices some{constant({{1.f, 1.f}, {2.f, 2.f}, {4.f, 4.f}}), constant({2, 0, 2}),
                             TensorShape({3, 2})};
    const Tensor same = constant({{2.f, 2.f}, {0.f, 0.f}, {5.f, 5.f}});
    for (int i = 0; i < 2; ++i) sgd.apply_gradients({{rows ? Gradient(some) : Gradient(same), v}});
    return v.to_vector<float>();
  };
  EXPECT_EQ(trained(true), trained(false));
  EXPECT_EQ(trained(true), (std::vector<float>{0, 1, 3, 4, 2.5f, 3.5f}));
}

TEST(GatheredGradients, WaitInFilesAndCheckpoints) {
  const std::string folder = testing::fresh_folder("gathered_gradients");
  const Tensor x = numbers({6, 4}), y = numbers({6, 2});
  for (const bool scaled : {false, true}) {
    SCOPED_TRACE(scaled);
    const auto made = [&] {
      Sequential m = model();
      optimizers::Optimizer o = gathering();
      if (scaled) o = mixed_precision::LossScaleOptimizer(o, {.initial_scale = 64.0});
      m.compile({.optimizer = o, .loss = "mse"});
      return m;
    };
    Sequential m = made();
    for (int i = 0; i < 4; ++i) m.train_on_batch(x, y);  // one step, and a call of the next
    m.save(folder + "/m.h5");
    m.save(folder + "/m.keras");
    m.save_weights(folder + "/m");
    for (int i = 0; i < 2; ++i) m.train_on_batch(x, y);
    const std::vector<float> want = weights_of(m);
    for (const char* name : {"/m.h5", "/m.keras", "/m"}) {
      SCOPED_TRACE(name);
      Model again = made();
      if (std::string(name) == "/m")
        again.load_weights(folder + name);
      else
        again = models::load_model(folder + name);
      EXPECT_EQ(again.optimizer().iterations().item<int>(), 1);
      for (int i = 0; i < 2; ++i) again.train_on_batch(x, y);
      EXPECT_EQ(again.optimizer().iterations().item<int>(), 2);
      expect_close(weights_of(again), want);
    }
  }
}

TEST(GatheredGradients, AreOfTwoCallsAtLeast) {
  for (const std::int64_t n : {1, 0, -3})
    expect_error<errors::InvalidArgument>(
        [&] { optimizers::Adam({.gradient_accumulation_steps = n}); },
        format("[Adam] gradient_accumulation_steps is {}; expected at least 2, or none", n));
  EXPECT_FALSE(
      optimizers::serialize(optimizers::Adam())["config"].contains("gradient_accumulation_steps"));
  EXPECT_EQ(optimizers::serialize(gathering())["config"]["gradient_accumulation_steps"], Config(3));
}

}  // namespace
}  // namespace rill::keras
