// What the rows of the conformance table do not say of losses.
#include "rill/keras/losses/losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace losses = tf::keras::losses;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance = 1e-6) {
  const auto values = got.to_vector<double>();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(values[i], want[i], tolerance) << "element " << i;
}

// As Keras 2.15 prints them: the logits before the activation count, also eagerly.
TEST(Losses, ProbabilitiesOfAnActivationRememberTheirLogits) {
  const auto x = tf::constant({{20.f, -20.f, 3.f}, {1.f, 2.f, 30.f}}),
             labels = tf::constant({{0.f, 1.f, 0.f}, {1.f, 0.f, 0.f}});
  const auto numbers = tf::constant({1, 0});
  const auto check = [&](const tf::Tensor& in) {
    const auto p = tf::keras::activations::softmax(in), s = tf::keras::activations::sigmoid(in);
    namespace l = tf::keras::losses;
    return tf::stack({l::categorical_crossentropy(labels, p),
                      l::categorical_crossentropy(labels, p, {.from_logits = true}),
                      l::sparse_categorical_crossentropy(numbers, p),
                      l::sparse_categorical_crossentropy(numbers, p, {.from_logits = true}),
                      l::binary_crossentropy(labels, s),
                      l::binary_crossentropy(labels, s, {.from_logits = true}),
                      l::categorical_crossentropy(labels, tf::nn::softmax(in))});
  };
  std::vector<float> want{40,         29,         40,         29,         40,
                          29,         40,         29,         14.349529f, 10.813396f,
                          14.349529f, 10.813396f, 16.118095f, 16.118095f};
  const auto eager = check(x).to_vector<float>();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(eager[i], want[i], 2e-5f) << i;
  // In a graph the op tells, whoever called it.
  want[12] = 40, want[13] = 29;
  const auto traced = tf::Tensor(tf::function(check)(x)).to_vector<float>();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(traced[i], want[i], 2e-5f) << i;
  // The gradient goes to the logits.
  tf::GradientTape tape;
  tape.watch(x);
  const auto loss = tf::keras::losses::categorical_crossentropy(
      labels, tf::keras::activations::softmax(x), {.from_logits = true});
  const auto g = tf::Tensor(tape.gradient(loss, x)).to_vector<float>();
  const auto p = tf::nn::softmax(x) - labels;
  EXPECT_EQ(g, p.to_vector<float>());
}

TEST(Losses, CategoricalTakesSoftLabelsAndScalesPredictions) {
  RILL_SHOWS("L01");
  const auto y = tf::constant({{0.f, 1.f, 0.f}, {0.25f, 0.25f, 0.5f}});
  const auto p = tf::constant({{0.1f, 0.8f, 0.1f}, {2.f, 1.f, 1.f}});  // the second row sums to 4
  const double second = -(0.25 * std::log(0.5) + 0.25 * std::log(0.25) + 0.5 * std::log(0.25));
  expect_near(losses::categorical_crossentropy(y, p), {-std::log(0.8), second});
  const auto sure =
      losses::categorical_crossentropy(tf::constant({{1.f, 0.f}}), tf::constant({{0.f, 1.f}}));
  expect_near(sure, {-std::log(1e-7)}, 1e-4);  // clipped, not infinite
}

TEST(Losses, SparseEqualsCategoricalOfOneHot) {
  RILL_SHOWS("L02");
  const auto p = tf::nn::softmax(tf::constant({{1.f, 2.f, 0.5f}, {0.f, -1.f, 3.f}}));
  for (tf::DType d : {tf::int32, tf::int64, tf::uint8, tf::int16}) {
    const auto y = tf::cast(tf::constant({2, 0}), d);
    const auto sparse = losses::sparse_categorical_crossentropy(y, p);
    EXPECT_EQ(sparse.shape(), tf::TensorShape({2}));
    expect_near(sparse, losses::categorical_crossentropy(tf::one_hot(tf::constant({2, 0}), 3), p)
                            .to_vector<double>());
  }
}

TEST(Losses, ReduceToOneNumberByMean) {
  RILL_SHOWS("L42", "L05");
  const auto logits = tf::constant({{1.f, 2.f, 0.5f}, {0.f, -1.f, 3.f}});
  const auto y = tf::constant({2, 0});
  const auto vector = losses::sparse_categorical_crossentropy(y, tf::nn::softmax(logits));
  EXPECT_EQ(vector.shape(), tf::TensorShape({2}));
  const auto scalar = tf::losses::sparse_softmax_cross_entropy(y, logits);  // labels first
  EXPECT_EQ(scalar.shape(), tf::TensorShape(std::initializer_list<tf::Dim>{}));
  EXPECT_NEAR(scalar.item<double>(), tf::reduce_mean(vector).item<double>(), 1e-6);
}

TEST(Losses, WeightedCrossEntropyIsStable) {
  RILL_SHOWS("L10");
  const auto z = tf::constant({0.5f, -2.f, 300.f, -300.f}), y = tf::constant({1.f, 0.f, 1.f, 1.f});
  const auto loss = tf::nn::weighted_cross_entropy_with_logits(
      {.labels = y, .logits = z, .pos_weight = tf::constant(3.f)});
  expect_near(loss, {3 * std::log1p(std::exp(-0.5)), std::log1p(std::exp(-2.0)), 0, 900}, 1e-4);
}

TEST(Losses, ProbabilitiesAreNotLogits) {
  RILL_SHOWS("L11", "L45");
  const auto logits = tf::constant({{4.f, 0.f, 0.f}}), y = tf::constant({0});
  const auto p = tf::nn::softmax(logits);  // logits become probabilities
  EXPECT_NEAR(tf::reduce_sum(p).item<double>(), 1, 1e-6);
  const auto right =
      tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = y, .logits = logits});
  const auto wrong = tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = y, .logits = p});
  EXPECT_NEAR(right.item<double>(), -std::log(p.to_vector<double>()[0]), 1e-6);
  EXPECT_GT(std::abs(right.item<double>() - wrong.item<double>()), 0.4);
}

TEST(Losses, AreAnyFunctionOfTensors) {
  RILL_SHOWS("L12", "L44");
  const auto x = tf::constant({1.f, 2.f, 3.f}), y = tf::constant({3.f, 5.f, 7.f});
  tf::Variable w(0.f), b(0.f);
  const auto error = [&] { return w * x + b - y; };
  EXPECT_FLOAT_EQ(tf::reduce_sum(tf::square(error())).item<float>(), 83);
  EXPECT_FLOAT_EQ(tf::reduce_mean(tf::square(error())).item<float>(), 83.f / 3);
  // x_{k+1} = x_k - gamma * gradient, until the loss stays.
  float before = 1e9f, now = 1e8f;
  int steps = 0;
  for (; before - now > 1e-12f && steps < 100'000; ++steps) {
    tf::GradientTape tape;
    const auto loss = tf::reduce_mean(tf::square(error()));
    const auto g = tape.gradient(loss, {w, b});
    w.assign_sub(g[0] * 0.05f);
    b.assign_sub(g[1] * 0.05f);
    before = now;
    now = loss.item<float>();
  }
  EXPECT_LT(steps, 100'000);
  EXPECT_NEAR(w.item<float>(), 2, 1e-3);
  EXPECT_NEAR(b.item<float>(), 1, 1e-3);
}

// The formulas that the guides write down, worked out by hand.
TEST(Losses, FormulasAreTheGuides) {
  RILL_SHOWS("O34");
  const std::vector<double> x{-1e3, -2.5, 0, 0.5, 40}, z{1, 0.25, 0, 1, 0};
  std::vector<double> want;
  for (std::size_t i = 0; i < x.size(); ++i)
    want.push_back(std::max(x[i], 0.0) - x[i] * z[i] + std::log1p(std::exp(-std::abs(x[i]))));
  expect_near(tf::nn::sigmoid_cross_entropy_with_logits(
                  {.labels = tf::constant(z), .logits = tf::constant(x)}),
              want, 1e-12);
  // Softmax cross entropy: log(sum(exp)) - sum(labels * logits), for labels that sum to 1.
  const auto logits = tf::constant(std::vector<double>{1, 2, 4}),
             labels = tf::constant(std::vector<double>{0.2, 0.3, 0.5});
  const double lse = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(4.0));
  expect_near(tf::nn::softmax_cross_entropy_with_logits(
                  {.labels = tf::expand_dims(labels, 0), .logits = tf::expand_dims(logits, 0)}),
              {lse - (0.2 + 0.6 + 2.0)}, 1e-12);
  // Glorot: uniform within sqrt(6 / (fan_in + fan_out)).
  const auto w = tf::keras::initializers::GlorotUniform({.seed = 1})({300, 200});
  const double limit = std::sqrt(6.0 / 500);
  EXPECT_LE(tf::reduce_max(tf::abs(w)).item<double>(), limit);
  EXPECT_GT(tf::reduce_max(tf::abs(w)).item<double>(), 0.999 * limit);
  // Clips: t * clip_norm / norm where the norm is larger.
  const auto t = tf::constant(std::vector<double>{3, 4});
  expect_near(tf::clip_by_norm(t, 1.0), {0.6, 0.8}, 1e-12);
  expect_near(tf::compat::v1::clip_by_average_norm(t, 1.0), {1.2, 1.6},
              1e-12);  // the average norm is 5 / 2
  const auto [both, norm] =
      tf::clip_by_global_norm(std::vector<Tensor>{t, tf::constant(std::vector<double>{12})}, 6.5);
  EXPECT_DOUBLE_EQ(norm.item<double>(), 13);
  EXPECT_DOUBLE_EQ(both[1].item<double>(), 6);
}

TEST(Losses, MistakesAreNamed) {
  try {
    losses::categorical_crossentropy(tf::constant({1.f, 0.f}), tf::ones({2, 3}));
    FAIL() << "no error";
  } catch (const tf::errors::InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find("categorical_crossentropy"), std::string::npos)
        << e.what();
  }
  EXPECT_THROW(losses::mean_squared_error(tf::ones({2, 3}), tf::ones({2, 4})),
               tf::errors::InvalidArgument);
  EXPECT_THROW(tf::losses::mean_squared_error(tf::ones({3, 1}), tf::ones({3})),
               tf::errors::InvalidArgument);
}

// As in Keras, where classes see to the ranks. The numbers are its.
TEST(Losses, FunctionsBroadcastAndClassesMatchRanks) {
  const Tensor y = tf::constant({0.f, 1.f}), p = tf::constant({{0.2f}, {0.7f}});
  expect_near(losses::mean_squared_error(y, p), {0.34, 0.29});
  expect_near(losses::mse(p, y), {0.34, 0.29});
  expect_near(losses::mean_absolute_error(y, p), {0.5, 0.5});
  expect_near(losses::binary_crossentropy(y, p), {0.9162903428077698, 0.7803236246109009});
  expect_near(losses::binary_focal_crossentropy(y, p), {0.5194828510284424, 0.31102362275123596});
  expect_near(losses::huber(y, p), {0.17, 0.145});
  expect_near(losses::log_cosh(y, p), {0.15531080961227417, 0.13580551743507385});
  expect_near(losses::hinge(y, p), {1, 1});
  expect_near(losses::squared_hinge(y, p), {1.04, 1.49});
  expect_near(losses::kl_divergence(y, p), {1.6094365119934082, 0.35667338967323303});
  expect_near(losses::poisson(y, p), {1.0047186613082886, 0.8783373832702637});
  expect_near(losses::mean_squared_logarithmic_error(y, p),
              {0.14709194004535675, 0.15398931503295898});
  expect_near(losses::cosine_similarity(y, p), {-1, -1});
  expect_near(losses::categorical_hinge(y, p), {1, 1});
  expect_near(losses::MeanSquaredError()(y, p), {0.065});
  expect_near(losses::MeanSquaredError()(p, y), {0.065});
  expect_near(losses::BinaryCrossentropy()(y, p), {0.2899091});
  // By function or name, as compile takes them, they are objects too.
  expect_near((*keras::LossRef(losses::mean_squared_error))(y, p), {0.065});
  expect_near((*keras::LossRef("mse"))(y, p), {0.065});
  expect_near((*keras::LossRef([](const Tensor& t, const Tensor& q) {
                return tf::reduce_mean(tf::square(t - q), -1);
              }))(y, p),
              {0.065});
  keras::metrics::MeanSquaredError metric;
  metric.update_state(y, p);
  expect_near(metric.result(), {0.065});
  const auto traced =
      tf::function([](Tensor t, Tensor q) { return losses::mean_squared_error(t, q); },
                   {.input_signature = {tf::TensorSpec({tf::None}, tf::float32),
                                        tf::TensorSpec({tf::None, tf::None}, tf::float32)}});
  expect_near(Tensor(traced(y, p)), {0.34, 0.29});
}

TEST(Losses, NoNameIsNoLoss) {
  using rill::testing::expect_error;
  namespace keras = tf::keras;
  expect_error<tf::errors::InvalidArgument>([] { keras::LossRef(""); }, "unknown loss \"\"");
  expect_error<tf::errors::InvalidArgument>([] { losses::get(""); }, "unknown loss \"\"");
  expect_error<tf::errors::InvalidArgument>([] { keras::metrics::get(""); }, "unknown metric \"\"");
  keras::Sequential m({keras::layers::Dense(1, {.input_shape = {1}})});
  m.compile({.loss = "mse", .metrics = {""}});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        m.fit(tf::ones({2, 1}), tf::ones({2, 1}), {.verbose = 0});
      },
      "unknown metric \"\"");
}

TEST(Losses, AliasesAreSuggestedAndEachNameIsListedOnce) {
  using rill::testing::expect_error;
  namespace keras = tf::keras;
  expect_error<tf::errors::InvalidArgument>([] { keras::LossRef("msee"); },
                                            "Did you mean \"mse\"?");
  expect_error<tf::errors::InvalidArgument>([] { keras::metrics::get("mapee"); },
                                            "Did you mean \"mape\"?");
  for (const bool loss : {true, false}) try {
      if (loss)
        keras::LossRef("quite something else");
      else
        keras::metrics::get("quite something else");
      ADD_FAILURE() << "no error";
    } catch (const tf::errors::InvalidArgument& e) {
      const std::string& text = e.message();
      const std::size_t first = text.find(" mean_squared_error,");
      ASSERT_NE(first, text.npos) << text;
      EXPECT_EQ(text.find(" mean_squared_error,", first + 1), text.npos) << text;
    }
}

TEST(Losses, BinaryCrossEntropyIsOfProbabilities) {
  RILL_SHOWS("L03");
  const auto y = tf::constant({{1.f, 0.f}, {0.f, 1.f}});
  const auto p = tf::constant({{0.9f, 0.2f}, {0.f, 0.f}});
  const double sure = -std::log(2e-7);  // a wrong 0 is clipped to 1e-7, to which Keras adds that
  const auto by_name = losses::get("binary_crossentropy");
  expect_near(losses::binary_crossentropy(y, p), {-(std::log(0.9) + std::log(0.8)) / 2, sure / 2},
              1e-4);
  EXPECT_NEAR((*by_name)(y, p).item<double>(),
              (-(std::log(0.9) + std::log(0.8)) / 2 + sure / 2) / 2, 1e-4);
  // What a sigmoid makes of logits.
  const auto z = tf::constant({{1.5f, -0.5f}, {0.25f, 3.f}});
  expect_near(losses::binary_crossentropy(y, tf::sigmoid(z)),
              losses::binary_crossentropy(y, z, {.from_logits = true}).to_vector<double>());
}

TEST(Losses, MseIsTheMeanOfSquares) {
  RILL_SHOWS("L04");
  const auto y = tf::constant({{1.f, 2.f}, {3.f, 5.f}}), p = tf::constant({{2.f, 4.f}, {3.f, 2.f}});
  expect_near(losses::mse(y, p), {2.5, 4.5});
  EXPECT_NEAR((*losses::get("mse"))(y, p).item<double>(), 3.5, 1e-6);
}

// What training needs is in three modules, each of which also knows its members by name.
TEST(Losses, StandBesideMetricsAndOptimizers) {
  RILL_SHOWS("L43");
  namespace keras = tf::keras;
  const auto y = tf::constant({{1.f, 2.f}}), p = tf::constant({{2.f, 4.f}});
  for (const auto& loss : {keras::LossRef(keras::losses::MeanSquaredError()),
                           keras::losses::get("mean_squared_error")})
    EXPECT_NEAR((*loss)(y, p).item<double>(), 2.5, 1e-6);
  for (const auto& metric :
       {keras::MetricRef(keras::metrics::MeanAbsoluteError()), keras::metrics::get("mae")})
    EXPECT_NEAR((*metric)(y, p).item<double>(), 1.5, 1e-6);
  for (keras::Optimizer optimizer :
       {keras::Optimizer(keras::optimizers::SGD()), keras::optimizers::get("sgd")}) {
    tf::Variable v(1.f);
    optimizer.apply_gradients({{tf::constant(2.f), v}});
    EXPECT_NEAR(v.item<float>(), 1 - 0.01 * 2, 1e-6);
  }
}

// A predicted 0 counts as 1e-7. Numbers of Keras 2.15.
TEST(Losses, KlDivergenceOfWhatWasThoughtImpossible) {
  expect_near(losses::kl_divergence(tf::constant({{0.f, 1.f}, {0.5f, 0.5f}}),
                                    tf::constant({{1.f, 0.f}, {0.f, 1.f}})),
              {16.118093, 7.365901}, 1e-5);
}

// Numbers of Keras 2.15: losses of columns, which weights may count.
TEST(Losses, AlongTheFirstAxis) {
  const Tensor y = tf::constant({{1.f, 0.f}, {0.f, 1.f}, {0.f, 0.f}}),
               p = tf::constant({{0.7f, 0.2f}, {0.2f, 0.5f}, {0.1f, 0.3f}}),
               w = tf::constant({1.f, 2.f});
  const auto check = [&](const keras::LossRef& loss, double plain, double weighted) {
    EXPECT_NEAR((*loss)(y, p).item<float>(), plain, 1e-6) << loss->name();
    EXPECT_NEAR((*loss)(y, p, w).item<float>(), weighted, 1e-6) << loss->name();
    EXPECT_NEAR((*loss)(y, p, tf::reshape(w, {2, 1})).item<float>(), weighted, 1e-6);
    EXPECT_NEAR((*loss)(y, p, 2.).item<float>(), 2 * plain, 1e-6) << loss->name();
    expect_error<tf::errors::InvalidArgument>(
        [&] {
          (*loss)(y, p, tf::constant({1.f, 2.f, 3.f}));
        },
        "sample_weight has shape [3]");
  };
  check(losses::CategoricalCrossentropy({.axis = 0}), 0.5249110460281372, 0.871484637260437);
  check(losses::CategoricalCrossentropy({.from_logits = true, .axis = 0}), 0.8538902997970581,
        1.323805809020996);
  check(losses::CategoricalCrossentropy({.label_smoothing = 0.1, .axis = 0}), 0.6020075678825378,
        0.972366452217102);
  check(losses::BinaryCrossentropy({.axis = 0}), 0.32635730504989624, 0.5385181903839111);
  check(losses::BinaryCrossentropy({.from_logits = true, .axis = 0}), 0.6787154674530029,
        1.0331439971923828);
  check(losses::CosineSimilarity({.axis = 0}), -0.8818432688713074, -1.2873969078063965);
  check(losses::CategoricalFocalCrossentropy({.axis = 0}), 0.02567344345152378,
        0.04733429104089737);
  check(losses::CategoricalFocalCrossentropy({.label_smoothing = 0.1, .axis = 0}),
        0.05260927975177765, 0.0833120048046112);
  check(losses::BinaryFocalCrossentropy({.axis = 0}), 0.04273221641778946, 0.07845108211040497);
}

// A trace that does not know ranks gives what plain calls give.
TEST(Losses, OfUnknownRanks) {
  const Tensor y = tf::reshape(tf::range(0.f, 24.f), {2, 3, 4}), p = y * 0.5f + 1.f;
  const Tensor weights[] = {tf::constant(2.f), tf::constant({1.f, 3.f}),
                            tf::constant({{1.f}, {3.f}}),
                            tf::constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}),
                            tf::reshape(tf::range(1.f, 7.f), {2, 3, 1})};
  const tf::TensorSpec open{tf::TensorShape(), tf::float32};
  const losses::MeanSquaredError loss;
  auto weighed =
      tf::function([&](const Tensor& t, const Tensor& q, const Tensor& w) { return loss(t, q, w); },
                   {.input_signature = {open, open, open}});
  for (const Tensor& w : weights)
    EXPECT_FLOAT_EQ(weighed(y, p, w).item<float>(), loss(y, p, w).item<float>()) << w.shape();
  EXPECT_THROW(weighed(y, p, tf::ones({2, 3, 4})).item<float>(), tf::errors::InvalidArgument);
  EXPECT_EQ(weighed(tf::zeros({0, 3}), tf::zeros({0, 3}), tf::zeros({0})).item<float>(), 0.f);

  const losses::CategoricalCrossentropy first({.from_logits = true, .axis = 1});
  auto logits = tf::function([&](const Tensor& t, const Tensor& q) { return first(t, q); },
                             {.input_signature = {open, open}});
  EXPECT_NEAR(logits(y / 24.f, p).item<float>(), first(y / 24.f, p).item<float>(), 1e-5);

  // One axis of size 1 more is no matter.
  auto plain = tf::function([&](const Tensor& t, const Tensor& q) { return loss(t, q); },
                            {.input_signature = {open, open}});
  const Tensor row = tf::constant({1.f, 2.f, 4.f}), column = tf::constant({{2.f}, {2.f}, {1.f}});
  EXPECT_FLOAT_EQ(plain(row, column).item<float>(), loss(row, column).item<float>());
  EXPECT_FLOAT_EQ(plain(column, row).item<float>(), loss(column, row).item<float>());

  const losses::SparseCategoricalCrossentropy sparse({.from_logits = true, .ignore_class = 2});
  auto numbers =
      tf::function([&](const Tensor& t, const Tensor& q) { return sparse(t, q); },
                   {.input_signature = {tf::TensorSpec(tf::TensorShape(), tf::int32), open}});
  const Tensor t = tf::constant({{0, 2, 3}, {1, 1, 2}});
  for (const Tensor& labels : {t, tf::expand_dims(t, -1)})
    EXPECT_FLOAT_EQ(numbers(labels, p).item<float>(), sparse(labels, p).item<float>());
}

TEST(Losses, ClassNumbersOfOneClass) {
  const Tensor p = tf::constant({{1.f}, {0.5f}, {0.2f}});
  const losses::SparseCategoricalCrossentropy loss;
  EXPECT_EQ(loss(tf::constant({0, 0, 0}), p).item<float>(), 0.f);
  EXPECT_EQ(loss(tf::constant({{0}, {0}, {0}}), p).item<float>(), 0.f);
}

TEST(Losses, HuberIsOfFloatx) {
  const Tensor y = tf::constant({{1., 2.}}), p = tf::constant({{3., 2.5}});
  EXPECT_EQ(losses::huber(y, p).dtype(), tf::float32);
  EXPECT_FLOAT_EQ(losses::Huber()(y, p).item<float>(), (1.5f + 0.125f) / 2);
}

TEST(Losses, OfSeveralDtypesAreAddedInTheWidest) {
  const Tensor x = keras::Input({2});
  keras::Model m(
      x, tf::Nest{keras::layers::Dense(1, {.kernel_initializer = "ones", .name = "a"})(x),
                  keras::layers::Dense(
                      1, {.kernel_initializer = "ones", .name = "b", .dtype = "float64"})(x)});
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const auto logs =
      m.evaluate(tf::ones({3, 2}), tf::Nest{tf::zeros({3, 1}), tf::ones({3, 1})}, {.verbose = 0});
  EXPECT_FLOAT_EQ(static_cast<float>(logs["loss"]), 5.f);
  m.fit(tf::ones({3, 2}), tf::Nest{tf::zeros({3, 1}), tf::ones({3, 1})}, {.verbose = 0});
}

TEST(Losses, ANameWithAWordLeftOutIsFound) {
  expect_error<tf::errors::InvalidArgument>([] { keras::losses::get("sparse_crossentropy"); },
                                            "Did you mean \"sparse_categorical_crossentropy\"?");
}

}  // namespace
