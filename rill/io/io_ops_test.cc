#include "rill/ops/io_ops.h"

#include <gtest/gtest.h>

#include "rill/io/gfile.h"
#include "rill/ops/array_ops.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace rill {
namespace {

using rill::testing::expect_error;
using Strings = std::vector<std::string>;

TEST(IoOps, FilesOutAndIn) {
  RILL_SHOWS("D56");
  const std::string folder = rill::testing::fresh_folder("io_ops");
  io::write_file(folder + "/a/b.txt", "hello");
  EXPECT_EQ(read_file(folder + "/a/b.txt").item<std::string>(), "hello");
  io::write_file(folder + "/a/c.txt", "");
  EXPECT_EQ(matching_files(folder + "/*/*.txt").to_vector<std::string>(),
            (Strings{folder + "/a/b.txt", folder + "/a/c.txt"}));
  expect_error<errors::NotFoundError>([&] { read_file(folder + "/none"); }, "/none");
  expect_error<errors::InvalidArgumentError>([] { read_file(constant({"a", "b"})); }, "filename");
}
TEST(IoOps, DecodeRaw) {
  const Tensor t = decode_raw(constant(Strings{{"\1\0\2\0", 4}, {"\3\0\4\0", 4}}), int16);
  EXPECT_EQ(t.shape(), TensorShape({2, 2}));
  EXPECT_EQ(t.to_vector<std::int16_t>(), (std::vector<std::int16_t>{1, 2, 3, 4}));
  EXPECT_EQ(decode_raw(std::string("\1\0\2\0", 4), int16, {.little_endian = false})
                .to_vector<std::int16_t>(),
            (std::vector<std::int16_t>{256, 512}));
  expect_error<errors::InvalidArgumentError>([] { decode_raw("abc", int16); },
                                             "3 bytes; expected a multiple of 2");
  expect_error<errors::InvalidArgumentError>(
      [] {
        decode_raw(constant({"ab", "abcd"}), int16);
      },
      "string 1 has 4 bytes and string 0 2");
}
TEST(IoOps, DecodeCsv) {
  const auto columns = decode_csv(constant({"1,2.5,a", "3,,b"}), {0, 9.f, ""});
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].to_vector<int>(), (std::vector<int>{1, 3}));
  EXPECT_EQ(columns[1].to_vector<float>(), (std::vector<float>{2.5f, 9}));
  EXPECT_EQ(columns[2].to_vector<std::string>(), (Strings{"a", "b"}));
  const auto one = decode_csv("\"x,\"\"y\"\"\"|7\n", {string, int64}, {.field_delim = "|"});
  EXPECT_EQ(one[0].item<std::string>(), "x,\"y\"");
  EXPECT_EQ(one[1].item<std::int64_t>(), 7);
  expect_error<errors::InvalidArgumentError>(
      [] {
        decode_csv("1,", {int32, int32});
      },
      "record 0, column 1: the field is empty");
  expect_error<errors::InvalidArgumentError>([] { decode_csv("1,2", {int32}); },
                                             "record 0 has 2 fields; expected 1");
  expect_error<errors::InvalidArgumentError>([] { decode_csv("1\n2", {int32}); },
                                             "record 0 holds more than one row");
}

}  // namespace
}  // namespace rill
