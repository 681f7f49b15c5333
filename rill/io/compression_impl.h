#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rill/io/file.h"

namespace rill::io {

enum class Compression { none, zlib, gzip, snappy };
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
  struct Deflater;
  struct SnappyPacker;
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
  // The next bytes without taking them: `n` or more, fewer only at the end. Valid until the
  // next call. Memory grows with the bytes that are there, not with `n`.
  std::string_view peek(std::size_t n);
  void skip(std::size_t n) {  // REQUIRES: that many were seen by peek()
    begin_ += n;
    offset_ += n;
  }
  // Of the next byte, in what is unpacked.
  std::uint64_t offset() const { return offset_; }
  // Forward or backward; at once where nothing is packed. DataLoss beyond the end.
  void seek(std::uint64_t offset);
  const std::string& path() const { return file_.path(); }
  // How many bytes the rest can have at most; for a packed file nobody knows.
  std::uint64_t at_most_left() const;

 private:
  struct Unpacker;
  struct Inflater;
  struct SnappyUnpacker;
  // More bytes behind those that are there; false at the end.
  bool fill();
  InputFile file_;
  std::uint64_t file_offset_ = 0;  // behind what was read of a file that is not packed
  std::uint64_t offset_ = 0;
  std::vector<char> buffer_;  // what is unpacked: the bytes from begin_ to end_
  std::size_t begin_ = 0, end_ = 0;
  std::unique_ptr<Unpacker> unpacker_;
};

}  // namespace rill::io
