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

// The first threshold is below 0 and the last above 1. Numbers of Keras 2.15.
TEST(Metrics, AucOfPredictionsThatAreSure) {
  for (const auto& [curve, want] : {std::pair("ROC", 2.f / 3), std::pair("PR", 0.5f)}) {
    metrics::AUC uneven({.curve = curve, .thresholds = {0.2, 0.7}}),
        even({.num_thresholds = 5, .curve = curve});
    for (metrics::AUC* m : {&uneven, &even}) {
      m->update_state(tf::constant({0, 1, 0, 1, 0}), tf::constant({0.f, 0.5f, 1.f, 1.f, 0.3f}));
      EXPECT_NEAR(m->result().item<float>(), want, 1e-6) << curve;
    }
  }
  // What is no probability counts as the nearest one.
  metrics::AUC uneven({.thresholds = {0.2, 0.7}}), even({.num_thresholds = 5});
  const Tensor labels = tf::constant({0, 0, 1}), scores = tf::constant({-0.5f, 0.2f, 1.5f});
  uneven.update_state(labels, scores);
  even.update_state(labels, scores);
  EXPECT_NEAR(uneven.result().item<float>(), 0.5, 1e-6);
  EXPECT_NEAR(even.result().item<float>(), 1, 1e-6);
}

TEST(Metrics, StatesAreMerged) {
  metrics::Accuracy one, two, three;
  one.update_state(tf::constant({{1}, {2}}), tf::constant({{0}, {2}}));
  two.update_state(tf::constant({{3}, {4}}), tf::constant({{3}, {4}}));
  two.merge_state({one});
  EXPECT_EQ(two.result().item<float>(), 0.75f);
  EXPECT_EQ(one.result().item<float>(), 0.5f);
  three.merge_state({one, two});
  EXPECT_FLOAT_EQ(three.result().item<float>(), 4.f / 6);

  const Tensor y = tf::constant({0, 0, 1, 1}), p = tf::constant({0.1f, 0.5f, 0.3f, 0.9f});
  metrics::AUC all, half, other;
  all.update_state(y, p);
  half.update_state(y(tf::slice(0, 2)), p(tf::slice(0, 2)));
  other.update_state(y(tf::slice(2, 4)), p(tf::slice(2, 4)));
  half.merge_state({other});
  EXPECT_EQ(half.result().item<float>(), all.result().item<float>());

  SparseAccuracy own, second;
  own(tf::constant({0}), tf::constant({{0.9f, 0.1f}}));
  second(tf::constant({1}), tf::constant({{0.9f, 0.1f}}));
  own.merge_state({second});
  EXPECT_EQ(own.result().item<double>(), 0.5);

  // Nothing is added where one does not fit.
  metrics::Mean mean;
  mean(4);
  metrics::MeanTensor late;
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        mean.merge_state({mean, metrics::Sum()});
      },
      "variables of Sum \"sum\"");
  EXPECT_EQ(mean.variables()[1].item<float>(), 1.f);
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        metrics::MeanTensor filled;
        filled(tf::constant({1.f}));
        late.merge_state({filled});
      },
      "not like those");
  expect_error<tf::errors::InvalidArgument>([&] { mean.merge_state({"mean"}); }, "is a name");
}

// Numbers of Keras 2.15: the mean, its total and its count.
TEST(Metrics, WeightsOfManyShapes) {
  struct Case {
    tf::TensorShape values, weights;
    float mean, total, count, sum;
  };
  const tf::TensorShape one = tf::TensorShape::scalar();
  const Case cases[] = {
      {one, {1}, 1, 1, 1, 1},
      {one, {3, 1}, 1, 6, 6, 6},
      {one, {1, 4}, 1, 10, 10, 10},
      {{3}, one, 2, 6, 3, 6},
      {{3}, {3, 1}, 2.3333333f, 14, 6, 14},
      {{3}, {3, 1, 1}, 6, 36, 6, 36},
      {{3, 4}, {1}, 6.5, 78, 12, 78},
      {{3, 4}, {3}, 7.8333335f, 188, 24, 188},
      {{3, 4}, {1, 4}, 7, 210, 30, 210},
      {{3, 4, 5}, {1}, 91.5, 91.5, 1, 1830},
      {{3, 4, 5}, {3}, 37.166668f, 223, 6, 4460},
      {{3, 4, 5}, {3, 1}, 37.166668f, 4460, 120, 4460},
      {{3, 4, 5}, {3, 1, 5}, 39.083332f, 18760, 480, 18760},
      {{2, 3, 3}, {2}, 11, 33, 3, 297},
  };
  const auto numbers = [](const tf::TensorShape& s) {
    return tf::reshape(tf::range(1.f, static_cast<float>(s.num_elements()) + 1.f), s);
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.values.to_string() + " by " + c.weights.to_string());
    metrics::Mean mean;
    metrics::Sum sum;
    EXPECT_FLOAT_EQ(mean(numbers(c.values), numbers(c.weights)).item<float>(), c.mean);
    EXPECT_FLOAT_EQ(mean.variables()[0].item<float>(), c.total);
    EXPECT_FLOAT_EQ(mean.variables()[1].item<float>(), c.count);
    EXPECT_FLOAT_EQ(sum(numbers(c.values), numbers(c.weights)).item<float>(), c.sum);
  }
  for (const auto& [values, weights] : {std::pair<tf::TensorShape, tf::TensorShape>{one, {3}},
                                        {{3}, {4}},
                                        {{3, 4}, {4}},
                                        {{3}, {3, 4}},
                                        {{2, 3, 3}, {3, 1}}})
    EXPECT_THROW(metrics::Mean()(numbers(values), numbers(weights)), tf::errors::InvalidArgument)
        << values << weights;
  // The error of a row is one number, which counts for all its weights.
  const Tensor y = tf::constant({1.f, 2.f, 3.f}), p = tf::constant({1.5f, 2.f, 5.f}),
               column = tf::constant({{1.f}, {2.f}, {3.f}});
  EXPECT_FLOAT_EQ(metrics::MeanSquaredError()(y, p, column).item<float>(), 1.4166666f);
  EXPECT_FLOAT_EQ(metrics::RootMeanSquaredError()(y, p, column).item<float>(), 1.428869f);
  EXPECT_FLOAT_EQ(metrics::Poisson()(y, p, column).item<float>(), 0.6266422f);
}

// What is counted in a trace that knows nothing of the shapes, and by plain calls.
TEST(Metrics, TracesThatDoNotKnowTheirShapes) {
  const Tensor p = tf::constant(
      {{0.9f, 0.2f, 0.4f}, {0.1f, 0.7f, 0.6f}, {0.3f, 0.8f, 0.5f}, {0.6f, 0.25f, 0.05f}});
  const Tensor yes = tf::constant({{1, 0, 1}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}}),
               numbers = tf::constant({0, 1, 2, 1}), column = tf::reshape(numbers, {4, 1}),
               by_sample = tf::constant({1.f, 2.f, 0.5f, 3.f}),
               by_value = tf::reshape(tf::range(1.f, 13.f), {4, 3});
  struct Case {
    const char* name;
    keras::MetricRef traced, plain;
    Tensor y, p, w;
  };
  const auto both = [](const char* name, const auto& make, const Tensor& labels,
                       const Tensor& predictions, const Tensor& w) {
    return Case{name, make(), make(), labels, predictions, w};
  };
  std::vector<Case> cases;
  for (const Tensor& w : {Tensor(), by_sample, tf::reshape(by_sample, {4, 1}), by_value}) {
    const bool rows = !w.defined() || w.size() == 4;
    cases.push_back(both(
        "Precision", [] { return metrics::Precision({.top_k = 2}); }, yes, p, w));
    cases.push_back(both(
        "Recall", [] { return metrics::Recall({.top_k = 1, .class_id = 1}); }, yes, p,
        rows ? w : Tensor()));
    cases.push_back(both(
        "AUC", [] { return metrics::AUC({.num_thresholds = 5}); }, yes, p, w));
    cases.push_back(both(
        "AUC of labels",
        [] { return metrics::AUC({.num_thresholds = 5, .multi_label = true, .num_labels = 3}); },
        yes, p, w));
    cases.push_back(both(
        "RMSE", [] { return metrics::RootMeanSquaredError(); }, yes, p, w));
    if (!rows) continue;
    cases.push_back(both(
        "MSE", [] { return metrics::MeanSquaredError(); }, yes, p, w));
    for (const Tensor& y : {numbers, column}) {
      cases.push_back(both(
          "SparseCategoricalAccuracy", [] { return metrics::SparseCategoricalAccuracy(); }, y, p,
          w));
      cases.push_back(both(
          "SparseTopK", [] { return metrics::SparseTopKCategoricalAccuracy({.k = 2}); }, y, p, w));
      cases.push_back(both(
          "SparseCategoricalCrossentropy",
          [] { return metrics::SparseCategoricalCrossentropy({.ignore_class = 2}); }, y, p, w));
    }
  }
  cases.push_back(both(
      "column", [] { return metrics::MeanAbsoluteError(); }, tf::constant({1.f, 2.f}),
      tf::constant({{2.f}, {5.f}}), Tensor()));
  cases.push_back(both(
      "mean of more axes", [] { return metrics::RootMeanSquaredError(); }, tf::zeros({4, 3, 2}),
      tf::reshape(tf::range(0.f, 24.f), {4, 3, 2}), by_sample));
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name) + " " + c.y.shape().to_string() + " by " +
                 (c.w.defined() ? c.w.shape().to_string() : "none"));
    c.plain->update_state(c.y, c.p, c.w);
    const auto want = c.plain->result().to_vector<float>();
    // Ranks known and sizes not, then neither.
    for (const bool ranks : {true, false}) {
      const auto spec = [&](const Tensor& t) {
        return tf::TensorSpec(
            ranks ? tf::TensorShape(tf::Dims(static_cast<std::size_t>(t.ndim()), -1))
                  : tf::TensorShape(),
            t.dtype());
      };
      c.traced->reset_state();
      const Tensor w = c.w.defined() ? c.w : tf::constant(0.f);
      auto f = tf::function(
          [&](const Tensor& labels, const Tensor& predictions, const Tensor& weight) {
            c.traced->update_state(labels, predictions, c.w.defined() ? weight : Tensor());
            return c.traced->result();
          },
          {.input_signature = {spec(c.y), spec(c.p), spec(w)}});
      const auto got = f(c.y, c.p, w).template to_vector<float>();
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], want[i], 1e-5) << (ranks ? "sizes" : "ranks") << " unknown";
    }
  }
  metrics::AUC labels({.multi_label = true});
  auto f = tf::function(
      [&](const Tensor& y, const Tensor& given) {
        labels.update_state(y, given);
        return labels.result();
      },
      {.input_signature = {tf::TensorSpec({tf::None, tf::None}, tf::int32),
                           tf::TensorSpec({tf::None, tf::None})}});
  expect_error<tf::errors::InvalidArgument>([&] { f(yes, p); }, "expected num_labels");
}

// No pair of numbers is taken for another pair.
TEST(Metrics, NumbersThatAreNoClassesAreRefused) {
  const auto iou = [](const Tensor& y, const Tensor& p, std::optional<int> ignored = {}) {
    return metrics::MeanIoU({.num_classes = 2, .ignore_class = ignored})(y, p).item<float>();
  };
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        iou(tf::constant({0, 1}), tf::constant({2, 0}));
      },
      "predictions have numbers that are not classes");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        iou(tf::constant({-1, 1}), tf::constant({0, 1}));
      },
      "expected those in [0, 2)");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        iou(tf::constant({0, 2}), tf::constant({0, 1}));
      },
      "labels have numbers");
  EXPECT_EQ(iou(tf::constant({0, -1, 1}), tf::constant({0, 5, 1}), -1), 1.f);
  EXPECT_EQ(iou(tf::constant({0, 255, 1}), tf::constant({0, 1, 1}), 255), 1.f);
  // A class may be counted from the end.
  const Tensor y = tf::constant({{0.f, 1.f, 1.f}}), p = tf::constant({{0.3f, 0.2f, 0.7f}});
  EXPECT_EQ(metrics::Precision({.class_id = -1})(y, p).item<float>(), 1.f);
  EXPECT_EQ(metrics::Recall({.class_id = -2})(y, p).item<float>(), 0.f);
}

TEST(F1Score, WantsAColumnForEachClass) {
  metrics::F1Score f1;
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        f1.update_state(tf::constant({{0}, {2}}), tf::ones({2, 3}));
      },
      "the labels have shape [2, 1], the predictions [2, 3]; expected a column for each class, as "
      "tf::one_hot(labels, 3) gives");
}

}  // namespace
