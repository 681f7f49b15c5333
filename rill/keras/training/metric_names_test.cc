// Metrics are called as Keras calls them.
#include <gmock/gmock.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace metrics = keras::metrics;
using rill::testing::expect_error;
using ::testing::ElementsAre;
using tf::Tensor;

namespace {

keras::Model one_output() {
  const Tensor x = keras::Input({2});
  return keras::Model(x, keras::layers::Dense(1, {.activation = "sigmoid", .name = "a"})(x));
}
keras::Model two_outputs() {
  const Tensor x = keras::Input({2});
  return keras::Model(x,
                      tf::Nest{keras::layers::Dense(1, {.activation = "sigmoid", .name = "a"})(x),
                               keras::layers::Dense(1, {.activation = "sigmoid", .name = "b"})(x)});
}
const Tensor& x() {
  static const Tensor t = tf::constant({{1.f, 2.f}, {-1.f, 0.5f}, {3.f, -2.f}, {0.f, 1.f}});
  return t;
}
const Tensor& y() {
  static const Tensor t = tf::constant({{1.f}, {0.f}, {1.f}, {1.f}});
  return t;
}

std::vector<std::string> names(const keras::MetricsArg& m, const keras::MetricsArg& weighted = {}) {
  keras::Model model = one_output();
  model.compile({.loss = "binary_crossentropy", .metrics = m, .weighted_metrics = weighted});
  model.fit(x(), y(), {.verbose = 0});
  return model.metrics_names();
}
std::vector<std::string> names_of_two(const keras::MetricsArg& m,
                                      const keras::MetricsArg& weighted = {}) {
  keras::Model model = two_outputs();
  model.compile({.loss = "binary_crossentropy", .metrics = m, .weighted_metrics = weighted});
  model.fit(x(), tf::Nest{y(), y()}, {.verbose = 0});
  return model.metrics_names();
}

struct Ones : metrics::Metric {
  tf::Variable count = add_weight("count");
  void update_state(const Tensor& y_true, const Tensor&, const Tensor&) override {
    count.assign_add(tf::reduce_sum(y_true));
  }
  Tensor result() override { return count; }
};

TEST(MetricNames, ObjectsOfOneClassAreNumbered) {
  EXPECT_THAT(names({metrics::Precision(), metrics::Precision()}),
              ElementsAre("loss", "precision", "precision_1"));
  EXPECT_THAT(names({metrics::AUC(), metrics::AUC(), metrics::Recall()}),
              ElementsAre("loss", "auc", "auc_1", "recall"));
  EXPECT_THAT(names({metrics::Precision()}, {metrics::Precision()}),
              ElementsAre("loss", "precision", "precision_1"));
  EXPECT_THAT(names({metrics::Precision({.thresholds = {0.3}}), metrics::Precision({.name = "p"}),
                     metrics::Precision({.thresholds = {0.4}})}),
              ElementsAre("loss", "precision", "p", "precision_1"));
  EXPECT_THAT(names({Ones(), Ones()}), ElementsAre("loss", "ones", "ones_1"));
  // Every compile counts again.
  EXPECT_THAT(names({metrics::Precision()}), ElementsAre("loss", "precision"));
}

TEST(MetricNames, WeightedOnesOfANameThatIsTaken) {
  EXPECT_THAT(names({"mse"}, {"mae", "mse"}), ElementsAre("loss", "mse", "mae", "weighted_mse"));
  EXPECT_THAT(names({"accuracy"}, {"accuracy"}),
              ElementsAre("loss", "accuracy", "weighted_accuracy"));
  EXPECT_THAT(names({metrics::MeanSquaredError()}, {metrics::MeanSquaredError()}),
              ElementsAre("loss", "mean_squared_error", "weighted_mean_squared_error"));
  EXPECT_THAT(names({}, {"mse"}), ElementsAre("loss", "mse"));
  EXPECT_THAT(names_of_two({"mse"}, {"mse"}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mse", "a_weighted_mse", "b_mse",
                          "b_weighted_mse"));
}

TEST(MetricNames, OfSeveralOutputs) {
  EXPECT_THAT(names_of_two({metrics::Precision()}),
              ElementsAre("loss", "a_loss", "b_loss", "a_precision", "b_precision"));
  const keras::MetricsArg by_output{{"a", {"mse", metrics::Precision()}},
                                    {"b", {metrics::Precision()}}};
  EXPECT_THAT(names_of_two(by_output, {{"b", {"mse"}}, {"a", {"mse"}}}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mse", "a_precision", "a_weighted_mse",
                          "b_precision_1", "b_mse"));
}

TEST(MetricNames, EveryOutputHasAStateOfItsOwn) {
  keras::Model model = two_outputs();
  const auto error = [](const Tensor& t, const Tensor& p) { return tf::abs(t - p); };
  model.compile({.loss = "mse", .metrics = {metrics::MeanAbsoluteError(), error}});
  const auto logs = model.evaluate(x(), tf::Nest{y(), y() + 10.f}, {.verbose = 0});
  EXPECT_LT(logs["a_mean_absolute_error"], 1);
  EXPECT_GT(logs["b_mean_absolute_error"], 9);
  EXPECT_LT(logs["a_metric"], 1);
  EXPECT_GT(logs["b_metric"], 9);
}

struct Above : Ones {  // the labels above a number that there is no way to know
  explicit Above(float limit) : limit(limit) {}
  float limit;
};
struct Scaled : Ones {
  explicit Scaled(double factor) : factor(factor) {}
  static Scaled from_config(const keras::Config& c) { return Scaled(c["factor"].as_double()); }
  keras::Config get_config() const override {
    keras::Config c = Metric::get_config();
    c.set("factor", factor);
    return c;
  }
  Tensor result() override { return count * static_cast<float>(factor); }
  double factor;
};
TEST(MetricNames, ObjectsOfOnesOwnAreMadeAnewForEachOutput) {
  keras::Model model = two_outputs();
  model.compile({.loss = "mse", .metrics = {Ones(), Scaled(2)}});
  const auto logs = model.evaluate(x(), tf::Nest{y(), y() + 10.f}, {.verbose = 0});
  EXPECT_EQ(logs["a_ones"], 3);
  EXPECT_EQ(logs["b_ones"], 43);
  EXPECT_EQ(logs["b_scaled"], 86);
  model.compile({.loss = "mse", .metrics = {Above(1)}});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        model.evaluate(x(), tf::Nest{y(), y()}, {.verbose = 0});
      },
      "object for each");
}

TEST(MetricNames, AListForEachOutput) {
  EXPECT_THAT(names_of_two({{"mae"}, {"mse"}}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mae", "b_mse"));
  EXPECT_THAT(names_of_two({{"mae", metrics::Precision()}, {}}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mae", "a_precision"));
  EXPECT_THAT(names_of_two({"mae", {"mse", "mae"}}, {{}, {"mse"}}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mae", "b_mse", "b_mae", "b_weighted_mse"));
  const std::vector<keras::MetricRef> list{"mae", "mse"};
  EXPECT_THAT(names_of_two(std::vector<std::vector<keras::MetricRef>>{list, {}}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mae", "a_mse"));
  EXPECT_THAT(names_of_two({{}, list}), ElementsAre("loss", "a_loss", "b_loss", "b_mae", "b_mse"));
  // A flat list is of every output, and names stay names.
  EXPECT_THAT(names_of_two({"mae", "mse"}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mae", "a_mse", "b_mae", "b_mse"));
  EXPECT_THAT(names_of_two(list),
              ElementsAre("loss", "a_loss", "b_loss", "a_mae", "a_mse", "b_mae", "b_mse"));
  EXPECT_THAT(names_of_two({{"b", {"mse"}}}), ElementsAre("loss", "a_loss", "b_loss", "b_mse"));
  // Of one output all lists are its own.
  EXPECT_THAT(names({{"mae"}, {"mse"}}), ElementsAre("loss", "mae", "mse"));
  expect_error<tf::errors::InvalidArgument>(
      [] {
        names_of_two({{"mae"}, {"mse"}, {"mae"}});
      },
      "3 lists of metrics for 2 outputs");
  // Names of outputs before a metric, as in a dict of Python.
  EXPECT_THAT(names_of_two({{"a", "mae"}, {"b", "mse"}}),
              ElementsAre("loss", "a_loss", "b_loss", "a_mae", "b_mse"));
}

TEST(MetricNames, AnObjectStandsInOnePlace) {
  const metrics::Precision p;
  expect_error<tf::errors::InvalidArgument>([&] { names({p}, {p}); },
                                            "\"precision\" is given twice");
  expect_error<tf::errors::InvalidArgument>([&] { names_of_two({{p}, {p}}); }, "given twice");
}

// As in Keras 2.15, which the loss does not tell of yes and no.
TEST(MetricNames, AccuracyGoesByShapesAlone) {
  keras::Sequential m({keras::layers::Activation("linear", {.input_shape = {3}})});
  const Tensor p = tf::constant({{0.9f, 0.8f, 0.1f}, {0.2f, 0.3f, 0.4f}, {0.6f, 0.7f, 0.2f}}),
               t = tf::constant({{1.f, 1.f, 0.f}, {0.f, 0.f, 0.f}, {1.f, 0.f, 0.f}});
  m.compile({.optimizer = "sgd", .loss = "binary_crossentropy", .metrics = {"accuracy", "ce"}});
  const auto logs = m.evaluate(p, t, {.verbose = 0});
  EXPECT_NEAR(logs["loss"], 0.38471654, 1e-6);
  EXPECT_NEAR(logs["accuracy"], 1. / 3, 1e-6);
  EXPECT_NEAR(logs["ce"], 0.8067894, 1e-6);
}

}  // namespace
