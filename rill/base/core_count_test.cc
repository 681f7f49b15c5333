#include "rill/base/core_count.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rill {
namespace {

class CgroupQuota : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "rill_cgroup_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root_;
};

TEST_F(CgroupQuota, ReadsTheTightestLimitOfVersion2) {
  write("cpu.max", "400000 100000\n");
  write("pod/cpu.max", "150000 100000\n");
  write("pod/box/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, "0::/pod/box\n"), 1.5);
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, "0::/\n"), 4);
}

TEST_F(CgroupQuota, ReadsVersion1) {
  write("cpu/docker/1/cpu.cfs_quota_us", "50000\n");
  write("cpu/docker/1/cpu.cfs_period_us", "100000\n");
  write("cpu/docker/2/cpu.cfs_quota_us", "-1\n");
  write("cpu/docker/2/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, "5:memory:/x\n4:cpu,cpuacct:/docker/1\n"), 0.5);
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, "4:cpuacct,cpu:/docker/2\n"), 0);
}

// A container sees the host's path, and its own group at the root of the mount.
TEST_F(CgroupQuota, FindsALimitThoughThePathIsTheHosts) {
  write("cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, "0::/system.slice/docker-1.scope\n"), 2);
}

TEST_F(CgroupQuota, IsNothingWhereNothingIsSaid) {
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, ""), 0);
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, "0::/a\nnonsense\n"), 0);
  write("a/cpu.max", "nonsense\n");
  EXPECT_DOUBLE_EQ(detail::cgroup_quota(root_, "0::/a\n"), 0);
}

TEST(UsableCores, IsAtLeastOne) { EXPECT_GE(usable_cores(), 1); }

}  // namespace
}  // namespace rill
