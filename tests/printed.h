#pragma once
#include <sstream>
#include <string>

namespace rill::testing {

// What `os << value` writes.
template <class T>
std::string printed(const T& value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

}  // namespace rill::testing
