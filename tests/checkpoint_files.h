#pragma once
#include <cstdlib>
#include <string>

#include "tests/scratch_folder.h"

// Where the tests of this room find files, and where they may write.
namespace rill::saving_tests {

// What TensorFlow wrote: checked in, or in the folder RILL_CHECKPOINT_GOLDENS.
inline std::string golden(const std::string& name) {
  if (const char* fresh = std::getenv("RILL_CHECKPOINT_GOLDENS"))
    return std::string(fresh) + "/" + name;
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/saving/testdata/" + name;
}

using rill::testing::fresh_folder;

}  // namespace rill::saving_tests
