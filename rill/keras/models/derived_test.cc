// Classes of a user's own that derive from layers and models of the library: those leave the call
// to their base, or change it, and are named, tracked and saved as what they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rill/base/logging.h"
#include "rill/rill.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using rill::saving_tests::fresh_folder;
using testing::ElementsAre, testing::HasSubstr;
using tf::Nest, tf::Tensor;
using tf::testing::expect_error, tf::testing::values;

namespace {

Tensor wave(const tf::TensorShape& shape, int k = 0) {
  std::vector<float> v(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = .5f * std::sin(.7f * static_cast<float>(i) + 1.3f * static_cast<float>(k) + .1f);
  return tf::reshape(tf::constant(v), shape);
}
void set_weights(const keras::Layer& l) {
  std::vector<Tensor> all;
  for (const tf::Variable& v : l.weights())
    all.push_back(wave(v.shape(), static_cast<int>(all.size())) + .6f);
  l.set_weights(all);
}
const Tensor& x() {
  static const Tensor t = wave({10, 4}, 1);
  return t;
}
const Tensor& y() {
  static const Tensor t = wave({10, 1}, 2);
  return t;
}

// ---- models whose graph is given, and whose training is their own
int steps = 0;
struct OwnStep : keras::Model {
  OwnStep(const Nest& in, const Nest& out) : keras::Model(in, out) {}
  Nest train_step(const Nest& data) override {
    ++steps;
    const Tensor in = data[0].as_tensor(), labels = data[1].as_tensor();
    tf::GradientTape tape;
    const Tensor out = (*this)(in, {.training = 1});
    const Tensor loss = compute_loss(labels, out);
    const std::vector<tf::Variable> all = trainable_variables();
    optimizer().apply_gradients(tape.gradient(loss, all), all);
    return compute_metrics(labels, out);
  }
};
struct OwnStack : keras::Sequential {
  OwnStack() {
    add(layers::Dense(3));
    add(layers::Dense(1));
  }
  Nest train_step(const Nest& data) override {
    ++steps;
    return keras::Sequential::train_step(data);
  }
};

std::vector<double> losses(keras::Model& m) {
  set_weights(m);
  m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  return m.fit(x(), y(), {.epochs = 2, .verbose = 0, .shuffle = false})["loss"];
}

TEST(Derived, AModelOfInputsAndOutputsWithItsOwnStep) {
  const Tensor in = keras::Input({4});
  keras::Model plain(in, layers::Dense(1)(in));
  OwnStep own(in, layers::Dense(1)(in));
  const std::vector<double> want = losses(plain);
  steps = 0;
  EXPECT_EQ(losses(own), want);
  EXPECT_GT(steps, 0);
  EXPECT_EQ(values(own(x())), values(plain(x())));
  EXPECT_EQ(values(own.predict(x(), {.verbose = 0})), values(plain.predict(x(), {.verbose = 0})));
  EXPECT_EQ(own.evaluate(x(), y(), {.verbose = 0})["loss"],
            plain.evaluate(x(), y(), {.verbose = 0})["loss"]);
  EXPECT_THAT(own.summary_text(), HasSubstr("Model: \"own_step"));
  const std::string folder = fresh_folder("derived_weights");
  for (const std::string file : {"/w.h5", "/w.weights.h5", "/ckpt"}) {
    own.save_weights(folder + file);
    OwnStep back(in, layers::Dense(1)(in));
    back.load_weights(folder + file);
    EXPECT_EQ(values(back(x())), values(own(x())));
  }
  // Its graph is all that it computes by, so that a file can hold it.
  own.save(folder + "/m.keras");
  EXPECT_EQ(values(keras::models::load_model(folder + "/m.keras")(x())), values(own(x())));
}

TEST(Derived, AStackWithItsOwnStep) {
  keras::Sequential plain({layers::Dense(3), layers::Dense(1)});
  OwnStack own;
  plain(x()), own(x());
  steps = 0;
  EXPECT_EQ(losses(own), losses(plain));
  EXPECT_GT(steps, 0);
  OwnStack by_shape;
  by_shape.build({tf::None, 4});
  EXPECT_EQ(by_shape.count_params(), 19);
}

TEST(Derived, AModelWithSeveralOutputs) {
  struct Two : keras::Model {
    Two(const Nest& in, const Nest& out) : keras::Model(in, out) {}
  };
  const Tensor in = keras::Input({4});
  Two m(in, Nest::dict({{"a", layers::Dense(2)(in)}, {"b", layers::Dense(3)(in)}}));
  const Nest out = m.apply(x());
  EXPECT_THAT(out.keys(), ElementsAre("a", "b"));
  EXPECT_EQ(out["b"].as_tensor().shape(), (tf::TensorShape{10, 3}));
  EXPECT_EQ(m(x())[1].shape(), (tf::TensorShape{10, 3}));
  expect_error<tf::errors::InvalidArgument>([&] { tf::square(m(x())); },
                                            "the 2 results of the layer \"two\"");
  // A class that takes the first alone is told so.
  struct First : layers::LSTM {
    using layers::LSTM::LSTM;
    Tensor call(const Tensor& v, const keras::CallContext& c) override {
      return layers::LSTM::call(v, c) * 2.f;
    }
  };
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        First(3, {.return_state = true}).apply(wave({2, 3, 4}));
      },
      "override call_nest");
}

TEST(Derived, LayersOfSeveralInputsOrResults) {
  struct Own : layers::LSTM {
    using layers::LSTM::LSTM;
  };
  struct Both : layers::Bidirectional {
    using layers::Bidirectional::Bidirectional;
  };
  struct Twice : layers::Lambda {
    Twice() : layers::Lambda([](const Tensor& v) { return v * 2.f; }) {}
  };
  const Tensor s = wave({3, 5, 4});
  layers::LSTM plain(3, {.return_state = true});
  Own own(3, {.return_state = true});
  plain.apply(s), own.apply(s);
  set_weights(plain), set_weights(own);
  const std::vector<Tensor> want = plain.apply(s).flatten(), got = own.apply(s).flatten();
  ASSERT_EQ(got.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values(got[i]), values(want[i]));
  EXPECT_EQ(Both(layers::LSTM(2))(s).shape(), (tf::TensorShape{3, 4}));
  EXPECT_EQ(values(Twice()(x())), values(x() * 2.f));
}

// ---- what a class is called, and what a file holds of it
struct Doubled : layers::Dense {
  using layers::Dense::Dense;
  explicit Doubled(const keras::Config& c)
      : layers::Dense(c["units"].as_int(), {.name = c["name"].as_string()}) {}
  Tensor call(const Tensor& v, const keras::CallContext& c) override {
    return layers::Dense::call(v, c) * 2.f;
  }
};
struct Unknown : Doubled {
  using Doubled::Doubled;
};

TEST(Derived, IsNamedAndSavedByItsOwnClass) {
  keras::backend::clear_session();
  Doubled first(3);
  EXPECT_EQ(first.name(), "doubled");
  EXPECT_EQ(first.class_name(), "Doubled");
  EXPECT_EQ(layers::Dense(3).name(), "dense");  // its number is not spent
  EXPECT_EQ(Doubled(3, {.name = "mine"}).name(), "mine");

  keras::utils::register_keras_serializable<Doubled>("Doubled");
  EXPECT_EQ(layers::serialize(first)["class_name"], keras::Config("Custom>Doubled"));
  const std::string folder = fresh_folder("derived_layers");
  const Tensor in = keras::Input({4});
  const keras::Model drawn(in, Doubled(3)(in));
  const keras::Sequential stacked({Doubled(3, {.input_shape = {4}})});
  for (const keras::Model& m : {drawn, static_cast<keras::Model>(stacked)})
    for (const std::string file : {"/m.keras", "/m.h5"}) {
      set_weights(m);
      m.save(folder + file);
      EXPECT_EQ(values(keras::models::load_model(folder + file)(x())), values(m(x())));
    }
  const keras::Model unknown(in, Unknown(3)(in));
  unknown.save(folder + "/u.keras");
  expect_error<tf::errors::NotFound>([&] { keras::models::load_model(folder + "/u.keras"); },
                                     "register_keras_serializable<Unknown>");
}

TEST(Derived, AGraphWithAnotherCallIsNotSavedAsIfItHadNone) {
  struct Doubles : keras::Model {
    Doubles(const Nest& in, const Nest& out) : keras::Model(in, out) {}
    Tensor call(const Tensor& v, const keras::CallContext& c) override {
      return keras::Model::call(v, c) * 2.f;
    }
  };
  const Tensor in = keras::Input({4});
  const Tensor out = layers::Dense(1)(in);
  Doubles m(in, out);
  EXPECT_EQ(values(m(x())), values(keras::Model(in, out)(x()) * 2.f));
  expect_error<tf::errors::Unimplemented>([&] { m.to_json(); }, "by its own call");
  const keras::Model around(in, m(in));
  EXPECT_EQ(values(around(x())), values(m(x())));
  expect_error<tf::errors::Unimplemented>([&] { around.to_json(); }, "by its own call");
}

// ---- what a class holds
std::string warned;
void keep_warning(tf::LogLevel, std::string_view line) { warned += line; }

TEST(Derived, ALayerThatIsNotTrackedIsAnError) {
  struct Forgets : keras::Model {
    layers::Dense a{3}, b{1};
    Forgets() { track("b", b); }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return b(a(v)); }
  };
  Forgets m;
  m.compile({.optimizer = "sgd", .loss = "mse"});
  const auto fit = [&] { m.fit(x(), y(), {.verbose = 0}); };
  expect_error<tf::errors::FailedPrecondition>(fit, "[forgets] call makes the weights of \"dense");
  expect_error<tf::errors::FailedPrecondition>(fit, "track(\"dense");  // and again
  struct MakesOne : keras::Model {
    Tensor call(const Tensor& v, const keras::CallContext&) override { return layers::Dense(1)(v); }
  };
  expect_error<tf::errors::FailedPrecondition>([] { MakesOne()(x()); }, "[makes_one] call makes");
  // One whose weights are made by what it holds.
  struct Block : layers::Layer {
    layers::Dense inner{2};
    Block() { track("inner", inner); }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return inner(v); }
  };
  struct Outer : keras::Model {
    Block block;
    Tensor call(const Tensor& v, const keras::CallContext&) override { return block(v); }
  };
  expect_error<tf::errors::FailedPrecondition>([] { Outer()(x()); }, "of \"block\" (Block)");
}

TEST(Derived, LayersOfOthersMayBeUsed) {
  // A layer that one of those around holds, one in a member, one without weights.
  struct Inner : layers::Layer {
    layers::Dense shared;
    explicit Inner(const layers::Dense& d) : shared(d) {}
    Tensor call(const Tensor& v, const keras::CallContext&) override { return shared(v); }
  };
  struct Outer : keras::Model {
    layers::Dense dense{4};
    Inner inner{dense};
    layers::Dropout unknown{.5};
    keras::Sequential stack{layers::Dense(2)};
    Outer() {
      track("dense", dense);
      track("inner", inner);
      track("stack", stack);
    }
    Tensor call(const Tensor& v, const keras::CallContext&) override {
      return (*stack.layers()[0])(unknown(inner(v)));
    }
  };
  Outer m;
  EXPECT_EQ(m(x()).shape(), (tf::TensorShape{10, 2}));
  EXPECT_EQ(m.weights().size(), 4u);

  // One that has weights already may be there on purpose: one warning.
  layers::Dense known(2);
  known(x());
  struct Uses : keras::Model {
    layers::Dense other;
    explicit Uses(const layers::Dense& d) : other(d) {}
    Tensor call(const Tensor& v, const keras::CallContext&) override { return other(v); }
  };
  const tf::LogLevel before = tf::log_level();
  tf::set_log_level(tf::LogLevel::warning);
  tf::set_log_sink(keep_warning);
  warned.clear();
  Uses uses(known);
  uses(x()), uses(x());
  tf::set_log_sink(nullptr);
  tf::set_log_level(before);
  EXPECT_THAT(warned, HasSubstr("a layer with weights that uses does not hold"));
  EXPECT_EQ(warned.find("does not hold"), warned.rfind("does not hold"));
}

TEST(Derived, TwoMembersOfOneName) {
  struct Same : keras::Model {
    layers::Dense a{1}, b{1};
    Same() {
      track("a", a);
      track("a", a);  // the same again is nothing new
      track("a", b);
    }
  };
  expect_error<tf::errors::InvalidArgument>([] { Same(); }, "already known as \"a\"");
  struct SameVariable : layers::Layer {
    tf::Variable a{1.f}, b{2.f};
    SameVariable() {
      track("a", a);
      track("a", b);
    }
  };
  expect_error<tf::errors::InvalidArgument>([] { SameVariable(); }, "already known as \"a\"");
  struct Mixed : layers::Layer {
    tf::Variable a{1.f};
    layers::Dense b{2};
    Mixed() {
      track("a", b);
      track("a", a);
    }
  };
  expect_error<tf::errors::InvalidArgument>([] { Mixed(); }, "already known as \"a\"");
}

TEST(Derived, ABuildThatRanByHandKeepsItsMembers) {
  struct Builds : layers::Layer {
    layers::Dense inner{1};
    void build(const tf::TensorShape& s) override {
      inner = layers::Dense(s[-1].value());
      track("inner", inner);
    }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return inner(v); }
  };
  Builds b;
  b.build({tf::None, 4});
  b(x());
  EXPECT_EQ(b.weights().size(), 2u);
}

TEST(Derived, AHandleThatWasMovedFromIsStillOne) {
  layers::Dense a(2);
  a(x());
  layers::Dense b = std::move(a);
  EXPECT_EQ(values(a(x())), values(b(x())));  // NOLINT: that is the point
  keras::Sequential m({b}), n;
  n = std::move(m);
  EXPECT_EQ(values(m(x())), values(n(x())));  // NOLINT
}

}  // namespace
