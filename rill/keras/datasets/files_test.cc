#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/io/npy.h"
#include "rill/keras/config.h"
#include "rill/keras/datasets/datasets.h"
#include "rill/ops/array_ops.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill::keras::datasets {
namespace {

using rill::testing::expect_error;

std::string testdata(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/keras/datasets/testdata/" + name;
}
// What Keras made of the same files: testdata/make_datasets.py.
Config expected(const char* name) {
  return Config::from_json(io::file_contents(testdata("expected.json")))[name];
}

void expect_equal(const imdb::Reviews& got, const Config& x, const Config& y) {
  ASSERT_EQ(got.x.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(got.x[i], x[i].size() ? x[i].as_ints() : std::vector<std::int64_t>()) << i;
  EXPECT_EQ(got.y.to_vector<std::int64_t>(), y.as_ints());
}
void expect_equal(const imdb::ReviewSplits& got, const char* name) {
  SCOPED_TRACE(name);
  const Config want = expected(name);
  expect_equal(got.train, want["x_train"], want["y_train"]);
  expect_equal(got.test, want["x_test"], want["y_test"]);
}

TEST(Imdb, IsKerassForEveryArgument) {
  const std::string path = testdata("imdb_2.npz");
  expect_equal(imdb::load_data({.path = path, .verify = false}), "defaults");
  expect_equal(imdb::load_data({.path = path, .num_words = 50, .skip_top = 5, .verify = false}),
               "words");
  expect_equal(imdb::load_data({.path = path,
                                .num_words = 20,
                                .start_char = std::nullopt,
                                .oov_char = std::nullopt,
                                .index_from = 1,
                                .verify = false}),
               "dropped");
  expect_equal(imdb::load_data({.path = path, .maxlen = 12, .seed = 7, .verify = false}), "short");
  expect_equal(imdb::load_data({.path = path,
                                .start_char = std::nullopt,
                                .oov_char = 0,
                                .index_from = 2,
                                .verify = false}),
               "bare");
  expect_error<errors::InvalidArgument>(
      [&] { imdb::load_data({.path = path, .maxlen = 1, .verify = false}); }, "increase maxlen");
}

TEST(Imdb, ReadsEveryProtocol) {
  for (const char* file : {"imdb_2.npz", "imdb_3.npz", "imdb_4.npz", "imdb_numpy2.npz"}) {
    SCOPED_TRACE(file);
    expect_equal(imdb::load_data({.path = testdata(file), .verify = false}), "defaults");
  }
}

TEST(Imdb, WordIndex) {
  const std::string path = saving_tests::fresh_folder("imdb") + "/words.json";
  io::write_file_atomically(path, R"({"the": 1, "caf\u00e9": 2})");
  const auto index = imdb::get_word_index({.path = path, .verify = false});
  EXPECT_EQ(index.at("the"), 1);
  EXPECT_EQ(index.at("caf\xc3\xa9"), 2);
  expect_error<errors::DataLoss>([&] { imdb::get_word_index({.path = path}); },
                                 "expected bfafd718b763782e994055a2d397834f");
  io::write_file_atomically(path, R"(["the"])");
  expect_error<errors::DataLoss>([&] { imdb::get_word_index({.path = path, .verify = false}); },
                                 "not a JSON dict");
}

TEST(BostonHousing, IsInKerassOrder) {
  const std::string path = testdata("boston_small.npz");
  const auto check = [&](const char* name, const Splits& got) {
    SCOPED_TRACE(name);
    const Config want = expected(name);
    const auto same = [](const Tensor& t, const Config& c) {
      const std::vector<double> v = t.to_vector<double>();
      ASSERT_EQ(v.size(), c.size());
      for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(v[i], c[i].as_double());
    };
    same(got.train.x(all, 0), want["x_train"]);
    same(got.train.y, want["y_train"]);
    same(got.test.x(all, 0), want["x_test"]);
    same(got.test.y, want["y_test"]);
  };
  check("boston", boston_housing::load_data({.path = path, .verify = false}));
  check("boston_half",
        boston_housing::load_data({.path = path, .test_split = 0.5, .seed = 9, .verify = false}));
}

TEST(Datasets, AnotherFileIsAnError) {
  const std::string folder = saving_tests::fresh_folder("datasets");
  const Tensor x = zeros({2, 28, 28}, uint8), y = zeros({2}, uint8);
  io::save_npz(folder + "/mnist.npz",
               {{"x_train", x}, {"y_train", y}, {"x_test", x}, {"y_test", y}});
  const char* want = "expected 731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1";
  expect_error<errors::DataLoss>([&] { mnist::load_data(folder); }, want);
  expect_error<errors::DataLoss>([&] { mnist::load_data(folder + "/mnist.npz"); }, want);
  EXPECT_EQ(mnist::load_data({.path = folder, .verify = false}).train.x.shape(),
            TensorShape({2, 28, 28}));
  expect_error<errors::DataLoss>([&] { imdb::load_data({.path = folder + "/mnist.npz"}); },
                                 "[imdb] " + folder + "/mnist.npz has the sha256 checksum");
}

TEST(FashionMnist, HasImagesOfTenKinds) {
  RILL_SHOWS("D66", "Q66");
  const std::string folder = saving_tests::fresh_folder("fashion");
  const Tensor x = cast(reshape(range(10 * 28 * 28), {10, 28, 28}), uint8),
               y = cast(range(10), uint8);
  io::save_npz(folder + "/fashion_mnist.npz",
               {{"x_train", x}, {"y_train", y}, {"x_test", x}, {"y_test", y}}, true);
  const auto [train, test] = fashion_mnist::load_data(folder);
  EXPECT_EQ(train.x.shape(), TensorShape({10, 28, 28}));
  EXPECT_EQ(train.x.dtype(), uint8);
  EXPECT_EQ(train.x.to_vector<int>(), x.to_vector<int>());
  EXPECT_EQ(test.y.to_vector<int>(), y.to_vector<int>());
  std::string names;
  for (const int label : test.y.to_vector<int>())
    names += std::string(fashion_mnist::class_names[label]) + ", ";
  EXPECT_EQ(names,
            "T-shirt/top, Trouser, Pullover, Dress, Coat, Sandal, Shirt, Sneaker, Bag, Ankle "
            "boot, ");
}

// Variables of the environment for one test.
struct Environment {
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { old_.empty() ? unsetenv(name_) : setenv(name_, old_.c_str(), 1); }
  const char* name_;
  std::string old_;
};

TEST(Datasets, AreLookedForInKerassCache) {
  RILL_SHOWS("Z38");
  const std::string home = saving_tests::fresh_folder("keras_home");
  const Environment data("RILL_DATA_DIR", home + "/none"), cache("KERAS_HOME", home);
  expect_error<errors::NotFound>([] { mnist::load_data(); }, home + "/datasets/mnist");
  expect_error<errors::NotFound>([] { imdb::load_data(); }, home + "/datasets/imdb.npz");
  expect_error<errors::NotFound>([] { imdb::load_data(); }, ".download = true");
  io::create_folders(home + "/datasets");
  io::write_file_atomically(home + "/datasets/mnist.npz", "cut short");
  expect_error<errors::DataLoss>([] { mnist::load_data(); }, "731c5ac602752760c8e48fbffcf8c3b8");
  // What was put there by hand is found: two images of 28 x 28 and their labels.
  const std::string clothes = home + "/datasets/fashion-mnist/";
  io::create_folders(clothes);
  const std::string images = std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x1c\0\0\0\x1c", 16) +
                             std::string(2 * 28 * 28, '\7'),
                    labels = std::string("\0\0\x08\x01\0\0\0\x02\x05\x09", 10);
  for (const char* part : {"train", "t10k"}) {
    io::write_file_atomically(clothes + part + "-images-idx3-ubyte", images);
    io::write_file_atomically(clothes + part + "-labels-idx1-ubyte", labels);
  }
  const Splits s = fashion_mnist::load_data();
  EXPECT_EQ(s.test.x.shape(), TensorShape({2, 28, 28}));
  EXPECT_EQ(s.train.y.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{5, 9}));
}

// As Python 2 pickled it: protocol 2, with its strings.
std::string cifar_batch(const std::string& pixels, const std::vector<int>& labels) {
  const auto word = [](std::size_t n) {
    std::string s;
    for (int i = 0; i < 4; ++i) s += static_cast<char>(n >> (8 * i));
    return s;
  };
  const auto text = [](const std::string& s) {
    return std::string("U") + static_cast<char>(s.size()) + s;
  };
  // Zeros are in the literals.
  const auto bytes = []<std::size_t N>(const char(&s)[N]) { return std::string(s, N - 1); };
  std::string p = "\x80\x02}q\x01(" + text("data") + "cnumpy.core.multiarray\n_reconstruct\nq\x02";
  p += bytes(
      "cnumpy\nndarray\nq\x03K\0\x85"
      "U\x01"
      "b\x87Rq\x04(K\x01K");
  p += static_cast<char>(labels.size());
  p += bytes(
      "M\0\x0c\x86"
      "cnumpy\ndtype\nq\x05U\x02u1K\0K\x01\x87Rq\x06(K\x03U\x01|NNN");
  p += bytes("J\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89");
  p += "T" + word(pixels.size()) + pixels + "tb" + text("labels") + "](";
  for (const int l : labels) p += std::string("K") + static_cast<char>(l);
  return p + "e" + text("batch_label") + text("training batch 1 of 5") + "u.";
}

TEST(Cifar10, ReadsWhatKerasHas) {
  const std::string folder = saving_tests::fresh_folder("cifar");
  std::string image;
  for (int i = 0; i < 3072; ++i) image += static_cast<char>(i / 1024 * 50 + i % 7);
  for (int i = 1; i <= 5; ++i)
    io::write_file_atomically(folder + "/data_batch_" + std::to_string(i),
                              cifar_batch(image + image, {i, 9}));
  io::write_file_atomically(folder + "/test_batch", cifar_batch(image, {7}));
  const Splits s = cifar10::load_data(folder);
  EXPECT_EQ(s.train.x.shape(), TensorShape({10, 32, 32, 3}));
  EXPECT_EQ(s.train.y.to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{1, 9, 2, 9, 3, 9, 4, 9, 5, 9}));
  EXPECT_EQ(s.train.y.shape(), TensorShape({10, 1}));
  EXPECT_EQ(s.test.y.to_vector<std::uint8_t>(), std::vector<std::uint8_t>{7});
  // The second row begins with the 32nd pixel of each colour.
  EXPECT_EQ(s.test.x(0, 1, 0).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{32 % 7, 50 + (1024 + 32) % 7, 100 + (2048 + 32) % 7}));
  io::write_file_atomically(folder + "/test_batch", cifar_batch(image, {7, 8}));
  expect_error<errors::DataLoss>([&] { cifar10::load_data(folder); }, "test_batch");
}

}  // namespace
}  // namespace rill::keras::datasets
