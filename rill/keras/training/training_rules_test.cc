// What Keras 2.15 does in the corners of compile, fit, evaluate and predict.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = tf::keras;
using keras::layers::Dense;
using rill::testing::expect_error;
using tf::Nest, tf::Tensor;
using tf::errors::FailedPrecondition, tf::errors::InvalidArgument;

namespace {

const Tensor x = tf::reshape(tf::cast(tf::range(40), tf::float32) / 40.f, {10, 4});
const Tensor y = tf::reshape(tf::cast(tf::range(10), tf::float32) / 10.f, {10, 1});
const Tensor classes = tf::range(10) % 2;

keras::Sequential regression(double rate = 0.1) {
  keras::Sequential m({Dense(3, {.activation = "tanh", .input_shape = {4}}), Dense(1)});
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = rate}), .loss = "mse"});
  return m;
}

std::vector<float> numbers(const keras::Layer& layer) {
  std::vector<float> all;
  for (const tf::Variable& v : layer.weights())
    for (const float f : v.to_vector<float>()) all.push_back(f);
  return all;
}

// ---- masks
TEST(TrainingRules, TheLossIsTheMeanOfWhatTheMaskLeaves) {
  keras::Sequential m({keras::layers::Masking({.mask_value = 0, .input_shape = {3, 1}}),
                       Dense(1, {.use_bias = false, .kernel_initializer = "ones"})});
  m.compile({.loss = "mse"});
  const Tensor steps = tf::constant({{{1.f}, {2.f}, {0.f}}, {{3.f}, {0.f}, {0.f}}});
  const Tensor zeros = tf::zeros({2, 3, 1});
  // (1 + 4 + 9) / 3, not / 6.
  EXPECT_NEAR(m.evaluate(steps, zeros, {.verbose = 0})["loss"], 14. / 3, 1e-5);
  const Tensor weights = tf::constant({1.f, 2.f});
  EXPECT_NEAR(m.evaluate(steps, zeros, {.verbose = 0, .sample_weight = weights})["loss"], 23. / 3,
              1e-5);
  // By hand, too.
  EXPECT_NEAR(keras::losses::MeanSquaredError()(zeros, m(steps)).item<float>(), 14. / 3, 1e-5);
  EXPECT_NEAR(
      keras::losses::MeanSquaredError({.reduction = keras::losses::Reduction::SUM})(zeros, m(steps))
          .item<float>(),
      14, 1e-5);
}

TEST(TrainingRules, WeightsInAColumnFitLossesThatCompare) {
  // Hinge asks which labels are 0, and knows the shape of the answer for batches of any size.
  keras::Sequential m({Dense(1, {.kernel_initializer = "ones", .input_shape = {1}})});
  m.compile({.loss = "hinge"});
  const Tensor in = tf::constant({{0.1f}, {0.2f}, {-0.3f}, {0.4f}, {0.5f}});
  const Tensor labels = tf::constant({{1.f}, {0.f}, {1.f}, {0.f}, {1.f}});
  const Tensor column = tf::constant({{1.f}, {2.f}, {3.f}, {4.f}, {5.f}});
  // Losses 0.9, 1.2, 1.3, 1.4, 0.5: batches of three and of two, by their sizes.
  const double want = (0.9 + 2.4 + 3.9 + 5.6 + 2.5) / 5;
  EXPECT_NEAR(
      m.evaluate(in, labels, {.batch_size = 3, .verbose = 0, .sample_weight = column})["loss"],
      want, 1e-5);
}

TEST(TrainingRules, ShapesThatATraceDoesNotKnowCountAsInEagerExecution) {
  const Tensor labels = tf::constant({{0}, {1}, {2}});
  const Tensor p = tf::constant({{0.8f, 0.1f, 0.1f}, {0.2f, 0.7f, 0.1f}, {0.6f, 0.3f, 0.1f}});
  const auto traced = [](auto f, const tf::TensorShape& a, const tf::TensorShape& b, tf::DType d) {
    return tf::function(f, {.input_signature = {tf::TensorSpec(a, d), tf::TensorSpec(b)}});
  };
  const tf::TensorShape open{tf::None, tf::None};
  auto right =
      traced([](Tensor t, Tensor q) { return keras::metrics::sparse_categorical_accuracy(t, q); },
             open, open, tf::int32);
  EXPECT_EQ(right(labels, p).to_vector<float>(), (std::vector<float>{1, 1, 0}));
  auto top = traced(
      [](Tensor t, Tensor q) { return keras::metrics::sparse_top_k_categorical_accuracy(t, q, 2); },
      open, open, tf::int32);
  EXPECT_EQ(top(labels, p).to_vector<float>(), (std::vector<float>{1, 1, 0}));
  auto mse = traced([](Tensor t, Tensor q) { return keras::losses::MeanSquaredError()(t, q); },
                    open, {tf::None}, tf::float32);
  EXPECT_NEAR(mse(tf::constant({{1.f}, {0.f}}), tf::constant({0.5f, 0.2f})).item<float>(),
              (0.25 + 0.04) / 2, 1e-6);
}

TEST(TrainingRules, BinaryAccuracyWeighsElements) {
  keras::metrics::BinaryAccuracy m;
  m.update_state(tf::constant({1.f, 0.f, 1.f}), tf::constant({.9f, .8f, .2f}),
                 tf::constant({1.f, 2.f, 3.f}));
  EXPECT_NEAR(m.result().item<float>(), 1. / 6, 1e-6);
  m.reset_state();
  m.update_state(tf::constant({{1.f, 0.f}, {1.f, 1.f}}), tf::constant({{.9f, .8f}, {.2f, .7f}}),
                 tf::constant({{1.f, 1.f}, {1.f, 1.f}}));
  EXPECT_NEAR(m.result().item<float>(), 0.5, 1e-6);
}

TEST(TrainingRules, NoSamplesHaveNoLoss) {
  EXPECT_EQ(keras::losses::MeanSquaredError()(tf::zeros({0, 3}), tf::zeros({0, 3})).item<float>(),
            0.f);
}

// ---- what is trainable
TEST(TrainingRules, TrainableCountsAsItWasAtCompile) {
  auto m = regression();
  m.set_trainable(false);
  auto before = numbers(m);
  m.fit(x, y, {.verbose = 0});
  EXPECT_NE(numbers(m), before);
  EXPECT_FALSE(m.trainable());
  m.compile({.optimizer = "sgd", .loss = "mse"});
  before = numbers(m);
  m.fit(x, y, {.verbose = 0});
  EXPECT_EQ(numbers(m), before);
}

TEST(TrainingRules, ADiscriminatorFrozenInALargerModelTrainsByItself) {
  keras::Sequential d({Dense(1, {.input_shape = {4}})}), g({Dense(4, {.input_shape = {4}})});
  d.compile({.optimizer = "sgd", .loss = "mse"});
  d.set_trainable(false);
  const auto z = keras::Input({4});
  keras::Model gan(z, d(g(z)));
  gan.compile({.optimizer = "sgd", .loss = "mse"});
  auto of_d = numbers(d), of_g = numbers(g);
  gan.train_on_batch(x, y);
  EXPECT_EQ(numbers(d), of_d);
  EXPECT_NE(numbers(g), of_g);
  of_g = numbers(g);
  d.train_on_batch(x, y);
  EXPECT_NE(numbers(d), of_d);
  EXPECT_EQ(numbers(g), of_g);
}

TEST(TrainingRules, AModelOfWhichAllIsFrozenHasALoss) {
  auto m = regression();
  m.set_trainable(false);
  m.compile({.optimizer = "adam", .loss = "mse"});
  const auto before = numbers(m);
  const auto history = m.fit(x, y, {.epochs = 2, .verbose = 0, .shuffle = false});
  EXPECT_EQ(numbers(m), before);
  EXPECT_EQ(history["loss"][0], history["loss"][1]);
  EXPECT_NEAR(history["loss"][0], m.evaluate(x, y, {.verbose = 0})["loss"], 1e-6);
}

// ---- steps
// Notes the sizes of the batches that it is trained on.
struct Sizes : keras::Model {
  Dense dense{1};
  std::shared_ptr<std::vector<std::int64_t>> seen = std::make_shared<std::vector<std::int64_t>>();
  Sizes() { track("dense", dense); }
  Tensor call(const Tensor& in, const keras::CallContext&) override { return dense(in); }
  Nest train_step(const Nest& data) override {
    seen->push_back(data[0].as_tensor().shape().dim(0));
    return keras::Model::train_step(data);
  }
};

TEST(TrainingRules, ArraysAreCutForTheStepsThatAreAsked) {
  Sizes m;
  m.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = true});
  const auto sizes = [&](keras::FitOptions o) {
    m.seen->clear();
    o.verbose = 0;
    m.fit(x, y, std::move(o));
    return *m.seen;
  };
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(sizes({.epochs = 2, .steps_per_epoch = 2}), (List{5, 5, 5, 5}));
  EXPECT_EQ(sizes({.epochs = 2, .steps_per_epoch = 4}), (List{3, 3, 3, 1, 3, 3, 3, 1}));
  // A size that is given stays; the data go on from epoch to epoch, and may run out.
  EXPECT_EQ(sizes({.batch_size = 4, .epochs = 2, .steps_per_epoch = 2}), (List{4, 4, 2, 4}));
  EXPECT_EQ(sizes({.batch_size = 4, .epochs = 2, .steps_per_epoch = 5}), (List{4, 4, 2, 4, 4, 2}));
}

TEST(TrainingRules, NoSampleIsPredictedOrCountedTwice) {
  auto m = regression();
  const Tensor all = m.predict(x, {.verbose = 0});
  for (const auto& [batch, steps] :
       {std::pair{keras::kDefaultBatchSize, 2}, {4, 5}, {4, 3}, {keras::kDefaultBatchSize, 20}}) {
    const Tensor p = m.predict(x, {.batch_size = batch, .verbose = 0, .steps = steps});
    ASSERT_EQ(p.shape(), all.shape()) << batch << " " << steps;
    EXPECT_LT(tf::reduce_max(tf::abs(p - all)).item<float>(), 1e-6f);
  }
  EXPECT_EQ(m.predict(x, {.batch_size = 4, .verbose = 0, .steps = 2}).shape().dim(0), 8);
  EXPECT_NEAR(m.evaluate(x, y, {.batch_size = 4, .verbose = 0, .steps = 5})["loss"],
              m.evaluate(x, y, {.verbose = 0})["loss"], 1e-6);
}

TEST(TrainingRules, NegativeSizesAreRefused) {
  auto m = regression();
  const auto before = numbers(m);
  expect_error<InvalidArgument>([&] { m.evaluate(x, y, {.batch_size = -1}); },
                                "[evaluate] batch_size is -1; expected at least 1");
  expect_error<InvalidArgument>([&] { m.evaluate(x, y, {.steps = -2}); }, "[evaluate] steps is -2");
  expect_error<InvalidArgument>([&] { m.predict(x, {.batch_size = -4}); },
                                "[predict] batch_size is -4");
  expect_error<InvalidArgument>([&] { m.predict(x, {.steps = -4}); }, "[predict] steps is -4");
  expect_error<InvalidArgument>([&] { m.fit(x, y, {.steps_per_epoch = -1}); },
                                "[fit] steps_per_epoch is -1");
  expect_error<InvalidArgument>([&] { m.fit(x, y, {.validation_steps = -3}); },
                                "validation_steps -3");
  const auto ds = tf::data::Dataset::from_tensor_slices(tf::tuple(x, y)).batch(5);
  expect_error<InvalidArgument>([&] { m.evaluate(ds, {.sample_weight = tf::ones({10})}); },
                                "[evaluate] sample_weight comes as the third part");
  expect_error<InvalidArgument>([&] { m.fit(ds, {.verbose = 0, .validation_data = ds.repeat()}); },
                                "validation_steps");
  EXPECT_EQ(numbers(m), before);
}

// ---- weights of classes and samples
TEST(TrainingRules, ValidationDataOfASplitHaveNoClassWeights) {
  keras::Sequential m({Dense(2, {.activation = "softmax", .input_shape = {4}})});
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.}),
             .loss = "sparse_categorical_crossentropy"});
  const auto history = m.fit(x, classes,
                             {.verbose = 0,
                              .validation_split = 0.3,
                              .shuffle = false,
                              .class_weight = {{0, 1.}, {1, 5.}}});
  const auto part = [](const Tensor& t, int begin, int end) { return t(tf::slice(begin, end)); };
  EXPECT_NEAR(history["val_loss"][0],
              m.evaluate(part(x, 7, 10), part(classes, 7, 10), {.verbose = 0})["loss"], 1e-6);
  const Tensor weights = 1.f + 4.f * tf::cast(part(classes, 0, 7), tf::float32);
  EXPECT_NEAR(history["loss"][0],
              m.evaluate(part(x, 0, 7), part(classes, 0, 7),
                         {.verbose = 0, .sample_weight = weights})["loss"],
              1e-6);
}

TEST(TrainingRules, EveryClassHasAWeight) {
  keras::Sequential m({Dense(2, {.activation = "softmax", .input_shape = {4}})});
  m.compile({.loss = "sparse_categorical_crossentropy"});
  const auto before = numbers(m);
  const auto fit = [&](std::vector<std::pair<int, double>> weights) {
    m.fit(x, classes, {.verbose = 0, .class_weight = std::move(weights)});
  };
  expect_error<InvalidArgument>(
      [&] {
        fit({{7, 2.}});
      },
      "class_weight has 1 classes and among them 7; expected each class "
      "from 0 to one less than their number, once");
  expect_error<InvalidArgument>([&] { fit({{-1, 2.}}); }, "among them -1");
  expect_error<InvalidArgument>([&] { fit({{0, 1.}, {2, 2.}}); }, "among them 2");
  expect_error<InvalidArgument>([&] { fit({{0, 1.}, {0, 2.}}); }, "among them 0");
  expect_error<InvalidArgument>([&] { fit({{0, 1.}}); }, "a label is 1, which has no class_weight");
  expect_error<InvalidArgument>(
      [&] {
        fit({{0, 1.}, {1, std::nan("")}});
      },
      "class_weight of class 1 is nan");
  EXPECT_EQ(numbers(m), before);
}

TEST(TrainingRules, WeightsOfSamplesMustFit) {
  auto m = regression();
  const auto loss = [&](const Tensor& weights) {
    return m.evaluate(x, y, {.verbose = 0, .sample_weight = weights})["loss"];
  };
  EXPECT_NEAR(loss(tf::ones({10}) * 2.f), 2 * m.evaluate(x, y, {.verbose = 0})["loss"], 1e-6);
  EXPECT_NEAR(loss(tf::ones({10, 1})), m.evaluate(x, y, {.verbose = 0})["loss"], 1e-6);
  expect_error<InvalidArgument>([&] { loss(tf::ones({10, 10})); }, "sample_weight has shape");
  expect_error<InvalidArgument>(
      [&] {
        loss(tf::ones({10, 3}));
      },
      "expected a number, one weight a sample, or one for each loss");
  expect_error<InvalidArgument>([&] { loss(tf::ones({9})); }, "sample_weight sizes: 9");
}

TEST(TrainingRules, EachOutputMayHaveWeightsOfItsOwn) {
  const auto in = keras::Input({4});
  const auto a = Dense(1, {.name = "a"})(in), b = Dense(1, {.name = "b"})(in);
  keras::Model m(in, {a, b});
  m.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.}),
             .loss = "mse",
             .weighted_metrics = {"mae"}});
  const Nest labels{y, y};
  const Tensor half = tf::cast(tf::range(10) < 5, tf::float32);
  const auto plain = m.evaluate(x, labels, {.verbose = 0});
  const Tensor error = tf::squeeze(m.predict_all(x, {.verbose = 0})[1].as_tensor() - y, 1);
  const auto expect = [&](const keras::Logs& logs) {
    EXPECT_NEAR(logs["a_loss"], plain["a_loss"], 1e-6);
    EXPECT_NEAR(logs["b_loss"], tf::reduce_mean(tf::square(error) * half).item<float>(), 1e-6);
    EXPECT_NEAR(logs["b_mae"], tf::reduce_sum(tf::abs(error) * half).item<float>() / 5, 1e-6);
  };
  expect(m.evaluate(x, labels, {.verbose = 0, .sample_weight = {tf::ones({10}), half}}));
  const Nest named = Nest::dict({{"b", half}});
  expect(m.evaluate(x, labels, {.verbose = 0, .sample_weight = named}));
  const auto ds =
      tf::data::Dataset::from_tensor_slices(Nest{x, labels, Nest{tf::ones({10}), half}}).batch(5);
  expect(m.evaluate(ds, {.verbose = 0}));
  expect(m.test_on_batch(x, labels, {.sample_weight = named}));
  EXPECT_NEAR(m.fit(x, labels, {.verbose = 0, .sample_weight = named})["b_loss"][0],
              tf::reduce_mean(tf::square(error) * half).item<float>(), 1e-6);
  expect_error<InvalidArgument>(
      [&] {
        m.evaluate(x, labels, {.sample_weight = Nest::dict({{"c", half}})});
      },
      "the sample_weight have a key \"c\"; the outputs of the model are \"a\", \"b\"");
}

// ---- one batch at a time
TEST(TrainingRules, NumbersOfABatchAreItsOwn) {
  auto m = regression(0);
  const auto first = m.train_on_batch(x, y)["loss"];
  const auto other = m.train_on_batch(x * 3.f, y)["loss"];
  EXPECT_EQ(m.train_on_batch(x, y)["loss"], first);
  EXPECT_EQ(m.test_on_batch(x * 3.f, y)["loss"], other);
  EXPECT_NE(first, other);
  m.train_on_batch(x, y);
  EXPECT_NEAR(m.train_on_batch(x * 3.f, y, {.reset_metrics = false})["loss"], (first + other) / 2,
              1e-6);
  EXPECT_NEAR(m.train_on_batch(x, y, tf::ones({10}) * 2.f)["loss"], 2 * first, 1e-6);

  keras::Sequential c({Dense(2, {.activation = "softmax", .input_shape = {4}})});
  c.compile({.optimizer = keras::optimizers::SGD({.learning_rate = 0.}),
             .loss = "sparse_categorical_crossentropy"});
  EXPECT_NEAR(c.train_on_batch(x, classes, {.class_weight = {{0, 3.}, {1, 3.}}})["loss"],
              3 * c.test_on_batch(x, classes)["loss"], 1e-6);
}

// ---- callbacks that reach too far
struct Recompile : keras::callbacks::Callback {
  void on_epoch_end(int, const keras::Logs&) override {
    model->compile({.optimizer = "adam", .loss = "mse"});
  }
};
struct RecompileAfterTest : keras::callbacks::Callback {
  void on_test_end(const keras::Logs&) override {
    model->compile({.optimizer = "adam", .loss = "mse"});
  }
};
TEST(TrainingRules, AModelThatIsBeingTrainedIsNotCompiled) {
  auto m = regression();
  expect_error<FailedPrecondition>([&] { m.fit(x, y, {.verbose = 0, .callbacks = {Recompile()}}); },
                                   "compile is called while fit is running");
  m.fit(x, y, {.verbose = 0});  // continues
  m.evaluate(x, y, {.verbose = 0, .callbacks = {RecompileAfterTest()}});
  EXPECT_EQ(m.optimizer().class_name(), "Adam");
}

// ---- traces
struct CountsTraces : keras::layers::Layer {
  std::shared_ptr<int> calls = std::make_shared<int>(0);
  Tensor call(const Tensor& in, const keras::CallContext&) override {
    ++*calls;
    return tf::reduce_mean(in, 1);
  }
};
TEST(TrainingRules, BatchesOfManyLengthsAreFewFunctions) {
  CountsTraces counting;
  keras::Sequential m({counting, Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const auto epoch = [&] {
    for (int length = 1; length <= 18; ++length)
      m.train_on_batch(tf::ones({4, length, 2}), tf::ones({4, 1}));
  };
  epoch();
  const int calls = *counting.calls;
  EXPECT_LE(calls, 12);
  epoch();
  epoch();
  EXPECT_EQ(*counting.calls, calls);
}

// ---- what programs of Keras write
TEST(TrainingRules, ClassWeightsFromAMap) {
  const std::map<int, double> map{{0, 1.}, {1, 3.}};
  const auto loss = [&](const keras::ClassWeight& weight) {
    keras::Sequential m({Dense(2, {.kernel_initializer = "ones", .input_dim = 4})});
    m.compile({.loss = keras::losses::SparseCategoricalCrossentropy({.from_logits = true})});
    return m.fit(x, classes, {.verbose = 0, .class_weight = weight})["loss"][0];
  };
  EXPECT_NEAR(loss({}), std::log(2.), 1e-5);
  EXPECT_NEAR(loss(map), 2 * std::log(2.), 1e-5);
  EXPECT_NEAR(loss({{0, 1.}, {1, 3.}}), 2 * std::log(2.), 1e-5);
}

TEST(TrainingRules, MetricsOfAModel) {
  keras::Sequential m = regression();
  m.compile({.loss = "mse", .metrics = {"mae"}});
  const keras::Logs logs = m.evaluate(x, y, {.verbose = 0});
  ASSERT_EQ(m.metrics().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(m.metrics()[i]->name(), m.metrics_names()[i]);
    EXPECT_NEAR(m.metrics()[i]->result().item<float>(), logs[m.metrics_names()[i]], 1e-6);
  }
  for (const keras::MetricRef& metric : m.metrics()) metric->reset_state();
  EXPECT_EQ(m.metrics()[1]->result().item<float>(), 0.f);
  EXPECT_TRUE(keras::Sequential().metrics().empty());
}

TEST(TrainingRules, MinimizeWithATape) {
  keras::optimizers::SGD by_tape(0.1), by_function(0.1);
  tf::Variable a(2.f), b(2.f);
  tf::GradientTape tape;
  const Tensor loss = a * a;
  by_tape.minimize(loss, {a}, tape);
  by_function.minimize([&] { return b * b; }, {b});
  EXPECT_EQ(a.value().item<float>(), b.value().item<float>());
  EXPECT_FLOAT_EQ(a.value().item<float>(), 1.6f);
}

struct ReturnsANumber : keras::Model {
  Dense d{1};
  ReturnsANumber() { track("d", d); }
  Tensor call(const Tensor& t, const keras::CallContext&) override { return d(t); }
  Nest train_step(const Nest&) override { return tf::constant(3.f); }
};
TEST(TrainingRules, AStepReturnsADict) {
  ReturnsANumber m;
  m.compile({.loss = "mse"});
  expect_error<InvalidArgument>([&] { m.fit(x, y, {.verbose = 0}); }, "expected a dict of scalars");
}

TEST(TrainingRules, ThereIsALossToTrainOn) {
  keras::Sequential m({Dense(1, {.input_shape = {4}})});
  m.compile({.optimizer = "sgd"});
  expect_error<FailedPrecondition>([&] { m.fit(x, y, {.verbose = 0}); },
                                   "[fit] there is no loss to train on: give compile a loss");
}

// Floats become those of the predictions, and of one axis two; numbers of classes stay whole.
TEST(TrainingRules, LabelsKeepTheirKind) {
  keras::Sequential m({Dense(1, {.input_shape = {4}})});
  Tensor seen;
  m.compile({.optimizer = "sgd",
             .loss =
                 [&](const Tensor& t, const Tensor& p) {
                   seen = t;
                   return tf::reduce_mean(tf::square(tf::cast(t, tf::float32) - p));
                 },
             .run_eagerly = true});
  const std::pair<tf::DType, tf::DType> rows[] = {{tf::int32, tf::int32},
                                                  {tf::int64, tf::int64},
                                                  {tf::bool_, tf::bool_},
                                                  {tf::float64, tf::float32},
                                                  {tf::float32, tf::float32}};
  for (const auto& [given, want] : rows) {
    m.train_on_batch(x, tf::cast(classes, given));
    EXPECT_EQ(seen.dtype(), want) << given;
    EXPECT_EQ(seen.shape(), tf::TensorShape({10, 1}));
  }
}

}  // namespace
