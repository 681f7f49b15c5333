#include "rill/saving/tensor_bundle.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/saving/ordered_code_impl.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

using rill::testing::expect_error;
using saving_tests::fresh_folder;
using saving_tests::golden;

std::string bytes_of(std::string_view hex) {
  std::string out;
  std::string digits;
  for (char c : hex)
    if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return out;
}

// A bundle as TensorFlow writes it, with the graph of one variable.
TEST(TensorBundle, WritesTensorFlowsBytes) {
  const std::string graph = bytes_of(
      "0a0b0a0508011201762a020801"
      "0a3712310a0e5641524941424c455f56414c55451201761a1c762f2e415454524942555445532f56415249"
      "41424c455f56414c55452a020801");
  const std::string prefix = fresh_folder("bytes") + "/b";
  BundleWriter w(prefix);
  w.add("v/.ATTRIBUTES/VARIABLE_VALUE", constant(3.f));
  w.add("_CHECKPOINTABLE_OBJECT_GRAPH", constant(graph));
  w.finish();
  EXPECT_EQ(io::file_contents(prefix + ".data-00000-of-00001"),
            bytes_of("00004040 46 e03927af") + graph);
  EXPECT_EQ(io::file_contents(prefix + ".index"),
            bytes_of("00 00 06 08 01 1a 02 08 01 00 1c 0d 5f 43 48 45 43 4b 50 4f 49 4e 54 41 42 4c"
                     "45 5f 4f 42 4a 45 43 54 5f 47 52 41 50 48 08 07 12 00 20 04 28 4b 35 d2 58 67"
                     "f8 00 1c 0b 76 2f 2e 41 54 54 52 49 42 55 54 45 53 2f 56 41 52 49 41 42 4c 45"
                     "5f 56 41 4c 55 45 08 01 12 00 28 04 35 ef d6 82 c3 00 00 00 00 01 00 00 00 00"
                     "ff fa 3d 23 00 00 00 00 01 00 00 00 00 c0 f2 a1 b0 00 01 02 77 00 67 00 00 00"
                     "00 01 00 00 00 00 66 aa ba 56 6c 08 79 0e") +
                std::string(36, '\0') + bytes_of("57 fb 80 8b 24 75 47 db"));
}

const DType kTypes[] = {float16, bfloat16, float32, float64, int8,  int16,     int32,     int64,
                        uint8,   uint16,   uint32,  uint64,  bool_, complex64, complex128};

TEST(TensorBundle, ReadsEveryTypeThatTensorFlowWrote) {
  const BundleReader r(golden("every_type"));
  for (DType t : kTypes) {
    const std::string key = std::string("t/") + t.name();
    EXPECT_EQ(r.dtype(key), t);
    const Tensor got = r.read(key), want = cast(constant({{0, 1, 2}, {3, 5, 7}}), t);
    EXPECT_EQ(got.shape(), TensorShape({2, 3})) << key;
    EXPECT_TRUE(reduce_all(equal(got, want)).item<bool>()) << key << " " << got.to_string();
  }
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\xc3\xbc";
  EXPECT_EQ(r.read("t/string").to_vector<std::string>(),
            (std::vector<std::string>{"", "a", std::string("b\0c", 3), umlauts}));
  EXPECT_EQ(r.read("t/no_strings").shape(), TensorShape({0}));
  EXPECT_EQ(r.read("t/empty").shape(), TensorShape({0, 4}));
  EXPECT_EQ(r.read("t/scalar").item<float>(), 2.5f);
}

TEST(TensorBundle, WritesWhatTensorFlowWrote) {
  for (const char* name : {"every_type", "many"}) {
    const BundleReader r(golden(name));
    const std::string prefix = fresh_folder("copy") + "/c";
    BundleWriter w(prefix);
    // TensorFlow's order: as the script lists them.
    std::vector<std::string> keys = r.keys();
    if (std::string_view(name) == "every_type") {
      keys.clear();
      for (DType t : kTypes) keys.push_back(std::string("t/") + t.name());
      for (const char* k : {"t/string", "t/no_strings", "t/empty", "t/scalar"}) keys.push_back(k);
    }
    for (const std::string& k : keys) w.add(k, r.read(k));
    w.finish();
    for (const char* end : {".index", ".data-00000-of-00001"})
      EXPECT_EQ(io::file_contents(prefix + end), io::file_contents(golden(name) + end))
          << name << end;
  }
}

TEST(TensorBundle, PutsSlicesTogether) {
  const BundleReader r(golden("sliced"));
  EXPECT_EQ(r.keys(), (std::vector<std::string>{"c", "s", "w"}));
  EXPECT_EQ(r.shape("w"), TensorShape({5, 3}));
  EXPECT_TRUE(reduce_all(equal(r.read("w"), reshape(range(15.f), {5, 3}))).item<bool>());
  EXPECT_EQ(r.read("c").to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(r.read("s").to_vector<std::string>(), (std::vector<std::string>{"p", "q", "r"}));
}

TEST(TensorBundle, KeysOfSlicesSortAsNumbersDo) {
  const auto code = [](std::int64_t v) {
    std::string out;
    put_ordered_signed(out, v);
    return out;
  };
  EXPECT_EQ(slice_key("w", {{0, 5}, {0, -1}}), bytes_of("00 77 00 01 01 02 80 85 80 7f"));
  EXPECT_EQ(code(64), bytes_of("c040"));
  EXPECT_EQ(code(1000), bytes_of("c3e8"));
  EXPECT_EQ(code(0x424242), bytes_of("f0424242"));
  EXPECT_EQ(code(-0x800), bytes_of("3800"));
  std::vector<std::int64_t> values{INT64_MIN, INT64_MAX, 0, -1, 1};
  for (int bit = 2; bit < 63; ++bit)
    for (std::int64_t d : {-1, 0, 1}) {
      values.push_back((std::int64_t{1} << bit) + d);
      values.push_back(-(std::int64_t{1} << bit) + d);
    }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (std::size_t i = 1; i < values.size(); ++i)
    EXPECT_LT(code(values[i - 1]), code(values[i])) << values[i];
}

TEST(TensorBundle, WithoutFinishNothingHappened) {
  const std::string folder = fresh_folder("unfinished");
  {
    BundleWriter w(folder + "/b");
    w.add("x", constant(1.f));
  }
  EXPECT_TRUE(io::list_folder(folder).empty());
}

TEST(TensorBundle, RefusesWhatCannotBeSaved) {
  BundleWriter w(fresh_folder("refused") + "/b");
  w.add("x", constant(1.f));
  expect_error<errors::InvalidArgument>([&] { w.add("x", constant(1.f)); },
                                        "two tensors called \"x\"");
  expect_error<errors::InvalidArgument>([&] { w.add("", constant(1.f)); }, "without a name");
}

TEST(TensorBundle, ErrorsNameTheFileAndThePlace) {
  expect_error<errors::NotFound>([] { BundleReader r("/nowhere/ckpt"); }, "/nowhere/ckpt.index");
  const BundleReader good(golden("every_type"));
  expect_error<errors::NotFound>([&] { good.read("t/flaot32"); }, "t/float32");

  const std::string prefix = fresh_folder("damaged") + "/b", data = prefix + ".data-00000-of-00001";
  const auto write = [&] {
    BundleWriter w(prefix);
    w.add("first", constant({1.f, 2.f}));
    w.add("second", constant({"some", "text"}));
    w.finish();
  };
  write();
  std::string bytes = io::file_contents(data);
  bytes[5] ^= 1;
  io::write_file_atomically(data, bytes);
  const BundleReader flipped(prefix);
  expect_error<errors::DataLoss>([&] { flipped.read("first"); },
                                 data + "\" is damaged at offset 0");
  EXPECT_EQ(flipped.read("second").size(), 2);

  write();
  io::write_file_atomically(data, io::file_contents(data).substr(0, 12));
  const BundleReader cut(prefix);
  EXPECT_EQ(cut.read("first").size(), 2);
  expect_error<errors::DataLoss>([&] { cut.read("second"); }, data + "\" has 12 bytes");

  io::remove_file(data);
  expect_error<errors::NotFound>([&] { cut.read("first"); }, data);

  io::write_file_atomically(prefix + ".index", "#!/bin/sh\n" + std::string(100, '#'));
  expect_error<errors::DataLoss>([&] { BundleReader r(prefix); }, "another kind of file");
}

}  // namespace
}  // namespace rill
