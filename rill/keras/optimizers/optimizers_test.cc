#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "rill/base/logging.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace v1 = tf::compat::v1;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

// TensorFlow's trajectories (tools/goldens/make_optimizer_goldens.py).
const std::map<std::string, std::vector<double>>& goldens() {
  static const auto* all = [] {
    auto* map = new std::map<std::string, std::vector<double>>;
    const char* root = std::getenv("RILL_SOURCE_DIR");
    std::ifstream in(std::string(root ? root : ".") +
                     "/rill/keras/optimizers/testdata/optimizers.txt");
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      for (double v; words >> v;) (*map)[name].push_back(v);
    }
    return map;
  }();
  return *all;
}

Tensor dense(int step) {
  const float s = static_cast<float>(step);
  return tf::constant({{0.5f * (s + 1), -0.25f}, {1.f - 0.5f * s, 2.f}});
}
tf::Gradient rows(int step) {
  const Tensor g = dense(step);
  return tf::IndexedSlices{tf::stack({g[1] * 0.5f, g[0], g[1] * 0.5f}), tf::constant({1, 0, 1}),
                           tf::TensorShape({2, 2})};
}

template <class O>
void check(const std::string& name, O optimizer, bool sparse) {
  SCOPED_TRACE((sparse ? "rows_" : "") + name);
  const auto found = goldens().find((sparse ? "rows_" : "") + name);
  ASSERT_NE(found, goldens().end());
  tf::Variable v({{1.f, 2.f}, {3.f, 4.f}});
  for (int step = 0; step < 5; ++step) {
    optimizer.apply_gradients({{sparse ? rows(step) : tf::Gradient(dense(step)), v}});
    const auto got = v.to_vector<double>();
    for (std::size_t i = 0; i < 4; ++i)
      ASSERT_NEAR(got[i], found->second[static_cast<std::size_t>(step) * 4 + i], 3e-6)
          << "step " << step << " element " << i;
  }
}

TEST(Optimizers, KerasTrajectories) {
  RILL_SHOWS("L23", "L24", "L26");
  namespace o = keras::optimizers;
  for (bool sparse : {false, true}) {
    check("SGD", o::SGD({.learning_rate = 0.1}), sparse);
    check("SGD_momentum", o::SGD({.learning_rate = 0.1, .momentum = 0.9}), sparse);
    check("SGD_nesterov", o::SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}),
          sparse);
    check("Adam", o::Adam({.learning_rate = 0.1}), sparse);
    check("Adam_amsgrad", o::Adam({.learning_rate = 0.1, .amsgrad = true}), sparse);
    check("Adamax", o::Adamax({.learning_rate = 0.1}), sparse);
    check("Nadam", o::Nadam({.learning_rate = 0.1}), sparse);
    check("Adagrad", o::Adagrad({.learning_rate = 0.1}), sparse);
    check("Adadelta", o::Adadelta({.learning_rate = 0.1}), sparse);
    check("RMSprop", o::RMSprop({.learning_rate = 0.1}), sparse);
    check("RMSprop_centered", o::RMSprop({.learning_rate = 0.1, .momentum = 0.5, .centered = true}),
          sparse);
  }
  check("Ftrl",
        o::Ftrl({.learning_rate = 0.1,
                 .l1_regularization_strength = 0.1,
                 .l2_regularization_strength = 0.1,
                 .l2_shrinkage_regularization_strength = 0.1,
                 .beta = 0.2}),
        false);
}

TEST(Optimizers, Version1Trajectories) {
  RILL_SHOWS("L20", "L21", "L22");
  namespace t = v1::train;
  for (bool sparse : {false, true}) {
    check("MomentumOptimizer", t::MomentumOptimizer(0.1, 0.9), sparse);
    check("MomentumOptimizer_nesterov", t::MomentumOptimizer(0.1, 0.9, true), sparse);
    check("AdagradOptimizer", t::AdagradOptimizer(0.1), sparse);
    check("AdadeltaOptimizer", t::AdadeltaOptimizer(0.1), sparse);
    check("RMSPropOptimizer", t::RMSPropOptimizer(0.1), sparse);
    check("RMSPropOptimizer_centered", t::RMSPropOptimizer(0.1, 0.9, 0.5, 1e-10, true), sparse);
    check("AdamOptimizer", t::AdamOptimizer(0.1), sparse);
    check("FtrlOptimizer", t::FtrlOptimizer(0.1, -0.5, 0.1, 0.1, 0.1), sparse);
  }
}

TEST(Optimizers, GradientDescentStepsAgainstTheGradient) {
  RILL_SHOWS("L19");
  for (bool sparse : {false, true})
    check("GradientDescentOptimizer", v1::train::GradientDescentOptimizer(0.1), sparse);
  tf::Variable w(3.f);
  v1::train::GradientDescentOptimizer(0.5).apply_gradients({{tf::constant(2.f), w}});
  EXPECT_EQ(w.item<float>(), 2.f);
}

TEST(Optimizers, ApplyGradientsCountsTheGlobalStep) {
  RILL_SHOWS("E51", "Q59");
  tf::Variable w(1.f);
  const auto step = v1::train::get_or_create_global_step();
  const auto before = step.item<std::int64_t>();
  v1::train::GradientDescentOptimizer optimizer(0.1);
  for (int i = 0; i < 3; ++i)
    optimizer.apply_gradients(tf::zip({tf::constant(1.f)}, {w}), {.global_step = step});
  EXPECT_EQ(step.item<std::int64_t>(), before + 3);
  EXPECT_EQ(step.dtype(), tf::int64);
  EXPECT_NEAR(w.item<float>(), 0.7f, 1e-6);
}

TEST(Optimizers, ZipPairsGradientsWithVariables) {
  RILL_SHOWS("E52");
  tf::Variable a(1.f), b(2.f);
  keras::optimizers::SGD sgd({.learning_rate = 1});
  sgd.apply_gradients(tf::zip({tf::constant(0.5f), tf::constant(0.25f)}, {a, b}));
  EXPECT_EQ(a.item<float>(), 0.5f);
  EXPECT_EQ(b.item<float>(), 1.75f);
  EXPECT_EQ(sgd.iterations().item<int>(), 1);
  EXPECT_THROW(tf::zip({tf::constant(0.5f)}, {a, b}), tf::errors::InvalidArgument);
}

TEST(Optimizers, MinimizeEqualsGradientAndApply) {
  RILL_SHOWS("E53");
  tf::Variable a(3.f), b(3.f);
  keras::optimizers::Adam one({.learning_rate = 0.1}), two({.learning_rate = 0.1});
  for (int i = 0; i < 4; ++i) {
    one.minimize([&] { return tf::square(a); }, {a});
    tf::GradientTape tape;
    const auto loss = tf::square(b);
    two.apply_gradients(tape.gradient(loss, {b}), {b});
  }
  EXPECT_EQ(a.item<float>(), b.item<float>());
  const auto step = v1::train::get_or_create_global_step();
  const auto before = step.item<int>();
  v1::train::GradientDescentOptimizer(0.1).minimize([&] { return tf::square(a); },
                                                    {.global_step = step});
  EXPECT_EQ(step.item<int>(), before + 1);
}

TEST(Optimizers, LearningRateMayBeASchedule) {
  RILL_SHOWS("L28");
  tf::Variable w(0.f);
  keras::optimizers::SGD sgd({.learning_rate = [](Tensor step) {
    return 0.01f * tf::pow(0.99f, tf::cast(step, tf::float32));
  }});
  double want = 0;
  for (int i = 0; i < 3; ++i) {
    sgd.apply_gradients({{tf::constant(1.f), w}});
    want -= 0.01 * std::pow(0.99, i);
    EXPECT_NEAR(w.item<float>(), want, 1e-7);
  }
}

TEST(Optimizers, ExponentialDecay) {
  RILL_SHOWS("L27", "Q48");
  const double want[] = {0.10717735, 0.11486984, 0.12311444, 0.13195079, 0.14142136,
                         0.15157166, 0.16245048, 0.17411011, 0.1866066,  0.2};
  for (int step = 1; step <= 10; ++step)
    EXPECT_NEAR(v1::train::exponential_decay(0.1, step, 10, 2).item<float>(), want[step - 1], 1e-6);
  EXPECT_NEAR(v1::train::exponential_decay(0.1, 19, 10, 2, true).item<float>(), 0.2, 1e-7);
}

// Nothing changes when one of the gradients is wrong.
TEST(Optimizers, BadGradientChangesNothing) {
  tf::Variable a(1.f), b({1.f, 2.f});
  keras::optimizers::Adam adam;
  EXPECT_THROW(adam.apply_gradients({{tf::constant(1.f), a}, {tf::constant({1.f, 2.f, 3.f}), b}}),
               tf::errors::InvalidArgument);
  EXPECT_EQ(a.item<float>(), 1.f);
  EXPECT_EQ(adam.iterations().item<int>(), 0);
  try {
    adam.apply_gradients({{tf::Gradient(), a}});
    ADD_FAILURE();
  } catch (const tf::errors::InvalidArgument& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("no gradient is given for any of 1 variables"));
  }
}

TEST(Optimizers, AreFoundByName) {
  RILL_SHOWS("L25");
  EXPECT_EQ(keras::optimizers::get("adam").name(), "Adam");
  EXPECT_EQ(keras::optimizers::get("RMSprop").learning_rate(), 0.001);
  tf::Variable v(1.f);
  keras::optimizers::get("sgd").apply_gradients({{tf::constant(1.f), v}});
  EXPECT_FLOAT_EQ(v.item<float>(), 0.99f);
  try {
    keras::optimizers::get("adm");
    FAIL() << "no error";
  } catch (const tf::errors::InvalidArgument& e) {
    EXPECT_STREQ(e.what(),
                 "[optimizers.get] there is no optimizer \"adm\". Did you mean \"adam\"?");
  }
}

TEST(Optimizers, GradientsAreClippedOnTheirWay) {
  RILL_SHOWS("L36", "L41");
  tf::Variable a({3.f, 0.f}), b(4.f);
  tf::GradientTape tape;
  const auto loss =
      (tf::reduce_sum(tf::square(a)) + b * b) / 2.f;  // its gradients are a and b: norm 5
  const tf::Gradients g = tape.gradient(loss, {a, b});
  const Tensor norm = tf::global_norm(g);
  EXPECT_FLOAT_EQ(norm.item<float>(), 5);
  const auto [clipped, used] = tf::clip_by_global_norm(g, 1.f);
  const auto [again, given] =
      tf::clip_by_global_norm(g, 1.f, norm);  // the norm need not be worked out twice
  EXPECT_FLOAT_EQ(used.item<float>(), 5);
  EXPECT_EQ(again[0].to_vector<float>(), clipped[0].to_vector<float>());
  const auto [half, ten] = tf::clip_by_global_norm(g, 1.f, 10.f);  // use_norm is believed
  EXPECT_FLOAT_EQ(half[1].item<float>(), 0.4f);
  EXPECT_FLOAT_EQ(ten.item<float>(), 10);
  keras::optimizers::SGD sgd({.learning_rate = 1.0});
  sgd.apply_gradients(tf::zip(clipped, {a, b}));
  EXPECT_FLOAT_EQ(a.to_vector<float>()[0], 2.4f);
  EXPECT_FLOAT_EQ(b.item<float>(), 3.2f);
}

TEST(Optimizers, MovingAveragesFollowTheGlobalStep) {
  RILL_SHOWS("L29");
  tf::Variable w(0.f, {.name = "w"}), step(0);
  tf::train::ExponentialMovingAverage plain(0.5), early(0.99, {.num_updates = step});
  EXPECT_FALSE(plain.average(w).defined());
  plain.apply({w});
  early.apply({w});
  w.assign(8.f);
  plain.apply({w});
  EXPECT_FLOAT_EQ(plain.average(w).item<float>(), 4);
  EXPECT_EQ(plain.average_name(w), "w/ExponentialMovingAverage");
  step.assign(2);
  early.apply({w});  // decay min(0.99, 3 / 12)
  EXPECT_FLOAT_EQ(early.average(w).item<float>(), 6);
  EXPECT_THROW(tf::train::ExponentialMovingAverage(1.5), tf::errors::InvalidArgument);
}

// Every gradient is checked before the first variable changes.
TEST(Optimizer, AnErrorLeavesNothingHalfApplied) {
  using keras::optimizers::Optimizer;
  const Optimizer kinds[] = {keras::optimizers::SGD(), keras::optimizers::SGD({.momentum = 0.9}),
                             keras::optimizers::Adam(), keras::optimizers::Ftrl()};
  for (Optimizer o : kinds) {
    SCOPED_TRACE(o.name());
    tf::Variable w({1.f, 1.f}), v({1.f, 2.f}), n({1, 2});
    const Tensor one = tf::constant({1.f, 1.f});
    auto fails = [&](const tf::Gradient& g, const tf::Variable& var, const char* text) {
      expect_error<tf::errors::InvalidArgument>(
          [&] {
            o.apply_gradients({{one, w}, {g, var}});
          },
          text);
      EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{1, 1}));
      EXPECT_EQ(o.iterations().item<int>(), 0);
    };
    fails(tf::IndexedSlices{tf::constant({1.f}), tf::constant({7}), {2}}, v,
          "indices[0] = 7 of the gradient of variable \"Variable:0\" is not in [0, 2)");
    fails(tf::IndexedSlices{tf::constant({1.f}), tf::constant({-1}), {2}}, v, "indices[0] = -1");
    fails(tf::IndexedSlices{tf::constant({1.f, 2.f}), tf::constant({1}), {2}}, v,
          "rows [2] at indices [1]; expected rows [1]");
    fails(tf::constant({1, 1}), n,
          "variable \"Variable:0\" is int32; expected a floating-point variable");
  }
}

// The slots of a variable of open shape have the size of its first value.
TEST(Optimizer, AVariableThatGrewDoesNotFitItsSlots) {
  tf::Variable v({1.f, 2.f}, {.shape = {tf::None}});
  keras::optimizers::Adam adam;
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        adam.apply_gradients({{tf::constant({1.f}), v}});
      },
      "has shape [2], its gradient has shape [1]");
  adam.apply_gradients({{tf::constant({1.f, 1.f}), v}});
  v.assign({1.f, 2.f, 3.f});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        adam.apply_gradients({{tf::constant({1.f, 1.f, 1.f}), v}});
      },
      "has shape [3] now, but its slot");
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(Optimizer, MomentumIsAFraction) {
  expect_error<tf::errors::InvalidArgument>([] { keras::optimizers::SGD({.momentum = 2}); },
                                            "[SGD] momentum is 2; expected a number in [0, 1]");
  EXPECT_NO_THROW(keras::optimizers::SGD({.momentum = 1}));
}

TEST(Optimizer, AdamWDecaysWeights) {
  expect_error<tf::errors::InvalidArgument>(
      [] { keras::optimizers::AdamW({.weight_decay = std::nullopt}); },
      "[AdamW] there is no weight_decay; expected a number, or use Adam");
}

TEST(Optimizer, TheGlobalStepIsAnIntegerScalar) {
  RILL_SHOWS("Z55");
  EXPECT_TRUE(v1::train::get_or_create_global_step().dtype().is_integer());
  tf::Variable v(1.f), fraction(0.f), list({0, 0});
  v1::train::GradientDescentOptimizer sgd(0.1);
  for (const tf::Variable& step : {fraction, list})
    expect_error<tf::errors::InvalidArgument>(
        [&] {
          sgd.apply_gradients({{tf::constant(1.f), v}}, {.global_step = step});
        },
        "expected an integer scalar");
  EXPECT_EQ(v.item<float>(), 1.f);
}

// The state is where the variable is.
TEST(Optimizer, SlotsLiveOnTheVariablesDevice) {
  tf::Variable v(tf::constant({1.f, 2.f}).to("/TEST:0"));
  keras::optimizers::SGD sgd({.learning_rate = 1., .momentum = 0.5});
  sgd.apply_gradients({{tf::constant({1.f, 1.f}), v}});
  ASSERT_EQ(sgd.variables().size(), 2u);
  EXPECT_EQ(&sgd.variables()[1].device(), &v.device());
  EXPECT_EQ(sgd.variables()[1].to_vector<float>(), (std::vector<float>{-1, -1}));
}

// TensorFlow 1's optimizers work in compile, and step there as they do by hand.
template <class O>
void expect_same_in_fit(O in_fit, O by_hand) {
  const Tensor x = tf::random::stateless_uniform({8, 3}, {1, 2}, -1, 1),
               y = tf::random::stateless_uniform({8, 2}, {3, 4}, -1, 1);
  keras::Sequential fitted({keras::layers::Dense(2, {.kernel_initializer = "ones"})}),
      stepped({keras::layers::Dense(2, {.kernel_initializer = "ones"})});
  fitted.compile({.optimizer = in_fit, .loss = "mse", .metrics = {"mae"}});
  const auto history =
      fitted.fit(x, y, {.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
  stepped(x);
  for (int step = 0; step < 6; ++step) {
    const auto batch = tf::slice(step % 2 * 4, step % 2 * 4 + 4);
    by_hand.minimize([&] { return tf::reduce_mean(tf::square(stepped(x(batch)) - y(batch))); },
                     {.var_list = stepped.trainable_variables()});
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto got = fitted.get_weights()[i].to_vector<float>(),
               want = stepped.get_weights()[i].to_vector<float>();
    for (std::size_t j = 0; j < want.size(); ++j) EXPECT_NEAR(got[j], want[j], 1e-6);
  }
}

TEST(Optimizers, OfVersion1StandInCompile) {
  RILL_SHOWS("K37");
  expect_same_in_fit(tf::train::AdamOptimizer(0.001), tf::train::AdamOptimizer(0.001));
  expect_same_in_fit(tf::train::RMSPropOptimizer(0.01), tf::train::RMSPropOptimizer(0.01));
  expect_same_in_fit(tf::train::GradientDescentOptimizer(0.2),
                     tf::train::GradientDescentOptimizer(0.2));
}

// The step that an optimizer counts is where TensorBoard draws a value.
TEST(Optimizers, TheGlobalStepPlacesSummaries) {
  RILL_SHOWS("V22");
  const std::string folder = rill::testing::scratch_folder() + "/summaries";
  std::filesystem::remove_all(folder);
  const auto writer = tf::summary::create_file_writer(folder);
  const auto scope = writer.as_default();
  tf::Variable w(1.f), global_step(tf::constant(0, tf::int64));
  tf::train::GradientDescentOptimizer optimizer(0.25);
  for (int i = 0; i < 3; ++i) {
    optimizer.minimize([&] { return w * w; }, {.global_step = global_step, .var_list = {w}});
    tf::summary::scalar("w", w.value(), {.step = global_step});
  }
  expect_error<tf::errors::FailedPrecondition>([&] { tf::summary::scalar("w", w.value()); },
                                               "step");
  writer.close();
  std::vector<std::pair<std::int64_t, float>> points;
  for (const auto& event : tf::summary::summary_iterator(writer.path()))
    for (const auto& value : event.values)
      points.emplace_back(event.step, value.tensor.item<float>());
  EXPECT_EQ(points, (std::vector<std::pair<std::int64_t, float>>{{1, .5f}, {2, .25f}, {3, .125f}}));
}

TEST(Optimizer, TheRateOfAScheduleIsThatOfTheLastStep) {
  const tf::Variable v({1.f});
  keras::optimizers::SGD sgd(keras::optimizers::schedules::ExponentialDecay(
      {.initial_learning_rate = 0.1, .decay_steps = 1, .decay_rate = 0.5}));
  EXPECT_NEAR(sgd.learning_rate(), 0.1, 1e-7);
  for (const double want : {0.1, 0.05, 0.025}) {
    const tf::Variable steps = sgd.apply_gradients({{tf::constant({1.f}), v}});
    EXPECT_EQ(steps.id(), sgd.iterations().id());
    EXPECT_NEAR(sgd.learning_rate(), want, 1e-7);
  }
  EXPECT_NEAR(v.value().to_vector<float>()[0], 0.825f, 1e-6);
}

// Keras 2.15's numbers. Its Nadam counts products of momenta while it traces, so that compiled
// training of several variables goes another way than eager steps.
TEST(Optimizer, NadamTrainsAsCompiledKerasDoes) {
  std::vector<float> wave(30);
  for (std::size_t i = 0; i < wave.size(); ++i) wave[i] = std::sin(static_cast<float>(i));
  const Tensor x = tf::reshape(tf::constant(wave), {10, 3}),
               y = tf::reduce_sum(x, 1, {.keepdims = true});
  const auto model = [&] {
    return keras::Sequential(
        {keras::layers::Dense(
             4, {.activation = "tanh", .kernel_initializer = "ones", .input_shape = {3}}),
         keras::layers::Dense(1, {.kernel_initializer = "ones"})});
  };
  const auto expect_losses = [&](const keras::optimizers::Nadam& nadam, int batch, bool eagerly,
                                 const std::vector<double>& want) {
    keras::Sequential m = model();
    m.compile({.optimizer = nadam, .loss = "mse", .run_eagerly = eagerly});
    const auto h = m.fit(x, y, {.batch_size = batch, .epochs = 3, .verbose = 0, .shuffle = false});
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(h["loss"][i], want[i], 2e-6 * want[i]) << batch << " " << eagerly << " " << i;
  };
  const auto nadam = [] { return keras::optimizers::Nadam({.learning_rate = 0.05}); };
  expect_losses(nadam(), 5, false, {2.6824660301208496, 2.077962875366211, 1.5969221591949463});
  expect_losses(nadam(), 5, true, {2.6618902683258057, 1.8978990316390991, 1.4160906076431274});
  // The last batch of an epoch is smaller.
  expect_losses(nadam(), 4, false, {2.6738810539245605, 1.787237524986267, 1.1650066375732422});
  expect_losses(nadam(), 4, true, {2.660165309906006, 1.5989420413970947, 1.0149033069610596});
  // State that is there already is not made by the trace.
  keras::Sequential m = model();
  auto built = nadam();
  built.build(m.trainable_variables());
  m.compile({.optimizer = built, .loss = "mse"});
  const auto h = m.fit(x, y, {.batch_size = 5, .epochs = 3, .verbose = 0, .shuffle = false});
  const std::vector<double> want{2.6835176944732666, 2.041818380355835, 1.5678532123565674};
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(h["loss"][i], want[i], 6e-6);
}

TEST(Optimizer, WithoutPairsNothingHappens) {
  keras::optimizers::Adam adam;
  EXPECT_EQ(adam.apply_gradients({}).item<std::int64_t>(), 0);
  adam.apply_gradients(tf::Gradients(), {});
  EXPECT_EQ(adam.variables().size(), 1u);
}

std::vector<std::string>& warnings() {
  static auto* list = new std::vector<std::string>;
  return *list;
}
TEST(Optimizer, VariablesWithoutAGradientHaveStateAndAreNamed) {
  const tf::Variable a({1.f}, {.name = "a"}), b({2.f}, {.name = "b"});
  keras::optimizers::Adam adam;
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        adam.apply_gradients({{tf::Gradient(), a}});
      },
      "no gradient is given");
  const tf::LogLevel before = tf::log_level();
  tf::set_log_level(tf::LogLevel::warning);
  tf::set_log_sink([](tf::LogLevel, std::string_view line) { warnings().emplace_back(line); });
  adam.apply_gradients({{tf::Gradient(), a}, {tf::constant({1.f}), b}});
  tf::set_log_sink(nullptr);
  tf::set_log_level(before);
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_NE(warnings()[0].find("no gradient for \"a"), std::string::npos) << warnings()[0];
  EXPECT_EQ(adam.variables().size(), 5u);  // as Keras has it: the steps, and two of each
  EXPECT_EQ(a.value().to_vector<float>()[0], 1.f);
}

}  // namespace
