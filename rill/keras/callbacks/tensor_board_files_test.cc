// What the TensorBoard callback writes. tools/keras_newest.py gives it to TensorBoard itself
// (RILL_TENSORBOARD_OUT).
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/keras/callbacks/callbacks.h"
#include "rill/keras/config.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/utils/utils.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/checkpoint_files.h"

namespace rill::keras {
namespace {

TEST(TensorBoardFiles, RillWritesForTensorBoard) {
  const char* out = std::getenv("RILL_TENSORBOARD_OUT");
  const std::string folder = out ? out : saving_tests::fresh_folder("tensorboard_out");
  io::create_folders(folder);
  utils::set_random_seed(1);
  const Tensor x = reshape(cast(range(40), float32), {20, 2}) / 40.f;
  const Tensor y = reduce_sum(x, 1, {.keepdims = true});
  Sequential m({layers::Dense(4, {.activation = "relu", .input_shape = {2}}), layers::Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  const History h = m.fit(x, y,
                          {.batch_size = 6,
                           .epochs = 3,
                           .verbose = 0,
                           .callbacks = {callbacks::TensorBoard({.log_dir = folder + "/logs"})},
                           .validation_split = 0.2});
  Config expected = Config::dict();
  for (const char* name : {"loss", "mae", "val_loss", "val_mae"})
    expected.set(name, Config::list_of(h[name]));
  ASSERT_EQ(expected["val_mae"].size(), 3u);
  io::write_file_atomically(folder + "/expected.json", expected.to_json());
  EXPECT_EQ(io::list_folder(folder + "/logs"), (std::vector<std::string>{"train", "validation"}));
}

}  // namespace
}  // namespace rill::keras
