#include <cmath>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
using keras::OnNan;
using keras::layers::Dense, keras::layers::Lambda;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

// What fit says, with the model's weights and the optimizer's state compared with those before.
struct Report {
  std::string text;
  bool undone = true;
};
std::vector<std::vector<double>> state_of(const keras::Model& m) {
  std::vector<std::vector<double>> all;
  for (const tf::Variable& v : m.weights()) all.push_back(v.to_vector<double>());
  for (const tf::Variable& v : m.optimizer().variables()) all.push_back(v.to_vector<double>());
  return all;
}
// Fits batches of two up to the bad one, whose number in the epoch is `good`.
Report report_of(keras::Model m, const Tensor& x, const Tensor& y, std::int64_t good,
                 keras::CompileOptions o) {
  m.compile(o);
  Report r;
  if (good > 0)
    m.fit(x(tf::slice(0, 2 * good)), y(tf::slice(0, 2 * good)),
          {.batch_size = 2, .verbose = 0, .shuffle = false, .on_nan = OnNan::report});
  std::vector<std::vector<double>> before;
  if (good > 0) before = state_of(m);
  try {
    m.fit(x(tf::slice(2 * good, tf::None)), y(tf::slice(2 * good, tf::None)),
          {.batch_size = 2, .verbose = 0, .shuffle = false, .on_nan = OnNan::report});
  } catch (const tf::errors::InvalidArgument& e) {
    r.text = e.message();
  }
  if (good > 0) r.undone = before == state_of(m);
  return r;
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& p : parts)
    EXPECT_NE(text.find(p), std::string::npos) << "no \"" << p << "\" in:\n" << text;
}

const Tensor& samples() {
  static const Tensor x =
      tf::constant({{1.f, 2.f}, {0.5f, 1.f}, {2.f, 1.f}, {1.f, 1.f}, {1.f, 0.f}, {0.f, 3.f}});
  return x;
}
const Tensor& targets() {
  static const Tensor y = tf::constant({{1.f}, {0.f}, {1.f}, {0.f}, {1.f}, {0.f}});
  return y;
}

class Logarithm : public keras::layers::Layer {
 public:
  Logarithm() : Layer(keras::LayerOptions{.input_shape = {2}, .name = "logarithm"}) {}
  Tensor call(const Tensor& x, const keras::CallContext&) override { return tf::log(x); }
};
constexpr int kLogLine = __LINE__ - 2;

TEST(OnNan, NamesTheLayerAndTheLine) {
  for (const bool eagerly : {false, true}) {
    SCOPED_TRACE(eagerly ? "eagerly" : "planned");
    const Logarithm log;
    const Report r = report_of(keras::Sequential({log, Dense(1)}, "net"), samples(), targets(), 2,
                               {.optimizer = "adam", .loss = "mse", .run_eagerly = eagerly});
    expect_parts(r.text,
                 {"the loss is ", "after batch 0 (counted from 0) of epoch 1", "Log",
                  "in layer \"net/logarithm\"", tf::format("on_nan_test.cc:{}", kLogLine),
                  "result 0: float32 [2, 2], 0 NaN and 2 infinite of 4 elements, the first at "
                  "[0, 1]: -inf",
                  "input 0: float32 [2, 2], from 0 to 3", "Weights, optimizer and metrics"});
    EXPECT_TRUE(r.undone);
    if (!eagerly) expect_parts(r.text, {"node \"net/logarithm/Log\""});
  }
}

TEST(OnNan, FindsAModelThatExplodes) {
  for (const bool eagerly : {false, true}) {
    SCOPED_TRACE(eagerly ? "eagerly" : "planned");
    // One layer trains: of two, a product would overflow before its square does.
    keras::Sequential m({Dense(4, {.kernel_initializer = "ones",
                                   .input_shape = {2},
                                   .name = "first",
                                   .trainable = false}),
                         Dense(1, {.kernel_initializer = "ones", .name = "second"})},
                        "net");
    m.compile({.optimizer = keras::optimizers::SGD(1e4), .loss = "mse", .run_eagerly = eagerly});
    const auto fit = [&] {
      m.fit(samples(), targets(),
            {.batch_size = 2, .epochs = 40, .verbose = 0, .on_nan = OnNan::report});
    };
    try {
      fit();
      ADD_FAILURE() << "trained on";
    } catch (const tf::errors::InvalidArgument& e) {
      expect_parts(e.message(), {"the loss is inf", "SquaredDifference", "in the loss\n"});
      if (!eagerly) expect_parts(e.message(), {"from node \"net/second/BiasAdd\""});
    }
    for (const tf::Variable& v : m.weights())
      for (const double w : v.to_vector<double>()) EXPECT_TRUE(std::isfinite(w)) << v.name();
  }
}

// The loss is finite: 0 * inf comes up on the way back.
TEST(OnNan, FindsAGradient) {
  for (const bool eagerly : {false, true}) {
    SCOPED_TRACE(eagerly ? "eagerly" : "planned");
    const keras::Sequential m(
        {Dense(2, {.kernel_initializer = "zeros", .input_shape = {2}, .name = "first"}),
         Lambda([](const Tensor& x) { return tf::sqrt(x); })},
        "net");
    const int line = __LINE__ - 2;
    const Report r = report_of(m, samples(), samples(), 0,
                               {.optimizer = "sgd", .loss = "mse", .run_eagerly = eagerly});
    expect_parts(r.text, {"the weight \"first/kernel", "is not finite after batch 0",
                          "going backward", tf::format("on_nan_test.cc:{}", line)});
    if (!eagerly) expect_parts(r.text, {"at node \"net/lambda"});
    for (const tf::Variable& v : m.weights())
      for (const double w : v.to_vector<double>()) EXPECT_EQ(w, 0) << v.name();
  }
}

TEST(OnNan, SaysThatTheDataAreNotFinite) {
  Tensor x = tf::concat({samples()(tf::slice(0, 5)), tf::constant({{1.f, NAN}})}, 0);
  const Report r = report_of(keras::Sequential({Dense(1, {.input_shape = {2}})}), x, targets(), 2,
                             {.optimizer = "adam", .loss = "mse"});
  expect_parts(r.text,
               {"the loss is nan", "The batch itself has numbers that are not finite:",
                "x: float32 [2, 2], 1 NaN and 0 infinite of 4 elements, the first at [1, 1]",
                "(sample 1 of the batch)"});
  EXPECT_TRUE(r.undone);
  const auto named = [](const Tensor& p, const Tensor& q) {
    return tf::Nest::dict({{"a", p}, {"b", q}});
  };
  const Tensor a = keras::Input({2}, {.name = "a"}), b = keras::Input({2}, {.name = "b"});
  keras::Model two(named(a, b), Dense(1)(a + b));
  two.compile({.loss = "mse"});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        two.fit(named(samples(), x), targets(),
                {.batch_size = 6, .verbose = 0, .shuffle = false, .on_nan = OnNan::report});
      },
      "x[\"b\"]: float32");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        two.fit(named(samples(), samples()), x,
                {.batch_size = 6, .verbose = 0, .shuffle = false, .on_nan = OnNan::report});
      },
      "y: float32");
}

TEST(OnNan, LooksIntoBranches) {
  for (const bool eagerly : {false, true}) {
    SCOPED_TRACE(eagerly ? "eagerly" : "planned");
    const keras::Sequential m({Lambda([](const Tensor& x) {
                                 return tf::cond(
                                     tf::reduce_min(x) > 0.f, [&] { return x; },
                                     [&] { return tf::math::reciprocal(x); });
                               }),
                               Dense(1)},
                              "net");
    const int line = __LINE__ - 4;
    const Report r = report_of(m, samples(), targets(), 2,
                               {.optimizer = "sgd", .loss = "mse", .run_eagerly = eagerly});
    expect_parts(r.text,
                 {tf::format("on_nan_test.cc:{}", line), "input 0: float32 [2, 2], from 0"});
    EXPECT_TRUE(r.undone);
  }
}

// A scale that is too large is mended by the optimizer; a loss that is infinite is not.
TEST(OnNan, LeavesTheLossScaleToItsOptimizer) {
  keras::mixed_precision::set_global_policy("mixed_float16");
  keras::Sequential m({Dense(4, {.input_shape = {2}}), Dense(1)});
  keras::mixed_precision::set_global_policy("float32");
  const keras::mixed_precision::LossScaleOptimizer optimizer(keras::optimizers::SGD(0.01),
                                                             {.initial_scale = 0x1p30});
  m.compile({.optimizer = optimizer, .loss = "mse"});
  m.fit(samples(), targets(), {.epochs = 20, .verbose = 0, .on_nan = OnNan::report});
  EXPECT_LT(optimizer.loss_scale().item<float>(), 0x1p30f);
  expect_error<tf::errors::InvalidArgument>(
      [&] { m.fit(samples() * 60000.f, targets(), {.verbose = 0, .on_nan = OnNan::report}); },
      "float16 [6");
}

// The replay draws what the step drew: the op is found though dropout hides it mostly.
TEST(OnNan, ReplaysTheSameRandomNumbers) {
  for (const bool eagerly : {false, true}) {
    SCOPED_TRACE(eagerly ? "eagerly" : "planned");
    tf::random::set_seed(11);
    keras::Sequential m({keras::layers::Dropout(0.9, {.input_shape = {2}}),
                         Lambda([](const Tensor& x) { return tf::log(20.001f - x) * 1e-3f; }),
                         Dense(1)});
    m.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = eagerly});
    // Kept numbers become ten times as large: the logarithm of what is left is NaN.
    Tensor x = tf::fill({2, 2}, tf::constant(2.0002f));
    int steps = 0;
    std::string text;
    try {
      for (; steps < 200; ++steps)
        m.fit(x, tf::zeros({2, 1}), {.verbose = 0, .on_nan = OnNan::report});
    } catch (const tf::errors::InvalidArgument& e) {
      text = e.message();
    }
    expect_parts(text, {"Log", "input 0: float32 [2, 2], from -0."});
  }
}

TEST(OnNan, StepsAreTheSameWithAndWithoutIt) {
  const auto losses = [](OnNan on_nan) {
    keras::utils::set_random_seed(5);
    keras::Sequential m({Dense(4, {.activation = "relu", .input_shape = {2}}),
                         keras::layers::Dropout(0.5), keras::layers::BatchNormalization(),
                         Dense(1)});
    m.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
    return m.fit(samples(), targets(),
                 {.batch_size = 2, .epochs = 5, .verbose = 0, .on_nan = on_nan})["loss"];
  };
  EXPECT_EQ(losses(OnNan::ignore), losses(OnNan::report));
}

TEST(OnNan, WeightsThatAreSpoiltAlreadyAreNamed) {
  keras::Sequential m({Dense(1, {.input_shape = {2}, .name = "only"})});
  m.weights()[0].assign(tf::constant({{1.f}, {NAN}}));
  m.compile({.loss = "mse"});
  expect_error<tf::errors::InvalidArgument>(
      [&] { m.fit(samples(), targets(), {.verbose = 0, .on_nan = OnNan::report}); },
      "the weight \"only/kernel:0\" is not finite before the first batch");
}

// Infinite on purpose, as masks are, until two of them meet.
TEST(OnNan, FindsNaNOfInfiniteNumbers) {
  keras::Sequential m({Dense(2, {.input_shape = {2}}), Lambda([](const Tensor& x) {
                         const Tensor hidden = x + tf::constant({-INFINITY, -INFINITY});
                         return tf::nn::softmax(hidden);
                       })},
                      "net");
  m.compile({.loss = "mse"});
  expect_error<tf::errors::InvalidArgument>(
      [&] { m.fit(samples(), samples(), {.verbose = 0, .on_nan = OnNan::report}); },
      "The first op that made NaN, of infinite numbers:");
}

}  // namespace
