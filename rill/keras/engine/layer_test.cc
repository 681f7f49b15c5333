#include "rill/keras/engine/layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
using tf::Tensor;

namespace {

// As a user's program has it: outside the library's namespace.
struct MLP : keras::Model {
  keras::layers::Flatten flatten;
  keras::layers::Dense dense1{100, {.activation = tf::nn::relu}}, dense2{10};
  MLP() {
    track("flatten", flatten);
    track("dense1", dense1);
    track("dense2", dense2);
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override {
    return tf::nn::softmax(dense2(dense1(flatten(x))));
  }
};

struct Linear : keras::layers::Layer {
  int units;
  tf::Variable w, b;
  int builds = 0;
  explicit Linear(int n) : units(n) {}
  void build(const tf::TensorShape& s) override {
    ++builds;
    w = add_weight("w", {s[-1], units}, "zeros");
    b = add_weight("b", {units}, {.initializer = "ones"});
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return tf::matmul(x, w) + b; }
};

TEST(Layer, CopiesShareWeightsMadeBeforeOrAfter) {
  MLP m;
  keras::Sequential s({m});
  s(tf::zeros({2, 28, 28}));
  EXPECT_EQ(m.variables().size(), 4u);
  EXPECT_TRUE(m.built());
  // The copy that was not called itself gives the same.
  const Tensor x = tf::ones({2, 28, 28});
  EXPECT_EQ(m(x).to_vector<float>(), s(x).to_vector<float>());
}

TEST(Layer, ACopyMadeBeforeBuildLearnsItsMembers) {
  Linear a(3);
  Linear b = a;
  const Tensor x = tf::ones({2, 5});
  EXPECT_EQ(a(x).to_vector<float>(), std::vector<float>(6, 1.f));
  a.w.assign(tf::ones({5, 3}));
  EXPECT_EQ(b(x).to_vector<float>(), std::vector<float>(6, 6.f));  // the same weights
  EXPECT_EQ(a.variables().size(), 2u);
  EXPECT_EQ(a.builds, 1);
}

TEST(Layer, AutomaticNames) {
  keras::backend::clear_session();
  keras::layers::Dense d1(2), d2(2);
  Linear l(1), k(1);
  EXPECT_EQ(d1.name(), "dense");
  EXPECT_EQ(d2.name(), "dense_1");
  EXPECT_EQ(l.name(), "linear");
  EXPECT_EQ(k.name(), "linear_1");
  EXPECT_EQ(l.class_name(), "Linear");
  MLP m;
  m(tf::zeros({1, 4}));
  EXPECT_EQ(m.variables()[0].name(), "mlp/dense_2/kernel:0");
  EXPECT_EQ(m.variables()[1].name(), "mlp/dense_2/bias:0");
  RILL_SHOWS("K67", "K98");
}

TEST(Layer, DenseComputes) {
  keras::layers::Dense d(
      2, {.kernel_initializer = "ones", .bias_initializer = keras::initializers::constant(2.0)});
  EXPECT_EQ(d({{1.f, 2.f, 3.f}}).to_vector<float>(), (std::vector<float>{8, 8}));
  EXPECT_EQ(d.weights()[0].shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(d.weights()[1].shape(), tf::TensorShape({2}));
  EXPECT_EQ(d.count_params(), 8);
  tf::testing::expect_error<tf::errors::InvalidArgument>(
      [&] {
        d({{1.f, 2.f}});
      },
      "Input 0 of layer");
}

TEST(Layer, InputsOfOtherFloatsAreCast) {
  keras::layers::Dense d(2);
  EXPECT_EQ(d(tf::zeros({1, 3}, tf::float64)).dtype(), tf::float32);
}

TEST(Layer, DropoutActsInTrainingOnly) {
  keras::layers::Dropout d(0.4);
  const Tensor x = tf::ones({1000});
  EXPECT_EQ(d(x).to_vector<float>(), x.to_vector<float>());
  const auto y = d(x, {.training = 1}).to_vector<float>();
  const auto zeros = std::count(y.begin(), y.end(), 0.f);
  EXPECT_GT(zeros, 300);
  EXPECT_LT(zeros, 500);
  for (float v : y) EXPECT_TRUE(v == 0.f || std::abs(v - 1 / 0.6f) < 1e-6f);
  RILL_SHOWS("K21");
}

TEST(Functional, LayersOpsAndSharing) {
  auto inputs = keras::Input({32});
  EXPECT_EQ(inputs.shape(), tf::TensorShape({tf::None, 32}));
  keras::layers::Dense shared(32);
  auto x = keras::layers::Dense(32, {.activation = "relu"})(inputs);
  auto y = shared(x) + shared(inputs) * 2.f;
  auto outputs = keras::layers::Dense(10, {.activation = "softmax"})(y);
  keras::Model model(inputs, outputs);
  EXPECT_EQ(outputs.shape(), tf::TensorShape({tf::None, 10}));
  EXPECT_EQ(model.variables().size(), 6u);
  const Tensor data = tf::ones({4, 32});
  const Tensor p = model(data);
  EXPECT_EQ(p.shape(), tf::TensorShape({4, 10}));
  for (float s : tf::reduce_sum(p, -1).to_vector<float>()) EXPECT_NEAR(s, 1, 1e-6);
  // What it computes is what the layers compute.
  const auto w = model.get_weights();
  const Tensor h = tf::nn::relu(tf::matmul(data, w[0]) + w[1]);
  const Tensor z = (tf::matmul(h, w[2]) + w[3]) + (tf::matmul(data, w[2]) + w[3]) * 2.f;
  const Tensor expected = tf::nn::softmax(tf::matmul(z, w[4]) + w[5]);
  const auto a = p.to_vector<float>(), b = expected.to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
  tf::GradientTape tape;
  const auto g =
      tape.gradient(tf::reduce_sum(tf::square(model(data))), model.trainable_variables());
  for (const auto& gi : g) EXPECT_TRUE(gi.defined());
}

TEST(Functional, AUsersLayerAsATemporary) {
  auto inputs = keras::Input({5});
  auto outputs = Linear(3)(inputs);
  keras::Model model(inputs, outputs);
  EXPECT_EQ(model.trainable_variables().size(), 2u);
  EXPECT_EQ(model(tf::ones({2, 5})).to_vector<float>(), std::vector<float>(6, 1.f));
  tf::GradientTape tape;
  const auto g =
      tape.gradient(tf::reduce_sum(model(tf::ones({2, 5}))), model.trainable_variables());
  EXPECT_EQ(g[1].tensor().to_vector<float>(), std::vector<float>(3, 2.f));
}

TEST(Functional, ADisconnectedGraphIsAnError) {
  auto a = keras::Input({2}), b = keras::Input({2});
  tf::testing::expect_error<tf::errors::InvalidArgument>([&] { keras::Model(a, a + b); },
                                                         "graph disconnected");
}

TEST(Sequential, BuiltAtOnceOrAtTheFirstCall) {
  keras::Sequential now({keras::layers::Flatten({.input_shape = {28, 28}}),
                         keras::layers::Dense(128, {.activation = "relu"}),
                         keras::layers::Dropout(0.2),
                         keras::layers::Dense(10, {.activation = "softmax"})});
  EXPECT_TRUE(now.built());
  EXPECT_EQ(now.count_params(), 101770);
  keras::Sequential later;
  later.add(keras::layers::Dense(64, {.activation = "relu"}));
  later.add(keras::layers::Dense(10));
  EXPECT_FALSE(later.built());
  EXPECT_TRUE(later.variables().empty());
  EXPECT_EQ(later(tf::zeros({3, 32})).shape(), tf::TensorShape({3, 10}));
  EXPECT_EQ(later.variables().size(), 4u);
  RILL_SHOWS("K01", "K03", "K04");
}

}  // namespace
