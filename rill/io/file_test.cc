#include "rill/io/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;

std::string folder(const char* name) {
  const std::string path = rill::testing::scratch_folder() + "/" + name;
  create_folders(path);
  return path;
}

TEST(File, WritesAndReadsBack) {
  const std::string path = folder("plain") + "/f", part(300'000, 'x');
  OutputFile out(path);
  out.append("head");
  out.append(part);
  out.append("tail");
  EXPECT_EQ(out.size(), part.size() + 8);
  out.close();
  EXPECT_EQ(file_contents(path), "head" + part + "tail");
  const InputFile in(path);
  char four[4];
  in.read(part.size() + 4, four, 4);
  EXPECT_EQ(std::string(four, 4), "tail");
  expect_error<errors::DataLoss>([&] { in.read(part.size() + 5, four, 4); }, "plain/f\" ends at");
  expect_error<errors::FailedPrecondition>([&] { out.append("x"), out.flush(); }, "closed");
}

TEST(File, ErrorsNameThePathAndTheCause) {
  expect_error<errors::NotFound>([] { file_contents("/nowhere/at/all"); }, "/nowhere/at/all");
  expect_error<errors::FailedPrecondition>([] { file_contents(folder("d")); }, "directory");
  expect_error<errors::NotFound>([] { OutputFile f("/nowhere/f"); }, "cannot write");
  expect_error<errors::NotFound>([] { write_file_atomically("/nowhere/f", ""); },
                                 "cannot write \"/nowhere/f\": there is no folder \"/nowhere\"");
  expect_error<errors::NotFound>([] { list_folder("/nowhere"); }, "cannot list");
}

TEST(File, PathsAreJoinedAndSplit) {
  EXPECT_EQ(folder_of("a/b/c"), "a/b");
  EXPECT_EQ(folder_of("c"), ".");
  EXPECT_EQ(folder_of("/c"), "/");
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
}

TEST(File, AnAtomicFileAppearsWholeOrNotAtAll) {
  const std::string in = folder("atomic"), path = in + "/f";
  write_file_atomically(path, "old");
  {
    AtomicFile f(path);
    f.append("half");
  }
  EXPECT_EQ(file_contents(path), "old");
  EXPECT_EQ(list_folder(in), std::vector<std::string>{"f"});
  write_file_atomically(path, "new");
  EXPECT_EQ(file_contents(path), "new");
  EXPECT_EQ(list_folder(in), std::vector<std::string>{"f"});
}

// As on a full disk: the system refuses to let the file grow.
TEST(File, WhatWasThereStaysWhenThereIsNoRoom) {
  const std::string in = folder("full"), path = in + "/f";
  write_file_atomically(path, "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error<errors::ResourceExhausted>(
      [&] { write_file_atomically(path, std::string(1 << 20, 'x')); }, "\"" + path + "\"");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(file_contents(path), "old");
  EXPECT_EQ(list_folder(in), std::vector<std::string>{"f"});
}

}  // namespace
}  // namespace rill::io
