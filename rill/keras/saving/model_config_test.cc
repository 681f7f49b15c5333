#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = rill::keras;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }

// The same architecture: its configuration, and with the same weights the same result.
void expect_same_model(const keras::Model& a, keras::Model b, const tf::Nest& x) {
  EXPECT_EQ(a.get_config().to_json(), b.get_config().to_json());
  b.set_weights(a.get_weights());
  const auto want = a.apply(x).flatten(), got = b.apply(x).flatten();
  ASSERT_EQ(want.size(), got.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(want[i].shape(), got[i].shape()) << i;
    EXPECT_EQ(values(tf::cast(want[i], tf::float32)), values(tf::cast(got[i], tf::float32))) << i;
  }
}

void expect_round_trip(const keras::Model& m, const tf::Nest& x) {
  expect_same_model(m, keras::models::from_json(m.to_json()), x);
  expect_same_model(m, keras::models::from_yaml(m.to_yaml()), x);
  expect_same_model(m, keras::models::model_from_json(m.to_json(2)), x);
}

TEST(ModelConfig, StacksComeBack) {
  RILL_SHOWS("S04", "S05", "K81");
  keras::backend::clear_session();
  const keras::Sequential m(
      {keras::layers::Dense(10, {.activation = "softmax", .input_shape = {32}}),
       keras::layers::Dense(10, {.activation = "softmax"})});
  const std::string json = m.to_json();
  EXPECT_THAT(
      json,
      testing::StartsWith(
          R"({"class_name": "Sequential", "config": {"name": "sequential", "layers": [{"module": )"
          R"("keras.layers", "class_name": "InputLayer", "config": {"batch_input_shape": )"
          R"([null, 32], )"
          R"("dtype": "float32", "sparse": false, "ragged": false, "name": "dense_input"}, )"
          R"("registered_name": null}, {"module": "keras.layers", "class_name": "Dense", )"));
  EXPECT_THAT(json, testing::EndsWith(R"("keras_version": "2.15.0", "backend": "tensorflow"})"));
  expect_round_trip(m, tf::random::normal({3, 32}));
  // Text that a reader of YAML would take for something else is quoted.
  const keras::Sequential named({keras::layers::Dense(2, {.input_shape = {3}, .name = "on"}),
                                 keras::layers::Dense(2, {.name = "null"}),
                                 keras::layers::Dense(2, {.name = "1e3"})});
  for (const char* line : {"name: \"on\"", "name: \"null\"", "name: \"1e3\""})
    EXPECT_THAT(named.to_yaml(), testing::HasSubstr(line));
  expect_round_trip(named, tf::random::normal({4, 3}));
}

// A user-defined layer that reads its mask.
struct CountedSteps : keras::layers::Layer {
  Tensor call(const Tensor& x, const keras::CallContext& context) override {
    return tf::reduce_sum(x * tf::expand_dims(tf::cast(context.mask, x.dtype()), -1), 1);
  }
};

TEST(ModelConfig, MasksAndConstantsAreInputsOfACall) {
  namespace layers = keras::layers;
  const Tensor x = keras::Input({3, 2}),
               keep = keras::Input({3}, {.name = "keep", .dtype = tf::bool_});
  const layers::LSTM lstm(2);
  const CountedSteps counted;
  const Tensor shift = tf::constant({{1.f, -1.f}});
  const Tensor states = lstm(x, {.mask = keep}), sum = counted(x, {.mask = keep});
  const keras::Model m(tf::Nest{x, keep},
                       tf::tuple(layers::add({states, shift}), layers::add({sum, shift})));
  const Tensor in = tf::random::normal({4, 3, 2});
  const Tensor mask = tf::random::normal({4, 3}) > 0.f;
  const tf::Nest got = m.apply(tf::Nest{in, mask});
  EXPECT_EQ(values(got[0].as_tensor()), values(lstm(in, {.mask = mask}) + shift));
  EXPECT_EQ(values(got[1].as_tensor()), values(counted(in, {.mask = mask}) + shift));
  EXPECT_THAT(m.summary_text(), testing::HasSubstr("'keep[0][0]'"));
  const keras::Model of_layers(tf::Nest{x, keep}, layers::add({states, shift}));
  EXPECT_THAT(of_layers.to_json(),
              testing::HasSubstr(R"(["_CONSTANT_VALUE", -1, [[1.0, -1.0]], {}])"));
  expect_round_trip(of_layers, tf::Nest{in, mask});
}

TEST(ModelConfig, ArgumentsOfCallsComeBack) {
  namespace layers = keras::layers;
  const Tensor q = keras::Input({3, 4}), v = keras::Input({5, 4}),
               keep = keras::Input({5}, {.dtype = tf::bool_});
  const layers::MultiHeadAttention heads(2, 3);
  const auto [y, scores] = heads.with_scores(q, v, {.use_causal_mask = true});
  const Tensor look = layers::AdditiveAttention()(y, v, {.value_mask = keep});
  const auto [o, states] = layers::GRUCell(2)(layers::Flatten()(look), {layers::Dense(2)(keep)});
  const keras::Model m(tf::Nest{q, v, keep}, tf::tuple(o, scores, states[0]));
  expect_round_trip(m, tf::Nest{tf::random::normal({2, 3, 4}), tf::random::normal({2, 5, 4}),
                                tf::random::normal({2, 5}) > 0.f});
  // Tensors that never change may be behind a name too.
  const Tensor fixed = tf::random::normal({1, 5, 4});
  const keras::Model by_constant(q, layers::MultiHeadAttention(2, 3)(q, fixed));
  expect_round_trip(by_constant, tf::random::normal({1, 3, 4}));
}

TEST(ModelConfig, ArgumentsThatRillDoesNotReadAreNamed) {
  keras::utils::register_keras_function("model_config_test_same", [](Tensor x) { return x; });
  const Tensor x = keras::Input({3, 2}, {.name = "x"});
  const keras::Model m(x, keras::layers::Lambda("model_config_test_same")(x));
  std::string json = m.to_json();
  const std::string call = R"(["x", 0, 0, {}])";
  json.replace(json.find(call), call.size(), R"(["x", 0, 0, {"mask": ["x", 0, 0]}])");
  expect_error<tf::errors::Unimplemented>([&] { keras::models::from_json(json); },
                                          "called with the argument \"mask\"");
}

TEST(ModelConfig, AStackThatIsNotBuiltStaysSo) {
  const keras::Sequential m({keras::layers::Dense(3), keras::layers::Dropout(0.5)});
  keras::Model b = keras::models::from_json(m.to_json());
  EXPECT_FALSE(b.built());
  EXPECT_EQ(b(tf::ones({2, 5})).shape(), tf::TensorShape({2, 3}));
}

TEST(ModelConfig, GraphsWithSharedLayersAndSeveralEnds) {
  const Tensor a = keras::Input({4}, {.name = "a"}), b = keras::Input({4}, {.name = "b"});
  const keras::layers::Dense shared(4, {.activation = "relu"});
  const Tensor ha = shared(a), hb = shared(b), again = shared(ha);
  const keras::layers::Dropout drop(0.5);
  const Tensor sum = ha + hb + again;
  const keras::Model m(tf::Nest{a, b}, tf::Nest{keras::layers::Dense(2)(sum), drop(sum)});
  expect_round_trip(m, tf::Nest{tf::random::normal({3, 4}), tf::random::normal({3, 4})});
}

TEST(ModelConfig, ModelsInModels) {
  const keras::Sequential inner({keras::layers::Dense(4, {.input_shape = {4}})}, "inner");
  const Tensor x = keras::Input({4}), h = keras::layers::Dense(4)(x);
  const keras::Model block(x, keras::layers::Dense(4)(h) + x, "block");
  const Tensor i = keras::Input({4});
  const keras::Model m(i, block(inner(block(inner(i)))));
  // As Keras counts them: the drawing of a model is its call 0.
  EXPECT_THAT(m.to_json(), testing::HasSubstr(R"("output_layers": [["block", 2, 0]])"));
  expect_round_trip(m, tf::random::normal({2, 4}));
}

TEST(ModelConfig, AModelInsideThatWasBuiltLate) {
  const keras::Sequential late({keras::layers::Dense(3), keras::layers::Dropout(0.1)}, "late");
  const Tensor i = keras::Input({4});
  keras::Model m(i, late(i, {.training = 0}));
  EXPECT_THAT(m.to_json(), testing::HasSubstr(R"("output_layers": [["late", 1, 0]])"));
  EXPECT_THAT(m.to_json(), testing::HasSubstr(R"({"training": false})"));
  expect_round_trip(m, tf::random::normal({2, 4}));
  m.set_trainable(false);
  const keras::Model frozen = keras::models::from_json(m.to_json());
  EXPECT_TRUE(frozen.trainable_variables().empty());
  EXPECT_EQ(frozen.weights().size(), 2u);
}

TEST(ModelConfig, OpsWithTheirConstants) {
  const Tensor x = keras::Input({4}), h = keras::layers::Dense(4)(x);
  using namespace tf;
  const std::vector<Tensor> outputs{
      h * 2.f,
      2.f - h,
      h + x,
      h / constant({1.f, 2.f, 3.f, 4.f}),
      matmul(h, x, {.transpose_b = true}),
      nn::relu(h),
      nn::softmax(h),
      sigmoid(h),
      tanh(h),
      exp(h),
      square(h),
      abs(h),
      -h,
      maximum(h, 0.5f),
      minimum(h, x),
      reduce_sum(h, 1),
      reduce_mean(h, {0, 1}, {.keepdims = true}),
      reduce_max(h),
      reshape(h, {-1, 2, 2}),
      transpose(h, {1, 0}),
      concat({h, x}, -1),
      cast(h, float64),
      h(all, slice(1, 3)),
      h(all, 0),
      pow(h, 2.f),
  };
  const keras::Model m(x, outputs);
  expect_round_trip(m, random::normal({3, 4}));
}

TEST(ModelConfig, OpsThatBuildArraysAndTakeThemApart) {
  const Tensor x = keras::Input({3, 4});
  using namespace tf;
  std::vector<Tensor> outputs{
      stack({x, x * 2.f}, 1),
      stack({constant(2.f), reduce_sum(x)}, -1),
      where(x > 0.f, x, 0.5f),
      where(x > 0.f, 1.f, x),
      expand_dims(x, -1),
      squeeze(expand_dims(x, 1), 1),
      squeeze(expand_dims(x, -1), {3}),
      tile(x, {1, 2, 1}),
      pad(x, {{0, 0}, {1, 0}, {0, 2}}),
      pad(x, {{0, 0}, {1, 0}, {0, 2}}, {.constant_values = 2}),
      pad(x, {{0, 0}, {1, 0}, {0, 2}}, {.mode = "SYMMETRIC"}),
      one_hot(cast(x, int32), 3),
      one_hot(cast(x, int32), 3, {.on_value = 2, .off_value = -1, .axis = 1, .dtype = int32}),
      gather(x, {2, 0}, 1),
      gather(constant({1.f, 2.f, 3.f}), cast(abs(x), int32)),
      gather(x, cast(abs(x(all, all, 0)), int32), {.axis = 1, .batch_dims = 1}),
      argmax(x, -1),
      argmin(x, 1, int32),
      clip_by_value(x, -0.5f, 0.5f),
      zeros_like(x),
      ones_like(x),
      x % 0.75f,
      floordiv(x, 0.75f),
      cumsum(x, 1, {.exclusive = true}),
      reverse(x, {1}),
      add_n({x, x}),
      broadcast_to(x(slice(0, 1)), {2, 3, 4}),
      x(all, newaxis),
      x(ellipsis, 1),
      x(slice(0, 1), ellipsis, newaxis, slice(1, 3)),
      nn::log_softmax(x),
      nn::softmax(x, 1),
      nn::l2_normalize(x, -1),
      einsum("bij,bkj->bik", {x, x}),
      sin(x),
      rsqrt(abs(x)),
      logical_not(x > 0.f),
      reduce_prod(x, 1),
  };
  for (const auto& parts : {split(x, 2, 2), split(x, {1, 3}, -1), unstack(x, 1)})
    outputs.insert(outputs.end(), parts.begin(), parts.end());
  for (const Tensor& y : outputs) {
    SCOPED_TRACE(y.dtype().name() + y.shape().to_string());
    expect_round_trip(keras::Model(x, y), random::normal({3, 3, 4}, 0, 1, {.seed = 1}));
  }
}

TEST(ModelConfig, OpsAreNamedAsKerasNamesThem) {
  const Tensor x = keras::Input({4});
  const keras::Model m(x, tf::stack(tf::split(x, 2, 1), 1));
  EXPECT_THAT(m.layers()[1]->name(), testing::StartsWith("tf.split"));
  EXPECT_THAT(m.layers()[2]->name(), testing::StartsWith("tf.stack"));
}

// Where Keras has one layer and Rill several, the others have their own names.
TEST(ModelConfig, AnOpThatIsSeveralInRill) {
  const std::string json = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 4], "name": "a"},
       "name": "a", "inbound_nodes": []},
      {"class_name": "TFOpLambda", "config": {"name": "tf.zeros_like", "function": "zeros_like"},
       "name": "tf.zeros_like", "inbound_nodes": [["a", 0, 0, {}]]},
      {"class_name": "TFOpLambda", "config": {"name": "tf.compat.v1.shape",
       "function": "compat.v1.shape"}, "name": "tf.compat.v1.shape",
       "inbound_nodes": [["tf.zeros_like", 0, 0, {"out_type": "int32"}]]},
      {"class_name": "SlicingOpLambda", "config": {"name": "rows",
       "function": "__operators__.getitem"}, "name": "rows",
       "inbound_nodes": [["tf.compat.v1.shape", 0, 0, {"slice_spec": 0}]]},
      {"class_name": "TFOpLambda", "config": {"name": "tf.reshape", "function": "reshape"},
       "name": "tf.reshape",
       "inbound_nodes": [["tf.zeros_like", 0, 0, {"shape": [["rows", 0, 0], 2, -1]}]]}],
      "input_layers": [["a", 0, 0]], "output_layers": [["tf.reshape", 0, 0]]}})";
  const keras::Model m = keras::models::from_json(json);
  const Tensor y = m(tf::ones({3, 4}));
  EXPECT_EQ(y.shape(), tf::TensorShape({3, 2, 2}));
  EXPECT_EQ(values(y), std::vector<float>(12, 0.f));
  EXPECT_EQ(m.get_layer("tf.zeros_like")->class_name(), "TFOpLambda");
  EXPECT_EQ(m.get_layer("tf.zeros_like.0")->class_name(), "TFOpLambda");
}

TEST(ModelConfig, AnOpWithoutAFormSaysWhich) {
  const Tensor x = keras::Input({4});
  const keras::Model m(x, tf::cumprod(x, 1));
  expect_error<tf::errors::Unimplemented>([&] { (void)m.to_json(); }, "the op Cumprod");
}

TEST(ModelConfig, ReadsKeras3) {
  const std::string tensor = R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 4],
      "dtype": "float32", "keras_history": ["input_layer", 0, 0]}})";
  keras::Model m = keras::models::from_json(R"({"module": "keras.src.models.functional",
    "class_name": "Functional", "config": {"name": "functional", "trainable": true, "layers": [
      {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [null, 4],
       "dtype": "float32", "sparse": false, "name": "input_layer"}, "registered_name": null,
       "name": "input_layer", "inbound_nodes": []},
      {"module": "keras.layers", "class_name": "Dense", "config": {"name": "dense",
       "trainable": true,
       "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
       "registered_name": null}, "units": 2, "activation": "relu", "use_bias": true,
       "kernel_initializer": {"module": "keras.initializers", "class_name": "Ones", "config": {},
       "registered_name": null}}, "registered_name": null, "name": "dense", "inbound_nodes":
       [{"args": [)" + tensor + R"(], "kwargs": {}}]}],
    "input_layers": [["input_layer", 0, 0]], "output_layers": ["dense", 0, 0]},
    "registered_name": "Functional"})");
  EXPECT_EQ(values(m(tf::constant({{1.f, 2.f, 3.f, 4.f}}))), (std::vector<float>{10, 10}));
}

TEST(ModelConfig, ReadsTheBareListOfOldFiles) {
  keras::Model m = keras::models::from_json(R"({"class_name": "Sequential", "config": [
      {"class_name": "Dense", "config": {"name": "d", "units": 2,
       "batch_input_shape": [null, 3]}}]})");
  EXPECT_TRUE(m.built());
  EXPECT_EQ(m.get_layer("d")->weights().size(), 2u);
}

// ---- user-defined classes
struct Scale : keras::layers::Layer {
  double by;
  explicit Scale(double by) : by(by) {}
  explicit Scale(const keras::Config& c)
      : Layer(keras::LayerOptions::from_config(c)), by(c["by"].as_double()) {}
  Tensor call(const Tensor& x, const keras::CallContext&) override {
    return x * static_cast<float>(by);
  }
  keras::Config get_config() const override {
    auto c = Layer::get_config();
    c.set("by", by);
    return c;
  }
};
struct Unknown : Scale {
  using Scale::Scale;
};
struct Subclassed : keras::Model {
  keras::layers::Dense dense{2};
  Subclassed() { track("dense", dense); }
  Tensor call(const Tensor& x, const keras::CallContext&) override { return dense(x); }
};

TEST(ModelConfig, ClassesOfOnesOwnMustBeKnown) {
  RILL_SHOWS("K81");
  keras::utils::register_keras_serializable<Scale>("Scale");
  const keras::Sequential m({keras::layers::Dense(2, {.input_shape = {2}}), Scale(3)});
  EXPECT_THAT(m.to_json(), testing::HasSubstr(R"("registered_name": "Custom>Scale")"));
  expect_round_trip(m, tf::random::normal({2, 2}));
  const Tensor x = keras::Input({2});
  expect_round_trip(keras::Model(x, Scale(2)(x)), tf::random::normal({2, 2}));

  const keras::Sequential other({keras::layers::Dense(2, {.input_shape = {2}}), Unknown(3)});
  expect_error<tf::errors::NotFound>([&] { keras::models::from_json(other.to_json()); },
                                     "register_keras_serializable<Unknown>");
}

TEST(ModelConfig, SubclassedModelsHaveNone) {
  RILL_SHOWS("S06", "S09", "Z10");
  Subclassed m;
  m(tf::ones({1, 3}));
  expect_error<tf::errors::Unimplemented>([&] { (void)m.to_json(); }, "class Subclassed");
  expect_error<tf::errors::Unimplemented>([&] { (void)m.to_yaml(); }, "save_weights");
  expect_error<tf::errors::Unimplemented>([&] { m.save("/tmp/never.h5"); }, "class Subclassed");
}

TEST(ModelConfig, SaysWhatIsWrong) {
  using keras::models::from_json;
  expect_error<tf::errors::InvalidArgument>([] { from_json("{\"class_name\": "); }, "not JSON");
  expect_error<tf::errors::InvalidArgument>([] { from_json("[1, 2]"); }, "class_name");
  expect_error<tf::errors::NotFound>(
      [] { from_json(R"({"class_name": "Sequentail", "config": {}})"); }, "Did you mean");
  expect_error<tf::errors::InvalidArgument>(
      [] { from_json(R"({"class_name": "Dense", "config": {"units": 2}})"); }, "expected a model");
  const auto functional = [](const std::string& calls) {
    return R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "i"},
       "name": "i", "inbound_nodes": []},
      {"class_name": "Dense", "config": {"name": "d", "units": 2}, "name": "d",
       "inbound_nodes": )" +
           calls + R"(}], "input_layers": [["i", 0, 0]], "output_layers": [["d", 0, 0]]}})";
  };
  EXPECT_EQ(from_json(functional(R"([[["i", 0, 0, {}]]])")).layers().size(), 2u);
  expect_error<tf::errors::InvalidArgument>(
      [&] { from_json(functional(R"([[["x", 0, 0, {}]]])")); }, "layer \"x\"");
  expect_error<tf::errors::InvalidArgument>(
      [&] { from_json(functional(R"([[["d", 0, 0, {}]]])")); }, "wait for each other");
  expect_error<tf::errors::InvalidArgument>(
      [&] { from_json(functional(R"([[["i", 3, 0, {}]]])")); }, "call 3 of layer \"i\"");
  expect_error<tf::errors::InvalidArgument>(
      [&] { from_json(functional(R"([[["i", 0, 7, {}]]])")); }, "result 7");
  expect_error<tf::errors::InvalidArgument>([&] { from_json(functional("[[3]]")); },
                                            "expected a tensor of the model");
  expect_error<tf::errors::Unimplemented>(
      [&] { from_json(functional(R"([[["i", 0, 0, {"axis": 3}]]])")); }, "argument \"axis\"");
}

// A few lines of YAML can stand for more than any memory holds: each alias names the one before
// it many times. What they unfold to is bounded.
TEST(ModelConfig, AliasesInYamlAreBounded) {
  const keras::Config small = keras::Config::from_yaml("a: &x [1, 2]\nb: [*x, *x]\n");
  EXPECT_EQ(small.to_json(), R"({"a": [1, 2], "b": [[1, 2], [1, 2]]})");
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_LT(bomb.size(), 1000u);
  expect_error<tf::errors::InvalidArgument>([&] { keras::Config::from_yaml(bomb); },
                                            "[yaml] unfolds to more than a million values");
  expect_error<tf::errors::InvalidArgument>([&] { keras::models::from_yaml(bomb); },
                                            "[yaml] unfolds to more than a million values");
  const std::string deep = std::string(600, '[') + std::string(600, ']');
  expect_error<tf::errors::InvalidArgument>([&] { keras::Config::from_yaml(deep); }, "[yaml]");
}

}  // namespace
