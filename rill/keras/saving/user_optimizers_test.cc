// Optimizers of users' classes: in training, in files, by name.
#include <gtest/gtest.h>

#include "rill/keras/layers/layers.h"
#include "rill/keras/optimizers/loss_scale_optimizer.h"
#include "rill/keras/saving/registration.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/keras_goldens.h"
#include "tests/scratch_folder.h"

namespace rill::keras {
namespace {

using keras_goldens::numbers;
using testing::expect_error;

// SGD with a momentum, written by hand.
struct Heavy : optimizers::UserOptimizer {
  double momentum = 0.9;
  explicit Heavy(double m = 0.9, optimizers::UserOptimizerOptions o = {})
      : UserOptimizer(std::move(o)), momentum(m) {}
  explicit Heavy(const Config& c) : UserOptimizer(c), momentum(c.get("momentum", 0.9)) {}
  std::vector<std::string> slots() const override { return {"momentums"}; }
  void update_step(const Tensor& g, const Variable& v,
                   const optimizers::UpdateContext& c) override {
    const Tensor m = c.slots[0].value() * momentum - c.learning_rate * g;
    c.slots[0].assign(m);
    v.assign_add(m);
  }
  Config get_config() const override { return Config::dict({{"momentum", momentum}}); }
};
// Steps that get smaller.
struct Slower : optimizers::UserOptimizer {
  using UserOptimizer::UserOptimizer;
  void update_step(const Tensor& g, const Variable& v,
                   const optimizers::UpdateContext& c) override {
    v.assign_sub(c.learning_rate * g / c.step);
  }
};

Sequential model() {
  return Sequential(
      {layers::Dense(3, {.activation = "tanh", .kernel_initializer = "ones", .input_shape = {4}}),
       layers::Dense(2, {.kernel_initializer = "ones"})});
}
std::vector<std::vector<float>> trained(Model m, const OptimizerRef& optimizer, bool eager) {
  m.compile({.optimizer = optimizer, .loss = "mse", .run_eagerly = eager});
  m.fit(numbers({6, 4}), numbers({6, 2}),
        {.batch_size = 2, .epochs = 2, .verbose = 0, .shuffle = false});
  std::vector<std::vector<float>> all;
  for (const Tensor& w : m.get_weights()) all.push_back(w.to_vector<float>());
  return all;
}
void expect_close(const std::vector<std::vector<float>>& a,
                  const std::vector<std::vector<float>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) EXPECT_NEAR(a[i][j], b[i][j], 2e-6);
}

TEST(UserOptimizer, TrainsAsTheLibrarysOwnRule) {
  const optimizers::UserOptimizerOptions options{.learning_rate = 0.05,
                                                 .weight_decay = 0.1,
                                                 .clipnorm = 0.5,
                                                 .gradient_accumulation_steps = 2};
  const optimizers::SGD sgd({.learning_rate = 0.05,
                             .momentum = 0.9,
                             .weight_decay = 0.1,
                             .clipnorm = 0.5,
                             .gradient_accumulation_steps = 2});
  const std::vector<std::vector<float>> want = trained(model(), sgd, false);
  for (const bool eager : {false, true})
    expect_close(trained(model(), Heavy(0.9, options), eager), want);
}

TEST(UserOptimizer, KnowsTheStep) {
  Variable v(1.f);
  optimizers::Optimizer o = Slower({.learning_rate = 0.5});
  for (int i = 0; i < 3; ++i) o.apply_gradients({{constant(1.f), v}});
  EXPECT_FLOAT_EQ(v.item<float>(), 1 - 0.5f - 0.25f - 0.5f / 3);
  EXPECT_EQ(o.name(), "Slower");
  EXPECT_EQ(o.class_name(), "Slower");
}

TEST(UserOptimizer, ComesBackFromFiles) {
  const std::string folder = testing::fresh_folder("user_optimizers");
  utils::custom_object_scope scope;
  scope.add<Heavy>("Heavy");
  Sequential m = model();
  m.compile({.optimizer = Heavy(0.8, {.learning_rate = 0.05}), .loss = "mse"});
  const Tensor x = numbers({6, 4}), y = numbers({6, 2});
  m.train_on_batch(x, y);
  m.save(folder + "/m.h5");
  m.save(folder + "/m.keras");
  m.save(folder + "/new.keras", {.keras_version = 3});
  m.train_on_batch(x, y);
  const std::vector<float> want = m(x).to_vector<float>();
  for (const char* name : {"/m.h5", "/m.keras", "/new.keras"}) {
    SCOPED_TRACE(name);
    Model again = models::load_model(folder + name);
    const Config c = optimizers::serialize(again.optimizer());
    EXPECT_EQ(c["class_name"], Config("Heavy"));
    EXPECT_EQ(c["config"]["momentum"], Config(0.8));
    again.train_on_batch(x, y);  // with the momenta of before
    const std::vector<float> got = again(x).to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6);
  }
}

TEST(UserOptimizer, GoesByItsNameInAScope) {
  {
    utils::custom_object_scope scope;
    scope.add<Heavy>("Heavy");
    expect_close(
        trained(model(), "Heavy", false),
        trained(model(), optimizers::SGD({.learning_rate = 0.001, .momentum = 0.9}), false));
    const optimizers::Optimizer o = optimizers::deserialize(Config::from_json(
        R"({"class_name": "Custom>Heavy", "config": {"learning_rate": 0.25, "momentum": 0.5}})"));
    EXPECT_EQ(o.learning_rate(), 0.25);
    EXPECT_EQ(o.get_config()["momentum"], Config(0.5));
  }
  expect_error<errors::InvalidArgument>([] { optimizers::get("Heavy"); },
                                        "there is no optimizer \"Heavy\"");
}

TEST(UserOptimizer, OfAPackageIsRegisteredForGood) {
  utils::register_keras_serializable<Slower>("mine", "Slower");
  const Config c = optimizers::serialize(Slower({.learning_rate = 0.5}));
  EXPECT_EQ(c["registered_name"], Config("mine>Slower"));
  EXPECT_EQ(optimizers::deserialize(c).learning_rate(), 0.5);
  const mixed_precision::LossScaleOptimizer scaled(Slower({.learning_rate = 0.5}));
  EXPECT_EQ(optimizers::deserialize(optimizers::serialize(scaled)).learning_rate(), 0.5);
}

}  // namespace
}  // namespace rill::keras
