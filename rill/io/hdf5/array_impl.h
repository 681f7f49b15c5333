#pragma once
#include <vector>

#include "rill/core/shape.h"
#include "rill/io/hdf5/type_impl.h"

// Arrays: where their elements are, and how they are packed.
namespace rill::io::hdf5 {

struct Filter {
  std::uint16_t id = 0;
  std::vector<std::uint32_t> values;
};

struct Layout {
  enum class Kind : unsigned char { compact, contiguous, chunked } kind = Kind::contiguous;
  enum class Index : unsigned char {
    old_btree = 0,
    single = 1,
    implicit = 2,
    fixed_array = 3,
    extensible_array = 4,
    btree = 5
  } index = Index::old_btree;
  std::string bytes;                 // compact
  std::uint64_t address = kNowhere;  // of the elements, or the index of chunks
  std::vector<std::uint64_t> chunk;  // sizes of a chunk
  std::uint64_t single_size = 0;     // of a single chunk that is filtered
  std::uint32_t single_mask = 0;
  bool raw_at_edges = false;  // chunks that reach over the edge are not filtered
};

struct Array {
  Type type;
  Space space;
  Layout layout;
  std::vector<Filter> filters;
  std::string fill;         // an element; empty: zeros
  std::uint64_t bytes = 0;  // of all elements
  std::string where;        // the path, for errors

  TensorShape shape() const;
  std::uint64_t chunk_bytes() const;  // at most 2^40
};

// All that must be known before elements are read. DataLoss for arrays that are larger than the
// file can make them.
Array read_array(const File& file, const Object& object, const std::string& where);

// The elements in the order and form of tensors; `to` has array.bytes.
void read_elements(const File& file, const Array& array, char* to);

// ---- parts of it
Layout read_layout(const File& file, const Message& m, const Array& array);
std::vector<Filter> read_filters(const File& file, const Message& m);
std::string read_fill(const File& file, const Object& object, const Type& type);

struct Chunk {
  std::vector<std::uint64_t> at;  // in chunks, not elements
  std::uint64_t address = kNowhere, size = 0;
  std::uint32_t mask = 0;  // filters that were left out
};
// The chunks that are stored and lie in the array. Together they are not larger than the file.
std::vector<Chunk> read_chunk_index(const File& file, const Array& array);

// Undoes the filters; the result has array.chunk_bytes().
std::string unfiltered(const File& file, const Array& array, const Chunk& chunk,
                       std::string stored);

// The entries of the two arrays that index chunks, by number: places and sizes of chunks.
// `size_bytes` follows from the file; 0: chunks are not filtered and their size is not stored.
struct Entry {
  std::uint64_t number, address, size;
  std::uint32_t mask;
};
std::vector<Entry> read_fixed_array(const File& file, std::uint64_t header, bool filtered);
std::vector<Entry> read_extensible_array(const File& file, std::uint64_t header, bool filtered);

}  // namespace rill::io::hdf5
