// Steps that are part of a traced function are those of eager execution, bit for bit.
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace o = tf::keras::optimizers;
namespace v1 = tf::compat::v1;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

using Values = std::vector<std::vector<double>>;

// A gradient that depends on the step, dense or of rows of which one comes twice.
tf::Gradient gradient(const Tensor& step, tf::DType dtype, bool sparse) {
  const Tensor s = tf::cast(step, dtype);
  const Tensor top = tf::stack({s * 0.5 + 0.5, s * 0 - 0.25}), low = tf::stack({1 - s / 2, s + 2});
  if (!sparse) return tf::stack({top, low});
  return tf::IndexedSlices{tf::stack({low * 0.5, top, low * 0.5}),
                           tf::cast(step, tf::int32) * 0 + tf::constant({1, 0, 1}),
                           tf::TensorShape({2, 2})};
}

// What the variable holds after each of five steps.
template <class Make>
Values trajectory(Make make, tf::DType dtype, bool sparse, bool traced) {
  auto optimizer = make();
  tf::Variable v(tf::cast(tf::constant({{1., 2.}, {3., 4.}}), dtype));
  auto step = [&](Tensor i) { optimizer.apply_gradients({{gradient(i, dtype, sparse), v}}); };
  auto graph = tf::function(step);
  Values out;
  for (int i = 0; i < 5; ++i) {
    if (traced)
      graph(tf::constant(i));
    else
      step(tf::constant(i));
    out.push_back(v.template to_vector<double>());
  }
  EXPECT_EQ(graph.trace_count(), traced ? 1 : 0);
  return out;
}

template <class Make>
void expect_equal(const char* name, Make make) {
  for (tf::DType dtype : {tf::float32, tf::float64, tf::float16})
    for (bool sparse : {false, true}) {
      SCOPED_TRACE(tf::format("{} {} {}", name, dtype, sparse ? "rows" : "dense"));
      EXPECT_EQ(trajectory(make, dtype, sparse, true), trajectory(make, dtype, sparse, false));
    }
}

TEST(TracedOptimizers, KerasStepsAreThoseOfEagerExecution) {
  RILL_SHOWS("F03");
  expect_equal("SGD", [] { return o::SGD({.learning_rate = 0.1}); });
  expect_equal("momentum", [] { return o::SGD({.learning_rate = 0.1, .momentum = 0.9}); });
  expect_equal("nesterov",
               [] { return o::SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}); });
  expect_equal("Adam", [] { return o::Adam({.learning_rate = 0.1}); });
  expect_equal("amsgrad", [] { return o::Adam({.learning_rate = 0.1, .amsgrad = true}); });
  expect_equal("Adamax", [] { return o::Adamax({.learning_rate = 0.1}); });
  expect_equal("Nadam", [] { return o::Nadam({.learning_rate = 0.1}); });
  expect_equal("Adagrad", [] { return o::Adagrad({.learning_rate = 0.1}); });
  expect_equal("Adadelta", [] { return o::Adadelta({.learning_rate = 0.1}); });
  expect_equal("RMSprop", [] { return o::RMSprop({.learning_rate = 0.1}); });
  expect_equal("centered", [] {
    return o::RMSprop({.learning_rate = 0.1, .momentum = 0.5, .centered = true});
  });
  expect_equal("Ftrl", [] {
    return o::Ftrl({.learning_rate = 0.1,
                    .l1_regularization_strength = 0.1,
                    .l2_regularization_strength = 0.1,
                    .l2_shrinkage_regularization_strength = 0.1,
                    .beta = 0.2});
  });
}

TEST(TracedOptimizers, Version1StepsAreThoseOfEagerExecution) {
  namespace t = v1::train;
  expect_equal("GradientDescent", [] { return t::GradientDescentOptimizer(0.1); });
  expect_equal("Momentum", [] { return t::MomentumOptimizer(0.1, 0.9); });
  expect_equal("nesterov", [] { return t::MomentumOptimizer(0.1, 0.9, true); });
  expect_equal("Adagrad", [] { return t::AdagradOptimizer(0.1); });
  expect_equal("Adadelta", [] { return t::AdadeltaOptimizer(0.1); });
  expect_equal("RMSProp", [] { return t::RMSPropOptimizer(0.1); });
  expect_equal("centered", [] { return t::RMSPropOptimizer(0.1, 0.9, 0.5, 1e-10, true); });
  expect_equal("Adam", [] { return t::AdamOptimizer(0.1); });
  expect_equal("Ftrl", [] { return t::FtrlOptimizer(0.1, -0.5, 0.1, 0.1, 0.1); });
}

TEST(TracedOptimizers, EagerAndTracedStepsMayTakeTurns) {
  auto run = [](bool turns) {
    o::Nadam nadam;
    v1::train::AdamOptimizer adam;
    tf::Variable a({1.f, 2.f}), b({1.f, 2.f});
    auto step = [&] {
      nadam.apply_gradients({{tf::constant({0.5f, -1.f}), a}});
      adam.apply_gradients({{tf::constant({0.5f, -1.f}), b}});
    };
    auto graph = tf::function(step);
    for (int i = 0; i < 6; ++i) turns&& i % 2 ? graph() : step();
    return std::vector{a.to_vector<float>(), b.to_vector<float>()};
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(TracedOptimizers, ANewLearningRateIsUsedByTheNextCall) {
  o::SGD sgd({.learning_rate = 0.5});
  tf::Variable v(10.f);
  auto step = tf::function([&] { sgd.apply_gradients({{tf::constant(1.f), v}}); });
  step();
  EXPECT_EQ(v.item<float>(), 9.5f);
  sgd.set_learning_rate(2.);
  EXPECT_EQ(sgd.learning_rate(), 2.);
  step();
  EXPECT_EQ(v.item<float>(), 7.5f);
  sgd.apply_gradients({{tf::constant(1.f), v}});  // eagerly too
  EXPECT_EQ(v.item<float>(), 5.5f);
  EXPECT_EQ(step.trace_count(), 1);
  expect_error<tf::errors::FailedPrecondition>(
      [&] { sgd.set_learning_rate([](Tensor) { return tf::constant(1.f); }); },
      "a traced function has the learning rate of \"SGD\" in it");
}

TEST(TracedOptimizers, AVariableRateIsReadAtEachCall) {
  tf::Variable rate(0.5f);
  o::SGD sgd(rate);
  tf::Variable v(10.f);
  auto step = tf::function([&] { sgd.apply_gradients({{tf::constant(1.f), v}}); });
  step();
  rate.assign(2.f);
  step();
  EXPECT_EQ(v.item<float>(), 7.5f);
  expect_error<tf::errors::FailedPrecondition>([&] { sgd.set_learning_rate(1.); },
                                               "expected a tf::Variable as the rate");
}

TEST(TracedOptimizers, AScheduleIsTracedWithTheStep) {
  auto schedule = [](Tensor step) { return v1::train::exponential_decay(0.1, step, 2, 0.5); };
  auto make = [&] { return o::Adam({.learning_rate = schedule}); };
  expect_equal("schedule", make);
  o::SGD sgd({.learning_rate = schedule});
  tf::Variable v(0.f);
  auto step = tf::function([&] { sgd.apply_gradients({{tf::constant(1.f), v}}); });
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(sgd.iterations().item<int>(), 3);
  EXPECT_NEAR(v.item<float>(), -(0.1 + 0.1 * std::sqrt(0.5) + 0.05), 1e-6);
}

TEST(TracedOptimizers, MinimizeAndTheGlobalStepAreTraced) {
  v1::train::GradientDescentOptimizer sgd(0.25);
  tf::Variable x(4.f), global(tf::constant(0, tf::int64), {.trainable = false});
  auto step =
      tf::function([&] { sgd.minimize([&] { return tf::square(x); }, {.global_step = global}); });
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(x.item<float>(), 0.5f);
  EXPECT_EQ(global.item<int>(), 3);
}

TEST(TracedOptimizers, RowsThatDoNotExistAreFoundWhenTheGraphRuns) {
  o::Adagrad adagrad;
  tf::Variable v({{1.f, 2.f}, {3.f, 4.f}});
  auto step = tf::function([&](Tensor rows) {
    adagrad.apply_gradients(
        {{tf::IndexedSlices{tf::ones({1, 2}), rows, tf::TensorShape({2, 2})}, v}});
  });
  step(tf::constant({1}));
  expect_error<tf::errors::InvalidArgument>([&] { step(tf::constant({2})); },
                                            "indices[0] = 2 is not in [0, 2)");
}

TEST(TracedOptimizers, MovingAveragesAreTraced) {
  auto run = [](bool traced) {
    tf::Variable v(1.f), steps(tf::constant(0, tf::int64), {.trainable = false});
    v1::train::ExponentialMovingAverage ema(0.9, {.num_updates = steps});
    ema.apply({v});
    auto step = [&](Tensor x) {
      v.assign(x);
      steps.assign_add(1);
      ema.apply({v});
    };
    auto graph = tf::function(step);
    for (float x : {2.f, 5.f, 1.f}) traced ? graph(x) : step(tf::constant(x));
    return ema.average(v).item<float>();
  };
  EXPECT_EQ(run(true), run(false));
}

// Two layers and Adam; tape, gradients and update in one step.
struct Mlp {
  tf::Variable w1, b1{tf::zeros({32})}, w2, b2{tf::zeros({4})};
  o::Adam adam{o::AdamOptions{.learning_rate = 0.01}};
  Mlp()
      : w1(tf::random::stateless_normal({8, 32}, {1, 2}) * 0.3),
        w2(tf::random::stateless_normal({32, 4}, {3, 4}) * 0.3) {}
  std::vector<tf::Variable> variables() const { return {w1, b1, w2, b2}; }
  Tensor step(const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    const Tensor hidden = tf::nn::relu(tf::matmul(x, w1) + b1);
    const Tensor logits = tf::matmul(hidden, w2) + b2;
    const Tensor loss = tf::reduce_mean(
        tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = y, .logits = logits}));
    adam.apply_gradients(tape.gradient(loss, variables()), variables());
    return loss;
  }
};

TEST(TracedOptimizers, AWholeTrainingStepIsThatOfEagerExecution) {
  RILL_SHOWS("F03");
  Mlp eager, traced;
  auto step = tf::function([&](Tensor x, Tensor y) { return traced.step(x, y); });
  float first = 0, last = 0;
  for (int i = 0; i < 20; ++i) {
    const int rows = i % 5 == 4 ? 7 : 16;  // the last batch of a pass is smaller
    const Tensor x = tf::random::stateless_normal({rows, 8}, {i % 5, 7});
    const Tensor y = tf::argmax(x(tf::all, tf::slice(0, 4)), 1);
    const Tensor want = eager.step(x, y), got = step(x, y);
    ASSERT_EQ(got.item<float>(), want.item<float>()) << "step " << i;
    for (std::size_t k = 0; k < 4; ++k)
      ASSERT_EQ(traced.variables()[k].to_vector<float>(), eager.variables()[k].to_vector<float>())
          << "variable " << k << " after step " << i;
    (i == 0 ? first : last) = got.item<float>();
  }
  EXPECT_LT(last, first);
  EXPECT_EQ(step.trace_count(), 2) << "one for 16 rows, one for any number";
}

}  // namespace
