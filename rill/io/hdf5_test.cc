#include "rill/io/hdf5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "rill/base/error.h"
#include "rill/ops/array_ops.h"
#include "tests/expect_error.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;

Hdf5Reader reopened(Hdf5Writer& w) { return Hdf5Reader(w.finish(), "memory"); }

TEST(Hdf5, EveryDtypeComesBack) {
  Hdf5Writer w;
  const DType dtypes[] = {float16, float32, float64, int8,   int16,  int32,
                          int64,   uint8,   uint16,  uint32, uint64, bool_};
  for (const DType d : dtypes)
    w.write(std::string("a/b/") + d.name(), cast(constant({1, 0, 1}), d));
  w.write("scalar", constant(2.5f));
  w.write("empty", zeros({0, 3}));
  const Hdf5Reader r = reopened(w);
  for (const DType d : dtypes) {
    const Tensor t = r.read(std::string("a/b/") + d.name());
    EXPECT_EQ(t.dtype(), d);
    EXPECT_EQ(cast(t, int32).to_vector<int>(), (std::vector<int>{1, 0, 1})) << d.name();
  }
  EXPECT_EQ(r.read("scalar").item<float>(), 2.5f);
  EXPECT_EQ(r.read("empty").shape(), TensorShape({0, 3}));
  EXPECT_TRUE(r.has_group("a/b"));
  EXPECT_FALSE(r.has_group("a/b/int8"));
  EXPECT_TRUE(r.has_array("a/b/int8"));
  EXPECT_FALSE(r.has_array("a/c"));
  EXPECT_EQ(r.list(""), (std::vector<std::string>{"a", "empty", "scalar"}));
  expect_error<errors::NotFound>([&] { r.read("a/c"); }, "\"a/c\"");
  expect_error<errors::DataLoss>([&] { r.read("a"); }, "is not an array");
}

TEST(Hdf5, Texts) {
  Hdf5Writer w;
  w.add_group("g");
  const std::string json(200000, 'x');
  w.set_text("", "config", json);
  w.set_texts("g", "names", {"a", "longer", ""});
  w.set_texts("g", "none", {});
  // More than fits into one attribute is split, as Keras splits it.
  std::vector<std::string> many;
  for (int i = 0; i < 5000; ++i) many.push_back("layer_number_" + std::to_string(i));
  w.set_texts("g", "many", many);
  const Hdf5Reader r = reopened(w);
  EXPECT_EQ(r.text("", "config"), json);
  EXPECT_EQ(r.texts("g", "names"), (std::vector<std::string>{"a", "longer", ""}));
  EXPECT_TRUE(r.texts("g", "none").empty());
  EXPECT_FALSE(r.has_attribute("g", "many"));
  EXPECT_TRUE(r.has_texts("g", "many"));
  EXPECT_EQ(r.texts("g", "many"), many);
  expect_error<errors::NotFound>([&] { r.text("g", "other"); }, "no attribute \"other\"");
}

TEST(Hdf5, TheSameContentIsTheSameFile) {
  const auto bytes = [] {
    Hdf5Writer w;
    w.write("x", constant({1.f, 2.f}));
    return w.finish();
  };
  EXPECT_EQ(bytes(), bytes());
}

// Files in memory are told apart, whatever they are called.
TEST(Hdf5, SeveralAreOpenAtOnce) {
  Hdf5Writer first, second;
  first.write("a", constant({1, 2}));
  second.write("a", constant({3, 4}));
  const Hdf5Reader one(first.finish(), "same.h5"), two(second.finish(), "same.h5");
  EXPECT_EQ(one.read("a").to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(two.read("a").to_vector<int>(), (std::vector<int>{3, 4}));
}

// The library beneath says what is wrong by our errors, not on standard error.
TEST(Hdf5, IsQuietInEveryThread) {
  Hdf5Writer w;
  w.write("a", zeros({100, 100}));
  const std::string whole = w.finish(), cut = whole.substr(0, whole.size() / 2);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i)
    std::thread([&] {
      expect_error<errors::DataLoss>([&] { Hdf5Reader(cut, "cut.h5").read("a"); }, "cut.h5");
    }).join();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Hdf5, ASizeThatTheFileDoesNotHold) {
  Hdf5Writer w;
  w.write("x", zeros({3, 5}));
  std::string bytes = w.finish();
  // The shape as the file keeps it: two sizes of 8 bytes.
  const std::string sizes("\3\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 16);
  const auto at = bytes.find(sizes);
  ASSERT_NE(at, bytes.npos);
  for (const int byte : {3, 6}) {
    std::string wrong = bytes;
    wrong[at + static_cast<std::size_t>(byte)] = 1;
    const Hdf5Reader r(wrong, "memory");
    expect_error<errors::DataLoss>([&] { r.read("x"); }, "claims more elements");
  }
  expect_error<errors::DataLoss>([] { Hdf5Reader("nothing", "memory"); }, "not an HDF5 file");
}

}  // namespace
}  // namespace rill::io
