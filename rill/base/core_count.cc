#include "rill/base/core_count.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace rill {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "200000 100000" or "max 100000": 0 for no limit.
double quota_v2(const std::string& text) {
  std::istringstream in(text);
  double quota = 0, period = 0;
  return in >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

double quota_v1(const std::string& folder) {
  std::istringstream quota_text(text_of(folder + "/cpu.cfs_quota_us"));
  std::istringstream period_text(text_of(folder + "/cpu.cfs_period_us"));
  double quota = 0, period = 0;
  return quota_text >> quota && period_text >> period && quota > 0 && period > 0 ? quota / period
                                                                                 : 0;
}

// A limit of any group above binds too. In a container the path is often that of
// the host, and the mount shows only the container's own group.
template <class F>
double tightest(const std::string& mount, std::string path, F quota_of) {
  double least = 0;
  for (;;) {
    const double q = quota_of(mount + path);
    if (q > 0 && (least == 0 || q < least)) least = q;
    if (path.empty() || path == "/") return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

int cores_of_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

namespace detail {

double cgroup_quota(const std::string& root, const std::string& groups) {
  double least = 0;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    // "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1.
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    double q = 0;
    if (controllers == ",,")
      q = tightest(root, path,
                   [](const std::string& f) { return quota_v2(text_of(f + "/cpu.max")); });
    else if (controllers.find(",cpu,") != std::string::npos)
      q = tightest(root + "/cpu", path, quota_v1);
    if (q > 0 && (least == 0 || q < least)) least = q;
  }
  return least;
}

}  // namespace detail

int usable_cores() {
  static const int n = [] {
    const int cores = cores_of_affinity();
    const double quota = detail::cgroup_quota("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
    // A quota of 1.5 gets two threads: the halves of a loop then wait for each other at most
    // a quarter of the time, where one thread would leave a third of the quota unused.
    return quota > 0 ? std::clamp(static_cast<int>(std::lround(quota)), 1, cores) : cores;
  }();
  return n;
}

}  // namespace rill
