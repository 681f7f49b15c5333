#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/error.h"

// Files and folders by the names and rules of tf.io.gfile. Errors name the path: NotFound,
// AlreadyExists, PermissionDenied, FailedPrecondition.
namespace rill RILL_API {
namespace io::gfile {

bool exists(const std::string& path);
bool isdir(const std::string& path);  // false for a path that is not there
// The paths that match, sorted. `*`, `?` and `[a-z]` match within a name, not across "/"; a pattern
// without matches gives none.
std::vector<std::string> glob(const std::string& pattern);
std::vector<std::string> glob(const std::vector<std::string>& patterns);
std::vector<std::string> listdir(const std::string& path);  // names, sorted
void mkdir(const std::string& path);     // AlreadyExists; NotFound without the folder above it
void makedirs(const std::string& path);  // and those above it; may exist
void remove(const std::string& path);    // a file
void rmtree(const std::string& path);    // a folder and all in it
void rename(const std::string& src, const std::string& dst, bool overwrite = false);
void copy(const std::string& src, const std::string& dst, bool overwrite = false);

struct FileStatistics {
  std::int64_t length = 0;      // bytes
  std::int64_t mtime_nsec = 0;  // since 1970
  bool is_directory = false;
};
FileStatistics stat(const std::string& path);

struct WalkedFolder {
  std::string path;
  std::vector<std::string> folders, files;  // names, sorted
};
// A folder and all below it, each before those in it; or after, with topdown = false.
std::vector<WalkedFolder> walk(const std::string& top, bool topdown = true);

// Joined by "/"; one that is absolute begins anew.
std::string join(std::initializer_list<std::string_view> parts);

// An open file. Mode "r", "w", "a", "r+", "w+" or "a+"; "b" makes no difference. InvalidArgument
// for another mode; PermissionDenied for writing where the mode only reads.
class GFile {
 public:
  explicit GFile(const std::string& name, const std::string& mode = "r");
  ~GFile();  // closes; errors are lost, so close() first
  GFile(GFile&&) noexcept;
  GFile& operator=(GFile&&) noexcept;

  const std::string& name() const;
  const std::string& mode() const;
  std::string read(std::int64_t n = -1);  // at most n bytes; -1: the rest
  std::string readline();                 // with its "\n"; "" at the end
  std::vector<std::string> readlines();
  void write(std::string_view bytes);
  void seek(std::int64_t offset,
            int whence = 0);  // 0: from the beginning, 1: from here, 2: the end
  std::int64_t tell() const;
  std::int64_t size() const;
  void flush();
  void close();

  // The lines that are left, each with its "\n": for (const std::string& line : file).
  class Lines;
  Lines begin();
  struct End {};
  End end() const { return {}; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class GFile::Lines {
 public:
  using value_type = std::string;
  using difference_type = std::ptrdiff_t;
  explicit Lines(GFile* file) : file_(file), line_(file->readline()) {}
  const std::string& operator*() const { return line_; }
  Lines& operator++() {
    line_ = file_->readline();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Lines& l, End) { return l.line_.empty(); }

 private:
  GFile* file_;
  std::string line_;
};
inline GFile::Lines GFile::begin() { return Lines(this); }

}  // namespace io::gfile
}  // namespace RILL_API
