#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/error.h"

// Files, with errors that name them: NotFound, PermissionDenied, ResourceExhausted for a
// full disk, and so on, by what the system says.
namespace rill RILL_API {
namespace io {

std::string file_contents(const std::string& path);
bool file_exists(const std::string& path);
void create_folders(const std::string& path);  // and those above it
void remove_file(const std::string& path);     // a missing file is not an error
// The names in a folder, sorted.
std::vector<std::string> list_folder(const std::string& path);

// "a/b" of "a/b/c"; "." of "c"; "/" of "/c".
std::string folder_of(const std::string& path);
// A path that is absolute stays as it is.
std::string join_path(const std::string& folder, const std::string& path);

// A file that is read at any place.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // DataLoss, with path and place, when the file ends before `n` bytes.
  void read(std::uint64_t offset, void* to, std::size_t n) const;
  // At most `n` bytes: fewer only at the end of the file, which may have grown since.
  std::size_t read_some(std::uint64_t offset, void* to, std::size_t n) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

// A file that grows at its end. Bytes wait in memory until there are many of them, or
// flush(); sync() also waits for the disk.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  // Errors call it by another name, that under which it will be known.
  OutputFile(const std::string& path, const std::string& called);
  ~OutputFile();  // flushes; errors are lost, so close() first
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  const std::string& path() const { return path_; }
  void append(std::string_view bytes);
  void flush();
  void sync();
  void close();
  std::uint64_t size() const { return written_ + waiting_.size(); }

 private:
  void write_out(std::string_view bytes);
  std::string path_, called_, waiting_;
  int fd_ = -1;
  std::uint64_t written_ = 0;
};

// A file that appears whole under its name, or not at all: it is written beside it and
// renamed once it is on the disk. What stood there before stays until then.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();  // without commit(): nothing happened
  void append(std::string_view bytes) { file_.append(bytes); }
  std::uint64_t size() const { return file_.size(); }
  void finish();  // all bytes are on the disk; commit() can hardly fail any more
  void commit();

 private:
  std::string path_;
  OutputFile file_;
  bool finished_ = false, committed_ = false;
};

void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace io
}  // namespace RILL_API
