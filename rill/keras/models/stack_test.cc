// How models are put together, built and taken apart. What is expected is what Keras 2.15 does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::None, tf::Tensor, tf::TensorShape;
using tf::testing::expect_error, tf::testing::expect_near, tf::testing::sample;

namespace {

struct Sub : keras::Model {
  layers::Dense a{3};
  Sub() { track("a", a); }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return a(x); }
};
struct Scale : layers::Layer {
  tf::Variable w;
  int builds = 0;
  void build(const TensorShape& s) override {
    ++builds;
    w = add_weight("w", {s[-1]}, "ones");
    Layer::build(s);
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return x * w; }
};

TEST(Build, MakesTheWeightsOfALayer) {
  layers::Dense d(3);
  d.build({None, 4});
  EXPECT_TRUE(d.built());
  EXPECT_EQ(d.count_params(), 15);
  const std::vector<Tensor> w = d.get_weights();
  const Tensor x = sample({2, 4});
  expect_near(d(x), tf::matmul(x, w[0]) + w[1]);  // the call makes no others
  d.build({None, 7});                             // built once
  EXPECT_EQ(d.weights()[0].shape(), TensorShape({4, 3}));
  expect_error<tf::errors::InvalidArgument>(
      [] { layers::Dense(3).build(TensorShape::unknown_rank()); }, "expected that of the input");
}

TEST(Build, MakesTheWeightsOfAModel) {
  keras::Sequential s({layers::Dense(3, {.name = "d1"}), layers::Dense(2)});
  s.build({None, 4});
  EXPECT_TRUE(s.built());
  EXPECT_EQ(s.count_params(), 23);
  EXPECT_EQ(s.weights()[0].name(), "d1/kernel:0");
  EXPECT_THAT(s.summary_text(), ::testing::HasSubstr("Total params: 23"));
  Sub u;
  u.build({None, 4});
  EXPECT_TRUE(u.built());
  EXPECT_EQ(u.count_params(), 15);
}

TEST(Build, OfAUsersClassRunsOnce) {
  Scale l;
  l.build({None, 4});
  EXPECT_TRUE(l.built());
  l(sample({2, 4}));
  EXPECT_EQ(l.builds, 1);
  EXPECT_EQ(l.weights().size(), 1u);
  Scale k;
  k(sample({2, 4}));  // where build calls the base's within a call
  EXPECT_EQ(k.builds, 1);
  EXPECT_EQ(k.weights().size(), 1u);
}

struct Linear : layers::Layer {
  tf::Variable w;
  void build(const TensorShape& s) override { w = add_weight("w", {s[-1], 3}); }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return tf::matmul(x, w); }
};

TEST(Build, ByHandOfAClassThatOverridesItMakesNoSecondWeights) {
  Linear l;
  l.build({None, 5});
  const Tensor made = l.w.value(), x = sample({2, 5});
  expect_near(l(x), tf::matmul(x, made));
  EXPECT_EQ(l.weights().size(), 1u);
}

TEST(Ends, OfAStackMakeAnotherModel) {
  keras::Sequential base({layers::Dense(3, {.input_shape = {4}, .name = "d1"}), layers::Dense(2)});
  EXPECT_EQ(base.input_shape(), TensorShape({None, 4}));
  EXPECT_EQ(base.output_shape(), TensorShape({None, 2}));
  keras::Model m(base.input(), layers::Dense(1)(base.output()));
  EXPECT_EQ(m.output_shape(), TensorShape({None, 1}));
  EXPECT_EQ(m.layers().size(), 4u);
  const std::vector<Tensor> w = m.get_weights();
  const Tensor x = sample({5, 4});
  expect_near(m(x), tf::matmul(base(x), w[4]) + w[5]);
  // As do those of a functional one; calls of the model do not change its own ends.
  auto i = keras::Input({4});
  m(i), m(i);
  keras::Model n(m.input(), m.output() * 2.f);
  expect_near(n(x), m(x) * 2.f);
}

TEST(Ends, OfALayerInAStack) {
  layers::Dense held(3);
  keras::Sequential base({held, layers::Dense(2)});
  expect_error<tf::errors::FailedPrecondition>([&] { base.output(); }, "[sequential");
  expect_error<tf::errors::FailedPrecondition>([&] { held.output(); }, "knows its input");
  base.build({None, 4});
  EXPECT_EQ(held.output().shape(), TensorShape({None, 3}));
  EXPECT_EQ(base.get_layer(1)->output_shape(), TensorShape({None, 2}));
  keras::Model features(base.inputs()[0], base.get_layer(0)->output());
  const Tensor x = sample({5, 4});
  expect_near(features(x), held(x));
}

TEST(Ends, OfALayerCalledTwiceAreThoseOfTheFirstCall) {
  auto a = keras::Input({4}), b = keras::Input({4});
  layers::Dense d(3);
  auto first = d(a), second = d(b);
  expect_near(keras::Model(a, d.output())(sample({2, 4})), keras::Model(a, first)(sample({2, 4})));
  EXPECT_EQ(d.input_shape(), TensorShape({None, 4}));
  EXPECT_EQ(d.output_shape(), TensorShape({None, 3}));
  auto p = keras::Input({2, 3}), q = keras::Input({5});
  layers::Flatten f;
  auto fp = f(p), fq = f(q);
  EXPECT_EQ(f.output().shape(), TensorShape({None, 6}));
  expect_error<tf::errors::FailedPrecondition>([&] { f.input_shape(); }, "so it has no one");
  expect_error<tf::errors::FailedPrecondition>([&] { f.output_shape(); }, "so it has no one");
}

TEST(Ends, OfSeveralAreAskedForByTheList) {
  auto a = keras::Input({4}), b = keras::Input({4});
  keras::Model m(tf::tuple(a, b), layers::Add()({a, b}));
  expect_error<tf::errors::FailedPrecondition>([&] { m.input(); }, "inputs()");
  EXPECT_EQ(m.output().shape(), TensorShape({None, 4}));
}

TEST(Ends, OfALayerWithSeveralInputsAreAList) {
  const Tensor a = keras::Input({3}), b = keras::Input({3});
  const layers::Add add;
  EXPECT_TRUE(add.inputs().empty());
  const Tensor sum = add({a, b});
  ASSERT_EQ(add.inputs().size(), 2u);
  EXPECT_EQ(add.outputs().size(), 1u);
  EXPECT_EQ(add.output().shape(), tf::TensorShape({tf::None, 3}));
  expect_error<tf::errors::FailedPrecondition>([&] { add.input(); },
                                               "there are 2 of them. Use inputs()");
  expect_error<tf::errors::FailedPrecondition>([&] { add.input_shape(); }, "there are 2 of them");
  keras::Model again(tf::tuple(add.inputs()[0], add.inputs()[1]), add.output());
  EXPECT_EQ(again({tf::ones({1, 3}), tf::ones({1, 3})}).to_vector<float>(),
            (std::vector<float>{2, 2, 2}));
}

TEST(Ends, InputsByNameAreAllThere) {
  const Tensor a = keras::Input({3}, {.name = "a"}), b = keras::Input({3}, {.name = "b"});
  keras::Model m(tf::tuple(a, b), layers::Add()({a, b}));
  const tf::Nest one = tf::Nest::dict({{"a", tf::ones({4, 3})}});
  const auto missing =
      "no data for input \"b\": got a dict with the keys [\"a\"]; expected "
      "[\"a\", \"b\"]";
  expect_error<tf::errors::InvalidArgument>([&] { m.predict(one, {.verbose = 0}); }, missing);
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor y = tf::ones({4, 3});
  try {
    m.fit(one, y, {.verbose = 0});
    FAIL() << "no error";
  } catch (const tf::errors::InvalidArgument& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr(missing));
    // Not the line of the last op before fit.
    EXPECT_THAT(e.what(), ::testing::Not(::testing::HasSubstr("stack_test.cc")));
  }
}

TEST(Stack, BeginsWithAnInput) {
  keras::Sequential m({keras::Input({4}, {.name = "in"}), layers::Dense(3)});
  EXPECT_TRUE(m.built());
  EXPECT_EQ(m.input_names(), std::vector<std::string>{"in"});
  EXPECT_EQ(m.layers().size(), 1u);
  keras::Sequential n;
  n.add(keras::Input({4}));
  n.add(layers::Dense(3, {.use_bias = false}));
  EXPECT_EQ(n.count_params(), 12);
  const Tensor i = keras::Input({4}), h = layers::Dense(2)(i);
  expect_error<tf::errors::InvalidArgument>([&] { keras::Sequential s({h}); },
                                            "expected a layer, or what keras::Input gives");
  expect_error<tf::errors::InvalidArgument>([&] { m.add(keras::Input({4})); }, "must come first");
}

TEST(Clone, HasTheSameLayersAndItsOwnWeights) {
  const Tensor a = keras::Input({4}, {.name = "a"});
  const layers::Dense shared(4, {.name = "shared"});
  keras::Model m(a, layers::Add()({shared(a), shared(shared(a))}), "twice");
  keras::Model c = keras::models::clone_model(m);
  EXPECT_EQ(c.name(), "twice");
  EXPECT_EQ(c.get_layer("shared")->name(), "shared");
  const Tensor x = sample({2, 4});
  EXPECT_NE(c(x).to_vector<float>(), m(x).to_vector<float>());
  c.set_weights(m.get_weights());
  expect_near(c(x), m(x));
  c.set_weights({tf::zeros({4, 4}), tf::zeros({4})});
  EXPECT_NE(m(x).to_vector<float>(), c(x).to_vector<float>());
  EXPECT_FALSE(c.compiled());
}

TEST(Ends, AVariableIsNotKeptAsItWas) {
  const tf::Variable v(2.f);
  const Tensor i = keras::Input({4});
  keras::Model m(i, layers::Lambda([v](const Tensor&x) { return x * v; })(i)), op(i, v * i + v);
  v.assign(tf::constant(5.f));
  EXPECT_EQ(m(tf::ones({1, 4})).to_vector<float>(), std::vector<float>(4, 5.f));
  EXPECT_EQ(op(tf::ones({1, 4})).to_vector<float>(), std::vector<float>(4, 10.f));
}

TEST(Stack, OfNothingIsRefused) {
  const keras::layers::Dense dense(2, {.name = "lonely"});
  for (const keras::Layer& layer :
       std::vector<keras::Layer>{dense, keras::Sequential({keras::layers::Dense(1)})})
    rill::testing::expect_error<tf::errors::InvalidArgument>(
        [&] { layer.apply(tf::Nest()); }, "called on no tensor; expected its input");
  EXPECT_FALSE(dense.built());
}

TEST(Stack, AFailedAddLeavesTheModelAsItWas) {
  keras::Sequential s({layers::Dense(3, {.input_shape = {4}})});
  expect_error<tf::errors::InvalidArgument>([&] { s.add(layers::Conv2D(2, 3)); },
                                            "expected min_ndim=4, found ndim=2");
  EXPECT_EQ(s.layers().size(), 1u);
  EXPECT_TRUE(s.built());
  EXPECT_EQ(s.output_shape(), TensorShape({None, 3}));
  s.add(layers::Dense(2));
  EXPECT_EQ(s(sample({5, 4})).shape(), TensorShape({5, 2}));
  // A first one takes its input shape away again.
  keras::Sequential e;
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        e.add(layers::Conv2D(2, 5, {.input_shape = {3, 3}}));
      },
      "ndim");
  EXPECT_FALSE(e.built());
  e.add(layers::Dense(2));
  EXPECT_EQ(e(sample({5, 7})).shape(), TensorShape({5, 2}));
}

TEST(Stack, AModelIsNoLayerOfItself) {
  keras::Sequential m({layers::Dense(4, {.input_shape = {4}})});
  expect_error<tf::errors::InvalidArgument>([&] { m.add(m); }, "a layer of itself");
  keras::Sequential around;
  around.add(m);
  expect_error<tf::errors::InvalidArgument>([&] { m.add(around); }, "a layer of itself");
  keras::Sequential deferred({layers::Dense(1)});
  expect_error<tf::errors::InvalidArgument>([&] { deferred.add(deferred); }, "a layer of itself");
  EXPECT_EQ(m.layers().size(), 1u);
}

TEST(Stack, WithoutLayersTakesAnyInputAgain) {
  keras::Sequential s({layers::Dense(3, {.input_shape = {4}}), layers::Dense(2)});
  EXPECT_EQ(s.outputs().size(), 1u);
  s.pop();
  EXPECT_TRUE(s.built());
  EXPECT_EQ(s.output_shape(), TensorShape({None, 3}));
  s.pop();
  EXPECT_FALSE(s.built());
  EXPECT_TRUE(s.inputs().empty());
  EXPECT_TRUE(s.weights().empty());
  s.add(layers::Dense(5));
  EXPECT_FALSE(s.built());
  EXPECT_EQ(s(sample({2, 7})).shape(), TensorShape({2, 5}));
  EXPECT_EQ(s.weights()[0].shape(), TensorShape({7, 5}));
}

TEST(Stack, PopLeavesALayerThatIsThereTwice) {
  layers::Dense d(4);
  keras::Sequential s({layers::InputLayer({.input_shape = {4}}), d, d});
  s.pop();
  EXPECT_EQ(s.weights().size(), 2u);
  const Tensor x = sample({2, 4});
  expect_near(s(x), d(x));
}

TEST(Stack, PopTakesTheLayerOutOfCheckpoints) {
  keras::Sequential s({layers::Dense(3, {.input_shape = {4}}), layers::Dropout(0.5),
                       layers::Dense(2), layers::Dense(1)});
  const auto names = [&] {
    std::vector<std::string> out;
    for (const auto& e : s.trackable()->edges()) out.push_back(e.name);
    return out;
  };
  s.pop();
  EXPECT_THAT(names(), testing::UnorderedElementsAre("layer_with_weights-0", "layer_with_weights-1",
                                                     "layer-0", "layer-1", "layer-2"));
  s.pop();
  s.pop();  // without weights
  EXPECT_THAT(names(), testing::UnorderedElementsAre("layer_with_weights-0", "layer-0"));
  s.add(layers::Dense(5));
  EXPECT_THAT(names(), testing::UnorderedElementsAre("layer_with_weights-0", "layer_with_weights-1",
                                                     "layer-0", "layer-1"));
}

TEST(Stack, ALastAxisOfOneComesAndGoes) {
  keras::Sequential m({keras::layers::Dense(1, {.input_shape = {1}})});
  const Tensor x = tf::constant({1.f, 2.f, 3.f, 4.f}), column = tf::reshape(x, {4, 1});
  EXPECT_EQ(m(x).to_vector<float>(), m(column).to_vector<float>());
  m.compile({.optimizer = "sgd", .loss = "mse"});
  m.fit(x, x, {.verbose = 0});
  EXPECT_EQ(m.predict(x, {.verbose = 0}).shape(), tf::TensorShape({4, 1}));
  keras::Sequential wide({keras::layers::Dense(1, {.input_shape = {2}})});
  expect_error<tf::errors::InvalidArgument>([&] { wide(x); }, "expected min_ndim=2");
}

TEST(Stack, ComputeOutputShapeMakesNoWeights) {
  keras::Sequential m({keras::layers::Dense(3), keras::layers::LSTM(2)});
  EXPECT_EQ(m.compute_output_shape({tf::None, 5, 4}), tf::TensorShape({tf::None, 2}));
  EXPECT_FALSE(m.built());
  EXPECT_TRUE(m.weights().empty());
  EXPECT_EQ(m(tf::ones({2, 7, 6})).shape(), tf::TensorShape({2, 2}));  // of another size
  keras::layers::Dense d(3);
  EXPECT_EQ(d.compute_output_shape({tf::None, 4}), tf::TensorShape({tf::None, 3}));
  EXPECT_FALSE(d.built());
}

}  // namespace
