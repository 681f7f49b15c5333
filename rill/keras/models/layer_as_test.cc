// What get_layer gives is an object of the layer's class, wherever the layer came from.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using rill::testing::expect_error;
using tf::Tensor;
using tf::errors::FailedPrecondition, tf::errors::InvalidArgument, tf::errors::OutOfRange;

namespace {

keras::Model functional() {
  const Tensor in = keras::Input({3});
  Tensor x = layers::Dense(2, {.name = "s"})(in);
  x = layers::BatchNormalization({.name = "norm"})(x);
  return keras::Model(in, x);
}

TEST(LayerAs, OfAFunctionalModelIsTheLayerItself) {
  const keras::Model m = functional();
  const tf::Variable kernel = m.get_layer("s").as<layers::Dense>()->kernel();
  EXPECT_EQ(kernel.id(), m.get_layer("s").weights()[0].id());
  EXPECT_TRUE(m.get_layer("norm").as<layers::BatchNormalization>());
  EXPECT_TRUE(m.get_layer("norm").as<layers::Layer>());
  // It computes, and copies of it are the layer too.
  const layers::Dense copy = *m.get_layer("s").as<layers::Dense>();
  EXPECT_EQ(copy.kernel().id(), kernel.id());
  EXPECT_EQ((*m.get_layer("s").as<layers::Dense>())(tf::ones({1, 3})).shape(),
            tf::TensorShape({1, 2}));
}

TEST(LayerAs, OfLoadedClonedAndNestedModels) {
  const Tensor in = keras::Input({3});
  const keras::Sequential stack({layers::Dense(4, {.name = "in_stack"})}, {.name = "stack"});
  const Tensor inner_in = keras::Input({4});
  const keras::Model inner(inner_in, layers::Dense(5, {.name = "in_inner"})(inner_in), "inner");
  const keras::Model m(in, inner(stack(in)));
  const std::string path = ::testing::TempDir() + "layer_as.keras";
  m.save(path);
  for (const keras::Model& each :
       {m, keras::models::load_model(path), keras::models::clone_model(m)}) {
    EXPECT_EQ(each.get_layer("stack")
                  .as<keras::Sequential>()
                  ->get_layer("in_stack")
                  .as<layers::Dense>()
                  ->kernel()
                  .shape(),
              tf::TensorShape({3, 4}));
    const auto nested = each.get_layer("inner").as<keras::Model>();
    ASSERT_TRUE(nested);
    EXPECT_EQ(nested->layers().size(), 2u);
    EXPECT_EQ(nested->get_layer("in_inner").as<layers::Dense>()->bias().shape(),
              tf::TensorShape({5}));
    EXPECT_TRUE(each.get_layer("stack").as<keras::Model>());
    EXPECT_FALSE(each.get_layer("inner").as<keras::Sequential>());
    // The top of the base is unfrozen.
    nested->trainable(false);
    nested->layers()[-1].trainable(true);
    EXPECT_EQ(nested->layers()[-1].trainable_variables().size(), 2u);
  }
  std::remove(path.c_str());
}

TEST(LayerAs, OfOtherLayersThanItsClassIsAnErrorThatNamesBoth) {
  const keras::Model m = functional();
  const auto wrong = m.get_layer("s").as<layers::BatchNormalization>();
  EXPECT_FALSE(wrong);
  EXPECT_EQ(wrong.get(), nullptr);
  expect_error<InvalidArgument>([&] { static_cast<void>(wrong->trainable()); },
                                "[s] the layer is a Dense; as<BatchNormalization>() asked for a "
                                "BatchNormalization");
  expect_error<InvalidArgument>([&] { static_cast<void>((*wrong).trainable()); }, "is a Dense");
  keras::Sequential stack({layers::Dense(2, {.name = "d"})});
  expect_error<InvalidArgument>(
      [&] { static_cast<void>(stack.get_layer("d").as<layers::Flatten>()->name()); },
      "as<Flatten>()");
  const keras::LayerRef none;
  expect_error<FailedPrecondition>([&] { static_cast<void>(none->name()); }, "no layer");
  expect_error<FailedPrecondition>([&] { static_cast<void>(none.weights()); }, "no layer");
}

TEST(Layers, NegativeNumbersCountFromTheEnd) {
  keras::Model m = functional();
  EXPECT_EQ(m.layers()[-1].name(), "norm");
  EXPECT_EQ(m.layers()[-2].name(), "s");
  EXPECT_EQ(m.get_layer(-1).name(), "norm");
  EXPECT_EQ(m.layers()[std::size_t{1}].name(), "s");
  m.layers()[-1].trainable(false);
  EXPECT_FALSE(m.get_layer("norm").trainable());
  expect_error<OutOfRange>([&] { m.layers()[3]; }, "was asked for layer 3, but there are only 3");
  expect_error<OutOfRange>([&] { m.layers()[-4]; }, "was asked for layer -4");
  const std::vector<keras::LayerRef> list = m.layers();  // a list as before
  EXPECT_EQ(list.size(), 3u);
}

}  // namespace
