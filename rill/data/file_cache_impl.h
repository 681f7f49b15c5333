#pragma once
#include <memory>
#include <string>

#include "rill/data/dataset_impl.h"
#include "rill/io/tf_record.h"

// The file that cache(filename) keeps: NAME.cache. It appears when it is whole; until then its
// only writer holds NAME.lockfile.
namespace rill::data {

// Holds a lock file while it lives. The system frees it when the process is killed.
class LockFile {
 public:
  // AlreadyExists where somebody else holds it.
  LockFile(const std::string& path, std::string_view why);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  std::string path_;
  int fd_ = -1;
};

// Writes elements one after the other; without commit() nothing stays.
class CacheWriter {
 public:
  // `described`: what elements are like.
  CacheWriter(const std::string& filename, const std::string& described);
  ~CacheWriter();
  void write(const Nest& element);
  void commit();

 private:
  std::string filename_;
  LockFile lock_;
  std::unique_ptr<io::TFRecordWriter> file_;
  std::int64_t written_ = 0;
  bool committed_ = false;
};

class CacheReader {
 public:
  static bool exists(const std::string& filename);
  // NotFound; DataLoss for another file; InvalidArgument where its elements are not so described.
  CacheReader(const std::string& filename, const std::string& described);
  bool read(Nest* element);
  std::int64_t taken() const { return taken_; }
  std::uint64_t offset() const { return file_.offset(); }
  void seek(std::uint64_t offset, std::int64_t taken);

 private:
  std::string path_;
  io::TFRecordReader file_;
  std::int64_t taken_ = 0;
};

Dataset cached_in_file(const Dataset& input, std::string_view filename);

}  // namespace rill::data
