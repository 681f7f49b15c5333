#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/saving/saving.h"
#include "rill/keras/utils/utils.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

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
bool has_loop(const tf::ConcreteFunction& f) {
  return f.to_string().find("while_loop") != std::string::npos;
}
std::vector<std::string> names_of(const layers::Layer& l) {
  std::vector<std::string> names;
  for (const tf::Variable& v : l.weights()) names.push_back(v.name());
  return names;
}

// ---- cells

TEST(Cell, StepByStep) {
  RILL_SHOWS("K32", "K33");
  layers::LSTMCell cell(256);
  EXPECT_FALSE(cell.built());
  const Tensor inputs = random({5, 4, 7});
  auto state = cell.get_initial_state({.batch_size = 5, .dtype = tf::float32});
  ASSERT_EQ(state.size(), 2u);
  for (const Tensor& s : state) {
    EXPECT_EQ(s.shape(), tf::TensorShape({5, 256}));
    EXPECT_EQ(tf::reduce_max(tf::abs(s)).item<float>(), 0.f);
  }
  Tensor output;
  for (int t = 0; t < 4; ++t) std::tie(output, state) = cell(inputs(tf::all, t, tf::all), state);
  EXPECT_TRUE(cell.built());
  EXPECT_EQ(output.shape(), tf::TensorShape({5, 256}));
  ASSERT_EQ(state.size(), 2u);
  expect_equal(output, state[0], 0);  // the output is h
  // The layer over the same weights computes the same.
  layers::LSTM layer(256, {.return_state = true});
  layer.apply(inputs);
  layer.set_weights(cell.get_weights());
  const auto [y, h, c] = layer.apply(inputs).unpack<3>();
  expect_equal(y, output);
  expect_equal(c, state[1]);
}

TEST(Cell, WeightsAreNamedAsInKeras) {
  keras::backend::clear_session();
  using ::testing::ElementsAre;
  const Tensor x = random({2, 3, 4});
  layers::LSTM lstm(2);
  lstm(x);
  EXPECT_THAT(names_of(lstm),
              ElementsAre("lstm/lstm_cell/kernel:0", "lstm/lstm_cell/recurrent_kernel:0",
                          "lstm/lstm_cell/bias:0"));
  EXPECT_EQ(lstm.weights()[1].shape(), tf::TensorShape({2, 8}));
  EXPECT_EQ(lstm.weights()[2].value().to_vector<float>(),
            (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0}));  // the forget gate is open at first
  layers::RNN stacked({layers::LSTMCell(2), layers::GRUCell(3)});
  stacked(x);
  EXPECT_THAT(names_of(stacked), ElementsAre("rnn/stacked_rnn_cells/lstm_cell/kernel:0",
                                             "rnn/stacked_rnn_cells/lstm_cell/recurrent_kernel:0",
                                             "rnn/stacked_rnn_cells/lstm_cell/bias:0",
                                             "rnn/stacked_rnn_cells/gru_cell/kernel:0",
                                             "rnn/stacked_rnn_cells/gru_cell/recurrent_kernel:0",
                                             "rnn/stacked_rnn_cells/gru_cell/bias:0"));
  layers::Bidirectional both(layers::GRU(2));
  both(x);
  EXPECT_EQ(names_of(both)[0], "bidirectional/forward_gru/gru_cell/kernel:0");
  EXPECT_EQ(names_of(both)[3], "bidirectional/backward_gru/gru_cell/kernel:0");
  layers::TimeDistributed each(layers::Dense(2));
  each(x);
  EXPECT_THAT(names_of(each), ElementsAre("time_distributed/kernel:0", "time_distributed/bias:0"));
  layers::SimpleRNNCell cell(2);
  cell(x[0], cell.get_initial_state({.inputs = x[0]}));
  EXPECT_EQ(names_of(cell)[0], "simple_rnn_cell/kernel:0");
}

TEST(Cell, RecurrentKernelIsOrthogonalAtFirst) {
  layers::SimpleRNN rnn(8);
  rnn(random({1, 1, 3}));
  const Tensor w = rnn.weights()[1];
  expect_equal(tf::matmul(w, tf::transpose(w)), tf::eye(8), 1e-5);
}

// s_t = tanh(U x_t + W s_{t-1}), s_0 = 0.
TEST(SimpleRNN, TheRecurrenceOfTheGuide) {
  RILL_SHOWS("K34", "K35");
  const Tensor x = random({2, 3, 4});
  layers::SimpleRNN rnn(5, {.return_sequences = true});
  const Tensor y = rnn(x);
  const auto w = rnn.get_weights();
  Tensor s = tf::zeros({2, 5});
  for (int t = 0; t < 3; ++t) {
    s = tf::tanh(tf::matmul(x(tf::all, t), w[0]) + tf::matmul(s, w[1]) + w[2]);
    expect_equal(y(tf::all, t), s);
  }
  // LSTM and GRU are layers alike.
  EXPECT_EQ(layers::LSTM(6)(x).shape(), tf::TensorShape({2, 6}));
  EXPECT_EQ(layers::GRU(6, {.return_sequences = true})(x).shape(), tf::TensorShape({2, 3, 6}));
}

// A user's cell.
struct Accumulator : layers::AbstractRNNCell {
  tf::Variable scale;
  std::vector<tf::TensorShape> state_size() const override { return {{3}}; }
  void build(const tf::TensorShape&) override { scale = add_weight("scale", {3}, "ones"); }
  std::pair<Tensor, States> step(const Tensor& x, const States& states,
                                 const keras::CallContext&) override {
    const Tensor sum = states[0] + x * scale;
    return {2 * sum, {sum}};
  }
};

// ---- constants
struct WithConstants : layers::AbstractRNNCell {
  tf::Variable scale;
  WithConstants() = default;
  explicit WithConstants(const keras::Config& c)
      : AbstractRNNCell(keras::LayerOptions::from_config(c)) {}
  std::vector<tf::TensorShape> state_size() const override { return {{2}}; }
  void build(const tf::TensorShape&) override {
    scale = add_weight("scale", {2}, keras::initializers::Constant(0.5));
  }
  std::pair<Tensor, States> step(const Tensor& x, const States& states,
                                 const keras::CallContext& context) override {
    const std::vector<Tensor>& c = context.constants;
    const Tensor h = tf::tanh(x * scale + 0.5f * states[0] + c.at(0) * c.at(1));
    return {h, {h}};
  }
};

const Tensor& constants_x() {
  static const Tensor x = tf::reshape(tf::range(12.f) / 10.f - 0.5f, {2, 3, 2});
  return x;
}
const Tensor& constants_a() {
  static const Tensor a = tf::constant({{0.1f, -0.2f}, {0.3f, 0.4f}});
  return a;
}
const Tensor& constants_b() {
  static const Tensor b = tf::constant({{2.f, 1.f}, {-1.f, 0.5f}});
  return b;
}
void expect_values(const Tensor& got, const std::vector<float>& want) {
  const auto values = got.to_vector<float>();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], 3e-6) << i;
}
// Of Keras, from states of zero.
const std::vector<float> kOutputs{-0.049958363f, -0.379949f,  0.025015602f, -0.45419616f,
                                  0.16109219f,   -0.4028933f, -0.24491866f, 0.2913126f,
                                  -0.26591176f,  0.4972576f,  -0.18094149f, 0.6343302f};

TEST(Constants, GoToTheCellAtEveryStep) {
  const Tensor &x = constants_x(), &a = constants_a(), &b = constants_b();
  const layers::RNN rnn(WithConstants(), {.return_sequences = true});
  const Tensor h = tf::constant({{0.5f, 0.f}, {-0.5f, 1.f}});
  tf::GradientTape tape;
  tape.watch({a, b});
  const Tensor y = rnn(x, {.initial_state = {h}, .constants = {a, b}});
  const tf::Gradients g = tape.gradient(y, {a, b});
  expect_values(y, {0.19737528f, -0.379949f, 0.1476015f, -0.45419616f, 0.2201376f, -0.4028933f,
                    -0.46211717f, 0.66403687f, -0.3636264f, 0.62429863f, -0.2277482f, 0.67077434f});
  expect_values(g[0], {8.099781f, 3.301241f, -3.5167322f, 1.0523517f});
  expect_values(g[1], {0.40498906f, -0.66024816f, 1.0550196f, 0.8418813f});
  expect_values(rnn(x, {.constants = {a, b}}), kOutputs);
  // Behind the inputs too, now that it knows how many there are.
  expect_values(rnn.apply(tf::Nest{x, a, b}).as_tensor(), kOutputs);
  auto f = tf::function(
      [&](Tensor v, Tensor p, Tensor q) {
        return rnn(v, {.constants = {p, q}});
      },
      {.input_signature = {tf::TensorSpec({tf::None, tf::None, 2}, tf::float32),
                           tf::TensorSpec({tf::None, 2}, tf::float32),
                           tf::TensorSpec({tf::None, 2}, tf::float32)}});
  expect_values(f(x, a, b), kOutputs);  // a loop: the length is not known
}

TEST(Constants, AreInputsOfADrawing) {
  const Tensor &x = constants_x(), &a = constants_a(), &b = constants_b();
  const Tensor in = keras::Input({3, 2}), p = keras::Input({2}), q = keras::Input({2});
  const layers::RNN rnn(WithConstants(), {.return_sequences = true});
  keras::Model m(tf::Nest{in, p, q}, rnn(in, {.constants = {p, q}}));
  expect_values(m.predict(tf::Nest{x, a, b}, {.verbose = 0}), kOutputs);
  EXPECT_EQ(rnn.get_config()["num_constants"].as_int(), 2);
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const auto history = m.fit(tf::Nest{x, a, b}, tf::zeros({2, 3, 2}), {.epochs = 5, .verbose = 0});
  EXPECT_LT(history["loss"].back(), history["loss"].front());

  keras::utils::register_keras_serializable<WithConstants>("WithConstants");
  const keras::Model read = keras::models::from_json(m.to_json());
  EXPECT_EQ(read.to_json(), m.to_json());
  keras::Model n = read;
  n.set_weights(m.get_weights());
  const auto again = m.predict(tf::Nest{x, a, b}, {.verbose = 0}).to_vector<float>();
  expect_values(n.predict(tf::Nest{x, a, b}, {.verbose = 0}), again);
}

TEST(Constants, InStacksAndFromBothEnds) {
  const Tensor &x = constants_x(), &a = constants_a(), &b = constants_b();
  const layers::RNN stacked({WithConstants(), layers::SimpleRNNCell(3)},
                            {.return_sequences = true});
  EXPECT_EQ(stacked(x, {.constants = {a, b}}).shape(), tf::TensorShape({2, 3, 3}));
  keras::utils::register_keras_serializable<WithConstants>("WithConstants");
  const layers::Bidirectional both(layers::RNN(WithConstants(), {.return_sequences = true}));
  const Tensor y = both(x, {.constants = {a, b}});
  ASSERT_EQ(y.shape(), tf::TensorShape({2, 3, 4}));
  expect_values(y(tf::all, tf::all, tf::slice(0, 2)), kOutputs);
  EXPECT_EQ(both.get_config()["num_constants"].as_int(), 2);
}

TEST(Constants, NeedACellThatTakesThem) {
  using tf::errors::InvalidArgument;
  const Tensor& x = constants_x();
  expect_error<InvalidArgument>(
      [&] { layers::RNN(layers::LSTMCell(2))(x, {.constants = {constants_a()}}); },
      "the cell is a LSTMCell, which takes none");
  expect_error<InvalidArgument>([&] { layers::GRU(2)(x, {.constants = {constants_a()}}); },
                                "the cell is a GRUCell, which takes none");
  expect_error<InvalidArgument>([&] { layers::Dense(2)(x, {.constants = {constants_a()}}); },
                                "got 1 constants; Dense takes none");
  const layers::RNN rnn{WithConstants()};
  rnn(x, {.constants = {constants_a(), constants_b()}});
  expect_error<InvalidArgument>([&] { rnn(x); }, "takes 2 constants, and the call has 1 inputs");
}

TEST(Cell, OfOnesOwn) {
  layers::RNN rnn(Accumulator(), {.return_sequences = true, .return_state = true});
  const Tensor x = tf::ones({2, 4, 3});
  const auto [y, sum] = rnn.apply(x).unpack<2>();
  EXPECT_EQ(y(0, tf::all, 0).to_vector<float>(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(6, 4.f));
  EXPECT_EQ(rnn.trainable_variables().size(), 1u);
  auto f =
      tf::function([&](Tensor v) { return rnn.apply(v)[0].as_tensor(); },
                   {.input_signature = {tf::TensorSpec({tf::None, tf::None, 3}, tf::float32)}});
  expect_equal(f(x), y);
}

// ---- sequences

// A long sequence, or one of unknown length, is a loop of the graph; a short one is not. LSTMs
// and GRUs without a mask are one op.
TEST(Sequence, TheLoopGivesWhatTheStepsGive) {
  const Tensor mask =
      tf::constant({{true, true, false, true, false}, {false, false, true, true, true}});
  const Tensor x = random({2, 5, 3});
  const auto check = [&](const layers::Layer& layer, bool masked, bool has_op = false) {
    const keras::CallOptions options{.mask = masked ? mask : Tensor()};
    const auto both = [&](Tensor v) {
      tf::GradientTape tape({.persistent = true});
      tape.watch(v);
      std::vector<Tensor> out = layer.apply(v, options).flatten();
      Tensor total = tf::reduce_sum(out[0] * out[0]);
      for (const Tensor& s : out) total = total + tf::reduce_sum(s * s);
      out.push_back(tape.gradient(total, v).tensor());
      for (const auto& g : tape.gradient(total, layer.trainable_variables()))
        out.push_back(g.tensor());
      return tf::Nest(out);
    };
    layer.apply(x);
    const std::vector<Tensor> eager = both(x).flatten();
    auto steps = tf::function(both);
    auto loop = tf::function(
        both, {.input_signature = {tf::TensorSpec({tf::None, tf::None, 3}, tf::float32)}});
    EXPECT_EQ(has_loop(loop.get_concrete_function_for({})), masked || !has_op);
    EXPECT_FALSE(has_loop(steps.get_concrete_function(x)));
    const std::vector<Tensor> a = steps(x).flatten(), b = loop(x).flatten();
    ASSERT_EQ(a.size(), eager.size());
    ASSERT_EQ(b.size(), eager.size());
    for (std::size_t i = 0; i < eager.size(); ++i) {
      SCOPED_TRACE(i);
      expect_equal(a[i], eager[i], 2e-5);
      expect_equal(b[i], eager[i], 2e-5);
    }
  };
  for (const bool masked : {false, true}) {
    SCOPED_TRACE(masked);
    check(layers::LSTM(4, {.return_sequences = true, .return_state = true}), masked, true);
    check(layers::LSTM(4), masked, true);
    check(layers::LSTM(4, {.recurrent_activation = "hard_sigmoid"}), masked);
    check(layers::GRU(4, {.return_sequences = true, .go_backwards = true}), masked, true);
    check(layers::GRU(4, {.return_state = true, .reset_after = false}), masked);
    check(layers::SimpleRNN(4, {.return_sequences = true, .zero_output_for_mask = true}), masked);
    check(layers::RNN({layers::LSTMCell(3), layers::GRUCell(4)}), masked);
    check(layers::Bidirectional(layers::LSTM(4, {.return_sequences = true})), masked, true);
  }
}

TEST(Sequence, OneOpGivesWhatTheStepsGive) {
  const Tensor x = random({3, 7, 4});
  const auto values = [&](const layers::Layer& layer) {
    tf::GradientTape tape({.persistent = true});
    tape.watch(x);
    std::vector<Tensor> all = layer.apply(x).flatten();
    Tensor total = tf::constant(0.f);
    for (const Tensor& t : all) total = total + tf::reduce_sum(tf::square(t));
    all.push_back(tape.gradient(total, x).tensor());
    for (const auto& g : tape.gradient(total, layer.trainable_variables()))
      all.push_back(g.tensor());
    return all;
  };
  const auto check = [&]<class L>(auto options, L*) {
    options.unroll = true;
    const L steps(5, options);
    options.unroll = false;
    const L op(5, options);
    steps.apply(x), op.apply(x);
    op.set_weights(steps.get_weights());
    EXPECT_THAT(tf::function([&](Tensor v) { return op.apply(v).flatten()[0]; })
                    .get_concrete_function(x)
                    .to_string(),
                testing::HasSubstr("_sequence"));
    const std::vector<Tensor> want = values(steps), got = values(op);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) expect_equal(got[i], want[i], 2e-5);
  };
  const auto both = [&](bool sequences, bool state, bool backwards, bool time_major) {
    const auto set = [&](auto o) {
      o.return_sequences = sequences, o.return_state = state;
      o.go_backwards = backwards, o.time_major = time_major;
      return o;
    };
    check(set(layers::LSTMOptions()), static_cast<layers::LSTM*>(nullptr));
    check(set(layers::GRUOptions()), static_cast<layers::GRU*>(nullptr));
  };
  both(false, false, false, false);
  both(true, true, false, false);
  both(true, false, true, false);
  both(true, true, false, true);
}

TEST(Sequence, LongOnesAreLoops) {
  layers::SimpleRNN rnn(4, {.return_sequences = true});
  auto f = tf::function([&](Tensor x) { return rnn(x); });
  const Tensor x = random({2, 250, 3});
  expect_equal(f(x), rnn(x), 1e-5);
  EXPECT_TRUE(has_loop(f.get_concrete_function(x)));
  layers::SimpleRNN unrolled(4, {.return_sequences = true, .unroll = true});
  unrolled(x);
  unrolled.set_weights(rnn.get_weights());
  auto g = tf::function([&](Tensor v) { return unrolled(v); });
  EXPECT_FALSE(has_loop(g.get_concrete_function(x)));
  expect_equal(g(x), f(x), 1e-5);
}

TEST(Sequence, AMaskedStepCarriesStateAndOutput) {
  layers::Masking masking(0.);
  layers::LSTM lstm(3, {.return_sequences = true, .return_state = true});
  Tensor x = random({1, 4, 2});
  const Tensor keep = tf::constant({{{1.f}, {0.f}, {1.f}, {0.f}}});
  const auto [y, h, c] = lstm.apply(masking(x * keep)).unpack<3>();
  expect_equal(y(tf::all, 1), y(tf::all, 0), 0);
  expect_equal(y(tf::all, 3), y(tf::all, 2), 0);
  // As if the masked steps were not there.
  const Tensor shorter = tf::gather(x, {0, 2}, 1);
  const auto [y2, h2, c2] = lstm.apply(shorter).unpack<3>();
  expect_equal(h, h2);
  expect_equal(c, c2);
}

TEST(Sequence, NoSteps) {
  layers::LSTM lstm(3, {.return_sequences = true});
  EXPECT_EQ(lstm(tf::zeros({2, 0, 4})).shape(), tf::TensorShape({2, 0, 3}));
}

TEST(Sequence, StatefulGoesOnWhereItStopped) {
  const Tensor x = random({2, 6, 3});
  layers::LSTM whole(4), parts(4, {.stateful = true});
  const Tensor want = whole(x);
  parts(x);
  parts.set_weights(whole.get_weights());
  parts.reset_states();
  parts(x(tf::all, tf::slice(0, 2)));
  expect_equal(parts(x(tf::all, tf::slice(2, 6))), want);
  EXPECT_EQ(parts.states().size(), 2u);
  expect_equal(parts.states()[0], want);
  EXPECT_EQ(parts.weights().size(), 3u);  // states are not weights
  parts.reset_states();
  expect_equal(parts(x), want);
  parts.reset_states({tf::ones({2, 4}), tf::zeros({2, 4})});
  expect_equal(parts(x), whole(x, {.initial_state = {tf::ones({2, 4}), tf::zeros({2, 4})}}));
  // The same in a traced function: the states are read and kept at each call.
  parts.reset_states();
  auto f = tf::function([&](Tensor v) { return parts(v); });
  f(x(tf::all, tf::slice(0, 3)));
  expect_equal(f(x(tf::all, tf::slice(3, 6))), want);
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        parts(random({3, 6, 3}));
      },
      "built for batches of 2");
}

TEST(Sequence, DropoutIsOneForAllSteps) {
  // The input is all ones and the kernel the identity, so that the outputs show the masks.
  const Tensor x = tf::ones({3, 5, 8});
  for (const bool traced : {false, true}) {
    layers::SimpleRNN rnn(8, {.activation = "linear",
                              .kernel_initializer = "identity",
                              .recurrent_initializer = "zeros",
                              .dropout = 0.5,
                              .return_sequences = true});
    rnn(x);
    auto call = [&](Tensor v) { return rnn(v, {.training = 1}); };
    auto f = tf::function(call);
    const Tensor y = traced ? f(x) : call(x), again = traced ? f(x) : call(x);
    for (int t = 1; t < 5; ++t) expect_equal(y(tf::all, t), y(tf::all, 0), 0);
    for (const float v : y.to_vector<float>()) EXPECT_TRUE(v == 0.f || v == 2.f);
    EXPECT_NE(y.to_vector<float>(), again.to_vector<float>());
    expect_equal(rnn(x), x, 0);  // none in inference
  }
}

TEST(Sequence, RecurrentDropoutActsOnStatesAlone) {
  layers::LSTM lstm(6, {.recurrent_dropout = 0.5});
  EXPECT_EQ(lstm.get_config()["implementation"].as_int(), 1);  // apart for each gate, as in Keras
  const Tensor x = random({4, 1, 3}), longer = random({4, 6, 3});
  lstm(x);
  expect_equal(lstm(x, {.training = 1}), lstm(x));  // the first state is zero: nothing to drop
  EXPECT_NE(lstm(longer, {.training = 1}).to_vector<float>(), lstm(longer).to_vector<float>());
  layers::GRU gru(6, {.dropout = 0.3, .recurrent_dropout = 0.5, .reset_after = false});
  auto f =
      tf::function([&](Tensor v) { return gru(v, {.training = 1}); },
                   {.input_signature = {tf::TensorSpec({tf::None, tf::None, 3}, tf::float32)}});
  EXPECT_EQ(f(longer).shape(), tf::TensorShape({4, 6}));
}

TEST(Cell, DropoutStaysUntilItIsReset) {
  layers::GRUCell cell(4, {.dropout = 0.5});
  const Tensor x = tf::ones({16, 8});
  const auto state = cell.get_initial_state({.inputs = x});
  const auto step = [&] { return cell(x, state, {.training = 1}).first.to_vector<float>(); };
  const auto first = step();
  EXPECT_EQ(step(), first);
  cell.reset_dropout_mask();
  EXPECT_NE(step(), first);
}

// ---- models

// The guide's model of text: a cell that its call takes along the characters.
struct CharRNN : keras::Model {
  int num_chars;
  layers::LSTMCell cell;
  layers::Dense dense;
  CharRNN(int chars, int units) : num_chars(chars), cell(units), dense(chars) {
    track("cell", cell);
    track("dense", dense);
  }
  Tensor call(const Tensor& ids, const keras::CallContext&) override {
    const Tensor inputs = tf::one_hot(ids, num_chars);
    auto state = cell.get_initial_state({.inputs = ids});
    Tensor output;
    for (int t = 0; t < inputs.shape().dim(1); ++t)
      std::tie(output, state) = cell(inputs(tf::all, t, tf::all), state);
    return dense(output);
  }
};

TEST(Cell, InAModelOfOnesOwn) {
  RILL_SHOWS("K32", "Z34");
  tf::random::set_seed(1);
  keras::backend::clear_session();
  CharRNN model(7, 16);
  // The text runs around the alphabet: the next character follows from the last.
  const Tensor start = tf::reshape(tf::range(20) % 7, {20, 1});
  const Tensor x = (start + tf::reshape(tf::range(5), {1, 5})) % 7, y = (start(tf::all, 0) + 5) % 7;
  keras::optimizers::Adam adam(0.05);
  auto step = tf::function([&](Tensor ids, Tensor next) {
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(
        tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = next, .logits = model(ids)}));
    adam.apply_gradients(tape.gradient(loss, model.variables()), model.variables());
    return loss;
  });
  const float first = step(x, y).item<float>();
  for (int i = 0; i < 40; ++i) step(x, y);
  EXPECT_LT(step(x, y).item<float>(), 0.2f * first);
  EXPECT_EQ(model.variables()[0].name(), "char_rnn/lstm_cell/kernel:0");
  // Another size of the batch than it was trained with.
  EXPECT_EQ(tf::argmax(model(tf::constant({{2, 3, 4, 5, 6}})), -1).to_vector<int>(),
            std::vector<int>{0});
}

TEST(Recurrent, EncoderAndDecoder) {
  auto source = keras::Input({tf::None, 3}), target = keras::Input({tf::None, 2});
  layers::LSTM encoder(4, {.return_state = true}), decoder(4, {.return_sequences = true});
  const auto [ignored, h, c] = encoder.apply(source).unpack<3>();
  const Tensor out = decoder(target, {.initial_state = {h, c}});
  EXPECT_EQ(out.shape(), tf::TensorShape({tf::None, tf::None, 4}));
  keras::Model model({source, target}, out);
  EXPECT_EQ(model.variables().size(), 6u);
  const Tensor a = random({2, 5, 3}), b = random({2, 4, 2});
  const auto [y, ha, ca] = encoder.apply(a).unpack<3>();
  expect_equal(model({a, b}), decoder(b, {.initial_state = {ha, ca}}));
}

TEST(Recurrent, MasksFlowThroughAModel) {
  keras::Sequential model({layers::Embedding(10, 4, {.mask_zero = true}),
                           layers::Bidirectional(layers::LSTM(3, {.return_sequences = true})),
                           layers::GRU(3), layers::Dense(1)});
  const Tensor padded = tf::constant({{3, 5, 0, 0}}), shorter = tf::constant({{3, 5}});
  expect_equal(model(padded), model(shorter));
}

TEST(Recurrent, ModelsTrain) {
  tf::random::set_seed(1);
  // The class is the sign of the first number: the layer must carry it to the end.
  // Few enough steps that every seed learns it: this is no test of luck.
  const Tensor x = random({64, 4, 1});
  const Tensor y = tf::cast(x(tf::all, 0) > 0.f, tf::float32);
  keras::Sequential model({layers::LSTM(8), layers::Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = keras::optimizers::Adam(0.02), .loss = "binary_crossentropy"});
  model.fit(x, y, {.batch_size = 16, .epochs = 100, .verbose = 0});
  EXPECT_LT(model.evaluate(x, y, {.verbose = 0})["loss"], 0.3);
}

TEST(Recurrent, MixedPrecision) {
  layers::LSTM lstm(4, {.return_sequences = true, .return_state = true, .dtype = "mixed_bfloat16"});
  const Tensor x = random({2, 3, 5});
  const auto [y, h, c] = lstm.apply(x).unpack<3>();
  EXPECT_EQ(y.dtype(), tf::bfloat16);
  EXPECT_EQ(c.dtype(), tf::bfloat16);
  EXPECT_EQ(lstm.weights()[0].dtype(), tf::float32);
  auto f =
      tf::function([&](Tensor v) { return lstm.apply(v)[0].as_tensor(); },
                   {.input_signature = {tf::TensorSpec({tf::None, tf::None, 5}, tf::float32)}});
  expect_equal(tf::cast(f(x), tf::float32), tf::cast(y, tf::float32), 1e-2);
}

TEST(TimeDistributed, UnknownLengths) {
  layers::TimeDistributed each(layers::Dense(2));
  auto f =
      tf::function([&](Tensor x) { return each(x); },
                   {.input_signature = {tf::TensorSpec({tf::None, tf::None, 3}, tf::float32)}});
  const Tensor x = random({2, 5, 3});
  expect_equal(f(x), each(x));
  auto in = keras::Input({tf::None, 3});
  EXPECT_EQ(each(in).shape(), tf::TensorShape({tf::None, tf::None, 2}));
}

TEST(Recurrent, Errors) {
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>([] { layers::LSTM(0); }, "[LSTM] units is 0");
  expect_error<InvalidArgument>([] { layers::GRU(2, {.dropout = 1.5}); }, "dropout is 1.5");
  expect_error<InvalidArgument>([] { layers::RNN(layers::Dense(2)); }, "a Dense is not a cell");
  expect_error<InvalidArgument>([] { layers::Bidirectional(layers::Dense(2)); },
                                "expected a recurrent layer");
  expect_error<InvalidArgument>(
      [] { layers::Bidirectional(layers::LSTM(2), {.merge_mode = "add"}); }, "merge_mode");
  expect_error<InvalidArgument>(
      [] { layers::Bidirectional(layers::LSTM(2), {.backward_layer = layers::LSTM(2)}); },
      "different go_backwards");
  layers::LSTM lstm(2);
  expect_error<InvalidArgument>([&] { lstm(tf::ones({2, 3})); }, "expected ndim=3, found ndim=2");
  expect_error<InvalidArgument>(
      [&] {
        lstm(tf::ones({2, 3, 4, 5}));
      },
      "expected ndim=3, found ndim=4");
  expect_error<InvalidArgument>(
      [&] {
        keras::layers::Bidirectional(keras::layers::GRU(2))(tf::ones({2, 3}));
      },
      "expected ndim=3, found ndim=2");
  expect_error<InvalidArgument>(
      [&] {
        keras::layers::TimeDistributed(keras::layers::Dense(2))(tf::ones({2, 3}));
      },
      "expected min_ndim=3, found ndim=2");
  const Tensor x = tf::ones({2, 3, 4});
  expect_error<InvalidArgument>(
      [&] {
        lstm(x, {.initial_state = {tf::ones({2, 2})}});
      },
      "got 1 initial states; the cell has 2");
  expect_error<InvalidArgument>(
      [&] {
        lstm(x, {.initial_state = {tf::ones({2, 3}), tf::ones({2, 2})}});
      },
      "initial state 0 has shape");
  expect_error<InvalidArgument>([&] { lstm(tf::ones({2, 3, 5})); }, "axis 2");
  expect_error<tf::errors::FailedPrecondition>([&] { lstm.reset_states({}); }, "not stateful");
  layers::LSTM unrolled(2, {.unroll = true});
  expect_error<InvalidArgument>([&] { unrolled(keras::Input({tf::None, 3})); }, "cannot unroll");
  layers::LSTM stateful(2, {.stateful = true});
  expect_error<InvalidArgument>([&] { stateful(keras::Input({5, 3})); }, "batch size");
}

TEST(Stateful, TellsForWhichBatchItWasBuilt) {
  keras::Sequential m({layers::LSTM(2, {.stateful = true, .batch_input_shape = {16, 5, 3}})});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        m(tf::ones({32, 5, 3}));
      },
      "stateful and was built for batches of 16; got one of 32");
  m.compile({.optimizer = "sgd", .loss = "mse"});
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        m.fit(tf::ones({32, 5, 3}), tf::ones({32, 2}), {.batch_size = 32, .verbose = 0});
      },
      "stateful");
}

}  // namespace
