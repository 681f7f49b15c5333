#include <cstdlib>
#include <filesystem>

#include "rill/base/check.h"
#include "rill/io/digest.h"
#include "rill/io/file.h"
#include "rill/keras/datasets/published_impl.h"
#include "rill/keras/utils/get_file.h"

namespace rill::keras::datasets {

namespace {
constexpr const char* kOrigin = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/";
}

std::vector<std::string> places(const std::string& path, const std::string& name) {
  if (!path.empty() && path != name) return {path, io::join_path(path, name)};
  std::vector<std::string> list;
  std::vector<std::string> folders;
  if (const char* folder = std::getenv("RILL_DATA_DIR")) folders.emplace_back(folder);
  folders.push_back(io::join_path(utils::keras_home(), "datasets"));
  for (const std::string& f : folders) {
    list.push_back(io::join_path(f, name));
    list.push_back(f);
  }
  list.push_back(io::join_path("/usr/share/datasets", name));  // Debian's packages of data
  return list;
}

void not_found(const char* what, const std::vector<std::string>& tried, const std::string& wanted) {
  std::string list;
  for (const std::string& t : tried) list += "\n  " + t;
  RILL_FAIL(not_found,
            "[{}] the data are not there. Looked for {} in:{}\nPut the files there, name their "
            "folder by RILL_DATA_DIR or as .path, or let them be fetched by .download = true",
            what, wanted, list);
}

void verify_file(const Published& file, const std::string& path) {
  const std::string want = file.digest;
  if (want.empty()) return;
  const auto kind = want.size() == 64 ? io::DigestKind::sha256 : io::DigestKind::md5;
  const std::string got = io::digest_of_file(path, kind);
  RILL_CHECK(
      got == want, data_loss,
      "[{}] {} has the {} checksum {}; expected {}. It is damaged, or another file: remove "
      "it and fetch it again by .download = true, or read it all the same by .verify = false",
      file.what, path, io::name_of(kind), got, want);
}

std::string download_file(const Published& file, const std::string& subfolder) {
  return utils::get_file(file.file, std::string(kOrigin) + file.file,
                         {.file_hash = file.digest, .cache_subdir = subfolder});
}

std::string find_file(const Published& file, const LoadDataOptions& o) {
  const std::vector<std::string> tried = places(o.path, file.file);
  for (const std::string& place : tried) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(place, ignored)) continue;
    if (o.verify) verify_file(file, place);
    return place;
  }
  if (!o.download) not_found(file.what, tried, file.file);
  return download_file(file);
}

}  // namespace rill::keras::datasets
