#include "rill/io/gfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace rill::io::gfile {
namespace {

using rill::testing::expect_error;
using rill::testing::fresh_folder;
using ::testing::ElementsAre;

void put(const std::string& path, std::string_view bytes) {
  GFile f(path, "wb");
  f.write(bytes);
  f.close();
}

TEST(GFile, ReadsWritesAndAppends) {
  const std::string path = fresh_folder("gfile") + "/f.txt";
  put(path, "one\ntwo\n");
  GFile more(path, "a");
  more.write("three");
  more.close();
  GFile f(path);
  EXPECT_EQ(f.size(), 13);
  EXPECT_EQ(f.readline(), "one\n");
  EXPECT_EQ(f.tell(), 4);
  EXPECT_EQ(f.read(2), "tw");
  EXPECT_EQ(f.read(), "o\nthree");
  EXPECT_EQ(f.read(), "");
  f.seek(0);
  EXPECT_THAT(f.readlines(), ElementsAre("one\n", "two\n", "three"));
  f.seek(-2, 2);
  EXPECT_EQ(f.read(), "ee");
  std::string all;
  for (const std::string& line : GFile(path)) all += "<" + line + ">";
  EXPECT_EQ(all, "<one\n><two\n><three>");
}
TEST(GFile, SaysWhatIsWrong) {
  const std::string folder = fresh_folder("gfile");
  expect_error<errors::NotFoundError>([&] { GFile(folder + "/none"); }, "none");
  expect_error<errors::InvalidArgumentError>([&] { GFile(folder + "/f", "x"); }, "mode");
  expect_error<errors::FailedPreconditionError>([&] { GFile f(folder); }, "is a folder");
  put(folder + "/f", "x");
  expect_error<errors::PermissionDeniedError>([&] { GFile(folder + "/f").write("y"); },
                                              "cannot be written");
  GFile f(folder + "/f");
  f.close();
  expect_error<errors::FailedPreconditionError>([&] { f.read(); }, "after it was closed");
}

TEST(GFileFolders, GlobMatchesNamesAndNotAcrossFolders) {
  const std::string folder = fresh_folder("gfile");
  makedirs(folder + "/a/x");
  makedirs(folder + "/b");
  for (const char* name : {"/a/1.jpg", "/a/2.png", "/b/3.jpg", "/b/.jpg", "/4.jpg", "/a/x/5.jpg"})
    put(folder + name, "");
  const auto of = [&](const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& n : names) paths.push_back(folder + n);
    return paths;
  };
  EXPECT_EQ(glob(folder + "/*/*.jpg"), of({"/a/1.jpg", "/b/.jpg", "/b/3.jpg"}));
  EXPECT_EQ(glob(folder + "/*.jpg"), of({"/4.jpg"}));
  EXPECT_EQ(glob(folder + "/a/[0-9].???"), of({"/a/1.jpg", "/a/2.png"}));
  EXPECT_EQ(glob(folder + "/a/1.jpg"), of({"/a/1.jpg"}));
  EXPECT_EQ(glob(folder + "/a/none"), of({}));
  EXPECT_EQ(glob({folder + "/b/3*", folder + "/a/2*"}), of({"/b/3.jpg", "/a/2.png"}));
  EXPECT_THAT(listdir(folder), ElementsAre("4.jpg", "a", "b"));
}
TEST(GFileFolders, WalkCopyRenameRemove) {
  const std::string folder = fresh_folder("gfile");
  makedirs(folder + "/a/b");
  put(folder + "/f", "12345");
  put(folder + "/a/g", "");
  const auto walked = walk(folder);
  ASSERT_EQ(walked.size(), 3u);
  EXPECT_EQ(walked[0].path, folder);
  EXPECT_THAT(walked[0].folders, ElementsAre("a"));
  EXPECT_THAT(walked[0].files, ElementsAre("f"));
  EXPECT_EQ(walked[2].path, folder + "/a/b");
  EXPECT_EQ(walk(folder, false).back().path, folder);

  EXPECT_EQ(stat(folder + "/f").length, 5);
  EXPECT_TRUE(stat(folder).is_directory);
  copy(folder + "/f", folder + "/h");
  EXPECT_EQ(GFile(folder + "/h").read(), "12345");
  expect_error<errors::AlreadyExistsError>([&] { copy(folder + "/f", folder + "/a/g"); },
                                           "overwrite = true");
  copy(folder + "/f", folder + "/a/g", true);
  rename(folder + "/h", folder + "/i");
  EXPECT_FALSE(exists(folder + "/h"));
  expect_error<errors::AlreadyExistsError>([&] { rename(folder + "/i", folder + "/f"); }, "exists");
  remove(folder + "/i");
  expect_error<errors::NotFoundError>([&] { remove(folder + "/i"); }, "/i");
  expect_error<errors::AlreadyExistsError>([&] { mkdir(folder + "/a"); }, "/a");
  expect_error<errors::NotFoundError>([&] { mkdir(folder + "/p/q"); }, "/p/q");
  expect_error<errors::NotFoundError>([&] { listdir(folder + "/p"); }, "/p");
  rmtree(folder + "/a");
  EXPECT_FALSE(isdir(folder + "/a"));
  expect_error<errors::NotFoundError>([&] { rmtree(folder + "/a"); }, "/a");
  EXPECT_EQ(join({"/a", "b", "c.txt"}), "/a/b/c.txt");
  EXPECT_EQ(join({"a", "/b"}), "/b");
}

}  // namespace
}  // namespace rill::io::gfile
