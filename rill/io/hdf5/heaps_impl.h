#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/io/hdf5/file_impl.h"

// The three kinds of heaps: places for things of any size, which other parts refer to.
namespace rill::io::hdf5 {

// The names of an old group's members.
class LocalHeap {
 public:
  LocalHeap(const File& file, std::uint64_t address);
  std::string text(std::uint64_t offset) const;  // up to a zero; costs its size

 private:
  const File& file_;
  std::uint64_t place_ = 0;
  std::string bytes_;
};

// Texts of variable length: collections of numbered objects.
class GlobalHeap {
 public:
  explicit GlobalHeap(const File& file) : file_(file) {}
  // Valid as long as the heap.
  std::string_view object(std::uint64_t collection, std::uint32_t number);

 private:
  struct Collection {
    std::string bytes;
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> objects;  // places and sizes
  };
  const Collection& collection(std::uint64_t address);
  const File& file_;
  std::map<std::uint64_t, Collection> collections_;
};

// Links and attributes of objects that have many.
class FractalHeap {
 public:
  FractalHeap(const File& file, std::uint64_t address);
  std::uint64_t id_size() const { return id_size_; }
  // What an identifier stands for, and its place.
  struct Found {
    std::uint64_t place;
    std::string bytes;
  };
  Found object(std::string_view id);

 private:
  struct Indirect {
    std::vector<std::uint64_t> children;  // by row, then column; the direct ones first
  };
  std::uint64_t row_size(unsigned row) const;  // of one block in it
  // The file's place of a managed object.
  Found managed(std::uint64_t offset, std::uint64_t size);
  Found huge(std::uint64_t number);
  Found huge_at(std::uint64_t address, std::uint64_t size) const;
  const Indirect& indirect(std::uint64_t address, unsigned rows);
  const std::string& direct(std::uint64_t address, std::uint64_t size);

  const File& file_;
  std::uint64_t address_, id_size_ = 0, huge_tree_ = kNowhere, width_ = 0, start_ = 0,
                          max_direct_ = 0, root_ = kNowhere;
  unsigned offset_bits_ = 0, root_rows_ = 0, direct_rows_ = 0;
  int offset_bytes_ = 0, length_bytes_ = 0;
  bool checked_ = false;  // direct blocks have checksums
  std::map<std::uint64_t, Indirect> indirect_;
  std::map<std::uint64_t, std::string> direct_;
  bool knows_huge_ = false;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> huge_;  // places and sizes
};

}  // namespace rill::io::hdf5
