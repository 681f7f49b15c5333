#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::testing::expect_error;

namespace {

Tensor random(const tf::TensorShape& shape, int seed = 1) {
  return tf::random::uniform(tf::constant(shape.as_list()), -1., 1., {.seed = seed});
}
void expect_equal(const Tensor& a, const Tensor& b, double tolerance = 1e-6) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector<float>(), y = b.to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << "element " << i;
}

TEST(Attention, FormsOfACall) {
  layers::Attention attention;
  const Tensor q = random({2, 3, 4}), v = random({2, 5, 4}, 2), k = random({2, 5, 4}, 3);
  expect_equal(attention({q, v}), attention(q, v), 0);
  expect_equal(attention({q, v, k}), attention(q, v, {.key = k}), 0);
  const auto [y, scores] = attention.with_scores(q, v, {.use_causal_mask = true});
  EXPECT_EQ(scores.shape(), tf::TensorShape({2, 3, 5}));
  EXPECT_EQ(scores(0, 0).to_vector<float>(), (std::vector<float>{1, 0, 0, 0, 0}));
  expect_equal(y, tf::matmul(scores, v));
  expect_equal(tf::reduce_sum(scores, -1), tf::ones({2, 3}));
}

TEST(Attention, MasksThatInputsCarry) {
  layers::Masking masking(0.);
  layers::Attention attention;
  const Tensor q = random({1, 2, 4}), v = random({1, 3, 4}, 2);
  const Tensor padded = tf::concat({v, tf::zeros({1, 2, 4})}, 1);
  expect_equal(attention(q, masking(padded)), attention(q, v));
  const Tensor by_hand =
      attention(q, padded, {.value_mask = tf::constant({{true, true, true, false, false}})});
  expect_equal(by_hand, attention(q, v));
  // Masked queries give zeros.
  const Tensor none = attention(q, v, {.query_mask = tf::constant({{true, false}})});
  EXPECT_EQ(none(0, 1).to_vector<float>(), std::vector<float>(4, 0.f));
}

TEST(Attention, DropoutInTrainingOnly) {
  layers::Attention attention({.dropout = 0.5});
  const Tensor q = random({4, 8, 4});
  expect_equal(attention(q, q), attention(q, q), 0);
  const auto [y, scores] = attention.with_scores(q, q, {.training = 1});
  const auto s = scores.to_vector<float>();
  const auto dropped = std::count(s.begin(), s.end(), 0.f);
  EXPECT_GT(dropped, 64);
  EXPECT_LT(dropped, 192);
}

TEST(MultiHeadAttention, NamesAndShapesOfWeights) {
  keras::backend::clear_session();
  layers::MultiHeadAttention mha(2, 3, {.value_dim = 5});
  const Tensor q = random({2, 4, 6}), v = random({2, 7, 8}, 2);
  EXPECT_EQ(mha(q, v).shape(), tf::TensorShape({2, 4, 6}));
  std::vector<std::string> names;
  for (const auto& w : mha.weights()) names.push_back(w.name());
  EXPECT_THAT(names, ::testing::ElementsAre(
                         "multi_head_attention/query/kernel:0", "multi_head_attention/query/bias:0",
                         "multi_head_attention/key/kernel:0", "multi_head_attention/key/bias:0",
                         "multi_head_attention/value/kernel:0", "multi_head_attention/value/bias:0",
                         "multi_head_attention/attention_output/kernel:0",
                         "multi_head_attention/attention_output/bias:0"));
  EXPECT_EQ(mha.weights()[4].shape(), tf::TensorShape({8, 2, 5}));
  EXPECT_EQ(mha.weights()[6].shape(), tf::TensorShape({2, 5, 6}));
}

TEST(MultiHeadAttention, CausalResultsDoNotSeeTheFuture) {
  layers::MultiHeadAttention mha(2, 3);
  const Tensor x = random({1, 5, 4});
  const Tensor y = mha(x, x, {.use_causal_mask = true});
  const Tensor changed = tf::concat({x(tf::all, tf::slice(0, 3)), random({1, 2, 4}, 9)}, 1);
  const Tensor z = mha(changed, changed, {.use_causal_mask = true});
  expect_equal(y(tf::all, tf::slice(0, 3)), z(tf::all, tf::slice(0, 3)), 0);
  EXPECT_NE(y.to_vector<float>(), z.to_vector<float>());
  // The same by a mask.
  const Tensor lower = tf::cast(tf::linalg::band_part(tf::ones({1, 5, 5}), -1, 0), tf::bool_);
  expect_equal(mha(x, x, {.attention_mask = lower}), y);
}

TEST(MultiHeadAttention, UnknownSizesInAFunction) {
  layers::MultiHeadAttention mha(2, 3);
  const Tensor x = random({2, 5, 4});
  const Tensor want = mha(x, x, {.use_causal_mask = true});
  auto f =
      tf::function([&](Tensor v) { return mha(v, v, {.use_causal_mask = true}); },
                   {.input_signature = {tf::TensorSpec({tf::None, tf::None, 4}, tf::float32)}});
  expect_equal(f(x), want);
}

TEST(MultiHeadAttention, InAFunctionalModel) {
  auto ids = keras::Input({tf::None}, {.dtype = tf::int32});
  const Tensor x = layers::Embedding(10, 4, {.mask_zero = true})(ids);
  layers::MultiHeadAttention mha(2, 3);
  const auto [y, scores] = mha.with_scores(x, x, {.use_causal_mask = true});
  EXPECT_EQ(y.shape(), tf::TensorShape({tf::None, tf::None, 4}));
  keras::Model model(ids, tf::tuple(y, scores));
  const tf::Nest out = model.apply(tf::constant({{3, 5, 0}}));
  const Tensor s = out[1].as_tensor();
  EXPECT_EQ(s.shape(), tf::TensorShape({1, 2, 3, 3}));
  EXPECT_EQ(s(0, 0, 0).to_vector<float>(), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(s(0, 0, 1, 2).item<float>(), 0.f);  // padding
}

TEST(MultiHeadAttention, MixedPrecision) {
  layers::MultiHeadAttention mha(2, 3, {.dtype = "mixed_bfloat16"});
  const Tensor x = random({2, 5, 4});
  EXPECT_EQ(mha(x, x, {.use_causal_mask = true}).dtype(), tf::bfloat16);
  EXPECT_EQ(mha.weights()[0].dtype(), tf::float32);
}

TEST(Attention, Errors) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::Attention({.score_mode = "mul"}); }, "score_mode");
  expect_error<InvalidArgument>([] { layers::Attention({.dropout = 1}); }, "dropout is 1");
  expect_error<InvalidArgument>([] { layers::MultiHeadAttention(0, 3); }, "num_heads is 0");
  const Tensor x = tf::ones({2, 3, 4});
  layers::Attention attention;
  expect_error<InvalidArgument>([&] { attention(x); }, "takes [query, value]");
  layers::MultiHeadAttention mha(2, 3);
  expect_error<InvalidArgument>([&] { mha(x); }, "takes query, value");
  expect_error<InvalidArgument>([&] { mha(x, tf::ones({2, 3, 3, 4})); }, "as many axes");
}

TEST(MultiHeadAttention, TellsOfBatchesThatDiffer) {
  layers::MultiHeadAttention layer({.num_heads = 2, .key_dim = 2});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        layer({tf::ones({1, 3, 4}), tf::ones({2, 3, 4})});
      },
      "the query has a batch of 1, the value of 2");
}

}  // namespace
