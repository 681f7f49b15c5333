#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rill/io/file.h"

// The bytes of an HDF5 file, and the one way to read them. Nothing in a file is trusted: every
// read states how much it wants and fails with DataLoss, the file's name and the place when the
// file does not have it.
namespace rill::io::hdf5 {

// The address of what is not there: all bits are set, whatever the width in the file.
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

class Cursor;

class File {
 public:
  explicit File(const std::string& path);
  File(std::string bytes, std::string name);

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }  // without a user block
  std::uint64_t root() const { return root_; }  // where the header of the root group stands
  int address_size() const { return address_size_; }
  int length_size() const { return length_size_; }

  // A piece of metadata; `what` names it in errors. Costs its size.
  Cursor block(std::uint64_t at, std::uint64_t n, const char* what) const;
  // Elements of an array. They cost nothing: the array's size has been checked.
  void read(std::uint64_t at, void* to, std::uint64_t n, const char* what) const;

  [[noreturn]] void damaged(std::uint64_t at, const std::string& what) const;

  // Walks over trees and lists that lead back to themselves, or reach the same bytes by very many
  // ways, must end. An undamaged file needs each byte of metadata about once. So we allow some
  // multiple of the file's size, for bytes that are read and memory that is taken, and no more.
  void spend(std::uint64_t n) const;

  // A fresh allowance for one question, such as the elements of one array. What is spent outside
  // of any Allowance is for objects that are parsed once and kept.
  class Allowance {
   public:
    explicit Allowance(const File& file);
    ~Allowance();
    Allowance(const Allowance&) = delete;
    Allowance& operator=(const Allowance&) = delete;

   private:
    const File& file_;
    std::uint64_t before_;
  };

 private:
  std::uint64_t full_allowance() const;
  void open();
  bool begins_at(std::uint64_t at) const;
  void read_at(std::uint64_t at, void* to, std::uint64_t n) const;  // from the start of the file

  std::string name_, bytes_;
  std::unique_ptr<InputFile> input_;  // null: the file is in bytes_
  std::uint64_t base_ = 0, size_ = 0, root_ = 0;
  int address_size_ = 8, length_size_ = 8;
  mutable std::uint64_t allowance_ = 0;
};

// Takes numbers from the front of some bytes. It owns the bytes, so what take() returns is valid
// as long as the cursor.
class Cursor {
 public:
  Cursor(const File& file, std::uint64_t at, std::string bytes, const char* what)
      : file_(file), begin_(at), bytes_(std::move(bytes)), what_(what) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  std::uint64_t number(int bytes);  // 1 to 8 of them, little-endian
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::uint64_t address();
  std::uint64_t length() { return number(file_.length_size()); }

  std::string_view take(std::uint64_t n);
  std::string_view take_text();  // up to a zero, which is taken as well
  void skip(std::uint64_t n) { take(n); }
  void align8();  // to a multiple of 8 from the beginning
  void signature(std::string_view text);
  // The next byte is one of the versions 0 to `last`.
  std::uint8_t version(std::uint8_t last);
  // The next 4 bytes are the checksum of all before them.
  void checksum();

  std::string_view all() const { return bytes_; }  // also what has been taken
  std::uint64_t left() const { return bytes_.size() - at_; }
  std::uint64_t place() const { return begin_ + at_; }
  const File& file() const { return file_; }
  [[noreturn]] void damaged(const std::string& why) const;

 private:
  const File& file_;
  std::uint64_t begin_;
  std::string bytes_;
  std::size_t at_ = 0;
  const char* what_;
};

// Bob Jenkins's "lookup3" hash, which the format uses for checksums.
std::uint32_t lookup3(std::string_view bytes);

// Fuzz tests damage more than a checksum would let through.
class IgnoreChecksums {
 public:
  IgnoreChecksums();
  ~IgnoreChecksums();
};

}  // namespace rill::io::hdf5
