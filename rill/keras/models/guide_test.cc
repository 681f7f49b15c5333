// What the guides say of models, row by row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using ::testing::ElementsAre;
using tf::Tensor;
using tf::testing::expect_error, tf::testing::expect_near, tf::testing::sample, tf::testing::values;

namespace {

TEST(KerasGuide, FunctionalModels) {
  RILL_SHOWS("K59", "K60", "K61");
  auto inputs = keras::Input({28, 28, 1});
  EXPECT_EQ(inputs.shape(), tf::TensorShape({tf::None, 28, 28, 1}));
  EXPECT_TRUE(inputs.is_symbolic());
  auto x = layers::Flatten()(inputs);
  EXPECT_EQ(x.shape(), tf::TensorShape({tf::None, 784}));
  x = layers::Dense({.units = 100, .activation = tf::nn::relu})(x);
  auto outputs = layers::Softmax()(layers::Dense({.units = 10})(x));
  keras::Model model(inputs, outputs);
  EXPECT_EQ(model(tf::zeros({2, 28, 28, 1})).shape(), tf::TensorShape({2, 10}));
  model.compile({.loss = "sparse_categorical_crossentropy"});
  const auto h =
      model.fit(sample({20, 28, 28, 1}), tf::range(20) % 10, {.epochs = 3, .verbose = 0});
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  expect_error<tf::errors::FailedPrecondition>([&] { inputs.item<float>(); }, "symbolic");
}

TEST(KerasGuide, SeveralInputsAndOutputs) {
  RILL_SHOWS("K62", "K63");
  auto a = keras::Input({4}, {.name = "a"}), b = keras::Input({3}, {.name = "b"});
  auto joined = layers::Concatenate()({a, b});
  auto first = layers::Dense(1, {.name = "first"})(joined);
  auto second = layers::Dense(2, {.activation = "softmax", .name = "second"})(joined);
  keras::Model model(tf::tuple(a, b), tf::tuple(first, second));
  EXPECT_EQ(model.input_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(model.output_names(), (std::vector<std::string>{"first", "second"}));
  model.compile({.optimizer = "sgd",
                 .loss = {"mse", "sparse_categorical_crossentropy"},
                 .metrics = {{"second", {"accuracy"}}},
                 .loss_weights = {1.0, 0.5}});
  const Tensor xa = sample({8, 4}), xb = sample({8, 3});
  const Tensor y1 = sample({8, 1}), y2 = tf::range(8) % 2;
  const auto scores = model.evaluate(tf::tuple(xa, xb), tf::tuple(y1, y2), {.verbose = 0});
  EXPECT_EQ(model.metrics_names(),
            (std::vector<std::string>{"loss", "first_loss", "second_loss", "second_accuracy"}));
  EXPECT_NEAR(scores["loss"], scores["first_loss"] + 0.5 * scores["second_loss"], 1e-5);
  const auto h =
      model.fit(tf::Nest::dict({{"a", xa}, {"b", xb}}),
                tf::Nest::dict({{"first", y1}, {"second", y2}}), {.epochs = 5, .verbose = 0});
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  const tf::Nest p = model.predict_all(tf::tuple(xa, xb), {.verbose = 0});
  EXPECT_EQ(p[1].as_tensor().shape(), tf::TensorShape({8, 2}));
}

TEST(KerasGuide, SharedLayersAndResiduals) {
  RILL_SHOWS("K64", "K65");
  layers::Dense shared(4, {.kernel_initializer = "ones"});
  auto a = keras::Input({4}), b = keras::Input({4});
  keras::Model model(tf::tuple(a, b), shared(a) + shared(b));
  EXPECT_EQ(model.variables().size(), 2u);
  const Tensor x = tf::ones({1, 4});
  tf::GradientTape tape;
  const Tensor y = model({x, x});
  EXPECT_EQ(values(y), std::vector<float>(4, 8));
  // Both calls add to the gradient.
  EXPECT_EQ(values(tape.gradient(y, model.trainable_variables())[1]), std::vector<float>(4, 2));
  auto in = keras::Input({4});
  keras::Model residual(in, in + layers::Dense(4, {.kernel_initializer = "zeros"})(in));
  expect_near(residual(sample({2, 4})), sample({2, 4}));
}

struct MyModel : keras::Model {
  layers::Dense dense_1{32, {.activation = "relu"}}, dense_2;
  layers::Dropout dropout{0.5};
  explicit MyModel(int num_classes = 10)
      : Model({.name = "my_model"}), dense_2(num_classes, {.activation = "sigmoid"}) {
    track("dense_1", dense_1);
    track("dense_2", dense_2);
    track("dropout", dropout);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return dense_2(dropout(dense_1(inputs)));
  }
  // User-defined methods are beside those of the library.
  Tensor scaled(const Tensor& inputs, double temperature) { return (*this)(inputs) / temperature; }
};

TEST(KerasGuide, SubclassedModels) {
  RILL_SHOWS("K66", "K70", "E65");
  MyModel m(10);
  const Tensor x = sample({40, 8});
  EXPECT_EQ(m(x).shape(), tf::TensorShape({40, 10}));
  EXPECT_EQ(m.variables().size(), 4u);
  // training reaches the layers inside.
  EXPECT_NE(values(m(x, {.training = 1})), values(m(x)));
  EXPECT_EQ(values(m(x)), values(m(x, {.training = 0})));
  m.compile({.optimizer = "rmsprop", .loss = "categorical_crossentropy", .metrics = {"accuracy"}});
  const auto h = m.fit(x, tf::one_hot(tf::range(40) % 10, 10), {.epochs = 60, .verbose = 0});
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  EXPECT_EQ(m.evaluate(x, tf::one_hot(tf::range(40) % 10, 10), {.verbose = 0}).size(), 2u);
}

TEST(KerasGuide, MethodsOfOnesOwn) {
  RILL_SHOWS("K73");
  MyModel m(3);
  const Tensor x = sample({2, 4});
  expect_near(m.scaled(x, 2), m(x) / 2.f);
  std::vector<std::string> names;
  for (const tf::Variable& v : m.trainable_variables()) names.push_back(v.name());
  EXPECT_THAT(names, ElementsAre(::testing::EndsWith("/kernel:0"), ::testing::EndsWith("/bias:0"),
                                 ::testing::EndsWith("/kernel:0"), ::testing::EndsWith("/bias:0")));
}

// The guide's text generator has a predict of its own, with another argument.
struct Sampler : keras::Model {
  layers::Dense dense{{.units = 3, .kernel_initializer = "ones"}};
  Sampler() { track("dense", dense); }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return dense(x); }
  Tensor predict(const Tensor& inputs, double temperature = 1.) {
    return tf::nn::softmax((*this)(inputs) / temperature);
  }
};
TEST(KerasGuide, APredictOfOnesOwn) {
  RILL_SHOWS("K72");
  Sampler m;
  const Tensor x = tf::constant({{1.f, 2.f}});
  expect_near(m.predict(x), tf::constant({{1 / 3.f, 1 / 3.f, 1 / 3.f}}));
  m.dense.set_weights({tf::constant({{0.f, 1.f, 2.f}, {0.f, 1.f, 2.f}}), tf::zeros({3})});
  expect_near(m.predict(x, 2.), tf::nn::softmax(tf::constant({{0.f, 1.5f, 3.f}})));
  // That of all models is still there, by its full name.
  expect_near(m.Model::predict(x, {.verbose = 0}), tf::constant({{0.f, 3.f, 6.f}}));
}

TEST(KerasGuide, ASubclassedModelInAFunctionalOne) {
  RILL_SHOWS("K68");
  MyModel m(7);
  auto in = keras::Input({8});
  auto out = m(in);
  EXPECT_EQ(out.shape(), tf::TensorShape({tf::None, 7}));
  keras::Model around(in, layers::Dense(2)(out));
  EXPECT_EQ(around(sample({3, 8})).shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(around.trainable_variables().size(), 6u);
  EXPECT_EQ(m.compute_output_shape({tf::None, 8}), tf::TensorShape({tf::None, 7}));
}

struct Unrolled : keras::Model {
  layers::Dense cell{4};
  tf::Variable scale = tf::Variable(2., {.name = "weight"});
  Unrolled() {
    track("cell", cell);
    track("scale", scale);
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override {
    Tensor state = tf::zeros({x.shape().dim(0), 4});
    for (int t = 0; t < 3; ++t) state = tf::tanh(cell(x(tf::all, t, tf::all)) + state) * scale;
    return state;
  }
};

TEST(KerasGuide, LoopsInCallAndPlainVariables) {
  RILL_SHOWS("K71", "K74");
  Unrolled m;
  const Tensor x = sample({2, 3, 5});
  tf::GradientTape tape;
  const Tensor y = tf::reduce_sum(m(x));
  EXPECT_EQ(m.variables().size(), 3u);
  for (const auto& g : tape.gradient(y, m.trainable_variables())) EXPECT_TRUE(g.defined());
}

struct MyLayer : layers::Layer {
  int output_dim;
  tf::Variable kernel;
  int builds = 0;
  explicit MyLayer(int n, keras::LayerOptions o = {}) : Layer(std::move(o)), output_dim(n) {}
  void build(const tf::TensorShape& input_shape) override {
    ++builds;
    tf::TensorShape shape({input_shape[1], output_dim});
    kernel = add_weight("kernel", shape, {.initializer = "uniform", .trainable = true});
    Layer::build(input_shape);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return tf::matmul(inputs, kernel);
  }
  keras::Config get_config() const override {
    auto config = Layer::get_config();
    config.set("output_dim", output_dim);
    return config;
  }
  static MyLayer from_config(const keras::Config& c) {
    return MyLayer(static_cast<int>(c["output_dim"].as_int()), keras::LayerOptions::from_config(c));
  }
};

TEST(KerasGuide, CustomLayers) {
  RILL_SHOWS("K75", "K76", "K78");
  MyLayer layer(10, {.name = "mine"});
  EXPECT_FALSE(layer.built());
  keras::Sequential m({layer, layers::Activation("softmax")});
  m(sample({4, 6}));
  m(sample({9, 6}));
  EXPECT_TRUE(layer.built());
  EXPECT_EQ(layer.name(), "mine");
  ASSERT_EQ(layer.trainable_variables().size(), 1u);
  EXPECT_EQ(layer.variables()[0].shape(), tf::TensorShape({6, 10}));
  for (float v : values(layer.variables()[0])) EXPECT_LE(std::abs(v), 0.05f);  // 'uniform'
  EXPECT_EQ(layer.variables()[0].name(), "mine/kernel:0");
  // Once, whatever the number of calls and the size of the batch.
  struct CountsBuilds : layers::Layer {
    int builds = 0;
    tf::Variable w;
    void build(const tf::TensorShape& s) override {
      ++builds;
      w = add_weight("w", {s[-1]}, {.initializer = "ones"});
    }
    Tensor call(const Tensor& x, const keras::CallContext&) override { return x * w; }
  } counts;
  for (int batch = 1; batch < 4; ++batch) counts(sample({batch, 6}));
  EXPECT_EQ(counts.builds, 1);
}

TEST(KerasGuide, ConfigurationsOfCustomLayers) {
  RILL_SHOWS("K79", "K80", "K81");
  keras::utils::register_keras_serializable<MyLayer>("MyLayer");
  MyLayer layer(10);
  layer(sample({1, 2}));
  EXPECT_TRUE(layer.built());
  const keras::Config c = layers::serialize(layer);
  const keras::LayerRef again = layers::deserialize(keras::Config::from_json(c.to_json()));
  EXPECT_EQ(dynamic_cast<MyLayer&>(*again).output_dim, 10);
  EXPECT_EQ(again->name(), layer.name());
  tf::TensorShape shape({tf::None, 5});
  EXPECT_EQ(shape.as_list(), (std::vector<std::int64_t>{-1, 5}));
  EXPECT_EQ(shape[-1], tf::Dim(5));
  shape.set_dim(1, 7);
  EXPECT_EQ(shape, tf::TensorShape({tf::None, 7}));
}

struct WithAddVariable : layers::Layer {
  tf::Variable w;
  void build(const tf::TensorShape& s) override {
    w = add_variable("w", {s[-1], 1}, tf::zeros_initializer());
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return tf::matmul(x, w); }
};

TEST(KerasGuide, AddVariableIsAddWeight) {
  RILL_SHOWS("K77");
  WithAddVariable l;
  EXPECT_EQ(values(l(tf::ones({2, 3}))), (std::vector<float>{0, 0}));
  EXPECT_EQ(l.trainable_variables().size(), 1u);
}

struct MeanSquaredError : keras::losses::Loss {
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    return tf::reduce_mean(tf::square(y_pred - y_true));
  }
};
struct CountingAccuracy : keras::metrics::Metric {
  tf::Variable total = add_weight("total", tf::int32), count = add_weight("count", tf::int32);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor&) override {
    const auto right =
        tf::cast(tf::equal(tf::cast(tf::reshape(y_true, {-1}), tf::int64), tf::argmax(y_pred, -1)),
                 tf::int32);
    total.assign_add(tf::size(right));
    count.assign_add(tf::reduce_sum(right));
  }
  Tensor result() override { return count / total; }
};

TEST(KerasGuide, LossesAndMetricsOfOnesOwn) {
  RILL_SHOWS("K82", "K83", "L18");
  const Tensor x = sample({10, 3}), y = sample({10, 2});
  keras::Sequential m({layers::Dense(2)});
  m.compile({.optimizer = "sgd", .loss = MeanSquaredError()});
  EXPECT_NEAR(m.evaluate(x, y, {.verbose = 0})["loss"],
              tf::reduce_mean(tf::square(m(x) - y)).item<float>(), 1e-5);
  CountingAccuracy accuracy;
  m.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy", .metrics = {accuracy}});
  const auto scores = m.evaluate(x, tf::range(10) % 2, {.verbose = 0});
  EXPECT_EQ(accuracy.total.item<int>(), 10);
  EXPECT_NEAR(scores["counting_accuracy"], accuracy.count.item<int>() / 10.0, 1e-12);
  EXPECT_EQ(accuracy.result().dtype(), tf::float64);
}

TEST(KerasGuide, Summary) {
  RILL_SHOWS("K90", "Q57");
  keras::backend::clear_session();
  keras::Sequential m({layers::Dense(16, {.activation = "relu", .input_shape = {10}}),
                       layers::Dense(1, {.activation = "sigmoid"})});
  EXPECT_EQ(m.summary_text(),
            "Model: \"sequential\"\n"
            "_________________________________________________________________\n"
            " Layer (type)                Output Shape              Param #   \n"
            "=================================================================\n"
            " dense (Dense)               (None, 16)                176       \n"
            "                                                                 \n"
            " dense_1 (Dense)             (None, 1)                 17        \n"
            "                                                                 \n"
            "=================================================================\n"
            "Total params: 193 (772.00 Byte)\n"
            "Trainable params: 193 (772.00 Byte)\n"
            "Non-trainable params: 0 (0.00 Byte)\n"
            "_________________________________________________________________\n");
  expect_error<tf::errors::FailedPrecondition>(
      [] { keras::Sequential({layers::Dense(1)}).summary_text(); }, "not yet been built");
}

TEST(KerasGuide, SummaryOfAGraph) {
  keras::backend::clear_session();
  auto i = keras::Input({32});
  auto x = layers::Dense(64, {.activation = "relu"})(i);
  auto z = layers::Add()({x, layers::Dense(64)(x)});
  const std::string text = keras::Model(i, layers::Dense(10)(z)).summary_text();
  EXPECT_THAT(text, ::testing::HasSubstr(" Layer (type)                Output Shape                "
                                         " Param #   Connected to                  \n"));
  EXPECT_THAT(text, ::testing::HasSubstr(" input_1 (InputLayer)        [(None, 32)]                "
                                         " 0         []                            \n"));
  EXPECT_THAT(text, ::testing::HasSubstr(" add (Add)                   (None, 64)                  "
                                         " 0         ['dense[0][0]',               \n"
                                         "                                                         "
                                         "            'dense_1[0][0]']             \n"));
  EXPECT_THAT(text, ::testing::HasSubstr("Total params: 6922 (27.04 KB)\n"));
}

TEST(KerasGuide, NamesOfInputsAndOutputs) {
  RILL_SHOWS("K91", "K92", "Q30");
  keras::backend::clear_session();
  auto in = keras::Input({4});
  keras::Model m(in, layers::Dense(2)(in));
  EXPECT_THAT(m.input_names(), ElementsAre("input_1"));
  EXPECT_THAT(m.output_names(), ElementsAre("dense"));
}

TEST(KerasGuide, StacksFromListsAndAdd) {
  RILL_SHOWS("K02", "K100");
  keras::models::Sequential listed({layers::Dense({.units = 4}), layers::Dense(2)});
  keras::Sequential added;
  added.add(layers::Dense(4));
  added.add(layers::Dense({.units = 2}));
  const Tensor x = sample({3, 5});
  listed(x), added(x);
  added.set_weights(listed.get_weights());
  expect_near(added(x), listed(x));
  EXPECT_EQ(added.predict(x, {.verbose = 0}).shape(), tf::TensorShape({3, 2}));
  added.pop();
  EXPECT_EQ(added(x).shape(), tf::TensorShape({3, 4}));
  EXPECT_EQ(added.predict(x, {.verbose = 0}).shape(), tf::TensorShape({3, 4}));
}

TEST(KerasGuide, BothStylesTrainTheSame) {
  RILL_SHOWS("K94", "K93");
  const Tensor x = sample({64, 5}), y = sample({64, 1});
  keras::Sequential by_fit({layers::Dense(1, {.kernel_initializer = "zeros"})}),
      by_hand({layers::Dense(1, {.kernel_initializer = "zeros"})});
  by_fit.compile({.optimizer = keras::optimizers::SGD(0.1), .loss = "mse"});
  by_fit.fit(x, y, {.batch_size = 16, .epochs = 2, .verbose = 0, .shuffle = false});
  keras::optimizers::SGD sgd(0.1);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : tf::data::Dataset::from_tensor_slices(tf::tuple(x, y)).batch(16)) {
      auto [bx, by] = batch.unpack<2>();
      tf::GradientTape tape;
      const Tensor loss = tf::reduce_mean(tf::square(by_hand(bx) - by));
      sgd.apply_gradients(tape.gradient(loss, by_hand.trainable_variables()),
                          by_hand.trainable_variables());
    }
  expect_near(by_fit.get_weights()[0], by_hand.get_weights()[0], 1e-6);
}

TEST(KerasGuide, ProgressIsShown) {
  RILL_SHOWS("K101");
  keras::Sequential m({layers::Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  ::testing::internal::CaptureStdout();
  m.fit(sample({64, 2}), sample({64, 1}),
        {.epochs = 2, .verbose = 1, .validation_data = {sample({4, 2}), sample({4, 1})}});
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, ::testing::MatchesRegex(
                        "Epoch 1/2\n"
                        "2/2 \\[==============================\\] - 0s [0-9]+.?s/step - loss: "
                        "[0-9.e-]+ - mae: [0-9.e-]+ - val_loss: [0-9.e-]+ - val_mae: [0-9.e-]+\n"
                        "Epoch 2/2\n2/2 .*\n"));
}

struct Classifier : keras::Model {
  layers::Dense dense{3};
  Classifier() { track("dense", dense); }
  Tensor call(const Tensor& inputs, const keras::CallContext& context) override {
    const Tensor logits = dense(inputs);
    return context.arguments.get("from_logits", false) ? logits : tf::nn::softmax(logits);
  }
};

TEST(KerasGuide, ArgumentsOfOnesOwnReachCall) {
  RILL_SHOWS("K69");
  const Classifier model;
  const Tensor x = sample({2, 4});
  const auto from_logits = [](bool yes) {
    return keras::CallOptions{.arguments = keras::Config::dict({{"from_logits", yes}})};
  };
  const Tensor logits = model(x, from_logits(true));
  expect_near(logits, model.dense(x), 0);
  expect_near(model(x), tf::nn::softmax(logits), 0);  // the argument's default
  expect_near(model(x, from_logits(false)), tf::nn::softmax(logits), 0);
  auto traced = tf::function([&](const Tensor& v) { return model(v, from_logits(true)); });
  expect_near(traced(x), logits);
}

TEST(KerasGuide, LayersHoldVariablesAndModelsHoldLayers) {
  RILL_SHOWS("K99");
  layers::Dense first(3, {.activation = "relu"}), last(2);
  keras::Sequential model({first, layers::Flatten(), last});
  const Tensor x = sample({4, 5});
  const Tensor y = model(x);
  EXPECT_EQ(first.variables().size(), 2u);
  EXPECT_EQ(model.layers().size(), 3u);
  // The model's variables are those of its layers, and its result theirs in turn.
  std::vector<std::string> of_layers, of_model;
  for (const keras::LayerRef& layer : model.layers())
    for (const tf::Variable& v : layer->variables()) of_layers.push_back(v.name());
  for (const tf::Variable& v : model.variables()) of_model.push_back(v.name());
  EXPECT_EQ(of_model, of_layers);
  EXPECT_EQ(of_model.size(), 4u);
  expect_near(y, last(first(x)), 0);
  first.variables()[0].assign(tf::zeros({5, 3}));
  expect_near(model(x), tf::zeros({4, 2}), 0);  // shared, not copied
}

// The guide sets an attribute before it calls the constructor of Layer: so does a base that
// is before it.
struct OutputDim {
  int output_dim;
};
struct AttributeFirst : OutputDim, layers::Layer {
  tf::Variable kernel;
  explicit AttributeFirst(int n, keras::LayerOptions kwargs = {})
      : OutputDim{n}, Layer(std::move(kwargs)) {}
  void build(const tf::TensorShape& s) override {
    kernel = add_weight("kernel", {s[-1], output_dim}, "ones");
  }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return tf::matmul(x, kernel); }
};

TEST(KerasGuide, AttributesMayBeSetBeforeTheBase) {
  RILL_SHOWS("K102");
  keras::Sequential m({AttributeFirst(4, {.name = "mine"}), AttributeFirst(1)});
  EXPECT_EQ(values(m(tf::ones({1, 3}))), (std::vector<float>{12}));
  EXPECT_EQ(m.get_layer(0)->name(), "mine");
  EXPECT_EQ(m.trainable_variables().size(), 2u);
}

struct OfGivenShape : keras::Model {
  layers::Dense dense{7};
  int asked = 0;
  OfGivenShape() { track("dense", dense); }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return dense(x); }
  tf::TensorShape compute_output_shape(const tf::TensorShape& in) override {
    ++asked;
    tf::TensorShape out = in;
    out.set_dim(in.rank() - 1, 7);
    return out;
  }
};

// Rill learns the shape of a subclassed model by tracing it; one that is written down agrees.
TEST(KerasGuide, ASubclassedModelNeedsNoComputeOutputShape) {
  RILL_SHOWS("Z12");
  MyModel without(7);
  OfGivenShape with;
  const auto in = keras::Input({8});
  EXPECT_EQ(without(in).shape(), tf::TensorShape({tf::None, 7}));
  EXPECT_EQ(with(in).shape(), tf::TensorShape({tf::None, 7}));
  EXPECT_EQ(without.compute_output_shape({tf::None, 8}), with.compute_output_shape({tf::None, 8}));
  EXPECT_EQ(keras::Model(in, with(in))(sample({3, 8})).shape(), tf::TensorShape({3, 7}));
}

// The arrays that programs make with NumPy's functions go where tensors go.
TEST(KerasGuide, ArraysGoStraightIntoModelsAndOps) {
  RILL_SHOWS("E68");
  keras::Sequential model({layers::Dense(2, {.kernel_initializer = "identity"})});
  const Tensor X = tf::np::array({{1, 3}, {4, 2}, {0, 5}}, tf::float64);
  const Tensor y_pred = tf::np::argmax(model(X), -1), label = tf::np::array({1, 1, 1});
  EXPECT_EQ(model(X).dtype(), tf::float32);
  EXPECT_EQ((y_pred == label).to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(tf::reduce_sum(tf::cast(y_pred == label, tf::int32)).item<int>(), 2);
  // No numbers are copied on the way into an op of their own dtype.
  EXPECT_EQ(tf::reshape(X, {6}).data<double>().data(), X.data<double>().data());
}

TEST(KerasGuide, AStackHasOneWayThrough) {
  RILL_SHOWS("Z21");
  const Tensor x = sample({2, 4});
  const layers::Dense inner(4, {.kernel_initializer = "zeros"});
  const keras::Sequential stack({inner, layers::Add()});  // of what else?
  expect_error<tf::errors::InvalidArgument>([&] { stack(x); },
                                            "should be called on a list of inputs");
  const auto in = keras::Input({4});
  const keras::Model graph(in, layers::Add()({in, inner(in)}));
  expect_near(graph(x), x, 0);
}

TEST(KerasGuide, ShapesOfThePerceptron) {
  RILL_SHOWS("Q39");
  keras::Sequential mlp({layers::Flatten(), layers::Dense({.units = 100, .activation = "relu"}),
                         layers::Dense({.units = 10})});
  for (const int batch : {50, 1}) {
    Tensor x = tf::zeros({batch, 28, 28, 1});
    std::vector<tf::TensorShape> shapes;
    mlp(x);
    for (const keras::LayerRef& layer : mlp.layers()) shapes.push_back((x = (*layer)(x)).shape());
    EXPECT_THAT(shapes, ElementsAre(tf::TensorShape({batch, 784}), tf::TensorShape({batch, 100}),
                                    tf::TensorShape({batch, 10})));
  }
}

}  // namespace
