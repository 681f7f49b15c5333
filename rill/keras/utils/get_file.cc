#include "rill/keras/utils/get_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "rill/base/check.h"
#include "rill/io/archive.h"
#include "rill/io/digest.h"
#include "rill/io/download_impl.h"
#include "rill/io/file.h"
#include "rill/keras/utils/progbar.h"

namespace rill::keras::utils {

namespace {

// The checksum that a file must have, if any.
struct Checksum {
  io::DigestKind kind = io::DigestKind::md5;
  std::string value;  // lower case

  bool asked() const { return !value.empty(); }
};

Checksum checksum_of(const GetFileOptions& o) {
  Checksum c;
  c.value = o.file_hash.empty() ? o.md5_hash : o.file_hash;
  const std::string algorithm =
      o.file_hash.empty() && !o.md5_hash.empty() ? "md5" : o.hash_algorithm;
  RILL_CHECK(algorithm == "auto" || algorithm == "sha256" || algorithm == "md5", invalid_argument,
             "[get_file] hash_algorithm is \"{}\"; expected \"auto\", \"sha256\" or \"md5\"",
             algorithm);
  if (!c.asked()) return c;
  if (algorithm == "sha256" || (algorithm == "auto" && c.value.size() == 64))
    c.kind = io::DigestKind::sha256;
  std::transform(c.value.begin(), c.value.end(), c.value.begin(),
                 [](unsigned char ch) { return std::tolower(ch); });
  const std::size_t digits = c.kind == io::DigestKind::sha256 ? 64 : 32;
  RILL_CHECK(
      c.value.size() == digits && c.value.find_first_not_of("0123456789abcdef") == c.value.npos,
      invalid_argument, "[get_file] \"{}\" is not {} checksum; expected {} hexadecimal digits",
      c.value, c.kind == io::DigestKind::sha256 ? "a sha256" : "an md5", digits);
  return c;
}

// The last part of the URL's path.
std::string name_in(std::string_view origin) {
  std::string_view path = origin.substr(0, origin.find_first_of("?#"));
  const std::size_t scheme = path.find("://");
  if (scheme != path.npos) path.remove_prefix(scheme + 3);
  const std::size_t slash = path.rfind('/');
  const std::string name(slash == path.npos ? "" : path.substr(slash + 1));
  RILL_CHECK(!name.empty() && name != "." && name != "..", invalid_argument,
             "[get_file] the URL \"{}\" ends with no name for a file; give one as fname", origin);
  return name;
}

std::string cache_folder(const GetFileOptions& o) {
  std::string base = o.cache_dir.empty() ? keras_home() : o.cache_dir;
  if (base.starts_with("~/"))
    base = io::join_path(std::getenv("HOME") ? std::getenv("HOME") : "/", base.substr(2));
  try {
    io::create_folders(base);
  } catch (const errors::PermissionDenied&) {
  }
  if (::access(base.c_str(), W_OK) != 0) base = "/tmp/.keras";
  return io::join_path(base, o.cache_subdir);
}

// Of several threads that want one file the first downloads it, and the others find it.
std::shared_ptr<std::mutex> lock_of(const std::string& path) {
  static std::mutex guard;
  static std::map<std::string, std::weak_ptr<std::mutex>> locks;
  const std::lock_guard hold(guard);
  std::erase_if(locks, [](const auto& l) { return l.second.expired(); });
  std::weak_ptr<std::mutex>& known = locks[path];
  std::shared_ptr<std::mutex> lock = known.lock();
  if (!lock) known = lock = std::make_shared<std::mutex>();
  return lock;
}

void fetch(const std::string& origin, const std::string& path, const Checksum& want, int verbose) {
  if (verbose) std::cout << "Downloading data from " << origin << std::endl;
  try {
    io::AtomicFile file(path);
    io::Digest digest(want.kind);
    std::optional<Progbar> bar;
    std::int64_t seen = 0, total = -1;
    io::download(origin, [&](std::string_view bytes, std::int64_t all) {
      file.append(bytes);
      if (want.asked()) digest.update(bytes);
      seen += static_cast<std::int64_t>(bytes.size());
      total = all;
      if (!bar) bar.emplace(total, ProgbarOptions{.verbose = verbose});
      bar->update(seen);
    });
    if (bar && total < 0) bar->update(seen, {}, true);
    if (want.asked()) {
      const std::string got = digest.hex();
      RILL_CHECK(got == want.value, data_loss,
                 "[get_file] {} has the {} checksum {}; expected {}. It is damaged, or another "
                 "version of the file ({} bytes came)",
                 origin, io::name_of(want.kind), got, want.value, seen);
    }
    file.commit();
  } catch (errors::Error& e) {
    e.add_context(format("The file can be downloaded by hand and put at {}", path));
    throw;
  }
}

}  // namespace

std::string keras_home() {
  if (const char* home = std::getenv("KERAS_HOME"); home && *home) return home;
  const char* home = std::getenv("HOME");
  return io::join_path(home && *home ? home : "/tmp", ".keras");
}

std::string get_file(std::string_view fname, std::string_view origin, GetFileOptions o) {
  RILL_CHECK(!origin.empty(), invalid_argument,
             "[get_file] origin is empty; expected the URL of the file");
  const Checksum want = checksum_of(o);
  std::string name = fname.empty() ? name_in(origin) : std::string(fname);
  const std::string folder = cache_folder(o);
  if (o.untar && name.ends_with(".tar.gz")) name.resize(name.size() - 7);
  const std::string unpacked = io::join_path(folder, name);
  const std::string path = o.untar ? unpacked + ".tar.gz" : unpacked;
  io::create_folders(io::folder_of(path));

  const std::shared_ptr<std::mutex> lock = lock_of(path);
  const std::lock_guard hold(*lock);
  bool there = io::file_exists(path);
  if (there && want.asked()) {
    const std::string got = io::digest_of_file(path, want.kind);
    there = got == want.value;
    if (!there && o.verbose)
      std::cout << "A local file was found, but it seems to be incomplete or outdated because its "
                << io::name_of(want.kind) << " checksum is " << got << " and not " << want.value
                << ", so it is downloaded again." << std::endl;
  }
  if (!there) fetch(std::string(origin), path, want, o.verbose);
  if (o.untar) {
    if (!io::file_exists(unpacked)) io::extract_archive(path, folder, "tar");
    RILL_CHECK(io::file_exists(unpacked), failed_precondition,
               "[get_file] {} was unpacked, but holds no \"{}\"; expected the name of what is in "
               "it as fname",
               path, name);
    return unpacked;
  }
  if (o.extract) io::extract_archive(path, folder, o.archive_format);
  return path;
}

}  // namespace rill::keras::utils
