#include "rill/io/npy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "rill/base/error.h"
#include "rill/io/file.h"
#include "rill/ops/array_ops.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;
using saving_tests::fresh_folder;

struct Home {
  std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
  explicit Home(const std::string& folder) { setenv("HOME", folder.c_str(), 1); }
  ~Home() { setenv("HOME", before.c_str(), 1); }
};

// The guide's arrays of MNIST, from where Keras keeps them.
TEST(Npz, ArraysComeByNameFromTheUsersFolder) {
  RILL_SHOWS("D44");
  const std::string folder = fresh_folder("npz_home");
  const Home home(folder);
  create_folders(folder + "/.keras/datasets");
  const Tensor x = cast(reshape(range(2 * 28 * 28), {2, 28, 28}), uint8),
               y = constant({5, 0}, uint8);
  for (const bool compressed : {false, true}) {
    save_npz(folder + "/.keras/datasets/mnist.npz", {{"x_train", x}, {"y_train", y}}, compressed);
    const auto arrays = load_npz("~/.keras/datasets/mnist.npz");
    const std::map<std::string, Tensor> data(arrays.begin(), arrays.end());
    ASSERT_EQ(data.size(), 2u);
    EXPECT_EQ(data.at("x_train").dtype(), uint8);
    EXPECT_EQ(data.at("x_train").shape(), TensorShape({2, 28, 28}));
    EXPECT_EQ(data.at("x_train").to_vector<int>(), x.to_vector<int>());
    EXPECT_EQ(data.at("y_train").to_vector<int>(), (std::vector<int>{5, 0}));
  }
  save_npy(folder + "/one.npy", y);
  EXPECT_EQ(load_npy("~/one.npy").to_vector<int>(), (std::vector<int>{5, 0}));
  expect_error<errors::NotFound>([] { load_npz("~/none.npz"); }, folder + "/none.npz");
}

}  // namespace
}  // namespace rill::io
