#include "rill/io/hdf5/path_impl.h"

#include <algorithm>

namespace rill::io::hdf5 {

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string step = path.substr(at, end - at);
    if (!step.empty() && step != ".") steps.push_back(step);
    at = end + 1;
  }
  return steps;
}

}  // namespace rill::io::hdf5
