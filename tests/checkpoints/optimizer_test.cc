// The state of optimizers in checkpoints, against what TensorFlow 2.15.1 saved and did next
// (rill/saving/testdata/make_checkpoints.py).
#include <fstream>
#include <sstream>

#include "tests/shows.h"
#include "training.h"

namespace rill::checkpoints {
namespace {

using saving_tests::fresh_folder;
using saving_tests::golden;

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
  RILL_SHOWS("S12");
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
  EXPECT_EQ(again.learning_rate(), 0.1 / 3);
}

// The guide's whole state of a training: weights, the optimizer's slots, the step.
struct Model : keras::Model {
  keras::layers::Dense dense{3, {.kernel_initializer = "ones"}};
  Model() { track("dense", dense); }
  tf::Tensor call(const tf::Tensor& x, const keras::CallContext&) override { return dense(x); }
};
struct WholeState {
  Model model;
  v1::train::AdamOptimizer optimizer{0.01};
  tf::Variable step = tf::Variable(tf::constant(0, tf::int64));
  tf::train::Checkpoint root{{"optimizer", optimizer}, {"model", model}, {"optimizer_step", step}};
  std::vector<float> train(int steps) {
    const auto x = tf::reshape(tf::range(8.f), {4, 2});
    for (int i = 0; i < steps; ++i)
      optimizer.minimize([&] { return tf::reduce_mean(tf::square(model(x))); },
                         {.global_step = step, .var_list = model.trainable_variables()});
    return model.get_weights()[0].to_vector<float>();
  }
};
TEST(OptimizerCheckpoint, ModelOptimizerAndStepTogether) {
  RILL_SHOWS("S11");
  const std::string folder = fresh_folder("whole");
  WholeState first, second;
  first.model(tf::ones({1, 2})), second.model(tf::ones({1, 2}));
  first.train(3);
  first.root.save(folder + "/ckpt");
  const auto status = second.root.restore(tf::train::latest_checkpoint(folder));
  EXPECT_EQ(second.step.item<int>(), 3);
  // Adam's next steps follow from its slots: without them they would be those of a new one.
  const auto want = first.train(2);
  EXPECT_EQ(second.train(2), want);
  EXPECT_EQ(second.step.item<int>(), 5);
  status.assert_consumed();
  const auto keys = tf::train::load_checkpoint(folder).get_variable_to_shape_map();
  int slots = 0;
  for (const auto& [key, shape] : keys) slots += key.find(".OPTIMIZER_SLOT") != key.npos;
  EXPECT_EQ(slots, 4);  // m and v, of kernel and bias
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

// Whatever has state goes into a checkpoint: variables, layers, models, optimizers, metrics,
// iterators.
TEST(OptimizerCheckpoint, EverythingWithStateIsSaved) {
  RILL_SHOWS("S31");
  const std::string folder = fresh_folder("everything");
  struct State {
    tf::Variable variable = tf::Variable(0.f);
    keras::layers::Dense layer{2};
    Model model;
    keras::optimizers::Adam optimizer{0.1};
    keras::metrics::Mean metric;
    tf::data::Iterator iterator = tf::data::Dataset::range(10).shuffle(10, {.seed = 3}).iter();
    tf::train::Checkpoint checkpoint{{"variable", variable}, {"layer", layer},
                                     {"model", model},       {"optimizer", optimizer},
                                     {"metric", metric},     {"iterator", iterator}};
    State() { layer(tf::ones({1, 3})), model(tf::ones({1, 3})); }
    void step() {
      variable.assign_add(1.f);
      metric(iterator.next().as_tensor());
      optimizer.apply_gradients({{tf::ones({3, 2}), layer.variables()[0]}});
    }
    std::vector<std::vector<float>> values() {
      return {variable.to_vector<float>(), layer.get_weights()[0].to_vector<float>(),
              model.get_weights()[0].to_vector<float>(),
              tf::cast(metric.result(), tf::float32).to_vector<float>(),
              iterator.next().as_tensor().to_vector<float>()};
    }
  };
  State first, second;
  first.model.variables()[0].assign_add(tf::ones({3, 3}));
  for (int i = 0; i < 4; ++i) first.step();
  first.checkpoint.write(folder + "/all");
  const auto status = second.checkpoint.read(folder + "/all");
  first.step(), second.step();  // the optimizer goes on too
  status.assert_existing_objects_matched();
  EXPECT_EQ(second.values(), first.values());
}

}  // namespace
}  // namespace rill::checkpoints
