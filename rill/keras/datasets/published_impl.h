#pragma once
#include <string>
#include <vector>

#include "rill/keras/datasets/datasets.h"

namespace rill::keras::datasets {

// A file as Keras publishes it.
struct Published {
  const char* what;    // "mnist"
  const char* file;    // "mnist.npz"
  const char* digest;  // sha256 or md5, by its length; empty where Keras has none
};

// Where a file or folder of this name may be: the path given, which may be it or a folder that
// holds it, else the usual folders.
std::vector<std::string> places(const std::string& path, const std::string& name);
[[noreturn]] void not_found(const char* what, const std::vector<std::string>& tried,
                            const std::string& wanted);
// DataLoss when the file has another checksum.
void verify_file(const Published& file, const std::string& path);
std::string download_file(const Published& file, const std::string& subfolder = "datasets");
// The path of the file: found and verified, or downloaded when that is asked for.
std::string find_file(const Published& file, const LoadDataOptions& options);

}  // namespace rill::keras::datasets
