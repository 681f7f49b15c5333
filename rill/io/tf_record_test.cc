#include "rill/io/tf_record.h"

#include <gtest/gtest.h>

#include "rill/base/format.h"
#include "rill/io/file.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;

std::string path_of(const char* name) { return rill::testing::scratch_folder() + "/" + name; }
void write_plainly(const std::string& path, const std::string& bytes) {
  OutputFile f(path);
  f.append(bytes);
  f.close();
}
std::vector<std::string> records(const std::string& path, const char* compression = "") {
  TFRecordReader in(path, {.compression_type = compression});
  std::vector<std::string> out;
  for (std::string r; in.read(&r);) out.push_back(r);
  return out;
}

TEST(TFRecord, KnownBytes) {
  const std::string path = path_of("known");
  TFRecordWriter w(path);
  w.write("");
  w.write("hello");
  w.close();
  EXPECT_EQ(file_contents(path),
            std::string("\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2"
                        "\5\0\0\0\0\0\0\0\xea\xb2\x04\x3ehello\xbb\x1f\x1c\x19",
                        37));
}

TEST(TFRecord, ReadsBackPackedOrNot) {
  std::vector<std::string> all{"", "a", std::string(1'000'000, 'x'), std::string("\0\1\2", 3)};
  for (int i = 0; i < 2000; ++i) all.push_back("record " + std::to_string(i));
  for (const char* compression : {"", "ZLIB", "GZIP", "SNAPPY"}) {
    const std::string path = path_of("packed");
    TFRecordWriter w(path, {.compression_type = compression});
    for (const std::string& r : all) w.write(r);
    w.close();
    EXPECT_EQ(records(path, compression), all) << compression;
    const std::string once = file_contents(path);
    EXPECT_EQ(once.size() < 300'000, *compression != '\0');
    write_plainly(path, once + once);  // files can be joined
    EXPECT_EQ(records(path, compression).size(), 2 * all.size()) << compression;
  }
}

TEST(TFRecord, FlushedRecordsCanBeReadWhileTheFileIsOpen) {
  const std::string path = path_of("open");
  TFRecordWriter w(path);
  w.write("one");
  w.flush();
  EXPECT_EQ(records(path), std::vector<std::string>{"one"});
}

TEST(TFRecord, DamageIsToldWithItsPlace) {
  const std::string path = path_of("damaged");
  TFRecordWriter w(path);
  w.write("first");
  w.write("second");
  w.close();
  const std::string good = file_contents(path);
  for (std::size_t n = 0; n < good.size(); ++n) {
    write_plainly(path, good.substr(0, n));
    if (n == 0 || n == 21)
      EXPECT_EQ(records(path).size(), n / 21);
    else
      expect_error<errors::DataLoss>([&] { records(path); },
                                     format("truncated record at {}", n < 21 ? 0 : 21));
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    write_plainly(path, bad);
    expect_error<errors::DataLoss>(
        [&] { records(path); },
        i < 21 ? "corrupted record at 0 in \"" + path + "\" (Is this even a TFRecord file?)"
               : "corrupted record at 21 in \"" + path + "\"");
  }
  write_plainly(path, "this is a text of some length");
  EXPECT_THROW(records(path, "GZIP"), errors::DataLoss);
}

TEST(TFRecord, APackedFileThatIsCutShortIsTold) {
  const std::string path = path_of("cut.gz");
  TFRecordWriter w(path, {.compression_type = "GZIP"});
  for (int i = 0; i < 100; ++i) w.write(std::to_string(i * 7919));
  w.close();
  const std::string good = file_contents(path);
  for (std::size_t n = 1; n < good.size(); ++n) {
    write_plainly(path, good.substr(0, n));
    EXPECT_THROW(records(path, "GZIP"), errors::DataLoss) << n;
  }
}

TEST(TFRecord, RefusesUnknownCompression) {
  expect_error<errors::InvalidArgument>(
      [] { TFRecordWriter w(path_of("x"), {.compression_type = "LZ4"}); }, "\"LZ4\"");
  expect_error<errors::NotFound>([] { TFRecordReader r("/nowhere/x"); }, "/nowhere/x");
}

}  // namespace
}  // namespace rill::io
