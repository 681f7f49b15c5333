// The state of optimizers in checkpoints, against what TensorFlow 2.15.1 saved and did next
// (rill/saving/testdata/make_checkpoints.py).
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "rill/rill.h"
#include "rill/saving/testdata/folder.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace v1 = tf::compat::v1;
using rill::testing::expect_error;
using tf::saving_tests::fresh_folder;
using tf::saving_tests::golden;

namespace {

// One optimizer of any family: what it is, and how it makes a step.
struct AnyOptimizer {
  tf::train::TrackableRef object;
  std::function<void(const tf::GradientsAndVariables&)> apply;
};
template <class O>
AnyOptimizer any(O o) {
  return {tf::train::TrackableRef(o),
          [o](const tf::GradientsAndVariables& g) mutable { o.apply_gradients(g); }};
}

std::map<std::string, std::function<AnyOptimizer()>> optimizers() {
  namespace k = keras::optimizers;
  namespace t = v1::train;
  return {
      {"adam", [] { return any(k::Adam(0.01)); }},
      {"adam_amsgrad", [] { return any(k::Adam({.learning_rate = 0.01, .amsgrad = true})); }},
      {"sgd", [] { return any(k::SGD(0.1)); }},
      {"sgd_momentum", [] { return any(k::SGD({.learning_rate = 0.1, .momentum = 0.9})); }},
      {"rmsprop", [] { return any(k::RMSprop(0.01)); }},
      {"rmsprop_centered",
       [] { return any(k::RMSprop({.learning_rate = 0.01, .momentum = 0.9, .centered = true})); }},
      {"adagrad", [] { return any(k::Adagrad({.learning_rate = 0.1})); }},
      {"adadelta", [] { return any(k::Adadelta({.learning_rate = 0.1})); }},
      {"adamax", [] { return any(k::Adamax({.learning_rate = 0.01})); }},
      {"nadam", [] { return any(k::Nadam({.learning_rate = 0.01})); }},
      {"ftrl", [] { return any(k::Ftrl({.learning_rate = 0.1})); }},
      {"v1_adam", [] { return any(t::AdamOptimizer(0.01)); }},
      {"v1_momentum", [] { return any(t::MomentumOptimizer(0.1, 0.9)); }},
      {"v1_rmsprop", [] { return any(t::RMSPropOptimizer(0.01, 0.9, 0.0, 1e-10, true)); }},
      {"v1_adagrad", [] { return any(t::AdagradOptimizer(0.1)); }},
      {"v1_adadelta", [] { return any(t::AdadeltaOptimizer(0.1)); }},
      {"v1_ftrl", [] { return any(t::FtrlOptimizer(0.1)); }},
      {"v1_descent", [] { return any(t::GradientDescentOptimizer(0.1)); }},
  };
}

struct Training {
  explicit Training(const AnyOptimizer& o) : optimizer(o) {}
  void steps(int from, int to) {
    for (int i = from; i < to; ++i) {
      const float n = static_cast<float>(i + 1);
      optimizer.apply({{tf::constant({{0.5f, -1.f}, {0.25f, 2.f}}) * n, w},
                       {tf::constant({1.f, -0.5f}) / n, b}});
    }
  }
  std::vector<float> values() const {
    std::vector<float> out = w.to_vector<float>();
    for (float x : b.to_vector<float>()) out.push_back(x);
    return out;
  }
  tf::train::Checkpoint checkpoint() const {
    return tf::train::Checkpoint({{"w", w}, {"b", b}, {"optimizer", optimizer.object}});
  }
  AnyOptimizer optimizer;
  tf::Variable w = tf::Variable(tf::constant({{1.f, 2.f}, {3.f, 4.f}}), {.name = "w"}),
               b = tf::Variable(tf::constant({0.5f, -0.5f}), {.name = "b"});
};

std::map<std::string, std::vector<float>> after() {
  std::map<std::string, std::vector<float>> out;
  std::ifstream in(golden("optimizers/after.txt"));
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (float v; words >> v;) out[name].push_back(v);
  }
  return out;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6) << i;
}

TEST(OptimizerCheckpoint, GoesOnWhereTensorFlowStopped) {
  const auto want = after();
  ASSERT_EQ(want.size(), optimizers().size());
  for (const auto& [name, make] : optimizers()) {
    SCOPED_TRACE(name);
    Training fresh(make());  // the state is made at the first step
    const auto status = fresh.checkpoint().restore(golden("optimizers/" + name + "-1"));
    status.assert_existing_objects_matched();
    fresh.steps(3, 5);
    status.assert_consumed();
    expect_near(fresh.values(), want.at(name));

    Training used(make());  // the state is there, with other values
    used.steps(0, 1);
    used.checkpoint().restore(golden("optimizers/" + name + "-1")).assert_consumed();
    used.steps(3, 5);
    expect_near(used.values(), want.at(name));
  }
}

TEST(OptimizerCheckpoint, WritesTheKeysThatTensorFlowWrites) {
  for (const auto& [name, make] : optimizers()) {
    SCOPED_TRACE(name);
    Training t(make());
    t.steps(0, 3);
    const std::string folder = fresh_folder("optimizer_keys");
    t.checkpoint().save(folder + "/c");
    const auto ours = tf::train::load_checkpoint(folder);
    const auto theirs = tf::train::load_checkpoint(golden("optimizers/" + name + "-1"));
    EXPECT_EQ(ours.get_variable_to_shape_map(), theirs.get_variable_to_shape_map());
    EXPECT_EQ(ours.get_variable_to_dtype_map(), theirs.get_variable_to_dtype_map());
    // Without momentum Keras writes the last step into slots that nothing reads.
    const std::string unread = name == "sgd" ? "optimizer/_variables/" : "none";
    for (const auto& [key, dtype] : theirs.get_variable_to_dtype_map())
      if (dtype != tf::string && key.rfind(unread, 0) != 0)
        expect_near(ours.get_tensor(key).to_vector<float>(),
                    theirs.get_tensor(key).to_vector<float>());
  }
}

TEST(OptimizerCheckpoint, TrainingGoesOnToTheBit) {
  RILL_SHOWS("S11", "S12", "P16");
  for (const auto& [name, make] : optimizers()) {
    SCOPED_TRACE(name);
    const std::string folder = fresh_folder("resume");
    Training whole(make()), first(make()), second(make());
    whole.steps(0, 6);
    first.steps(0, 3);
    first.checkpoint().save(folder + "/ckpt");
    const auto status = second.checkpoint().restore(tf::train::latest_checkpoint(folder));
    second.steps(3, 6);
    status.assert_consumed();
    EXPECT_EQ(second.values(), whole.values());
  }
}

TEST(OptimizerCheckpoint, ATracedStepTakesItsStateToo) {
  const std::string folder = fresh_folder("traced");
  Training whole(any(keras::optimizers::Adam(0.01))), first(any(keras::optimizers::Adam(0.01)));
  whole.steps(0, 5);
  first.steps(0, 3);
  first.checkpoint().save(folder + "/c");
  Training second(any(keras::optimizers::Adam(0.01)));
  second.checkpoint().restore(folder + "/c-1");
  auto step = tf::function([&](tf::Tensor n) {
    second.optimizer.apply({{tf::constant({{0.5f, -1.f}, {0.25f, 2.f}}) * n, second.w},
                            {tf::constant({1.f, -0.5f}) / n, second.b}});
    return n;
  });
  step(tf::constant(4.f));
  step(tf::constant(5.f));
  expect_near(second.values(), whole.values());
}

TEST(OptimizerCheckpoint, TheLearningRateIsPartOfIt) {
  const std::string folder = fresh_folder("rate");
  keras::optimizers::SGD slow(0.001), fast(0.5);
  tf::train::Checkpoint({{"o", slow}}).write(folder + "/c");
  tf::train::Checkpoint({{"o", slow}}).read(folder + "/c").assert_consumed();
  EXPECT_EQ(slow.learning_rate(), 0.001);  // not what a float makes of it
  tf::train::Checkpoint({{"o", fast}}).read(folder + "/c").assert_consumed();
  EXPECT_EQ(fast.learning_rate(), static_cast<double>(0.001f));

  tf::Variable rate(0.25f);
  keras::optimizers::SGD by_variable{keras::optimizers::LearningRate(rate)};
  tf::train::Checkpoint({{"o", by_variable}}).read(folder + "/c").assert_consumed();
  EXPECT_EQ(rate.item<float>(), 0.001f);

  // A schedule follows the steps, which are restored.
  const auto schedule = [](const tf::Tensor& step) {
    return 0.1 / (1 + tf::cast(step, tf::float64));
  };
  keras::optimizers::SGD scheduled{keras::optimizers::LearningRate(schedule)},
      again{keras::optimizers::LearningRate(schedule)};
  tf::Variable w(1.f);
  for (int i = 0; i < 3; ++i) scheduled.apply_gradients({{tf::constant(1.f), w}});
  tf::train::Checkpoint({{"o", scheduled}}).write(folder + "/s");
  EXPECT_NEAR(
      tf::train::load_variable(folder + "/s", "o/_current_learning_rate/.ATTRIBUTES/VARIABLE_VALUE")
          .item<float>(),
      0.1 / 3, 1e-7);
  tf::train::Checkpoint({{"o", again}}).read(folder + "/s").assert_existing_objects_matched();
  EXPECT_EQ(again.learning_rate(), 0.1 / 4);
}

TEST(OptimizerCheckpoint, TheGlobalStepIsAVariableLikeAnother) {
  const std::string folder = fresh_folder("step");
  tf::Variable w(1.f);
  keras::optimizers::Adam optimizer(0.001);
  const auto step = v1::train::get_or_create_global_step();
  const tf::train::Checkpoint root(
      {{"optimizer", optimizer}, {"model", w}, {"optimizer_step", step}});
  step.assign(tf::constant(7, tf::int64));
  root.save(folder + "/ckpt");
  step.assign(tf::constant(0, tf::int64));
  root.restore(tf::train::latest_checkpoint(folder));
  EXPECT_EQ(step.item<int>(), 7);
}

}  // namespace
