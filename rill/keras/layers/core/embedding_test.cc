#include <gtest/gtest.h>

#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

// A step that is traced for any size of a batch does not know how many rows it gathers.
TEST(Embedding, TrainsWithBatchesOfDifferentSizes) {
  const Tensor x = reshape(range(50) % 7, {10, 5}), y = ones({10, 1});
  Sequential m(
      {layers::Embedding(7, 4, {.input_shape = {5}}), layers::Flatten(), layers::Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse"});
  for (const std::int64_t n : {4, 3, 2}) {
    const double before = m.evaluate(x, y, {.verbose = 0})["loss"];
    m.fit(x, y, {.batch_size = n, .epochs = 2, .verbose = 0});
    EXPECT_LT(m.evaluate(x, y, {.verbose = 0})["loss"], before);
  }
}

}  // namespace
}  // namespace rill::keras
