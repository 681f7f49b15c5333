// Lines of Keras programs as people write them who come from Python.
#include <gtest/gtest.h>

#include <map>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

// Two results, and a weight.
struct Halves : layers::Layer {
  tf::Nest call_nest(const tf::Nest& in, const keras::CallContext&) override {
    const auto parts = tf::split(in.part(0).as_tensor(), 2, -1);
    return tf::tuple(parts[0], parts[1]);
  }
};
// Called through a function of one tensor.
struct Passed : layers::Layer {
  Halves halves;
  Passed() { track("halves", halves); }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return halves(x); }
};

TEST(KerasSpellings, CallsWithSeveralResults) {
  Halves halves;
  const Tensor x = tf::constant({{1.f, 2.f, 3.f, 4.f}});
  auto [a, b] = halves(x).unpack<2>();
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(halves(x)[1].to_vector<float>(), b.to_vector<float>());
  EXPECT_EQ(halves(x)[-2].to_vector<float>(), a.to_vector<float>());
  EXPECT_EQ(halves.call_all(x)[1].to_vector<float>(), b.to_vector<float>());
  EXPECT_EQ(Passed()(x)[1].to_vector<float>(), b.to_vector<float>());
  EXPECT_EQ(tf::Nest(halves(x)).size(), 2u);
  int n = 0;
  for (const Tensor& t : halves(x)) n += static_cast<int>(t.size());
  EXPECT_EQ(n, 4);
  auto traced = tf::function([&](Tensor t) {
    auto [first, second] = halves(t).unpack<2>();
    return first * second;
  });
  EXPECT_EQ(traced(x).to_vector<float>(), (std::vector<float>{3, 8}));
  auto as_it_is = tf::function([&](Tensor t) { return halves(t); });
  EXPECT_EQ(as_it_is(x)[1].to_vector<float>(), b.to_vector<float>());
  tf::config::run_functions_eagerly(true);
  EXPECT_EQ(as_it_is(x)[1].to_vector<float>(), b.to_vector<float>());
  tf::config::run_functions_eagerly(false);
  tf::GradientTape tape;
  tape.watch(x);
  const Tensor both = halves(x * 2.f);
  EXPECT_EQ(tape.gradient(both, x).to_vector<float>(), (std::vector<float>{2, 2, 2, 2}));
  auto whole = tf::function([&](Tensor t) { return tf::tuple(halves(t), t); });
  EXPECT_EQ(whole(x)[0][1].to_vector<float>(), b.to_vector<float>());
}

TEST(KerasSpellings, SeveralResultsAreNoTensor) {
  Halves halves;
  const Tensor y = halves(tf::ones({1, 4}));
  const char* const advice = "the 2 results of the layer";
  expect_error<tf::errors::InvalidArgument>([&] { tf::square(y); }, advice);
  expect_error<tf::errors::InvalidArgument>([&] { y + 1.f; }, advice);
  expect_error<tf::errors::InvalidArgument>([&] { tf::ones({1, 2}) + y; }, advice);
  expect_error<tf::errors::InvalidArgument>([&] { tf::concat({y, y}, 0); }, advice);
  expect_error<tf::errors::InvalidArgument>([&] { y.to_vector<float>(); }, advice);
  expect_error<tf::errors::InvalidArgument>([&] { y.unpack<3>(); }, advice);
  expect_error<tf::errors::InvalidArgument>([&] { y(0, 1); }, advice);
  expect_error<tf::errors::OutOfRange>([&] { y[2]; }, "result 2 of 2");
}

TEST(KerasSpellings, ModelsAndStatesWithSeveralResults) {
  const Tensor in = keras::Input({4, 3});
  auto [sequence, h, c] =
      layers::LSTM(2, {.return_sequences = true, .return_state = true})(in).unpack<3>();
  EXPECT_EQ(sequence.shape(), tf::TensorShape({tf::None, 4, 2}));
  keras::Model model(in, {sequence, h}, {.name = "two"});
  EXPECT_EQ(model.name(), "two");
  auto [s, last] = model(tf::ones({5, 4, 3})).unpack<2>();
  EXPECT_EQ(s.shape(), tf::TensorShape({5, 4, 2}));
  EXPECT_EQ(last.shape(), tf::TensorShape({5, 2}));
  layers::MultiHeadAttention attention(2, 3);
  const Tensor q = tf::ones({1, 4, 6});
  auto [y, scores] = attention(q, q, {.return_attention_scores = true}).unpack<2>();
  EXPECT_EQ(y.shape(), q.shape());
  EXPECT_EQ(scores.shape(), tf::TensorShape({1, 2, 4, 4}));
  auto [z, one] = layers::Attention()(q, q, {.return_attention_scores = true}).unpack<2>();
  EXPECT_EQ(one.shape(), tf::TensorShape({1, 4, 4}));
}

TEST(KerasSpellings, NamesOfModels) {
  const Tensor in = keras::Input({2});
  EXPECT_EQ(keras::Model(in, in, "a").name(), "a");
  EXPECT_EQ(keras::Model(in, in, std::string("b")).name(), "b");
  keras::Sequential s({layers::Dense(1, {.input_shape = {2}})}, {.name = "c", .trainable = false});
  EXPECT_EQ(s.name(), "c");
  EXPECT_TRUE(s.trainable_variables().empty());
  EXPECT_EQ(keras::Sequential({layers::Dense(1)}, "d").name(), "d");
}

keras::Model two_headed() {
  const Tensor in = keras::Input({3});
  return keras::Model(in, {layers::Dense(1, {.name = "price"})(in),
                           layers::Dense(2, {.activation = "softmax", .name = "kind"})(in)});
}

TEST(KerasSpellings, MetricsByOutputWithoutAList) {
  const Tensor x = tf::ones({4, 3});
  const auto y = tf::dict({{"price", tf::ones({4, 1})}, {"kind", tf::constant({0, 1, 0, 1})}});
  auto names_of = [&](keras::MetricsArg metrics) {
    keras::Model model = two_headed();
    model.compile({.loss = {{"price", "mse"}, {"kind", "sparse_categorical_crossentropy"}},
                   .metrics = std::move(metrics)});
    return model.evaluate(x, y, {.verbose = 0}).keys();
  };
  const std::vector<std::string> want{"loss", "price_loss", "kind_loss", "kind_accuracy"};
  EXPECT_EQ(names_of({{"kind", {"accuracy"}}}), want);
  EXPECT_EQ(names_of({{"kind", "accuracy"}}), want);
  EXPECT_EQ(
      names_of({{"kind", "accuracy"}, {"price", "mae"}}),
      (std::vector<std::string>{"loss", "price_loss", "kind_loss", "price_mae", "kind_accuracy"}));
}

TEST(KerasSpellings, LogsAndHistories) {
  keras::Sequential model({layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  const Tensor x = tf::ones({4, 3}), y = tf::zeros({4, 1});
  const keras::FitOptions quiet{.epochs = 2, .verbose = 0};
  int n = 0;
  for (double v : model.fit(x, y, quiet)["loss"]) n += v >= 0;
  for (double v : model.fit(x, y, quiet).history["mae"]) n += v >= 0;
  for (const auto& [name, values] : model.fit(x, y, quiet).items()) n += values.size() == 2;
  for (const auto& [name, values] : model.fit(x, y, quiet).history) n += values.size() == 2;
  EXPECT_EQ(n, 8);
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : model.evaluate(x, y, {.verbose = 0})) numbers[name] = value;
  for (auto& [name, value] : model.evaluate(x, y, {.verbose = 0}).items())
    EXPECT_EQ(numbers.at(name), value);
  EXPECT_EQ(model.evaluate(x, y, {.verbose = 0})["loss"], numbers["loss"]);
  for (const std::string& key : keras::Config::dict({{"a", 1}, {"b", 2}}).keys()) n += key == "b";
  for (const keras::Config& c : keras::Config::list({1, 2}).items()) n += c.as_int() == 2;
  EXPECT_EQ(n, 10);
}

TEST(KerasSpellings, ValidationData) {
  const Tensor a = keras::Input({2}), b = keras::Input({2});
  keras::Model model({a, b}, layers::Dense(1)(layers::concatenate({a, b})));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = tf::ones({4, 2}), y = tf::zeros({4, 1});
  auto has_validation = [&](keras::ValidationData data) {
    return model.fit({x, x}, y, {.verbose = 0, .validation_data = std::move(data)})
        .contains("val_loss");
  };
  EXPECT_TRUE(has_validation({{x, x}, y}));
  EXPECT_TRUE(has_validation(tf::tuple(tf::tuple(x, x), y)));
  EXPECT_TRUE(has_validation(tf::tuple(tf::tuple(x, x), y, tf::ones({4}))));
  EXPECT_TRUE(has_validation({tf::tuple(x, x), y, tf::ones({4})}));
  expect_error<tf::errors::InvalidArgument>([&] { has_validation(tf::tuple(x, y, x, y)); },
                                            "expected (x, y) or (x, y, sample_weight)");
}

TEST(KerasSpellings, ReductionByName) {
  const Tensor t = tf::constant({{1.f}, {3.f}}), p = tf::zeros({2, 1});
  EXPECT_EQ(keras::losses::MeanSquaredError({.reduction = "none"})(t, p).to_vector<float>(),
            (std::vector<float>{1, 9}));
  EXPECT_EQ(keras::losses::Huber({.reduction = "sum"})(t, p).item<float>(), 3);
  expect_error<tf::errors::InvalidArgument>(
      [] { keras::losses::MeanSquaredError({.reduction = "mean"}); }, "reduction is \"mean\"");
}

TEST(KerasSpellings, WeightsByName) {
  layers::Dense dense(2, {.use_bias = false});
  expect_error<tf::errors::FailedPrecondition>([&] { dense.kernel(); }, "before it is built");
  dense(tf::ones({1, 3}));
  EXPECT_EQ(dense.kernel().shape(), tf::TensorShape({3, 2}));
  expect_error<tf::errors::NotFound>([&] { dense.bias(); }, "no weight \"bias\"");
  layers::Conv2D conv(4, 3);
  conv(tf::ones({1, 5, 5, 2}));
  EXPECT_EQ(conv.kernel().shape(), tf::TensorShape({3, 3, 2, 4}));
  EXPECT_EQ(conv.bias().shape(), tf::TensorShape({4}));
  layers::BatchNormalization norm({.momentum = 0.5});
  norm(tf::fill({4, 2}, 2.f), {.training = true});
  EXPECT_EQ(norm.moving_mean().to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(norm.moving_variance().to_vector<float>(), (std::vector<float>{0.5, 0.5}));
  EXPECT_EQ(norm.gamma().to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(norm.beta().to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(KerasSpellings, LayersOfAModel) {
  keras::Sequential model({layers::Dense(2, {.input_shape = {3}, .name = "x"}), layers::Dense(1)});
  EXPECT_EQ(model.get_layer("x").weights().size(), 2u);
  model.get_layer("x").set_weights({tf::ones({3, 2}), tf::zeros({2})});
  EXPECT_EQ(model.get_layer("x")(tf::ones({1, 3})).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(model.get_layer("x").output().shape(), tf::TensorShape({tf::None, 2}));
  model.get_layer("x").trainable(false);
  EXPECT_EQ(model.trainable_variables().size(), 2u);
  EXPECT_EQ(model.layers()[0].name(), "x");
  EXPECT_EQ(model.get_layer("x").as<layers::Dense>()->kernel().shape(), tf::TensorShape({3, 2}));
}

TEST(KerasSpellings, LambdasOfAnyInputs) {
  const Tensor x = tf::ones({2, 3});
  EXPECT_EQ(
      layers::Lambda([](const tf::Nest& n) { return n[0] + n[1]; })({x, x})(0, 0).item<float>(), 2);
  EXPECT_EQ(
      layers::Lambda([](const std::vector<Tensor>& v) { return tf::add_n(v); })({x, x, x})(0, 0)
          .item<float>(),
      3);
  EXPECT_EQ(layers::Lambda([](auto t) { return t * 2.f; })(x)(0, 0).item<float>(), 2);
  auto [a, b] = layers::Lambda([](Tensor t) { return std::pair(t, t * 2.f); })(x).unpack<2>();
  EXPECT_EQ(b(0, 0).item<float>(), 2);
  const layers::Lambda split([](Tensor t) { return tf::strings::split(t); });
  EXPECT_EQ(split.apply(tf::constant({"a b"})).as_ragged().to_string(), "[[b'a', b'b']]");
}

TEST(KerasSpellings, TensorBoardAndManagers) {
  const std::string folder = rill::testing::fresh_folder("board");
  std::vector<keras::callbacks::CallbackRef> callbacks = {
      keras::callbacks::TensorBoard(folder, {.write_graph = false, .update_freq = "epoch"})};
  keras::Sequential model({layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(tf::ones({2, 1}), tf::ones({2, 1}), {.verbose = 0, .callbacks = callbacks});
  EXPECT_TRUE(std::filesystem::exists(folder + "/train"));
  expect_error<tf::errors::InvalidArgument>(
      [] { keras::callbacks::TensorBoard({.update_freq = "step"}); }, "update_freq is \"step\"");
  const tf::Variable v(1.f);
  tf::train::CheckpointManager manager(tf::train::Checkpoint({{"v", v}}), folder + "/saves",
                                       {.max_to_keep = 1});
  manager.save();
  manager.save();
  EXPECT_EQ(manager.checkpoints().size(), 1u);
}

struct Counted : keras::metrics::Metric {
  explicit Counted(const std::string& name) : Metric(name) {}
  tf::Variable total = add_weight("total");
  void update_state(const Tensor&, const Tensor& y_pred, const Tensor&) override {
    total.assign_add(tf::cast(tf::shape(y_pred)[0], tf::float32));
  }
  Tensor result() override { return total; }
};
struct Epochs : keras::callbacks::Callback {
  int ended = 0;
  void on_epoch_end(int, const keras::Logs&) override { ++ended; }
};

TEST(KerasSpellings, ArgumentsByPosition) {
  const Tensor x = tf::ones({6, 3});
  keras::Sequential m({layers::Dense(4, "relu"),
                       layers::Dense(4, tf::nn::tanh, {.use_bias = false}),
                       layers::Dense(3, {.activation = "softmax"})});
  m(x);
  EXPECT_EQ(m.layers()[0].get_config()["activation"].as_string(), "relu");
  EXPECT_EQ(m.layers()[1].get_config()["activation"].as_string(), "tanh");
  EXPECT_EQ(m.layers()[1].weights().size(), 1u);
  EXPECT_EQ(m.summary_text(40), m.summary_text({.line_length = 40}));
  EXPECT_EQ(keras::callbacks::EarlyStopping("loss", {.patience = 3}).stopped_epoch, 0);
}
TEST(KerasSpellings, OneWhereAListIsMeant) {
  const Tensor x = tf::ones({6, 3}), y = tf::zeros({6}, tf::int32);
  keras::Sequential m({layers::Dense(3, "softmax")});
  m.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy", .metrics = "accuracy"});
  Epochs epochs;
  EXPECT_TRUE(m.fit(x, y, {.epochs = 2, .verbose = 0, .callbacks = epochs}).contains("accuracy"));
  EXPECT_EQ(epochs.ended, 2);
  m.fit(x, y, {.verbose = 0, .callbacks = {epochs, keras::callbacks::TerminateOnNaN()}});
  EXPECT_EQ(epochs.ended, 3);
  const std::vector<keras::CallbackRef> list{epochs};
  m.fit(x, y, {.verbose = 0, .callbacks = list});
  EXPECT_EQ(epochs.ended, 4);
  m.evaluate(x, y, {.verbose = 0, .callbacks = keras::callbacks::TerminateOnNaN()});
}
TEST(KerasSpellings, MetricsByName) {
  keras::Sequential m({layers::Dense(1)});
  const std::vector<keras::metrics::MetricRef> metrics{Counted("count")};
  m.compile({.optimizer = "sgd", .loss = "mse", .metrics = metrics});
  EXPECT_EQ(m.fit(tf::ones({6, 2}), tf::ones({6, 1}), {.verbose = 0})["count"].back(), 6);
}

TEST(KerasSpellings, RatesAndStatistics) {
  keras::optimizers::Adam adam(1e-3, {.beta_1 = 0.5});
  EXPECT_NEAR(adam.get_config()["beta_1"].as_double(), 0.5, 1e-9);
  EXPECT_NEAR(keras::optimizers::AdamW(0.01).learning_rate(), 0.01, 1e-9);
  adam.learning_rate(0.25);
  EXPECT_EQ(adam.learning_rate(), 0.25);

  layers::Normalization norm;
  expect_error<tf::errors::FailedPrecondition>([&] { norm.mean(); }, "call adapt");
  norm.adapt(tf::constant({{1.f, 2.f}, {3.f, 6.f}}));
  EXPECT_EQ(norm.mean().shape(), tf::TensorShape({1, 2}));
  EXPECT_EQ(norm.mean().to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(norm.variance().to_vector<float>(), (std::vector<float>{1, 4}));

  layers::Discretization bins({.num_bins = 3}), given({0., 1.});
  EXPECT_EQ(given.bin_boundaries(), (std::vector<double>{0, 1}));
  EXPECT_EQ(given(tf::constant({-1.f, 0.5f, 2.f})).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2}));
}

struct Weighed : keras::metrics::Metric {
  tf::Variable most = add_weight("most", {.initializer = "ones"}),
               n = add_weight("n", {.dtype = tf::int32, .shape = {2}});
  void update_state(const Tensor&, const Tensor&, const Tensor&) override {}
  Tensor result() override { return most; }
};
TEST(KerasSpellings, StatesVariablesAndWeights) {
  layers::GRU gru(2, {.return_state = true});
  const Tensor x = tf::ones({1, 3, 2}), h = tf::ones({1, 2});
  const auto one = gru(x, {.initial_state = h})[1].to_vector<float>();
  EXPECT_EQ(one, gru(x, {.initial_state = {h}})[1].to_vector<float>());
  EXPECT_EQ(one, gru(x, {.initial_state = std::vector<Tensor>{h}})[1].to_vector<float>());
  EXPECT_NE(one, gru(x)[1].to_vector<float>());

  layers::Dense a(2), b(3, {.use_bias = false});
  a(h), b(h);
  const std::vector<tf::Variable> both = a.trainable_variables() + b.trainable_variables();
  ASSERT_EQ(both.size(), 3u);
  EXPECT_EQ(both[2].shape(), tf::TensorShape({2, 3}));

  const Weighed m;
  EXPECT_EQ(m.most.value().item<float>(), 1);
  EXPECT_EQ(m.n.dtype(), tf::int32);
  EXPECT_EQ(m.n.shape(), tf::TensorShape({2}));
}

struct Cubed : keras::losses::Loss {
  Cubed() : Loss("cubed") {}
  Tensor call(const Tensor& y, const Tensor& p) override {
    return tf::reduce_mean(tf::pow(y - p, 3), -1);
  }
};
struct Shifted : layers::Layer {
  float by;
  explicit Shifted(float b) : Layer({.name = "shifted"}), by(b) {}
  explicit Shifted(const keras::Config& c)
      : Layer(c), by(static_cast<float>(c["by"].as_double())) {}
  Tensor call(const Tensor& x, const keras::CallContext&) override { return x + by; }
  keras::Config get_config() const override {
    keras::Config c = Layer::get_config();
    c.set("by", by);
    return c;
  }
};
TEST(KerasSpellings, NamesByPosition) {
  EXPECT_EQ(keras::metrics::SparseCategoricalAccuracy("right").name(), "right");
  EXPECT_EQ(keras::metrics::SparseTopKCategoricalAccuracy(3, {.name = "top3"}).name(), "top3");
  EXPECT_EQ(keras::metrics::TopKCategoricalAccuracy(2).get_config()["k"].as_int(), 2);
  EXPECT_EQ(Cubed().name(), "cubed");
  const Shifted again(Shifted(3).get_config());
  EXPECT_EQ(again.name(), "shifted");
  EXPECT_EQ(again.by, 3);
  layers::Embedding e(4, 2);
  e(tf::constant({1}));
  EXPECT_EQ(e.embeddings().shape(), tf::TensorShape({4, 2}));
}

}  // namespace
