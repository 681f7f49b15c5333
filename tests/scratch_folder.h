#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

namespace rill::testing {

// A folder of this process alone, which is gone when the process ends.
inline const std::string& scratch_folder() {
  static const struct Folder {
    Folder()
        : path((std::filesystem::temp_directory_path() / ("rill_" + std::to_string(::getpid())))
                   .string()) {
      std::filesystem::create_directories(path);
    }
    ~Folder() {
      std::error_code ignored;
      if (::getpid() == owner) std::filesystem::remove_all(path, ignored);  // no child's affair
    }
    const pid_t owner = ::getpid();
    const std::string path;
  } folder;
  return folder.path;
}

// One in it that is empty.
inline std::string fresh_folder(const std::string& name) {
  const std::string path = scratch_folder() + "/" + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace rill::testing
