#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rill/keras/config.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"

// What the scripts make_models.py and the tests of Keras's files agree on.
namespace rill::keras_goldens {

// Inputs and labels.
inline Tensor numbers(const TensorShape& shape) {
  std::vector<float> v;
  for (int i = 0; i < shape.num_elements(); ++i)
    v.push_back(static_cast<float>(i * 7 % 16 - 8) / 8.f);
  return constant(v, float32, shape);
}

// What a model computes, and what after one step more.
inline keras::Config results(keras::Model& m, const Nest& x) {
  const auto flat = [&] {
    return keras::Config::list_of(m.predict_on_batch(x).as_tensor().to_vector<float>());
  };
  keras::Config c = keras::Config::dict({{"before", flat()}});
  const auto logs = m.train_on_batch(x, numbers({6, 2}));
  c.set("loss", logs["loss"]);
  c.set("mae", logs["mae"]);
  c.set("after", flat());
  return c;
}

inline keras::Config before(keras::Model& m, const Nest& x) {
  return keras::Config::dict(
      {{"before", keras::Config::list_of(m.predict_on_batch(x).as_tensor().to_vector<float>())}});
}
inline void expect_near_before(const keras::Config& got, const keras::Config& want) {
  ASSERT_EQ(got["before"].size(), want["before"].size());
  for (std::size_t i = 0; i < want["before"].size(); ++i)
    EXPECT_NEAR(got["before"][i].as_double(), want["before"][i].as_double(), 4e-6) << i;
}

inline void expect_near(const keras::Config& got, const keras::Config& want) {
  for (const char* key : {"before", "after"}) {
    ASSERT_EQ(got[key].size(), want[key].size());
    for (std::size_t i = 0; i < want[key].size(); ++i)
      EXPECT_NEAR(got[key][i].as_double(), want[key][i].as_double(), 4e-6) << key << " " << i;
  }
  for (const char* key : {"loss", "mae"})
    EXPECT_NEAR(got[key].as_double(), want[key].as_double(), 4e-6) << key;
}

}  // namespace rill::keras_goldens

// Not in namespace rill, whose layers are the library's own.
namespace keras_goldens_classes {

// A user-defined class, of which files hold the weights alone. Its attributes are on both sides
// of "layers", which is where the two Keras begin to differ.
struct Part : rill::keras::Layer {
  rill::keras::layers::Dense into, back{4};
  explicit Part(int units) : into(units) {
    track("into", into);
    track("back", back);
  }
  rill::Tensor call(const rill::Tensor& x, const rill::keras::CallContext&) override {
    return back(into(x));
  }
};
struct Own : rill::keras::Model {
  rill::keras::layers::Dense dense1{4, {.activation = "tanh"}}, out{2}, dense2{4};
  rill::keras::layers::BatchNormalization norm;
  Part part{3}, block{5};
  rill::keras::Sequential seq{{rill::keras::layers::Dense(4)}};
  Own() : rill::keras::Model({.name = "own"}) {
    track("dense1", dense1);
    track("out", out);
    track("dense2", dense2);
    track("norm", norm);
    track("part", part);
    track("block", block);
    track("seq", seq);
  }
  rill::Tensor call(const rill::Tensor& x, const rill::keras::CallContext&) override {
    return out(norm(seq(block(part(dense2(dense1(x)))))));
  }
};
}  // namespace keras_goldens_classes
