#include "rill/io/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "rill/base/check.h"
#include "rill/io/file.h"
#include "rill/io/loaded_library_impl.h"

namespace rill::io {

namespace {

namespace fs = std::filesystem;

// libarchive, as far as it is used.
struct ArchiveLibrary {
  decltype(&::archive_read_new) read_new = nullptr;
  decltype(&::archive_read_free) read_free = nullptr;
  decltype(&::archive_read_support_filter_gzip) read_support_filter_gzip = nullptr;
  decltype(&::archive_read_support_filter_bzip2) read_support_filter_bzip2 = nullptr;
  decltype(&::archive_read_support_filter_xz) read_support_filter_xz = nullptr;
  decltype(&::archive_read_support_filter_zstd) read_support_filter_zstd = nullptr;
  decltype(&::archive_read_support_format_tar) read_support_format_tar = nullptr;
  decltype(&::archive_read_support_format_zip) read_support_format_zip = nullptr;
  decltype(&::archive_read_open_filename) read_open_filename = nullptr;
  decltype(&::archive_read_next_header) read_next_header = nullptr;
  decltype(&::archive_read_data) read_data = nullptr;
  decltype(&::archive_error_string) error_string = nullptr;
  decltype(&::archive_entry_pathname) entry_pathname = nullptr;
  decltype(&::archive_entry_pathname_utf8) entry_pathname_utf8 = nullptr;
  decltype(&::archive_entry_symlink) entry_symlink = nullptr;
  decltype(&::archive_entry_hardlink) entry_hardlink = nullptr;
  decltype(&::archive_entry_filetype) entry_filetype = nullptr;
  decltype(&::archive_entry_perm) entry_perm = nullptr;
  ArchiveLibrary() {
    const LoadedLibrary library("libarchive.so.13", "unpacking an archive", "libarchive13");
    library.find(read_new, "archive_read_new");
    library.find(read_free, "archive_read_free");
    library.find(read_support_filter_gzip, "archive_read_support_filter_gzip");
    library.find(read_support_filter_bzip2, "archive_read_support_filter_bzip2");
    library.find(read_support_filter_xz, "archive_read_support_filter_xz");
    library.find(read_support_filter_zstd, "archive_read_support_filter_zstd");
    library.find(read_support_format_tar, "archive_read_support_format_tar");
    library.find(read_support_format_zip, "archive_read_support_format_zip");
    library.find(read_open_filename, "archive_read_open_filename");
    library.find(read_next_header, "archive_read_next_header");
    library.find(read_data, "archive_read_data");
    library.find(error_string, "archive_error_string");
    library.find(entry_pathname, "archive_entry_pathname");
    library.find(entry_pathname_utf8, "archive_entry_pathname_utf8");
    library.find(entry_symlink, "archive_entry_symlink");
    library.find(entry_hardlink, "archive_entry_hardlink");
    library.find(entry_filetype, "archive_entry_filetype");
    library.find(entry_perm, "archive_entry_perm");
  }
};
const ArchiveLibrary& archive_library() {
  static const ArchiveLibrary l;
  return l;
}

class Reader {
 public:
  Reader(const std::string& path, bool tar, bool zip)
      : lib_(archive_library()), path_(path), archive_(lib_.read_new()) {
    RILL_CHECK(archive_, resource_exhausted, "[extract] no memory to read \"{}\"", path);
    // Those that libarchive itself unpacks: others would run programs.
    lib_.read_support_filter_gzip(archive_);
    lib_.read_support_filter_bzip2(archive_);
    lib_.read_support_filter_xz(archive_);
    lib_.read_support_filter_zstd(archive_);
    if (tar) lib_.read_support_format_tar(archive_);
    if (zip) lib_.read_support_format_zip(archive_);
    const int result = lib_.read_open_filename(archive_, path.c_str(), 1 << 18);
    if (result != ARCHIVE_OK) {
      const std::string why = reason();
      lib_.read_free(archive_);
      RILL_FAIL(data_loss, "[extract] \"{}\" is not an archive that can be read: {}", path, why);
    }
  }
  ~Reader() { lib_.read_free(archive_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool next() {
    const int result = lib_.read_next_header(archive_, &entry_);
    RILL_CHECK(result == ARCHIVE_OK || result == ARCHIVE_EOF || result == ARCHIVE_WARN, data_loss,
               "[extract] \"{}\" is damaged or no archive: {}", path_, reason());
    return result != ARCHIVE_EOF;
  }
  std::size_t read(char* to, std::size_t n) {
    const la_ssize_t got = lib_.read_data(archive_, to, n);
    RILL_CHECK(got >= 0, data_loss, "[extract] \"{}\" is damaged in {}: {}", path_, name(),
               reason());
    return static_cast<std::size_t>(got);
  }
  std::string name() const {
    const char* s = lib_.entry_pathname_utf8(entry_);
    if (!s) s = lib_.entry_pathname(entry_);
    RILL_CHECK(s, data_loss, "[extract] \"{}\" holds a file without a name that can be read",
               path_);
    return s;
  }
  const char* symlink() const { return lib_.entry_symlink(entry_); }
  const char* hardlink() const { return lib_.entry_hardlink(entry_); }
  auto type() const { return lib_.entry_filetype(entry_); }
  bool executable() const { return (lib_.entry_perm(entry_) & 0100) != 0; }

 private:
  std::string reason() const {
    const char* s = lib_.error_string(archive_);
    return s ? s : "no reason given";
  }
  const ArchiveLibrary& lib_;
  const std::string& path_;
  struct archive* archive_;
  struct archive_entry* entry_ = nullptr;
};

// "a/b" of "./a//b/". Refused: what could lead elsewhere. As links lead only downwards too, no
// chain of them leaves the folder.
fs::path downwards(std::string_view text, const std::string& archive, const char* what) {
  fs::path clean;
  const bool absolute = !text.empty() && text[0] == '/';
  bool up = false;
  for (const fs::path& part : fs::path(text)) {
    if (part == "..") up = true;
    if (!part.empty() && part != "." && part != "/") clean /= part;
  }
  RILL_CHECK(!absolute && !up && text.find('\0') == text.npos, invalid_argument,
             "[extract] \"{}\" holds the {} \"{}\", which leads out of the folder; nothing was "
             "unpacked",
             archive, what, text);
  return clean;
}

// A folder of its own, gone at the end.
class Staging {
 public:
  explicit Staging(const std::string& beside) : path_(beside + "/.extract-XXXXXX") {
    RILL_CHECK(::mkdtemp(path_.data()), permission_denied, "[extract] cannot write to \"{}\": {}",
               beside, std::generic_category().message(errno));
  }
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void unpack_file(Reader& reader, const fs::path& to) {
  std::error_code ignored;
  fs::remove(to,
             ignored);  // of two entries with one name the last counts, and never through a link
  OutputFile file(to.string());
  std::string part(1 << 18, '\0');
  while (const std::size_t n = reader.read(part.data(), part.size()))
    file.append(std::string_view(part).substr(0, n));
  file.close();
  if (reader.executable())
    fs::permissions(to, fs::perms::owner_exec, fs::perm_options::add, ignored);
}

void unpack(Reader& reader, const std::string& archive, const fs::path& root) {
  while (reader.next()) {
    const std::string name = reader.name();
    const fs::path clean = downwards(name, archive, "path");
    const fs::path to = root / clean;
    std::error_code error;
    if (reader.type() == AE_IFDIR || clean.empty()) {
      create_folders(to.string());
      continue;
    }
    create_folders(to.parent_path().string());
    if (const char* target = reader.hardlink()) {
      const fs::path from = root / downwards(target, archive, "link");
      fs::remove(to, error);
      fs::create_hard_link(from, to, error);
      RILL_CHECK(!error, data_loss, "[extract] \"{}\": the link {} to {} cannot be made: {}",
                 archive, name, target, error.message());
    } else if (reader.type() == AE_IFLNK) {
      const char* down_to = reader.symlink();
      const fs::path down = downwards(down_to ? down_to : "", archive, "link");
      fs::remove(to, error);
      fs::create_symlink(down, to, error);
      RILL_CHECK(!error && !down.empty(), data_loss, "[extract] \"{}\": the link {} cannot be made",
                 archive, name);
    } else {
      RILL_CHECK(reader.type() == AE_IFREG, invalid_argument,
                 "[extract] \"{}\" holds \"{}\", which is neither file, folder nor link", archive,
                 name);
      unpack_file(reader, to);
    }
  }
}

// Puts what was unpacked in its place. A folder that is there takes the new files in.
void move_into(const fs::path& from, const fs::path& to) {
  for (const fs::directory_entry& e : fs::directory_iterator(from)) {
    const fs::path target = to / e.path().filename();
    std::error_code error;
    if (e.is_directory() && !e.is_symlink() && fs::is_directory(target)) {
      move_into(e.path(), target);
      continue;
    }
    fs::rename(e.path(), target, error);
    // Another call may have put the same folder there in the meantime.
    if (error && e.is_directory() && fs::is_directory(target)) {
      move_into(e.path(), target);
      continue;
    }
    RILL_CHECK(!error, permission_denied, "[extract] cannot write \"{}\": {}", target.string(),
               error.message());
  }
}

}  // namespace

void extract_archive(const std::string& archive, const std::string& folder,
                     const std::string& format) {
  RILL_CHECK(format == "auto" || format == "tar" || format == "zip", invalid_argument,
             "[extract] the format is \"{}\"; expected \"auto\", \"tar\" or \"zip\"", format);
  (void)InputFile(archive);  // a missing file gets our own message
  create_folders(folder);
  const Staging staging(fs::absolute(folder).string());
  {
    Reader reader(archive, format != "zip", format != "tar");
    unpack(reader, archive, staging.path());
  }
  move_into(staging.path(), folder);
}

}  // namespace rill::io
