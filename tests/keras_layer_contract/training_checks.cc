// A layer in a model that is trained.
#include <gtest/gtest.h>

#include <cmath>

#include "rill/base/format.h"
#include "rill/eager/gradient_tape.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/optimizers/loss_scale_optimizer.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/keras_layer_contract/subject.h"

namespace rill::testing {

namespace {

struct Trained {
  keras::LayerRef layer;
  keras::Model model;
};

// The layer behind a Dense for each input, so that there is always something to train.
Trained model_around(const Subject& s) {
  const keras::LayerRef layer = s.t.make();
  const std::vector<Tensor> in = s.symbols();
  std::vector<Tensor> before = in;
  if (!s.takes_indices())
    for (Tensor& x : before) x = keras::layers::Dense(x.shape().dim(-1))(x);
  const Tensor y = layer->apply(s.argument(before)).flatten()[0];
  Trained t{layer, keras::Model(s.argument(in), y)};
  randomize_weights(t.model);
  return t;
}

// The losses of some steps, and of a call before and after them.
struct Course {
  std::vector<double> steps;
  double before = 0, after = 0;
};
Course train(Trained& t, const Nest& x, const Tensor& y, bool eagerly, int steps) {
  keras::Optimizer optimizer = keras::optimizers::SGD(0.1);
  // The scale that compile would begin with makes gradients infinite, and leaves out steps.
  if (keras::mixed_precision::global_policy().compute_dtype() == float16)
    optimizer = keras::mixed_precision::LossScaleOptimizer(optimizer, {.initial_scale = 64});
  t.model.compile({.optimizer = optimizer, .loss = "mse", .run_eagerly = eagerly});
  Course c;
  c.before = t.model.test_on_batch(x, y)["loss"];
  for (int step = 0; step < steps; ++step) {
    t.model.reset_metrics();
    c.steps.push_back(t.model.train_on_batch(x, y)["loss"]);
  }
  t.model.reset_metrics();
  c.after = t.model.test_on_batch(x, y)["loss"];
  EXPECT_TRUE(std::isfinite(c.after));
  // In half precision a small step may be lost.
  const bool half = keras::mixed_precision::global_policy().compute_dtype() != float32;
  EXPECT_TRUE(c.after < c.before || (half && c.after == c.before))
      << "the loss does not fall: " << c.before << ", then " << c.after;
  return c;
}
// `tolerance` is of the first loss.
void expect_alike(const Course& a, const Course& b, double tolerance) {
  for (std::size_t step = 0; step < a.steps.size(); ++step)
    EXPECT_NEAR(a.steps[step], b.steps[step], tolerance * std::abs(a.steps[0]))
        << "step " << step << " by step and as a program";
}

}  // namespace

void check_training(const Subject& s) {
  SCOPED_TRACE("training");
  constexpr int kSteps = 8;
  const std::vector<Tensor> in = s.inputs(3);
  const Nest x = s.argument(in);
  const Tensor y =
      random::stateless_uniform(constant(s.output_shape(3).as_list()), {11, 12}, 0.1, 0.9);
  Trained by_step = model_around(s), program = model_around(s);
  const Course a = train(by_step, x, y, true, kSteps), b = train(program, x, y, false, kSteps);
  if (!s.t.random_in_training) {
    expect_alike(a, b, 1e-6);
    expect_close(by_step.model.get_weights(), program.model.get_weights(), 1e-5,
                 "weights by step and as a program");
  }
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    SCOPED_TRACE(policy);
    const PolicyScope scope(policy);
    Trained half = model_around(s), half_program = model_around(s);
    const Course c = train(half, x, y, true, kSteps), d = train(half_program, x, y, false, kSteps);
    if (s.t.random_in_training) continue;
    expect_alike(c, d, 0.01);
    expect_alike(a, c, 0.05);
  }

  // Every weight has a gradient, and another optimizer trains the model too.
  Trained t = model_around(s);
  {
    GradientTape tape;
    Tensor total = constant(0.f);
    for (const Tensor& out : s.call(t.layer, in, {.training = 1}))
      total = total + reduce_sum(square(out));
    const std::vector<Variable> all = t.layer->trainable_variables();
    const Gradients g = tape.gradient(total, all);
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(g[i].defined()) << "no gradient by " << all[i].name();
  }
  t.model.compile({.optimizer = keras::optimizers::Adam(0.01), .loss = "mse"});
  const double before = t.model.test_on_batch(x, y)["loss"];
  for (int step = 0; step < kSteps; ++step) t.model.train_on_batch(x, y);
  t.model.reset_metrics();
  EXPECT_LT(t.model.test_on_batch(x, y)["loss"], before) << "the loss does not fall with Adam";

  // A frozen layer stays as it is.
  t.layer->set_trainable(false);
  t.model.compile({.optimizer = keras::optimizers::SGD(0.1), .loss = "mse"});
  const std::vector<Tensor> frozen = t.layer->get_weights();
  if (t.model.trainable_variables().empty() || s.t.updates_by_call) return;
  t.model.train_on_batch(x, y);
  expect_same(t.layer->get_weights(), frozen, "weights of a frozen layer");

  // What is random is so in training alone.
  const std::vector<Tensor> still = s.call(t.layer, in);
  expect_same(s.call(t.layer, in), still, "twice outside training");
  const auto draw = [&] { return numbers(s.call(t.layer, in, {.training = 1})[0]); };
  const std::vector<double> once = draw();
  // Two draws of a few samples may be equal by chance, eight are not.
  bool differs = false;
  for (int k = 0; k < 8 && !differs; ++k) differs = draw() != once;
  EXPECT_EQ(differs, s.t.random_in_training);
}

}  // namespace rill::testing
