#pragma once
#include <string>
#include <string_view>

#include "rill/base/api.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

struct GetFileOptions {
  bool untar = false;          // a .tar.gz: the result is the folder that it holds
  std::string md5_hash = {};   // as file_hash with hash_algorithm "md5"
  std::string file_hash = {};  // the checksum that the file must have, in hexadecimal digits
  std::string cache_subdir = "datasets";
  std::string hash_algorithm = "auto";  // "sha256", "md5"; by the length of the checksum
  bool extract = false;                 // unpacks the file beside itself
  std::string archive_format = "auto";  // of extract: "tar", "zip", or either
  std::string cache_dir = {};           // $KERAS_HOME, else ~/.keras; /tmp/.keras if that is closed
  int verbose = 1;                      // 0: no bar while it is downloaded
};

// The path of a file in the cache, which is downloaded from `origin` when it is not there or has
// another checksum. origin: an http, https, ftp or file URL. fname: its name in the cache, by
// default the last part of the URL; an absolute path is taken as it is.
//
//   auto path = keras::utils::get_file("nietzsche.txt",
//                                      "https://s3.amazonaws.com/text-datasets/nietzsche.txt");
//
// The file appears under its name when it is whole and has the checksum. Errors name the URL, what
// came of it, and where the file can be put by hand: NotFound, PermissionDenied, Unavailable by
// what the server says, DataLoss for a checksum that differs or an answer that was cut short.
// Threads and processes may ask for the same file at the same time.
std::string get_file(std::string_view fname, std::string_view origin, GetFileOptions options = {});

// $KERAS_HOME, else ~/.keras.
std::string keras_home();

}  // namespace utils
}  // namespace keras
}  // namespace RILL_API
