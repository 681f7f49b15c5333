#include "rill/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "rill/base/check.h"
#include "rill/io/system_error_impl.h"

namespace rill::io {
namespace {

constexpr std::size_t kBufferSize = 1 << 18;

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return Code::resource_exhausted;
    case EEXIST:
      return Code::already_exists;
    case EISDIR:
    case ENOTEMPTY:
      return Code::failed_precondition;
    case ENAMETOOLONG:
    case EINVAL:
      return Code::invalid_argument;
    default:
      return Code::unknown;
  }
}

// `called` is the name for errors.
int open_file(const char* doing, const std::string& path, const std::string& called, int flags) {
  int fd;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  if (fd >= 0) return fd;
  const int error = errno;
  RILL_CHECK(error != ENOENT || !(flags & O_CREAT), not_found,
             "[io] cannot {} \"{}\": there is no folder \"{}\"; expected one that exists", doing,
             called, folder_of(called));
  throw_system_error(doing, called, error);
}

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return format("{}.tempstate{}-{}", path, ::getpid(), count.fetch_add(1));
}

// A rename is on the disk once its folder is. Not all file systems can tell.
void sync_folder(const std::string& path) {
  const int fd = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

void throw_system_error(const char* doing, const std::string& path, int error) {
  throw_error(code_of(error), format("[io] cannot {} \"{}\": {}", doing, path,
                                     std::error_code(error, std::generic_category()).message()));
}

std::string file_contents(const std::string& path) {
  const InputFile file(path);
  std::string bytes(file.size(), '\0');
  bytes.resize(file.read_some(0, bytes.data(), bytes.size()));
  return bytes;
}

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void create_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw_system_error("create the folder", path, error.value());
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_system_error("remove", path, errno);
}

std::vector<std::string> list_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error))
    names.push_back(at->path().filename().string());
  if (error) throw_system_error("list", path, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string join_path(const std::string& folder, const std::string& path) {
  if (folder.empty() || (!path.empty() && path[0] == '/')) return path;
  return folder.back() == '/' ? folder + path : folder + "/" + path;
}

InputFile::InputFile(const std::string& path)
    : path_(path), fd_(open_file("open", path, path, O_RDONLY)) {
  struct stat s {};
  int error = ::fstat(fd_, &s) == 0 ? 0 : errno;
  if (error == 0 && S_ISDIR(s.st_mode)) error = EISDIR;
  if (error != 0) {
    ::close(fd_);
    throw_system_error("read", path, error);
  }
  size_ = static_cast<std::uint64_t>(s.st_size);
}
InputFile::~InputFile() { ::close(fd_); }

std::size_t InputFile::read_some(std::uint64_t offset, void* to, std::size_t n) const {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t got =
        ::pread(fd_, static_cast<char*>(to) + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error("read", path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}
void InputFile::read(std::uint64_t offset, void* to, std::size_t n) const {
  const std::size_t got = read_some(offset, to, n);
  RILL_CHECK(got == n, data_loss,
             "[io] \"{}\" ends at byte {}; expected {} bytes at offset {}. The file was cut short",
             path_, offset + got, n, offset);
}

OutputFile::OutputFile(const std::string& path) : OutputFile(path, path) {}
OutputFile::OutputFile(const std::string& path, const std::string& called)
    : path_(path),
      called_(called),
      fd_(open_file("write", path, called, O_WRONLY | O_CREAT | O_TRUNC)) {}
OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  try {
    flush();
  } catch (const errors::Error&) {  // nobody to tell
  }
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::write_out(std::string_view bytes) {
  RILL_CHECK(fd_ >= 0, failed_precondition, "[io] \"{}\" is written to after it was closed",
             called_);
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_system_error("write", called_, errno);
    written_ += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}
void OutputFile::append(std::string_view bytes) {
  if (waiting_.size() + bytes.size() < kBufferSize) {
    waiting_ += bytes;
    return;
  }
  flush();
  write_out(bytes);
}
void OutputFile::flush() {
  const std::string bytes = std::move(waiting_);
  waiting_.clear();
  write_out(bytes);
}
void OutputFile::sync() {
  flush();
  if (::fsync(fd_) != 0 && errno != EINVAL) throw_system_error("write", called_, errno);
}
void OutputFile::close() {
  if (fd_ < 0) return;
  flush();
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) throw_system_error("close", called_, errno);
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), file_(temporary_name(path), path) {}
AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(file_.path().c_str());
}
void AtomicFile::finish() {
  if (finished_) return;
  file_.sync();
  file_.close();
  finished_ = true;
}
void AtomicFile::commit() {
  finish();
  if (::rename(file_.path().c_str(), path_.c_str()) != 0) throw_system_error("write", path_, errno);
  committed_ = true;
  sync_folder(path_);
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

}  // namespace rill::io
