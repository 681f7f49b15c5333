// Models whose inputs or outputs are dicts, and what losses, labels and weights say of them by key.
// Expected numbers and names are those of Keras 2.15.
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
using testing::ElementsAre;
using tf::Nest, tf::Tensor;
using tf::testing::expect_error, tf::testing::expect_near;

namespace {

Tensor wave(const tf::TensorShape& shape, int k = 0) {
  std::vector<float> v(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(.5 * std::sin(.7 * static_cast<double>(i) + 1.3 * k + .1));
  return tf::reshape(tf::constant(v), shape);
}
void set_weights(const keras::Model& m) {
  std::vector<Tensor> all;
  for (const tf::Variable& v : m.weights())
    all.push_back(wave(v.shape(), static_cast<int>(all.size())) + .6f);
  m.set_weights(all);
}
// Outputs "z" of layer "h" and "b" of layer "qq".
keras::Model model() {
  const Tensor a = keras::Input({4}, {.name = "a"});
  const Tensor h = layers::Dense(3, {.name = "h"})(a), q = layers::Dense(3, {.name = "qq"})(a);
  keras::Model m(a, Nest::dict({{"z", h}, {"b", q}}));
  set_weights(m);
  return m;
}
const Tensor& x() {
  static const Tensor t = wave({5, 4}, 1);
  return t;
}
Nest labels() { return Nest::dict({{"z", wave({5, 3}, 2)}, {"b", wave({5, 3}, 1)}}); }

void expect_logs(const keras::Logs& got, const std::vector<std::pair<std::string, double>>& want) {
  std::vector<std::string> names, expected;
  for (const auto& [name, value] : got.items()) names.push_back(name);
  for (const auto& [name, value] : want) {
    expected.push_back(name);
    EXPECT_NEAR(got[name], value, 2e-6) << name;
  }
  EXPECT_EQ(names, expected);
}

TEST(Dicts, OutputsAreInTheOrderOfTheirKeys) {
  keras::Model m = model();
  EXPECT_THAT(m.output_names(), ElementsAre("qq", "h"));
  EXPECT_EQ(m.layers()[1]->name(), "qq");
  EXPECT_EQ(m.weights()[0].name(), "qq/kernel:0");
  const Tensor b = keras::Input({2}, {.name = "bb"}), a = keras::Input({3}, {.name = "aa"});
  const Tensor d1 = layers::Dense(2, {.name = "d1"})(b), d2 = layers::Dense(2, {.name = "d2"})(a);
  const keras::Model of_two(Nest::dict({{"z", b}, {"c", a}}),
                            layers::Concatenate({.name = "joined"})({d1, d2}));
  EXPECT_THAT(of_two.input_names(), ElementsAre("aa", "bb"));
  std::vector<std::string> names;
  for (const keras::LayerRef& l : of_two.layers()) names.push_back(l->name());
  EXPECT_THAT(names, ElementsAre("bb", "aa", "d1", "d2", "joined"));
}

TEST(Dicts, KeysComeBackFromFiles) {
  const std::string folder = fresh_folder("dicts");
  keras::Model m = model();
  for (const std::string file : {"/m.keras", "/m.h5"}) {
    m.save(folder + file);
    const Nest got = keras::models::load_model(folder + file).apply(x()), want = m.apply(x());
    EXPECT_THAT(got.keys(), ElementsAre("b", "z"));
    for (const char* key : {"z", "b"}) expect_near(got[key].as_tensor(), want[key].as_tensor());
  }
}

TEST(Dicts, LossesAndLabelsGoByKeyAndLogsByLayer) {
  keras::Model m = model();
  m.compile({.optimizer = "sgd",
             .loss = {{"z", "mse"}, {"b", "mae"}},
             .metrics = {{"z", {"mae"}}},
             .loss_weights = {{"z", 2.}}});
  const std::vector<std::pair<std::string, double>> want = {{"loss", 2.4443283081054688},
                                                            {"qq_loss", 1.1800014972686768},
                                                            {"h_loss", .632163405418396},
                                                            {"h_mae", .6840588450431824}};
  expect_logs(m.evaluate(x(), labels(), {.verbose = 0}), want);
  const Nest turned = Nest::dict({{"b", labels()["b"]}, {"z", labels()["z"]}});
  expect_logs(m.evaluate(x(), turned, {.verbose = 0}), want);
  expect_logs(m.evaluate(tf::data::Dataset::from_tensor_slices(Nest({x(), turned})).batch(2),
                         {.verbose = 0}),
              want);
}

TEST(Dicts, WeightsOfSamplesGoByKey) {
  keras::Model m = model();
  m.compile({.optimizer = "sgd", .loss = {{"z", "mse"}, {"b", "mae"}}});
  const Tensor w = tf::constant({0.f, 1.f, 2.f, 3.f, 4.f});
  const std::vector<std::pair<std::string, double>> want = {{"loss", 2.9371070861816406},
                                                            {"qq_loss", 1.1800014972686768},
                                                            {"h_loss", 1.7571055889129639}};
  const auto with = [&](const Nest& weight) {
    return m.evaluate(x(), labels(), {.verbose = 0, .sample_weight = weight});
  };
  expect_logs(with(Nest::dict({{"z", w}})), want);
  expect_logs(with(Nest::dict({{"z", w}, {"b", tf::ones({5})}})), want);
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        with(Nest::dict({{"y", w}}));
      },
      "the sample_weight have a key \"y\"");
}

TEST(Dicts, WhatDoesNotMatchIsNamed) {
  keras::Model m = model();
  m.compile({.optimizer = "sgd", .loss = {{"z", "mse"}, {"b", "mae"}}});
  const auto on = [&](const Nest& y) { m.evaluate(x(), y, {.verbose = 0}); };
  using tf::errors::InvalidArgument;
  expect_error<InvalidArgument>(
      [&] {
        on(Nest::dict({{"z", labels()["z"]}}));
      },
      "no labels for the output \"b\"");
  expect_error<InvalidArgument>(
      [&] {
        on(Nest::dict({{"z", labels()["z"]}, {"c", labels()["b"]}}));
      },
      "have a key \"c\"");
  expect_error<InvalidArgument>(
      [&] {
        on(Nest({labels()["z"], labels()["b"]}));
      },
      "expected a dict with the keys \"b\", \"z\"");
  m.compile({.optimizer = "sgd", .loss = {{"h", "mse"}}});
  expect_error<InvalidArgument>([&] { on(labels()); }, "loss names the output \"h\"");
}

TEST(Dicts, OfAClassOfOnesOwnAreNamedByKey) {
  struct Two : keras::Model {
    layers::Dense d{3}, e{2};
    Two() {
      track("d", d);
      track("e", e);
    }
    Nest call_nest(const Nest& in, const keras::CallContext&) override {
      const Tensor t = in.as_tensor();
      return Nest::dict({{"u", d(t)}, {"t", e(t)}});
    }
  };
  Two m;
  m.apply(x());
  set_weights(m);
  m.compile(
      {.optimizer = "sgd", .loss = {{"u", "mse"}, {"t", "mae"}}, .metrics = {{"t", {"mse"}}}});
  expect_logs(
      m.evaluate(x(), Nest::dict({{"u", wave({5, 3}, 2)}, {"t", wave({5, 2}, 1)}}), {.verbose = 0}),
      {{"loss", 2.367943286895752},
       {"t_loss", .4928310513496399},
       {"u_loss", 1.8751121759414673},
       {"t_mse", .4129660725593567}});
}

// ---- a model that begins in the middle of another
TEST(Tail, HasAnInputOfItsOwn) {
  keras::backend::clear_session();
  const Tensor in = keras::Input({4});
  const Tensor middle = layers::Dense(3, {.name = "first"})(in);
  const Tensor out = layers::Dense(2, {.name = "second"})(middle) * 2.f;
  const keras::Model whole(in, out), tail(middle, out);
  EXPECT_EQ(tail.count_params(), 8);
  EXPECT_THAT(tail.input_names(), ElementsAre("input_2"));
  EXPECT_EQ(tail.layers().size(), 3u);
  set_weights(tail);
  const keras::Model head(in, middle);
  expect_near(tail(head(x())), whole(x()));
  const std::string folder = fresh_folder("tail");
  for (const std::string file : {"/m.keras", "/m.h5"}) {
    tail.save(folder + file);
    expect_near(keras::models::load_model(folder + file)(wave({2, 3})), tail(wave({2, 3})));
  }
  // Behind a mask, which the tail does not have.
  struct Twice : layers::Layer {
    Twice() { set_supports_masking(true); }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return v * 2.f; }
  };
  const Tensor steps = layers::Masking()(keras::Input({3, 2}));
  expect_near(keras::Model(steps, Twice()(steps))(wave({1, 3, 2})), wave({1, 3, 2}) * 2.f);
  // Two of them, one in the middle and one that is there.
  const Tensor other = keras::Input({3});
  const keras::Model sum(Nest({middle, other}), layers::add({out, layers::Dense(2)(other)}));
  EXPECT_EQ(sum.count_params(), 16);
}

// As Keras: said once, and ignored.
TEST(Dicts, AKeyThatIsNoInputIsSaidAndIgnored) {
  keras::Model m = model();
  static std::vector<std::string> lines;
  lines.clear();
  rill::set_log_sink([](rill::LogLevel, std::string_view line) { lines.emplace_back(line); });
  const rill::LogLevel level = rill::log_level();
  rill::set_log_level(rill::LogLevel::warning);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(m.apply(Nest::dict({{"a", x()}, {"zz", x()}}))["z"].as_tensor().to_vector<float>(),
              m.apply(x())["z"].as_tensor().to_vector<float>());
  rill::set_log_level(level);
  rill::set_log_sink(nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::HasSubstr("has the keys [\"zz\"], which are no inputs"));
}

}  // namespace
