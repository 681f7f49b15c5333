#pragma once
#include <string>

namespace rill::io {

// Throws what `error`, an errno, means: "[io] cannot open "x": No such file or directory".
[[noreturn]] void throw_system_error(const char* doing, const std::string& path, int error);

}  // namespace rill::io
