#include "rill/compat/v1/layers.h"

#include "rill/rill.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace v1 = tf::compat::v1;
using rill::testing::expect_error;
using tf::Tensor;
using tf::errors::FailedPrecondition;
using tf::errors::InvalidArgument;

namespace {

using Names = std::vector<std::string>;
Names names(const std::vector<tf::Variable>& variables) {
  Names out;
  for (const tf::Variable& v : variables) out.push_back(v.name());
  return out;
}

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LE(tf::reduce_max(tf::abs(a - b)).item<float>(), 1e-6f);
}

const v1::VariableStoreOptions strict{.reuse = false};  // as in a graph of TensorFlow 1
const Tensor x = tf::constant({{1.f, -2.f, 3.f}, {0.5f, 0.f, -1.f}});

TEST(V1Layers, DenseComputesAndSharesByName) {
  RILL_SHOWS("K95");
  const v1::VariableStore store(strict);
  const auto variables = store.as_default();
  // In a graph: the function is traced, and its variables are those of the store.
  auto body = tf::function([](const Tensor& x) {
    const Tensor a = v1::layers::dense(x, 2, {.activation = "relu", .name = "d"});
    const Tensor b = v1::layers::dense(x, 2, {.activation = "relu", .name = "d", .reuse = true});
    return tf::stack({a, b});
  });
  const Tensor y = body(x);
  EXPECT_EQ(names(store.variables()), (Names{"d/bias:0", "d/kernel:0"}));
  const tf::Variable bias = store.variables()[0], kernel = store.variables()[1];
  EXPECT_EQ(kernel.shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(bias.to_vector<float>(), (std::vector<float>{0, 0}));
  expect_close(y[0], tf::nn::relu(tf::matmul(x, kernel) + bias));
  expect_close(y[0], y[1]);
  bias.assign({1.f, 10.f});
  expect_close(body(x)[1], tf::nn::relu(tf::matmul(x, kernel) + bias));

  expect_error<InvalidArgument>([] { v1::layers::dense(x, 2, {.name = "d"}); },
                                "d/kernel:0 already exists!");
  expect_error<InvalidArgument>([] { v1::layers::dense(x, 5, {.name = "d", .reuse = true}); },
                                "d/kernel:0 is shared, but has shape [3, 2]; asked for was [3, 5]");
  expect_error<InvalidArgument>([] { v1::layers::dense(x, 2, {.name = "e", .reuse = true}); },
                                "e/kernel:0 does not exist");
  expect_error<InvalidArgument>([] { v1::layers::dense(x, 2, {.reuse = true}); },
                                "reuse = true needs a name");
  EXPECT_EQ(store.variables().size(), 2u);
}

TEST(V1Layers, DenseTakesEveryArgument) {
  const v1::VariableStore store(strict);
  const auto variables = store.as_default();
  const Tensor y = v1::layers::dense(
      x, 2,
      {.activation = tf::nn::tanh,
       .kernel_initializer = v1::constant_initializer(0.5),
       .bias_initializer = v1::ones_initializer(),
       .kernel_regularizer = tf::keras::regularizers::L2(0.1),
       .bias_regularizer = tf::keras::regularizers::L1(0.01),
       .activity_regularizer = [](const Tensor& t) { return tf::reduce_sum(tf::square(t)); },
       .kernel_constraint = "non_neg",
       .bias_constraint = tf::keras::constraints::MaxNorm(1.0),
       .name = "all"});
  expect_close(y, tf::tanh(tf::constant({{2.f, 2.f}, {0.75f, 0.75f}})));
  // 0.1 * 6 * 0.25, 0.01 * 2, and the squares of the results over the batch of two.
  const auto losses = store.regularization_losses();
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_NEAR(losses[0].item<float>(), 0.15f, 1e-6f);
  EXPECT_NEAR(losses[1].item<float>(), 0.02f, 1e-6f);
  EXPECT_NEAR(losses[2].item<float>(), tf::reduce_sum(tf::square(y)).item<float>() / 2, 1e-6f);
  EXPECT_NEAR(tf::losses::get_regularization_loss().item<float>(), 0.17f + losses[2].item<float>(),
              1e-6f);
  const tf::Variable bias = store.variables()[0], kernel = store.variables()[1];
  v1::train::GradientDescentOptimizer(1.0).apply_gradients(
      {{tf::ones({3, 2}), kernel}, {tf::constant({-2.f, -3.f}), bias}});
  EXPECT_EQ(kernel.to_vector<float>(), std::vector<float>(6, 0.f));
  expect_close(bias, tf::constant({0.6f, 0.8f}));  // (3, 4) brought to norm 1

  v1::layers::dense(x, 2, {.use_bias = false, .trainable = false, .name = "fixed"});
  EXPECT_EQ(names(store.non_trainable_variables()), Names{"fixed/kernel:0"});
}

TEST(V1Layers, NamesAreMadeUniqueInTheirScope) {
  const v1::VariableStore store(strict);
  const auto variables = store.as_default();
  v1::layers::dense(x, 1);
  v1::layers::dense(x, 1);
  {
    const v1::variable_scope foo("foo");
    v1::layers::dense(x, 1, {.use_bias = false});
  }
  EXPECT_EQ(names(store.variables()), (Names{"dense/bias:0", "dense/kernel:0", "dense_1/bias:0",
                                             "dense_1/kernel:0", "foo/dense/kernel:0"}));
  // A scope that is opened again counts from the start, and finds the name taken.
  const v1::variable_scope foo("foo");
  expect_error<InvalidArgument>([] { v1::layers::dense(x, 1); },
                                "foo/dense/kernel:0 already exists!");
}

TEST(V1Layers, FunctionsInEagerExecutionNeedATemplate) {
  RILL_SHOWS("K96", "Z54");
  expect_error<FailedPrecondition>(
      [] { v1::layers::dense(x, 2); },
      "[layers::dense] nothing would keep its weights: in eager execution call it in a "
      "make_template or under VariableStore::as_default(), or use the class layers::Dense");
  // The class needs none.
  const v1::layers::Dense layer(2);
  EXPECT_EQ(layer(x).shape(), tf::TensorShape({2, 2}));
  EXPECT_EQ(layer.variables().size(), 2u);

  const auto net = tf::contrib::eager::make_template("net", [](const Tensor& x, int units) {
    return v1::layers::dense(v1::layers::dense(x, 4), units);
  });
  EXPECT_TRUE(net.variables().empty());
  const Tensor y = net(x, 2);
  EXPECT_EQ(names(net.variables()), (Names{"net/dense/bias:0", "net/dense/kernel:0",
                                           "net/dense_1/bias:0", "net/dense_1/kernel:0"}));
  const auto v = net.variables();
  expect_close(y, tf::matmul(tf::matmul(x, v[1]) + v[0], v[3]) + v[2]);
  expect_close(net(x, 2), y);  // the same variables
  EXPECT_EQ(net.variables().size(), 4u);
  const auto copy = net;
  EXPECT_EQ(copy.variables()[0].id(), v[0].id());
  // Another one of that name has its own variables.
  const auto other =
      v1::make_template("net", [](const Tensor& x) { return v1::layers::dense(x, 1); });
  other(x);
  EXPECT_EQ(other.name(), "net");
  EXPECT_EQ(names(other.variables()), (Names{"net_1/dense/bias:0", "net_1/dense/kernel:0"}));
}

TEST(V1Template, AllVariablesAreMadeByTheFirstCall) {
  int calls = 0;
  const auto net = v1::make_template(
      "growing", [&] { return v1::get_variable("w" + std::to_string(++calls), {2}).value(); });
  net();
  expect_error<InvalidArgument>([&] { net(); }, "growing/w2:0 does not exist");
  EXPECT_EQ(names(net.variables()), Names{"growing/w1:0"});
  const auto twice = v1::make_template("twice", [] {
    v1::get_variable("w", {2});
    return v1::get_variable("w", {2}).value();
  });
  expect_error<InvalidArgument>([&] { twice(); }, "twice/w:0 already exists!");
}

TEST(V1Template, AFirstCallThatFailsLeavesNothing) {
  bool fail = true;
  const auto net = v1::make_template("unlucky", [&](const Tensor& x) {
    const Tensor h = v1::layers::dense(x, 2, {.name = "a"});
    if (fail) throw std::runtime_error("no");
    return v1::layers::dense(h, 1, {.name = "b"});
  });
  EXPECT_THROW(net(x), std::runtime_error);
  EXPECT_TRUE(net.variables().empty());
  fail = false;
  EXPECT_EQ(net(x).shape(), tf::TensorShape({2, 1}));
  EXPECT_EQ(net.variables().size(), 4u);
}

TEST(V1Template, WithinAnotherBelongsToBoth) {
  const auto in = v1::make_template("in", [](const Tensor& x) {
    return x * v1::get_variable("w", {1}, {.initializer = "ones", .regularizer = "l2"});
  });
  const auto out = v1::make_template("out", [&](const Tensor& x) {
    return in(x) + v1::get_variable("b", {1}, {.initializer = "zeros"});
  });
  out(tf::ones({1}));
  out(tf::ones({1}));
  EXPECT_EQ(names(out.variables()), (Names{"out/b:0", "out/in/w:0"}));
  EXPECT_EQ(names(in.variables()), Names{"out/in/w:0"});
  EXPECT_EQ(in.variable_scope_name(), "out/in");
  EXPECT_EQ(out.regularization_losses().size(), 1u);
  in(tf::ones({1}));  // the same, from outside
  EXPECT_EQ(out.variables().size(), 2u);
}

TEST(V1Template, TakesStoreAndScopeOfItsFirstCall) {
  const auto net = v1::make_template("late", [] { return v1::get_variable("w", {1}).value(); });
  const v1::VariableStore store;
  {
    const auto variables = store.as_default();
    const v1::variable_scope scope("later");
    net();
  }
  net();
  EXPECT_EQ(names(store.variables()), Names{"later/late/w:0"});
  EXPECT_EQ(names(net.variables()), Names{"later/late/w:0"});
}

TEST(V1Template, IsSavedAndRestored) {
  const std::string folder = rill::saving_tests::fresh_folder("templates");
  const auto made = [] {
    return v1::make_template("saved", [] { return v1::get_variable("w", {2}).value(); });
  };
  const auto a = made(), b = made();
  a(), b();
  a.variables()[0].assign({3.f, 4.f});
  const auto path = tf::train::Checkpoint({{"net", a}}).save(folder + "/ckpt");
  // Another one has another scope; in a checkpoint names begin after it.
  tf::train::Checkpoint({{"net", b}}).restore(path).assert_consumed();
  EXPECT_EQ(b().to_vector<float>(), (std::vector<float>{3, 4}));
}

// A model function as Estimators call it: features and a mode in, layers by functions.
Tensor cnn_model_fn(const Tensor& images, bool training) {
  Tensor h = v1::layers::conv2d(images, 4, {3, 3}, {.padding = "same", .activation = tf::nn::relu});
  h = v1::layers::max_pooling2d(h, {2, 2}, 2);
  h = v1::layers::batch_normalization(h, {.training = training});
  h = v1::layers::flatten(h);
  h = v1::layers::dense(h, 32, {.activation = tf::nn::relu});
  h = v1::layers::dropout(h, 0.1, {.training = training});
  return v1::layers::dense(h, 10, {.name = "logits"});
}

TEST(V1Layers, BuildAModelFunctionThatTrains) {
  RILL_SHOWS("K97");
  tf::random::set_seed(3);
  const auto [train, test] = tf::keras::datasets::digits::load_data();
  const auto images = [](const Tensor& t) {
    return tf::expand_dims(tf::cast(t, tf::float32) / 16.f, -1);
  };
  const Tensor test_x = images(test.x), test_y = tf::cast(test.y, tf::int32);
  const auto model = v1::make_template("model", cnn_model_fn);
  v1::train::AdamOptimizer adam(0.01);
  auto step = tf::function([&](const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    const Tensor loss = tf::losses::sparse_softmax_cross_entropy(y, model(x, true));
    const auto variables = model.trainable_variables();
    adam.apply_gradients(tf::zip(tape.gradient(loss, variables), variables));
    return loss;
  });
  model(test_x, false);  // makes the variables
  EXPECT_EQ(names(model.non_trainable_variables()),
            (Names{"model/batch_normalization/moving_mean:0",
                   "model/batch_normalization/moving_variance:0"}));
  const auto ds = tf::data::Dataset::from_tensor_slices(
                      tf::tuple(images(train.x), tf::cast(train.y, tf::int32)))
                      .shuffle(2000, {.seed = 1})
                      .repeat()
                      .batch(64)
                      .take(300);  // moving averages need some steps
  for (const auto& batch : ds) {
    const auto [x, y] = batch.unpack<2>();
    step(x, y);
  }
  EXPECT_EQ(model.variables().size(), 10u);
  const auto accuracy = [&](const auto& f) {
    const Tensor right = tf::equal(tf::argmax(f(test_x, false), 1, tf::int32), test_y);
    return tf::reduce_mean(tf::cast(right, tf::float32)).template item<float>();
  };
  const float reached = accuracy(model);
  EXPECT_GT(reached, 0.9f);
  EXPECT_NE(model.non_trainable_variables()[0].value()[0].item<float>(), 0.f);  // moved

  const std::string folder = rill::saving_tests::fresh_folder("template");
  const auto path = tf::train::Checkpoint({{"model", model}}).save(folder + "/ckpt");
  for (const tf::Variable& v : model.variables()) v.assign(tf::zeros(v.shape()));
  EXPECT_LT(accuracy(model), 0.3f);
  tf::train::Checkpoint({{"model", model}}).restore(path).assert_consumed();
  EXPECT_EQ(accuracy(model), reached);
}

TEST(V1Layers, OtherFunctionsEqualTheirClasses) {
  const v1::VariableStore store;
  const auto variables = store.as_default();
  const Tensor line = tf::random::normal({2, 8, 3}, 0, 1, {.seed = 1}),
               plane = tf::random::normal({2, 6, 6, 2}, 0, 1, {.seed = 2}),
               space = tf::random::normal({1, 4, 4, 4, 2}, 0, 1, {.seed = 3});
  namespace l = v1::layers;
  EXPECT_EQ(l::conv1d(line, 4, 3).shape(), tf::TensorShape({2, 6, 4}));
  EXPECT_EQ(l::conv2d(plane, 4, {3, 2}, {.strides = 2}).shape(), tf::TensorShape({2, 2, 3, 4}));
  EXPECT_EQ(l::conv3d(space, 3, 2, {.padding = "same"}).shape(), tf::TensorShape({1, 4, 4, 4, 3}));
  EXPECT_EQ(l::conv2d_transpose(plane, 3, 2, {.strides = 2}).shape(),
            tf::TensorShape({2, 12, 12, 3}));
  EXPECT_EQ(l::conv3d_transpose(space, 3, 2, {.strides = 2}).shape(),
            tf::TensorShape({1, 8, 8, 8, 3}));
  EXPECT_EQ(l::separable_conv1d(line, 4, 3).shape(), tf::TensorShape({2, 6, 4}));
  EXPECT_EQ(l::separable_conv2d(plane, 4, 3, {.depth_multiplier = 2}).shape(),
            tf::TensorShape({2, 4, 4, 4}));
  expect_error<InvalidArgument>([&] { l::conv2d_transpose(plane, 3, 2, {.dilation_rate = 2}); },
                                "takes no dilation_rate");
  // A convolution is that of its kernel.
  const Tensor y = l::conv2d(plane, 4, 3, {.use_bias = false, .name = "same"});
  for (const tf::Variable& v : store.variables())
    if (v.name() == "same/kernel:0") expect_close(y, tf::nn::conv2d(plane, v, 1, "VALID"));
  expect_close(l::max_pooling1d(line, 2, 2), tf::nn::max_pool1d(line, 2, 2, "VALID"));
  expect_close(l::max_pooling2d(plane, 2, 1), tf::nn::max_pool2d(plane, 2, 1, "VALID"));
  expect_close(l::average_pooling2d(plane, {2, 3}, {2, 3}),
               tf::nn::avg_pool2d(plane, {2, 3}, {2, 3}, "VALID"));
  EXPECT_EQ(l::max_pooling3d(space, 2, 2).shape(), tf::TensorShape({1, 2, 2, 2, 2}));
  EXPECT_EQ(l::average_pooling1d(line, 2, 2).shape(), tf::TensorShape({2, 4, 3}));
  EXPECT_EQ(l::average_pooling3d(space, 2, 2).shape(), tf::TensorShape({1, 2, 2, 2, 2}));
  expect_close(l::flatten(plane), tf::reshape(plane, {2, -1}));
  expect_close(l::dropout(plane), plane);  // but in training
  const Tensor dropped = l::dropout(plane, 0.5, {.seed = 1, .training = true});
  const Tensor kept = tf::cast(tf::not_equal(dropped, 0.f), tf::float32);
  expect_close(dropped, plane * kept * 2.f);
  EXPECT_GT(tf::reduce_mean(kept).item<float>(), 0.3f);
  EXPECT_LT(tf::reduce_mean(kept).item<float>(), 0.7f);
}

}  // namespace
