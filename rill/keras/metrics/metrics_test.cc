// What the goldens of tests/keras_losses_metrics do not say of metrics.
#include "rill/keras/metrics/metrics.h"

#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace metrics = tf::keras::metrics;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

TEST(Metrics, MeanIsCallable) {
  RILL_SHOWS("L16", "Q12");
  metrics::Mean m("loss");
  m(0);
  m(5);
  EXPECT_EQ(m.result().item<float>(), 2.5f);
  m({8, 9});
  EXPECT_EQ(m.result().item<float>(), 5.5f);
  EXPECT_EQ(m.name(), "loss");
  m.reset_state();
  EXPECT_EQ(m.result().item<float>(), 0.f);
}

// The guide's metric: integer state, and a true division of integers.
struct SparseAccuracy : metrics::Metric {
  tf::Variable total = add_weight("total", tf::int32), count = add_weight("count", tf::int32);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor&) override {
    const Tensor right = tf::equal(tf::cast(y_true, tf::int64), tf::argmax(y_pred, 1));
    total.assign_add(tf::size(y_true));
    count.assign_add(tf::reduce_sum(tf::cast(right, tf::int32)));
  }
  Tensor result() override { return count / total; }
};
TEST(Metrics, OwnClassWithIntegerState) {
  RILL_SHOWS("K83", "L18");
  SparseAccuracy m;
  const Tensor y = tf::constant({0, 1, 1}),
               p = tf::constant({{0.9f, 0.1f}, {0.2f, 0.8f}, {0.7f, 0.3f}});
  EXPECT_NEAR(m(y, p).item<double>(), 2.0 / 3, 1e-12);
  EXPECT_EQ(m.result().dtype(), tf::float64);
  EXPECT_EQ(m.name(), "sparse_accuracy");
}

TEST(Metrics, NamesOfEveryKind) {
  const Tensor y = tf::constant({{1.f, 0.f}}), p = tf::constant({{1.f, 0.5f}});
  for (const char* name : {"mse", "MSE", "mean_squared_error", "MeanSquaredError"})
    EXPECT_NEAR((*metrics::get(name))(y, p).item<float>(), 0.125f, 1e-6) << name;
  // The metric has the sign that the loss of that name has not.
  for (const char* name : {"cosine", "cosine_proximity", "cosine_similarity", "CosineSimilarity"})
    EXPECT_GT((*metrics::get(name))(y, p).item<float>(), 0.8f) << name;
  for (const char* name : {"AUC", "auc", "Precision", "precision", "true_positives", "F1Score",
                           "root_mean_squared_error", "BinaryIoU"})
    EXPECT_TRUE(metrics::get(name).defined()) << name;
  EXPECT_EQ(metrics::get("mse")->name(), "mse");
  EXPECT_EQ(metrics::get("MeanSquaredError")->name(), "mean_squared_error");
  expect_error<tf::errors::InvalidArgument>([] { metrics::get("Precison"); },
                                            "Did you mean \"Precision\"");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        metrics::deserialize(keras::Config::dict({{"class_name", "AUK"}}));
      },
      "\"AUK\"");
}

TEST(Metrics, CopiesShareStateThatComesLate) {
  metrics::F1Score one;
  metrics::F1Score two = one;
  expect_error<tf::errors::FailedPrecondition>([&] { one.result(); }, "no value yet");
  two.update_state(tf::constant({{1.f, 0.f}, {0.f, 1.f}}),
                   tf::constant({{0.9f, 0.1f}, {0.2f, 0.8f}}));
  EXPECT_EQ(one.result().to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Metrics, WrongArgumentsAreNamed) {
  expect_error<tf::errors::InvalidArgument>([] { metrics::Precision({.thresholds = 2}); },
                                            "threshold is 2");
  expect_error<tf::errors::InvalidArgument>([] { metrics::AUC({.curve = "RoC curve"}); },
                                            "expected \"ROC\" or \"PR\"");
  expect_error<tf::errors::InvalidArgument>(
      [] { metrics::IoU({.num_classes = 2, .target_class_ids = {2}}); }, "not in [0, 2)");
  metrics::MeanTensor m;
  m(tf::constant({1.f, 2.f}));
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        m(tf::constant({1.f, 2.f, 3.f}));
      },
      "expected shape [2]");
}

TEST(Metrics, AccuraciesAsFunctionsTellOfEachSample) {
  RILL_SHOWS("L14");
  const Tensor p = tf::constant({{0.1f, 0.9f, 0.f}, {0.5f, 0.2f, 0.3f}, {0.2f, 0.3f, 0.5f}});
  const Tensor numbers = tf::constant({1, 2, 2});
  const std::vector<float> want{1, 0, 1};
  EXPECT_EQ(metrics::categorical_accuracy(tf::one_hot(numbers, 3), p).to_vector<float>(), want);
  EXPECT_EQ(metrics::sparse_categorical_accuracy(numbers, p).to_vector<float>(), want);
}

TEST(Metrics, SparseCategoricalAccuracyIsOfAllSamplesSoFar) {
  RILL_SHOWS("L15");
  metrics::SparseCategoricalAccuracy accuracy;
  const Tensor p = tf::constant({{0.9f, 0.1f}, {0.2f, 0.8f}});
  accuracy.update_state(tf::constant({0, 1}), p);
  EXPECT_EQ(accuracy.result().item<float>(), 1.f);
  accuracy.update_state(tf::constant({1, 0}), p);
  accuracy.update_state(tf::constant({1}), p(tf::slice(0, 1)));
  EXPECT_FLOAT_EQ(accuracy.result().item<float>(), 2.f / 5);
  accuracy.reset_states();
  accuracy.update_state(tf::constant({1, 1}), p);
  EXPECT_EQ(accuracy.result().item<float>(), 0.5f);
}

}  // namespace
