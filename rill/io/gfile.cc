#include "rill/io/gfile.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "rill/base/check.h"
#include "rill/io/file.h"
#include "rill/io/system_error_impl.h"

namespace rill::io::gfile {
namespace {

namespace fs = std::filesystem;

bool is_pattern(std::string_view name) { return name.find_first_of("*?[\\") != name.npos; }

// Adds the paths that begin with `prefix` and go on as `rest` says.
void match(const std::string& prefix, std::string_view rest, std::vector<std::string>& out) {
  const std::size_t slash = rest.find('/');
  const std::string name(rest.substr(0, slash));
  const std::string_view below = slash == rest.npos ? "" : rest.substr(slash + 1);
  const auto go_on = [&](const std::string& found) {
    if (slash == rest.npos) {
      out.push_back(found);
    } else if (below.empty() || isdir(found)) {
      match(found + "/", below, out);
    }
  };
  if (!is_pattern(name)) {
    const std::string path = prefix + name;
    if (slash != rest.npos || path.empty() || file_exists(path)) go_on(path);
    return;
  }
  const std::string folder = prefix.empty() ? "." : prefix;
  if (!isdir(folder)) return;
  for (const std::string& entry : list_folder(folder))
    if (::fnmatch(name.c_str(), entry.c_str(), 0) == 0) go_on(prefix + entry);
}

void walk_into(const std::string& path, bool topdown, std::vector<WalkedFolder>& out) {
  WalkedFolder here{.path = path};
  for (const std::string& name : list_folder(path)) {
    const bool folder = isdir(join_path(path, name));
    (folder ? here.folders : here.files).push_back(name);
  }
  const std::vector<std::string> below = here.folders;
  if (topdown) out.push_back(here);
  for (const std::string& name : below) {
    const std::string folder = join_path(path, name);
    if (!fs::is_symlink(folder)) walk_into(folder, topdown, out);  // a link may lead in a circle
  }
  if (!topdown) out.push_back(std::move(here));
}

void check_target(const std::string& dst, bool overwrite, const char* doing) {
  RILL_CHECK(overwrite || !file_exists(dst), already_exists,
             "[gfile.{}] \"{}\" exists; pass overwrite = true to replace it", doing, dst);
}

}  // namespace

bool exists(const std::string& path) { return file_exists(path); }
bool isdir(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<std::string> glob(const std::string& pattern) {
  std::vector<std::string> out;
  if (pattern.empty()) return out;
  if (pattern[0] == '/')
    match("/", std::string_view(pattern).substr(1), out);
  else
    match("", pattern, out);
  std::sort(out.begin(), out.end());
  return out;
}
std::vector<std::string> glob(const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  for (const std::string& p : patterns)
    for (std::string& found : glob(p)) out.push_back(std::move(found));
  return out;
}

std::vector<std::string> listdir(const std::string& path) { return list_folder(path); }
void mkdir(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) throw_system_error("create the folder", path, errno);
}
void makedirs(const std::string& path) { create_folders(path); }
void remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) throw_system_error("remove", path, errno);
}
void rmtree(const std::string& path) {
  RILL_CHECK(file_exists(path), not_found, "[gfile.rmtree] there is no folder \"{}\"", path);
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw_system_error("remove", path, error.value());
}
void rename(const std::string& src, const std::string& dst, bool overwrite) {
  check_target(dst, overwrite, "rename");
  if (::rename(src.c_str(), dst.c_str()) != 0) throw_system_error("rename", src, errno);
}
void copy(const std::string& src, const std::string& dst, bool overwrite) {
  check_target(dst, overwrite, "copy");
  const InputFile from(src);
  AtomicFile to(dst);
  std::string part(1 << 20, '\0');
  for (std::uint64_t at = 0;;) {
    const std::size_t n = from.read_some(at, part.data(), part.size());
    if (n == 0) break;
    to.append({part.data(), n});
    at += n;
  }
  to.commit();
}

FileStatistics stat(const std::string& path) {
  struct ::stat s {};
  if (::stat(path.c_str(), &s) != 0) throw_system_error("look at", path, errno);
  return {.length = s.st_size,
          .mtime_nsec = s.st_mtim.tv_sec * std::int64_t{1'000'000'000} + s.st_mtim.tv_nsec,
          .is_directory = S_ISDIR(s.st_mode)};
}

std::vector<WalkedFolder> walk(const std::string& top, bool topdown) {
  std::vector<WalkedFolder> out;
  if (isdir(top)) walk_into(top, topdown, out);
  return out;
}

std::string join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (std::string_view p : parts) out = join_path(out, std::string(p));
  return out;
}

struct GFile::Impl {
  std::string name, mode;
  std::FILE* file = nullptr;
  bool reads = false, writes = false;

  void check_open() const {
    RILL_CHECK(file, failed_precondition, "[GFile] \"{}\" is used after it was closed", name);
  }
  void check_reads() const {
    check_open();
    RILL_CHECK(reads, permission_denied,
               "[GFile] \"{}\" is open with mode \"{}\"; it cannot be read", name, mode);
  }
  [[noreturn]] void fail(const char* doing) const { throw_system_error(doing, name, errno); }
};

GFile::GFile(const std::string& name, const std::string& mode) : impl_(new Impl) {
  std::string plain = mode;
  std::erase(plain, 'b');
  std::erase(plain, 't');
  RILL_CHECK(plain == "r" || plain == "w" || plain == "a" || plain == "r+" || plain == "w+" ||
                 plain == "a+",
             invalid_argument,
             "[GFile] the mode of \"{}\" is \"{}\"; expected r, w, a, r+, w+ or a+", name, mode);
  RILL_CHECK(!isdir(name), failed_precondition, "[GFile] \"{}\" is a folder; expected a file",
             name);
  impl_->name = name;
  impl_->mode = mode;
  impl_->reads = plain[0] == 'r' || plain.size() == 2;
  impl_->writes = plain[0] != 'r' || plain.size() == 2;
  impl_->file = std::fopen(name.c_str(), (plain + "e").c_str());
  if (!impl_->file) impl_->fail("open");
}
GFile::~GFile() {
  if (impl_ && impl_->file) std::fclose(impl_->file);
}
GFile::GFile(GFile&&) noexcept = default;
GFile& GFile::operator=(GFile&&) noexcept = default;

const std::string& GFile::name() const { return impl_->name; }
const std::string& GFile::mode() const { return impl_->mode; }

std::string GFile::read(std::int64_t n) {
  impl_->check_reads();
  std::string out;
  char part[1 << 16];
  while (n != 0) {
    const std::size_t ask =
        n < 0 ? sizeof part : static_cast<std::size_t>(std::min<std::int64_t>(n, sizeof part));
    const std::size_t got = std::fread(part, 1, ask, impl_->file);
    out.append(part, got);
    if (n > 0) n -= static_cast<std::int64_t>(got);
    if (got < ask) {
      if (std::ferror(impl_->file)) impl_->fail("read");
      break;
    }
  }
  return out;
}
std::string GFile::readline() {
  impl_->check_reads();
  std::string line;
  for (int c; (c = std::getc(impl_->file)) != EOF;) {
    line += static_cast<char>(c);
    if (c == '\n') break;
  }
  if (std::ferror(impl_->file)) impl_->fail("read");
  return line;
}
std::vector<std::string> GFile::readlines() {
  std::vector<std::string> lines;
  for (const std::string& line : *this) lines.push_back(line);
  return lines;
}
void GFile::write(std::string_view bytes) {
  impl_->check_open();
  RILL_CHECK(impl_->writes, permission_denied,
             "[GFile] \"{}\" is open with mode \"{}\"; it cannot be written", impl_->name,
             impl_->mode);
  if (std::fwrite(bytes.data(), 1, bytes.size(), impl_->file) != bytes.size()) impl_->fail("write");
}
void GFile::seek(std::int64_t offset, int whence) {
  impl_->check_open();
  RILL_CHECK(whence >= 0 && whence <= 2, invalid_argument,
             "[GFile.seek] whence is {}; expected 0 (the beginning), 1 (here) or 2 (the end)",
             whence);
  constexpr int kFrom[] = {SEEK_SET, SEEK_CUR, SEEK_END};
  if (::fseeko(impl_->file, offset, kFrom[whence]) != 0) impl_->fail("seek in");
}
std::int64_t GFile::tell() const {
  impl_->check_open();
  return ::ftello(impl_->file);
}
std::int64_t GFile::size() const {
  impl_->check_open();
  if (impl_->writes && std::fflush(impl_->file) != 0) impl_->fail("write");
  return stat(impl_->name).length;
}
void GFile::flush() {
  impl_->check_open();
  if (std::fflush(impl_->file) != 0) impl_->fail("write");
}
void GFile::close() {
  if (!impl_->file) return;
  if (std::fclose(std::exchange(impl_->file, nullptr)) != 0) impl_->fail("close");
}

}  // namespace rill::io::gfile
