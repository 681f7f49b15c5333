#include "rill/io/hdf5/array_impl.h"

#include <algorithm>
#include <cstring>

#include "rill/base/check.h"

namespace rill::io::hdf5 {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
constexpr std::uint64_t kMostPerByte = 1100;  // deflate makes at most 1032 bytes of one

// n elements, each a copy of the fill value.
void fill(const Array& a, char* to) {
  const std::uint64_t each = a.type.size;
  if (a.fill.empty()) {
    std::memset(to, 0, a.bytes);
    return;
  }
  for (std::uint64_t at = 0; at < a.bytes; at += each) std::memcpy(to + at, a.fill.data(), each);
}

// Copies the part of a chunk that lies in the array, run by run of the last dimension.
void place(const Array& a, const Chunk& chunk, const std::string& from, char* to) {
  const std::size_t rank = a.space.sizes.size();
  std::vector<std::uint64_t> begin(rank), count(rank), at(rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    begin[i] = chunk.at[i] * a.layout.chunk[i];
    count[i] = std::min(a.layout.chunk[i], a.space.sizes[i] - begin[i]);
  }
  const std::uint64_t each = a.type.size, run = count[rank - 1] * each;
  while (true) {
    std::uint64_t source = 0, target = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      source = source * a.layout.chunk[i] + at[i];
      target = target * a.space.sizes[i] + begin[i] + at[i];
    }
    std::memcpy(to + target * each, from.data() + source * each, run);
    std::size_t i = rank - 1;  // the last one is copied as a whole
    while (i > 0 && ++at[i - 1] == count[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

void read_chunks(const File& file, const Array& a, char* to) {
  const std::vector<Chunk> chunks = read_chunk_index(file, a);
  fill(a, to);
  for (const Chunk& chunk : chunks) {
    std::string stored(chunk.size, '\0');
    file.read(chunk.address, stored.data(), chunk.size, "a chunk");
    place(a, chunk, unfiltered(file, a, chunk, std::move(stored)), to);
  }
}

// From the file's form to the tensor's.
void convert(const File& file, const Array& a, char* data) {
  const std::uint64_t each = a.type.size;
  if (a.type.kind == Type::Kind::boolean) {
    for (std::uint64_t i = 0; i < a.bytes; ++i) {
      RILL_CHECK(data[i] == a.type.no || data[i] == a.type.yes, data_loss,
                 "[hdf5] {}: \"{}\" holds {}, which is neither FALSE nor TRUE", file.name(),
                 a.where, static_cast<int>(data[i]));
      data[i] = data[i] == a.type.yes ? 1 : 0;
    }
  } else if (a.type.big_endian && each > 1) {
    for (std::uint64_t at = 0; at < a.bytes; at += each) std::reverse(data + at, data + at + each);
  }
}

}  // namespace

TensorShape Array::shape() const {
  TensorShape s = TensorShape::scalar();
  for (const std::uint64_t n : space.sizes) s.push_back(static_cast<std::int64_t>(n));
  return s;
}

std::uint64_t Array::chunk_bytes() const {
  std::uint64_t n = type.size;
  for (const std::uint64_t size : layout.chunk) n *= size;
  return n;
}

Array read_array(const File& file, const Object& object, const std::string& where) {
  Array a;
  a.where = where;
  const Message* type = object.find(MessageKind::datatype);
  const Message* space = object.find(MessageKind::dataspace);
  const Message* layout = object.find(MessageKind::layout);
  if (!type || !space || !layout) file.damaged(object.address, "an array lacks a part of its head");
  a.type = read_type(file, *type);
  RILL_CHECK(a.type.dtype.defined(), unimplemented,
             "[hdf5] {}: \"{}\" has elements of a kind for which there is no tensor", file.name(),
             where);
  a.space = read_space(file, *space);
  RILL_CHECK(!a.space.null, unimplemented,
             "[hdf5] {}: \"{}\" holds nothing, not even a shape; there is no tensor for it",
             file.name(), where);
  RILL_CHECK(!object.find(MessageKind::external_files), unimplemented,
             "[hdf5] {}: \"{}\" keeps its elements in another file", file.name(), where);
  if (const Message* filters = object.find(MessageKind::filters))
    a.filters = read_filters(file, resolved(file, *filters));
  a.layout = read_layout(file, *layout, a);
  a.fill = read_fill(file, object, a.type);

  std::uint64_t needed = a.type.size;
  bool too_large = false;
  for (const std::uint64_t n : a.space.sizes) {
    too_large = too_large || n > kMost || (n > 0 && needed > kMost / n);
    if (!too_large) needed *= n;
  }
  const bool chunked = a.layout.kind == Layout::Kind::chunked;
  RILL_CHECK(!too_large && needed <= (chunked ? file.size() * kMostPerByte : file.size()),
             data_loss, "[hdf5] {}: \"{}\" claims more elements than a file of {} bytes can hold",
             file.name(), where, file.size());
  a.bytes = needed;
  return a;
}

void read_elements(const File& file, const Array& a, char* to) {
  if (a.bytes == 0) return;
  const File::Allowance allowance(file);
  switch (a.layout.kind) {
    case Layout::Kind::compact:
      if (a.layout.bytes.size() < a.bytes)
        file.damaged(kNowhere, format("\"{}\" has {} bytes of its {}", a.where,
                                      a.layout.bytes.size(), a.bytes));
      std::memcpy(to, a.layout.bytes.data(), a.bytes);
      break;
    case Layout::Kind::contiguous:
      if (a.layout.address == kNowhere)  // never written
        fill(a, to);
      else
        file.read(a.layout.address, to, a.bytes, format("\"{}\"", a.where).c_str());
      break;
    case Layout::Kind::chunked:
      read_chunks(file, a, to);
      break;
  }
  convert(file, a, to);
}

}  // namespace rill::io::hdf5
