#include "rill/io/archive.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "rill/base/error.h"
#include "rill/io/digest.h"
#include "rill/io/file.h"
#include "rill/io/zip.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;

// An entry of a tar archive as bytes: head and content, in blocks of 512.
std::string tar_entry(const std::string& name, const std::string& content, char type = '0',
                      const std::string& link = {}) {
  std::string head(512, '\0');
  const auto put = [&](std::size_t at, const std::string& s) { head.replace(at, s.size(), s); };
  char octal[16];
  put(0, name);
  put(100, "0000644");
  std::snprintf(octal, sizeof octal, "%011o", static_cast<unsigned>(content.size()));
  put(124, octal);
  put(136, "00000000000");
  put(148, "        ");
  head[156] = type;
  put(157, link);
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  std::snprintf(octal, sizeof octal, "%06o", sum);
  put(148, std::string(octal) + '\0' + ' ');
  std::string body = content;
  body.resize((content.size() + 511) / 512 * 512, '\0');
  return head + body;
}
std::string tar(const std::string& entries) { return entries + std::string(1024, '\0'); }

struct Archive : ::testing::Test {
  std::string folder = saving_tests::fresh_folder("archive"), to = folder + "/to",
              file = folder + "/archive";
  void extract(const std::string& bytes, const std::string& format = "auto") {
    OutputFile out(file);
    out.append(bytes);
    out.close();
    extract_archive(file, to, format);
  }
  // Refused as a whole, and nothing stands anywhere.
  void expect_refused(const std::string& entries, const std::string& what) {
    expect_error<errors::InvalidArgument>([&] { extract(tar(tar_entry("fine", "x") + entries)); },
                                          what);
    EXPECT_EQ(list_folder(to), std::vector<std::string>());
    EXPECT_EQ(list_folder(folder), (std::vector<std::string>{"archive", "to"}));
  }
};

TEST_F(Archive, UnpacksTarAndZip) {
  extract(tar(tar_entry("./d/", "", '5') + tar_entry("d/a", "of a") +
              tar_entry("d/l", "", '2', "a") + tar_entry("d/h", "", '1', "d/a")),
          "tar");
  EXPECT_EQ(file_contents(to + "/d/a"), "of a");
  EXPECT_EQ(file_contents(to + "/d/l"), "of a");
  EXPECT_EQ(file_contents(to + "/d/h"), "of a");
  ZipWriter zip;
  zip.add("d/a", "again", true);
  zip.add("d/b/c", std::string(300'000, 'c'), true);
  extract(zip.finish());
  EXPECT_EQ(file_contents(to + "/d/a"), "again");
  EXPECT_EQ(file_contents(to + "/d/h"), "of a");
  EXPECT_EQ(file_contents(to + "/d/b/c").size(), 300'000u);
}

TEST_F(Archive, NothingIsWrittenOutside) {
  expect_refused(tar_entry("../evil", "x"), "\"../evil\", which leads out of the folder");
  expect_refused(tar_entry("a/../../evil", "x"), "a/../../evil");
  expect_refused(tar_entry("/tmp/evil", "x"), "/tmp/evil");
  expect_refused(tar_entry("up", "", '2', ".."), "the link \"..\"");
  expect_refused(tar_entry("up", "", '2', "/etc"), "the link \"/etc\"");
  expect_refused(tar_entry("up", "", '1', "../archive"), "the link \"../archive\"");
  expect_refused(tar_entry("pipe", "", '6'), "neither file, folder nor link");
  ZipWriter zip;
  zip.add("../evil", "x");
  expect_error<errors::InvalidArgument>([&] { extract(zip.finish()); }, "../evil");
  EXPECT_FALSE(file_exists(folder + "/evil"));
}

TEST_F(Archive, AFileDoesNotPassThroughALink) {
  // A link of the same name gives way; what it leads to is left alone.
  extract(
      tar(tar_entry("target", "old") + tar_entry("l", "", '2', "target") + tar_entry("l", "new")));
  EXPECT_EQ(file_contents(to + "/target"), "old");
  EXPECT_EQ(file_contents(to + "/l"), "new");
}

TEST_F(Archive, DamageIsReported) {
  expect_error<errors::DataLoss>([&] { extract("this is not an archive at all, only text"); },
                                 file);
  const std::string whole = tar(tar_entry("a", std::string(5000, 'a')));
  expect_error<errors::DataLoss>([&] { extract(whole.substr(0, 3000)); }, file);
  EXPECT_EQ(list_folder(to), std::vector<std::string>());
  expect_error<errors::NotFound>([&] { extract_archive(folder + "/none", to); }, "none");
  expect_error<errors::InvalidArgument>([&] { extract_archive(file, to, "rar"); }, "\"rar\"");
}

// Whatever comes, it is unpacked or refused by an error of ours, and stays inside.
TEST_F(Archive, FuzzedArchivesAreUnpackedOrRefused) {
  const char* n = std::getenv("RILL_FUZZ");
  const long count = n ? std::atol(n) : 120;
  ZipWriter zip;
  zip.add("d/a", std::string(700, 'a'), true);
  zip.add("b", "of b");
  const std::string sources[] = {
      tar(tar_entry("d/", "", '5') + tar_entry("d/a", "of a") + tar_entry("l", "", '2', "d")),
      zip.finish()};
  std::mt19937 random(7);
  for (long i = 0; i < count; ++i) {
    std::string s = sources[i % 2];
    for (unsigned k = random() % 4 + 1; k > 0; --k)
      s[random() % s.size()] = static_cast<char>(random());
    if (random() % 4 == 0) s.resize(random() % s.size());
    try {
      extract(s);
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
    }
    ASSERT_EQ(list_folder(folder), (std::vector<std::string>{"archive", "to"})) << i;
    std::filesystem::remove_all(to);
  }
}

TEST(Digest, IsThatOfTheStandards) {
  // The examples of FIPS 180 and RFC 1321.
  EXPECT_EQ(digest_of("abc", DigestKind::sha256),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of("", DigestKind::sha256),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of("message digest", DigestKind::md5), "f96b697d7cb7938d525a2f31aaf161d0");
  const std::string path = saving_tests::fresh_folder("digest") + "/a";
  write_file_atomically(path, std::string(1'000'000, 'a'));
  EXPECT_EQ(digest_of_file(path, DigestKind::sha256),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace rill::io
