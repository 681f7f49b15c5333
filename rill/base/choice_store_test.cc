#include "rill/base/choice_store.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rill {
namespace {

class ChoiceStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "choices_" + std::to_string(getpid());
    setenv("RILL_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    unsetenv("RILL_CACHE_DIR");
  }
  std::string folder_;
};

TEST_F(ChoiceStoreTest, KeepsAChoiceForLaterRuns) {
  ChoiceStore first("engines");
  EXPECT_FALSE(first.find("a"));
  EXPECT_EQ(first.keep("a", "17"), "17");
  EXPECT_EQ(first.find("a"), "17");
  EXPECT_EQ(ChoiceStore("engines").find("a"), "17");
  EXPECT_FALSE(ChoiceStore("other").find("a"));
}

TEST_F(ChoiceStoreTest, TheFirstChoiceCounts) {
  ChoiceStore one("engines"), two("engines");
  EXPECT_FALSE(two.find("a"));  // two has read the file, which is not there yet
  EXPECT_EQ(one.keep("a", "1"), "1");
  EXPECT_EQ(two.keep("a", "2"), "1");
  EXPECT_EQ(two.find("a"), "1");
  EXPECT_EQ(two.keep("b", "2"), "2");
  EXPECT_EQ(ChoiceStore("engines").find("b"), "2");
}

TEST_F(ChoiceStoreTest, ProcessesThatStoreAtOnceLoseNothing) {
  constexpr int kProcesses = 4, kKeys = 40;
  for (int p = 0; p < kProcesses; ++p)
    if (fork() == 0) {
      ChoiceStore store("engines");
      for (int k = 0; k < kKeys; ++k)
        store.keep(std::to_string(p) + "." + std::to_string(k), std::to_string(k));
      _exit(0);
    }
  for (int p = 0; p < kProcesses; ++p) wait(nullptr);
  ChoiceStore store("engines");
  for (int p = 0; p < kProcesses; ++p)
    for (int k = 0; k < kKeys; ++k)
      EXPECT_EQ(store.find(std::to_string(p) + "." + std::to_string(k)), std::to_string(k));
}

TEST_F(ChoiceStoreTest, DamagedLinesAreChosenAgain) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/engines") << "a 1\nb\n c\n\nd ";
  ChoiceStore store("engines");
  EXPECT_EQ(store.find("a"), "1");
  EXPECT_FALSE(store.find("b"));
  EXPECT_EQ(store.keep("b", "2"), "2");
  EXPECT_EQ(ChoiceStore("engines").find("a"), "1");
}

TEST_F(ChoiceStoreTest, WhereNothingCanBeKeptItSaysSo) {
  setenv("RILL_CACHE_DIR", "", 1);
  ChoiceStore nowhere("engines");
  EXPECT_FALSE(nowhere.can_keep());
  EXPECT_FALSE(nowhere.keep("a", "1"));
  setenv("RILL_CACHE_DIR", "/proc/nowhere", 1);
  EXPECT_FALSE(ChoiceStore("engines").keep("a", "1"));
}

TEST(CacheFolder, IsThatOfTheEnvironment) {
  setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(cache_folder(), "/x/rill");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/h", 1);
  EXPECT_EQ(cache_folder(), "/h/.cache/rill");
}

}  // namespace
}  // namespace rill
