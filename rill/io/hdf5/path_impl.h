#pragma once
#include <string>
#include <vector>

namespace rill::io::hdf5 {

// The names along a path: "a//b/./c" has a, b and c.
std::vector<std::string> steps_of(const std::string& path);

}  // namespace rill::io::hdf5
