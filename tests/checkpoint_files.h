#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

// Where the tests of this room find files, and where they may write.
namespace rill::saving_tests {

// What TensorFlow wrote: checked in, or in the folder RILL_CHECKPOINT_GOLDENS.
inline std::string golden(const std::string& name) {
  if (const char* fresh = std::getenv("RILL_CHECKPOINT_GOLDENS"))
    return std::string(fresh) + "/" + name;
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/saving/testdata/" + name;
}

// Empty, and of this test alone.
inline std::string fresh_folder(const std::string& name) {
  const std::string path = std::string(std::filesystem::temp_directory_path()) + "/rill_saving_" +
                           std::to_string(::getpid()) + "/" + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace rill::saving_tests
