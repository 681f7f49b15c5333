// What a user-defined model holds as members: metrics are reset and listed, variables must be
// tracked, and what it overrides is called.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace metrics = keras::metrics;
using keras::layers::Dense;
using rill::testing::expect_error;
using tf::Nest, tf::Tensor, tf::Variable;
using tf::errors::FailedPrecondition, tf::errors::InvalidArgument;

namespace {

const Tensor x = tf::ones({8, 2}), y = tf::ones({8, 1});

// Each step counts one more; the metric is the mean of the counts.
struct Counting : keras::Model {
  Variable steps{0.f};
  metrics::Mean mean{"mean"};
  Dense dense{1};
  Counting() {
    track("steps", steps);
    track("mean", mean);
    track("dense", dense);
  }
  Tensor call(const Tensor& v, const keras::CallContext&) override { return dense(v); }
  Nest train_step(const Nest&) override {
    steps.assign_add(1);
    mean.update_state(steps);
    return Nest::dict({{"mean", mean.result()}});
  }
  Nest test_step(const Nest& data) override { return train_step(data); }
};

TEST(Members, MetricsAreResetAtEachEpoch) {
  Counting m;
  m.compile({.optimizer = "sgd"});
  const keras::History h = m.fit(x, y, {.batch_size = 2, .epochs = 3, .verbose = 0});
  EXPECT_EQ(h.history["mean"], (std::vector<double>{2.5, 6.5, 10.5}));  // as Keras
  EXPECT_EQ(m.evaluate(x, y, {.batch_size = 2, .verbose = 0})["mean"], 14.5);
  std::vector<std::string> names;
  for (const keras::MetricRef& r : m.metrics()) names.push_back(r->name());
  EXPECT_EQ(names.back(), "mean");
  EXPECT_EQ(m.metrics_names().back(), "mean");
  m.reset_metrics();
  EXPECT_EQ(m.mean.result().item<float>(), 0);
  // Its variables are no weights of the model.
  EXPECT_EQ(m.variables().size(), 1u);  // the steps; the layer was never called
  expect_error<InvalidArgument>(
      [&] {
        struct Twice : keras::Model {
          metrics::Mean a{"a"}, b{"b"};
          Twice() {
            track("m", a);
            track("m", b);
          }
        } t;
      },
      "already known as \"m\"");
}

TEST(Members, MetricsOfLayersInside) {
  struct Noting : keras::Layer {
    metrics::Mean seen{"seen"};
    Noting() { track("seen", seen); }
    Tensor call(const Tensor& v, const keras::CallContext&) override {
      seen.update_state(v);
      return v;
    }
  };
  const Noting noting;
  keras::Sequential m({noting, Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse"});
  m.fit(x, y, {.verbose = 0});
  EXPECT_EQ(m.metrics().back()->name(), "seen");
  EXPECT_EQ(m.metrics().back()->result().item<float>(), 1);
  EXPECT_EQ(noting.seen.variables()[0].value().item<float>(), 16);
}

TEST(Members, MetricsAndLossCanBeOverridden) {
  struct Own : keras::Model {
    metrics::Mean mean{"mean"};
    Dense dense{1, {.kernel_initializer = "zeros"}};
    Own() { track("dense", dense); }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return dense(v); }
    Tensor compute_loss(const Nest&, const Nest& p, const Nest&) override {
      return tf::reduce_mean(tf::square(p.as_tensor() - 3.f));
    }
    std::vector<keras::MetricRef> metrics() const override { return {mean}; }
    Nest train_step(const Nest& data) override {
      tf::GradientTape tape;
      const Tensor loss = compute_loss(data, (*this)(data.part(0).as_tensor()), {});
      optimizer().apply_gradients(tape.gradient(loss, trainable_variables()),
                                  trainable_variables());
      mean.update_state(loss);
      return Nest::dict({{"loss", mean.result()}});
    }
  };
  Own m;
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0})});
  EXPECT_EQ(m.fit(x, y, {.epochs = 2, .verbose = 0})["loss"], (std::vector<double>{9, 9}));
  // The library's own step asks the object for the loss.
  struct Other : keras::Model {
    Dense dense{1, {.kernel_initializer = "zeros"}};
    Other() { track("dense", dense); }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return dense(v); }
    Tensor compute_loss(const Nest& y_true, const Nest& p, const Nest& w) override {
      return Model::compute_loss(y_true, p, w) * 2.f;
    }
  };
  Other o;
  o.compile({.optimizer = "sgd", .loss = "mse"});
  keras::Model handle = o;  // a handle calls the object
  EXPECT_TRUE(handle.compiled());
  const auto before = o.dense.weights();
  handle.fit(x, y, {.batch_size = 8, .verbose = 0});
  // Of loss 2 (w.x + b - 1)^2 the gradient in b is -4; the rate is 0.01.
  EXPECT_NEAR(o.dense.weights()[1].value().to_vector<float>()[0], 0.04f, 1e-6f);
}

TEST(Members, AVariableThatIsNotTrackedIsAnError) {
  struct Line : keras::Model {
    Variable w{1.f, {.name = "w"}};
    Tensor call(const Tensor& v, const keras::CallContext&) override { return v * w; }
  };
  Line line;
  line.compile({.optimizer = "sgd", .loss = "mse"});
  expect_error<FailedPrecondition>([&] { line.fit(x, x, {.verbose = 0}); },
                                   "reads the variable \"w:0\"");
  struct Tracked : Line {
    Tracked() { track("w", w); }
  };
  Tracked good;
  good.compile({.optimizer = "sgd", .loss = "mse"});
  good.fit(x, x * 2.f, {.epochs = 20, .verbose = 0});
  EXPECT_GT(good.w.value().item<float>(), 1.1f);
}

TEST(Members, SeveralOutputsAndSizesOfBatches) {
  const Tensor in = keras::Input({2});
  keras::Model two(in, {Dense(1)(in), Dense(3)(in)});
  expect_error<InvalidArgument>([&] { two.predict(x, {.verbose = 0}); }, "2 outputs; predict_all");
  EXPECT_EQ(two.predict_all(x, {.verbose = 0})[1].shape(), tf::TensorShape({8, 3}));
  keras::Sequential one({Dense(1)});
  one.compile({.optimizer = "sgd", .loss = "mse"});
  expect_error<InvalidArgument>([&] { one.fit(x, y, {.batch_size = 0, .verbose = 0}); },
                                "batch_size is 0");
  expect_error<InvalidArgument>([&] { one.evaluate(x, y, {.batch_size = 0, .verbose = 0}); },
                                "batch_size is 0");
  expect_error<InvalidArgument>([&] { one.predict(x, {.batch_size = 0, .verbose = 0}); },
                                "batch_size is 0");
  one.trainable(false);
  EXPECT_FALSE(one.trainable());
}

TEST(Members, MetricsOfSeveralNumbersShowTheirMean) {
  keras::Sequential m({Dense(3, {.activation = "softmax", .kernel_initializer = "zeros"})});
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0}),
             .loss = "categorical_crossentropy",
             .metrics = {metrics::F1Score()}});
  const Tensor labels = tf::one_hot(tf::constant({0, 0, 0, 0, 1, 1, 2, 2}), 3);
  const keras::History h = m.fit(x, labels, {.batch_size = 8, .verbose = 0});
  // Of equal probabilities every class is taken, as in Keras: its scores are 2/3, 0.4 and 0.4.
  EXPECT_NEAR(h.history["f1_score"][0], (2. / 3 + 0.8) / 3, 1e-6);
}

}  // namespace
