// Low-rank adaptation: what trains, what the layers compute, what files hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/eager/gradient_tape.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/keras_goldens.h"

namespace rill::keras {
namespace {

using keras_goldens::numbers;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

std::vector<float> values(const Operand& x) { return to_tensor(x).to_vector<float>(); }
void expect_close(const Operand& got, const Operand& want) {
  EXPECT_EQ(to_tensor(got).shape(), to_tensor(want).shape());
  EXPECT_THAT(values(got), Pointwise(FloatNear(2e-6f), values(want)));
}
std::vector<std::string> short_names(const std::vector<Variable>& list) {
  std::vector<std::string> names;
  for (const Variable& v : list) {
    const std::string name = v.name();
    names.push_back(name.substr(name.rfind('/') + 1, name.rfind(':') - name.rfind('/') - 1));
  }
  return names;
}
// A model of an adapted layer that has learned something.
Sequential trained() {
  Sequential m({layers::Dense(3, {.input_shape = {4}, .name = "first"}), layers::Dense(2)});
  m.layers()[0]->enable_lora(2, {.lora_alpha = 3});
  m.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  m.fit(numbers({6, 4}), numbers({6, 2}), {.epochs = 3, .verbose = 0});
  return m;
}

TEST(Lora, TheFactorsTrainAndTheKernelDoesNot) {
  layers::Dense layer(3, {.input_shape = {4}});
  Sequential m({layer});
  const Tensor x = numbers({6, 4}), before = m(x);
  layer.enable_lora(2, {.lora_alpha = 3});
  EXPECT_TRUE(layer.lora_enabled());
  EXPECT_EQ(short_names(m.weights()),
            (std::vector<std::string>{"kernel", "bias", "lora_kernel_a", "lora_kernel_b"}));
  EXPECT_EQ(short_names(m.trainable_variables()),
            (std::vector<std::string>{"bias", "lora_kernel_a", "lora_kernel_b"}));
  EXPECT_EQ(short_names(m.non_trainable_variables()), (std::vector<std::string>{"kernel"}));
  EXPECT_EQ(values(m(x)), values(before));  // B is 0
  const std::vector<Tensor> old = m.get_weights();
  m.compile({.optimizer = "sgd", .loss = "mse"});
  m.fit(x, numbers({6, 3}), {.epochs = 2, .verbose = 0});
  const std::vector<Tensor> now = m.get_weights();
  EXPECT_EQ(values(now[0]), values(old[0]));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NE(values(now[i]), values(old[i])) << i;
  expect_close(m(x), matmul(x, now[0] + matmul(now[2], now[3]) * 1.5f) + now[1]);
}

TEST(Lora, FunctionsThatWereTracedBeforeLearnOfIt) {
  Sequential m({layers::Dense(3, {.input_shape = {4}})});
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = numbers({6, 4}), before = m.predict(x);
  m.layers()[0]->enable_lora(1);
  m.layers()[0]->weights()[3].assign(ones({1, 3}));
  EXPECT_NE(values(m.predict(x)), values(before));
  expect_close(m.predict(x), m(x));
}

TEST(Lora, RowsOfAnEmbeddingAreTheSame) {
  layers::Embedding layer(7, 4, {.lora_rank = 2, .lora_alpha = 3});
  const Tensor x = constant({{1, 2, 1}, {6, 0, 2}});
  layer(x);
  const std::vector<Variable> w = layer.weights();
  ASSERT_EQ(short_names(w),
            (std::vector<std::string>{"embeddings", "lora_embeddings_a", "lora_embeddings_b"}));
  w[2].assign(numbers({2, 4}));
  GradientTape tape({.persistent = true});
  const Tensor whole = gather(w[0].value() + matmul(w[1], w[2]) * 1.5f, x), rows = layer(x);
  const Tensor a = reduce_sum(square(whole)), b = reduce_sum(square(rows));
  expect_close(rows, whole);
  for (const std::size_t i : {1, 2}) expect_close(tape.gradient(b, w[i]), tape.gradient(a, w[i]));
}

TEST(Lora, RegularizersHoldForTheFactors) {
  layers::Dense layer(3, {.kernel_regularizer = "l2"});
  layer.build({None, 4});
  EXPECT_EQ(layer.losses().size(), 1u);
  layer.enable_lora(2);
  EXPECT_EQ(layer.losses().size(), 2u);
}

TEST(Lora, FactorsAreFloat32InHalfPrecision) {
  layers::Dense layer(3, {.dtype = "mixed_bfloat16", .lora_rank = 2});
  EXPECT_EQ(layer(numbers({6, 4})).dtype(), bfloat16);
  layers::EinsumDense einsum("ab,bcd->acd", {2, 3}, {.dtype = "bfloat16", .lora_rank = 2});
  EXPECT_EQ(einsum(cast(numbers({6, 4}), bfloat16)).dtype(), bfloat16);
  EXPECT_EQ(einsum.weights()[0].dtype(), bfloat16);
  EXPECT_EQ(einsum.weights()[1].dtype(), float32);
  EXPECT_EQ(einsum.weights()[1].shape(), TensorShape({4, 2, 2}));
  EXPECT_EQ(einsum.weights()[2].shape(), TensorShape({2, 3}));
}

TEST(Lora, LayersInOthers) {
  layers::MultiHeadAttention heads(2, 3);
  const Tensor x = numbers({2, 3, 4});
  const std::size_t all = (heads({x, x}), heads.weights().size());
  for (Layer& l : heads.sublayers())
    if (l.name() == "query" || l.name() == "value") l.enable_lora(1);
  EXPECT_EQ(heads.weights().size(), all + 4);
  EXPECT_EQ(heads.non_trainable_variables().size(), 2u);
}

TEST(Lora, Configurations) {
  layers::Dense layer(3, {.input_shape = {4}});
  EXPECT_FALSE(layer.get_config().contains("lora_rank"));
  EXPECT_EQ(layers::Dense(3, {.lora_rank = 2}).get_config()["lora_alpha"], Config(2));
  layer.build({None, 4});
  layer.enable_lora(2, {.lora_alpha = 0.5});
  const Config c = layer.get_config();
  EXPECT_EQ(c["lora_rank"], Config(2));
  EXPECT_EQ(c["lora_alpha"], Config(0.5));
  const LayerRef again = layers::from_config("Dense", c);
  again->build({None, 4});
  EXPECT_TRUE(again->lora_enabled());
  EXPECT_EQ(again->get_config(), c);
  again->set_weights(layer.get_weights());
}

TEST(Lora, Refusals) {
  using testing::expect_error;
  layers::Dense layer(3, {.name = "d"});
  expect_error<errors::FailedPrecondition>([&] { layer.enable_lora(2); },
                                           "[d] enable_lora: the layer has not made its weights");
  layer.build({None, 4});
  expect_error<errors::InvalidArgument>([&] { layer.enable_lora(0); },
                                        "[d] lora_rank is 0; expected a positive number");
  EXPECT_EQ(layer.weights().size(), 2u);
  layer.enable_lora(2);
  expect_error<errors::FailedPrecondition>([&] { layer.enable_lora(2); }, "enabled already");
  layers::Dense bound(3, {.kernel_constraint = "non_neg"});
  bound.build({None, 4});
  expect_error<errors::InvalidArgument>([&] { bound.enable_lora(2); },
                                        "Leave out kernel_constraint");
  expect_error<errors::InvalidArgument>([] { layers::ReLU().enable_lora(2); },
                                        "a ReLU has no low-rank adaptation");
  expect_error<errors::InvalidArgument>([] { layers::Dense(3, {.lora_rank = -1}); },
                                        "lora_rank is -1; expected a positive number, or 0");
}

TEST(Lora, FilesForKeras2HaveTheSums) {
  const std::string folder = saving_tests::fresh_folder("lora_keras2");
  Sequential m = trained();
  const Tensor x = numbers({6, 4}), want = m(x);
  for (const char* name : {"/m.h5", "/m.keras"}) {
    SCOPED_TRACE(name);
    m.save(folder + name);
    const Model plain = models::load_model(folder + name);
    EXPECT_FALSE(plain.layers()[0]->lora_enabled());
    EXPECT_EQ(plain.layers()[0]->weights().size(), 2u);
    EXPECT_FALSE(plain.layers()[0]->get_config().contains("lora_rank"));
    EXPECT_TRUE(plain.compiled());
    expect_close(plain(x), want);
  }
}

TEST(Lora, WeightsGoIntoModelsWithAndWithout) {
  const std::string folder = saving_tests::fresh_folder("lora_weights");
  Sequential m = trained();
  const Tensor x = numbers({6, 4}), want = m(x);
  for (const char* name : {"/w.weights.h5", "/w.h5"}) {
    SCOPED_TRACE(name);
    m.save_weights(folder + name);
    Sequential plain({layers::Dense(3, {.input_shape = {4}}), layers::Dense(2)});
    plain.load_weights(folder + name);
    expect_close(plain(x), want);
    Model adapted = models::clone_model(m);
    const Tensor a = adapted.layers()[0]->get_weights()[2];
    adapted.layers()[0]->weights()[3].assign(ones({2, 3}));
    adapted.load_weights(folder + name);
    expect_close(adapted(x), want);
    EXPECT_EQ(values(adapted.layers()[0]->get_weights()[2]), values(a));
    EXPECT_THAT(values(adapted.layers()[0]->get_weights()[3]), Each(0.f));
  }
  m.save_weights(folder + "/checkpoint");
  Model adapted = models::clone_model(m);
  adapted.load_weights(folder + "/checkpoint");
  for (std::size_t i = 0; i < m.get_weights().size(); ++i)
    EXPECT_EQ(values(adapted.get_weights()[i]), values(m.get_weights()[i])) << i;
}

TEST(Lora, FilesForKeras3GoOn) {
  const std::string folder = saving_tests::fresh_folder("lora_keras3");
  Sequential m = trained();
  const Tensor x = numbers({6, 4}), want = m(x);
  for (const char* name : {"/m.keras", "/m.h5"}) {
    SCOPED_TRACE(name);
    m.save(folder + name, {.keras_version = 3});
    Model again = models::load_model(folder + name);
    EXPECT_TRUE(again.layers()[0]->lora_enabled());
    EXPECT_EQ(again.layers()[0]->get_config()["lora_alpha"], Config(3));
    expect_close(again(x), want);
    again.fit(x, numbers({6, 2}), {.verbose = 0});
    EXPECT_NE(values(again(x)), values(want));
  }
}

}  // namespace
}  // namespace rill::keras
