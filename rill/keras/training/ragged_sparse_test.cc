// Models on ragged and sparse tensors: drawn, trained on tensors and on datasets, saved.
// The values beside Keras 2.15's: the models "ragged" and "sparse" of saving/goldens_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/data/dataset.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"
#include "tests/expect_error.h"
#include "tests/keras_goldens.h"
#include "tests/scratch_folder.h"

namespace rill::keras {
namespace {

using keras_goldens::numbers;
using testing::expect_error;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

RaggedTensor words() {
  return ragged::constant(
      std::vector<std::vector<int>>{{1, 2}, {3}, {4, 5, 6, 0, 1}, {2}, {3, 4, 5}, {6, 0, 1, 2}});
}
SparseTensor few() {
  const Tensor all = numbers({6, 5});
  return sparse::from_dense(all * cast(all > 0.3f, float32));
}
Model of_words() {
  const RaggedTensor x = Input({None}, {.name = "words", .dtype = int32, .ragged = true});
  const Nest y = layers::LSTM(3, {.return_sequences = true})(layers::Embedding(7, 4)(x));
  return Model(x, layers::Dense(2)(layers::GlobalMaxPooling1D()(y)), "of_words");
}
Model of_few() {
  const SparseTensor x = Input({5}, {.name = "few", .sparse = true});
  return Model(x, layers::Dense(2)(layers::Dense(3, {.activation = "tanh"})(x)), "of_few");
}
std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }
void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_THAT(values(got[i]), Pointwise(FloatNear(2e-6f), values(want[i]))) << i;
}

// The same training three times: by hand, on tensors, on a dataset of elements.
void expect_trains(const std::function<Model()>& make, const Nest& x) {
  const Tensor y = numbers({6, 2});
  const Model first = make();
  const std::vector<Tensor> begin = first.get_weights();
  const auto started = [&] {
    Model m = make();
    m.set_weights(begin);
    m.compile({.optimizer = "adam", .loss = "mse"});
    return m;
  };
  Model by_hand = started(), on_tensors = started(), on_dataset = started();
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const Nest& batch : data::Dataset::from_tensor_slices(Nest::make({x, y})).batch(4))
      by_hand.train_on_batch(batch.part(0), batch.part(1));
  on_tensors.fit(x, y, {.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false});
  const auto batches = data::Dataset::from_tensor_slices(Nest::make({x, y})).batch(4);
  const History h = on_dataset.fit(batches, {.epochs = 3, .verbose = 0});
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  expect_same(on_tensors.get_weights(), by_hand.get_weights());
  expect_same(on_dataset.get_weights(), by_hand.get_weights());

  const Tensor whole = by_hand.predict_on_batch(x).as_tensor();
  EXPECT_EQ(whole.shape(), TensorShape({6, 2}));
  for (const Tensor& other : {by_hand.predict(x, {.batch_size = 4}), by_hand(x).as_tensor(),
                              by_hand.predict(data::Dataset::from_tensor_slices(x).batch(4))})
    EXPECT_THAT(values(other), Pointwise(FloatNear(2e-6f), values(whole)));
  const double loss = by_hand.evaluate(x, y, {.batch_size = 4, .verbose = 0})["loss"];
  EXPECT_NEAR(loss, reduce_mean(square(whole - y)).item<double>(), 1e-6);
  EXPECT_NEAR(by_hand.evaluate(batches, {.verbose = 0})["loss"], loss, 1e-6);
}
TEST(RaggedInput, TrainsOnTensorsAndDatasets) { expect_trains(of_words, words()); }
TEST(SparseInput, TrainsOnTensorsAndDatasets) { expect_trains(of_few, few()); }

TEST(RaggedInput, ValidationTakesTheLastRows) {
  Model m = of_words();
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const History h =
      m.fit(words(), numbers({6, 2}), {.verbose = 0, .validation_split = 0.5, .shuffle = false});
  const RaggedTensor last = words()(slice(3, 6));
  EXPECT_NEAR(h["val_loss"].back(),
              m.evaluate(last, numbers({6, 2})(slice(3, 6)), {.verbose = 0})["loss"], 1e-6);
}

// What the layers make of ragged rows is what they make of each row alone.
TEST(RaggedInput, GivesRowsForRows) {
  const RaggedTensor x = Input({None}, {.dtype = int32, .ragged = true});
  EXPECT_EQ(x.shape(), TensorShape({None, None}));
  Model m(x, layers::Dense(3)(layers::Embedding(7, 4)(x)));
  const RaggedTensor rows = m.predict_all(words(), {.batch_size = 4}).as_ragged();
  EXPECT_EQ(rows.row_splits().to_vector<std::int64_t>(),
            words().row_splits().to_vector<std::int64_t>());
  for (int i : {0, 2, 5}) {
    const RaggedTensor one = m(words()(slice(i, i + 1))).as_ragged();
    EXPECT_THAT(values(rows[i]), Pointwise(FloatNear(2e-6f), values(one[0])));
  }
}

TEST(RaggedInput, AxesUpToTheLastOpenOneAreRagged) {
  const RaggedTensor deep = Input({2, None, 3}, {.batch_size = 4, .ragged = true});
  EXPECT_EQ(deep.ragged_rank(), 2);
  EXPECT_EQ(deep.flat_values().shape(), TensorShape({None, 3}));
  EXPECT_EQ(deep.row_splits().shape(), TensorShape({5}));
  EXPECT_EQ(deep.dtype(), float32);
  expect_error<errors::InvalidArgument>(
      [] { Input({4}, {.ragged = true}); },
      "the ragged input has shape [4]; expected None where rows differ, as {None}");
  expect_error<errors::InvalidArgument>([] { Input({None}, {.ragged = false}); },
                                        "leave it out for a dense input");
}

TEST(SparseInput, KnowsItsShape) {
  const SparseTensor x = Input({5}, {.batch_size = 4, .name = "few", .sparse = true});
  EXPECT_EQ(x.shape(), TensorShape({4, 5}));
  EXPECT_EQ(Input({5}, {.sparse = true}).shape(), TensorShape({None, 5}));
  EXPECT_EQ(x.dtype(), float32);
}

TEST(CompositeInput, OfAnotherKindIsAnError) {
  Model m = of_words(), s = of_few();
  expect_error<errors::InvalidArgument>(
      [&] {
        m(zeros({2, 3}, int32));
      },
      "input \"words\" is ragged");
  expect_error<errors::InvalidArgument>([&] { s(zeros({2, 5})); }, "input \"few\" is sparse");
  EXPECT_EQ(m.input_names(), (std::vector<std::string>{"words"}));
}

TEST(CompositeInput, ComesByNameToo) {
  const RaggedTensor x = Input({None}, {.name = "words", .dtype = int32, .ragged = true});
  const SparseTensor y = Input({5}, {.name = "few", .sparse = true});
  const Tensor a = layers::GlobalMaxPooling1D()(layers::Embedding(7, 3)(x)).as_tensor(),
               b = layers::Dense(3)(y).as_tensor();
  Model m(Nest::make({x, y}), layers::Dense(2)(a + b));
  EXPECT_EQ(m.input_names(), (std::vector<std::string>{"words", "few"}));
  const Tensor want = m(Nest::make({words(), few()})).as_tensor();
  const Nest named = Nest::dict({{"few", few()}, {"words", words()}});
  EXPECT_EQ(values(m(named).as_tensor()), values(want));
  EXPECT_EQ(values(m.predict(named, {.batch_size = 4})), values(want));
}

TEST(CompositeInput, StandsInStacksAndFiles) {
  const std::string folder = testing::fresh_folder("composite_input");
  Sequential rows({layers::InputLayer({.input_shape = {None}, .dtype = int32, .ragged = true}),
                   layers::Embedding(7, 4), layers::GRU(3), layers::Dense(2)});
  Sequential sums({layers::InputLayer({.input_shape = {5}, .sparse = true}), layers::Dense(2)});
  EXPECT_TRUE(rows.built());
  EXPECT_TRUE(sums.built());
  const auto check = [&](Model m, const Nest& x, const char* kind) {
    SCOPED_TRACE(kind);
    m.compile({.optimizer = "sgd", .loss = "mse"});
    m.fit(x, numbers({6, 2}), {.batch_size = 3, .verbose = 0});
    EXPECT_THAT(m.to_json(), HasSubstr(std::string("\"") + kind + "\": true"));
    for (const char* name : {"/m.h5", "/m.keras"}) {
      m.save(folder + name);
      Model again = models::load_model(folder + name);
      EXPECT_EQ(values(again.predict(x)), values(m.predict(x))) << name;
    }
    m.save(folder + "/new.keras", {.keras_version = 3});
    EXPECT_EQ(values(models::load_model(folder + "/new.keras").predict(x)), values(m.predict(x)));
  };
  check(rows, words(), "ragged");
  check(sums, few(), "sparse");
  check(of_words(), words(), "ragged");
  check(of_few(), few(), "sparse");
}

// Configurations have no word for what is made of the parts of a ragged tensor.
TEST(CompositeInput, OpsOnRowsTrainButAreNotSaved) {
  const RaggedTensor x = Input({None}, {.name = "words", .dtype = int32, .ragged = true});
  const Tensor padded = x.to_tensor();
  Model m(x, layers::Dense(2)(layers::GRU(3)(layers::Embedding(7, 4)(padded))));
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const History h = m.fit(words(), numbers({6, 2}), {.batch_size = 6, .epochs = 5, .verbose = 0});
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  expect_error<errors::Unimplemented>(
      [&] { m.to_json(); },
      "a part of the ragged tensor that layer \"words\" gives, or an op on it");
  Model part(x, layers::Embedding(7, 4)(x.flat_values()));
  expect_error<errors::Unimplemented>([&] { part.to_json(); }, "a part of the ragged tensor");
}

TEST(CompositeInput, ShowsInTheSummary) {
  const std::string text = of_words().summary_text();
  EXPECT_THAT(text,
              HasSubstr(" words (InputLayer)          [(None, None)]            0         \n"));
  EXPECT_THAT(text, HasSubstr("(None, None, 3)           96        \n"));
}

}  // namespace
}  // namespace rill::keras
