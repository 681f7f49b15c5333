#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rill/base/api.h"

// TFRecord files: records of bytes, each with its length and checksums.
namespace rill RILL_API {
namespace io {

struct TFRecordOptions {
  std::string compression_type = {};  // "", "ZLIB", "GZIP" or "SNAPPY"
  int compression_level = -1;         // 0 to 9; -1: zlib's own choice
};

class TFRecordWriter {
 public:
  // InvalidArgument for an unknown compression. An existing file is overwritten.
  explicit TFRecordWriter(const std::string& path, const TFRecordOptions& options = {});
  ~TFRecordWriter();  // closes; errors are lost, so close() first
  TFRecordWriter(TFRecordWriter&&) noexcept;
  TFRecordWriter& operator=(TFRecordWriter&&) noexcept;

  void write(std::string_view record);
  void flush();  // what was written can be read by others
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class TFRecordReader {
 public:
  explicit TFRecordReader(const std::string& path, const TFRecordOptions& options = {});
  ~TFRecordReader();
  TFRecordReader(TFRecordReader&&) noexcept;
  TFRecordReader& operator=(TFRecordReader&&) noexcept;

  // The next record; false at the end of the file. DataLoss, with the file's name and the
  // offset (in what was unpacked), for a record that is cut short or damaged.
  bool read(std::string* record);
  std::uint64_t offset() const;  // of the next record, in what is unpacked
  void seek(std::uint64_t offset);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace io
}  // namespace RILL_API
