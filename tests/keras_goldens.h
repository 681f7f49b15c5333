#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rill/keras/config.h"
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
