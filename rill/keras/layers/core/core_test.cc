#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::testing::expect_error;

namespace {

// Shows the mask that reaches it.
struct MaskProbe : layers::Layer {
  MaskProbe() { set_supports_masking(true); }
  Tensor call(const Tensor& x, const keras::CallContext& context) override {
    seen = context.mask;
    return x;
  }
  Tensor seen;
};

TEST(Embedding, GradientStaysSparse) {
  layers::Embedding e(100, 4);
  const Tensor ids = tf::constant({{1, 5, 5}, {7, 1, 2}});
  tf::GradientTape tape;
  const Tensor y = e(ids);
  EXPECT_EQ(y.shape(), tf::TensorShape({2, 3, 4}));
  const auto g = tape.gradient(tf::reduce_sum(y), e.trainable_variables());
  ASSERT_TRUE(g[0].is_sparse());
  const auto dense = tf::reduce_sum(g[0].tensor(), 1).to_vector<float>();
  EXPECT_EQ(dense[5], 8.f);
  EXPECT_EQ(dense[7], 4.f);
  EXPECT_EQ(dense[0], 0.f);
}

TEST(Embedding, MaskOfZeroReachesTheNextLayer) {
  layers::Embedding e(10, 4, {.mask_zero = true});
  MaskProbe probe;
  probe(e({{1, 0}, {0, 2}}));
  ASSERT_TRUE(probe.seen.defined());
  EXPECT_EQ(probe.seen.to_vector<bool>(), (std::vector<bool>{true, false, false, true}));
  layers::Embedding plain(10, 4);
  probe(plain({{1, 0}}));
  EXPECT_FALSE(probe.seen.defined());
}

TEST(Embedding, InAModelWithAnOpenLength) {
  keras::backend::clear_session();
  keras::Sequential model({layers::Embedding(10, 4)});
  EXPECT_TRUE(model.built());
  EXPECT_EQ(model.variables()[0].name(), "embedding/embeddings:0");
  EXPECT_EQ(model(tf::constant({{1, 2, 3}})).shape(), tf::TensorShape({1, 3, 4}));
  EXPECT_EQ(model(tf::constant({{1, 2}})).shape(), tf::TensorShape({1, 2, 4}));
}

TEST(Embedding, Errors) {
  expect_error<tf::errors::InvalidArgument>([] { layers::Embedding(0, 4); }, "input_dim is 0");
  layers::Embedding e(10, 4, {.input_length = 3});
  expect_error<tf::errors::InvalidArgument>([&] { e({{1, 2}}); }, "input_length is 3");
}

TEST(Masking, MasksWholeStepsOnly) {
  MaskProbe probe;
  layers::Masking masking(-1.0);
  const Tensor y = masking({{{-1.f, -1.f}, {-1.f, 2.f}, {0.f, 0.f}}});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 0, -1, 2, 0, 0}));
  probe(y);
  EXPECT_EQ(probe.seen.to_vector<bool>(), (std::vector<bool>{false, true, true}));
}

TEST(EinsumDense, WithAnOpenBatchInAFunction) {
  layers::EinsumDense heads("abc,cde->abde", {tf::None, 2, 3}, {.bias_axes = "de"});
  auto f =
      tf::function([&](Tensor x) { return heads(x); },
                   {.input_signature = {tf::TensorSpec({tf::None, tf::None, 4}, tf::float32)}});
  const Tensor x = tf::ones({2, 5, 4});
  EXPECT_EQ(f(x).to_vector<float>(), heads(x).to_vector<float>());
  EXPECT_EQ(heads.weights()[1].shape(), tf::TensorShape({2, 3}));
}

TEST(EinsumDense, Errors) {
  expect_error<tf::errors::InvalidArgument>([] { layers::EinsumDense("ab->ac", {3}); },
                                            "equation is \"ab->ac\"");
  layers::EinsumDense d("ab,bc->ac", {3}, {.bias_axes = "x"});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        d(tf::ones({2, 4}));
      },
      "not an axis of the output");
  layers::EinsumDense other("abc,cd->abd", {7, 5});
  expect_error<tf::errors::InvalidArgument>([&] { other(tf::ones({2, 3, 4})); }, "axis 'b'");
}

TEST(Identity, GivesWhatItTakes) {
  const Tensor x = tf::constant({{1.f, 0.f}, {3.f, 4.f}});
  layers::Identity same;
  EXPECT_EQ(same(x).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(same.apply(tf::Nest({x, x * 2.f}))[1].as_tensor().to_vector<float>(),
            (x * 2.f).to_vector<float>());
  const keras::LayerRef back = layers::deserialize(layers::serialize(same));
  EXPECT_EQ(back->class_name(), "Identity");
  EXPECT_EQ(back->name(), same.name());
  // Masks go through it.
  MaskProbe probe;
  probe(same(layers::Masking()(tf::reshape(x, {2, 2, 1}))));
  ASSERT_TRUE(probe.seen.defined());
  EXPECT_EQ(probe.seen.to_vector<bool>(), (std::vector<bool>{true, false, true, true}));
}

TEST(Input, OfScalarsAndInTheFloatOfTheProgram) {
  EXPECT_EQ(keras::Input({}).shape(), tf::TensorShape({tf::None}));
  EXPECT_EQ(keras::Input({3}).dtype(), tf::float32);
  keras::backend::set_floatx(tf::float64);
  const tf::DType wide = keras::Input({3}).dtype();
  const tf::DType given = keras::Input({3}, {.dtype = tf::int32}).dtype();
  keras::backend::set_floatx(tf::float32);
  EXPECT_EQ(wide, tf::float64);
  EXPECT_EQ(given, tf::int32);
}

TEST(AddWeight, OfAScalar) {
  struct Scale : layers::Layer {
    tf::Variable s;
    void build(const tf::TensorShape&) override { s = add_weight("s", {}, "ones"); }
    Tensor call(const Tensor& x, const keras::CallContext&) override { return x * s; }
  };
  Scale scale;
  EXPECT_EQ(scale(tf::ones({2, 3})).shape(), tf::TensorShape({2, 3}));
  EXPECT_EQ(scale.weights().at(0).shape(), tf::TensorShape::scalar());
}

}  // namespace
