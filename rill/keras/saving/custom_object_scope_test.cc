#include <gtest/gtest.h>

#include "rill/keras/layers/layers.h"
#include "rill/keras/saving/registration.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

struct Thrice : keras::Layer {
  Thrice() = default;
  explicit Thrice(const keras::Config& c) : Layer(keras::LayerOptions::from_config(c)) {}
  Tensor call(const Tensor& x, const keras::CallContext&) override { return x * 3.f; }
};
Tensor far_off(const tf::Operand& y_true, const tf::Operand& y_pred) {
  return tf::reduce_max(tf::abs(tf::to_tensor(y_true) - y_pred), -1);
}

TEST(CustomObjectScope, NamesClassesAndFunctionsWhileItLives) {
  const std::string path = rill::testing::fresh_folder("custom_object_scope") + "/m.h5";
  const Tensor x = tf::constant({{1.f, 2.f}});
  {
    keras::utils::custom_object_scope scope;
    scope.add<Thrice>("Thrice").add("far_off", far_off);
    keras::Sequential m({layers::Dense(2, {.input_shape = {2}}), Thrice()});
    m.compile({.optimizer = "sgd", .loss = far_off});
    m.save(path);
    EXPECT_EQ(keras::models::load_model(path)(x).to_vector<float>(), m(x).to_vector<float>());
    {
      keras::utils::custom_object_scope inner;
      inner.add<Thrice>("Thrice");
    }
    EXPECT_NO_THROW(keras::models::load_model(path));  // as before the scope inside
  }
  expect_error<tf::errors::NotFound>([&] { keras::models::load_model(path); },
                                     "unknown layer class \"Thrice\"");
  keras::utils::custom_object_scope again;
  again.add<Thrice>("Thrice");
  expect_error<tf::errors::NotFound>([&] { keras::models::load_model(path); },
                                     "unknown loss \"far_off\"");
}

// What Keras writes of classes that were given to a scope there has no package.
TEST(CustomObjectScope, FindsNamesWithoutPackage) {
  keras::utils::custom_object_scope scope;
  scope.add<Thrice>("Thrice");
  const keras::LayerRef layer = layers::deserialize(keras::Config::from_json(
      R"({"class_name": "Thrice", "config": {"name": "d", "trainable": true}})"));
  EXPECT_EQ((*layer)(tf::constant({3.f})).to_vector<float>(), (std::vector<float>{9}));
}

}  // namespace
