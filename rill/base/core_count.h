#pragma once
#include <string>

#include "rill/base/api.h"

namespace rill RILL_API {

// How many cores this process may keep busy: those its affinity mask names, or
// fewer where a cgroup (a container's limit) grants less time. At least 1.
int usable_cores();

namespace detail {
// The cores' worth of time that control groups grant, as a fraction; 0 where
// nothing limits it. `groups` is the text of /proc/self/cgroup, `root` the folder
// where the hierarchies are mounted (/sys/fs/cgroup).
double cgroup_quota(const std::string& root, const std::string& groups);
}  // namespace detail

}  // namespace RILL_API
