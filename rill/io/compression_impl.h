#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "rill/io/file.h"

namespace rill::io {

enum class Compression { none, zlib, gzip };
// InvalidArgument, with the names that there are, for another one.
Compression compression_of(std::string_view name);

// Bytes that are packed on their way to a file.
class PackingFile {
 public:
  PackingFile(const std::string& path, Compression compression, int level);
  ~PackingFile();
  void append(std::string_view bytes);
  void flush();  // ends a block of the stream, so that what was written can be unpacked
  void close();
  const std::string& path() const { return file_.path(); }

 private:
  struct Packer;
  void pack(std::string_view bytes, int flush_mode);
  OutputFile file_;
  std::unique_ptr<Packer> packer_;  // null: none
};

// Bytes that are unpacked on their way from a file, from its beginning to its end.
class UnpackingFile {
 public:
  UnpackingFile(const std::string& path, Compression compression);
  ~UnpackingFile();
  // At most `n` bytes; fewer only at the end.
  std::size_t read(char* to, std::size_t n);
  const std::string& path() const { return file_.path(); }
  // How many bytes the rest can have at most; for a packed file nobody knows.
  std::uint64_t at_most_left() const;

 private:
  struct Unpacker;
  std::size_t unpack(char* to, std::size_t n);
  InputFile file_;
  std::uint64_t offset_ = 0;
  std::string buffer_;
  std::size_t used_ = 0;  // of the buffer
  std::unique_ptr<Unpacker> unpacker_;
};

}  // namespace rill::io
