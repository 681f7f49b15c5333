#include <algorithm>

#include "rill/base/check.h"
#include "rill/io/hdf5/array_impl.h"

namespace rill::io::hdf5 {
namespace {

constexpr std::uint8_t kCompact = 0, kContiguous = 1, kChunked = 2;

// Sizes of chunks, of which the last one is that of an element, in bytes.
void read_chunk_sizes(Cursor& c, int count, int bytes, const Array& a, Layout& l) {
  // Chunks have fewer than 2^32 bytes by the format; newer files may go beyond.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (count < 2 || static_cast<std::size_t>(count) != a.space.sizes.size() + 1)
    c.damaged(
        format("has chunks of rank {} for an array of rank {}", count - 1, a.space.sizes.size()));
  std::uint64_t all = a.type.size;
  for (int i = 0; i + 1 < count; ++i) {
    const std::uint64_t n = c.number(bytes);
    if (n == 0 || n > kMost / all) c.damaged("has chunks of an impossible size");
    all *= n;
    l.chunk.push_back(n);
  }
  if (c.number(bytes) != a.type.size) c.damaged("has chunks of other elements than the array");
}

// Versions 1 and 2, of HDF5 before 1.6.3.
void read_oldest(Cursor& c, const Array& a, Layout& l) {
  const int count = c.u8();
  const std::uint8_t kind = c.u8();
  if (kind > kChunked) c.damaged("is of an unknown kind");
  c.skip(5);
  if (kind != kCompact) l.address = c.address();
  if (kind == kChunked) {
    l.kind = Layout::Kind::chunked;
    read_chunk_sizes(c, count, 4, a, l);
    return;
  }
  c.skip(4 * static_cast<std::uint64_t>(count));  // the shape once more
  if (kind != kCompact) return;
  l.kind = Layout::Kind::compact;
  l.bytes = c.take(c.u32());
}

// Chunks of versions 4 and 5, with the newer indexes.
void read_indexed(Cursor& c, const Array& a, Layout& l) {
  const std::uint8_t flags = c.u8();
  l.raw_at_edges = flags & 1;
  const int count = c.u8(), bytes = c.u8();
  if (bytes < 1 || bytes > 8) c.damaged("has chunk sizes of an impossible width");
  read_chunk_sizes(c, count, bytes, a, l);
  const std::uint8_t index = c.u8();
  if (index < 1 || index > 5) c.damaged(format("has an index of the unknown kind {}", index));
  l.index = static_cast<Layout::Index>(index);
  // How the index was made; it says so itself.
  static constexpr std::uint64_t kParameters[] = {0, 0, 0, 1, 5, 6};
  if (l.index == Layout::Index::single && (flags & 2)) {
    l.single_size = c.length();
    l.single_mask = c.u32();
  }
  c.skip(kParameters[index]);
  l.address = c.address();
}

}  // namespace

Layout read_layout(const File& file, const Message& m, const Array& a) {
  Cursor c = cursor_of(file, m, "the layout of an array");
  Layout l;
  const std::uint8_t version = c.version(5);
  if (version == 0) c.damaged("has version 0");
  if (version < 3) {
    read_oldest(c, a, l);
    return l;
  }
  const std::uint8_t kind = c.u8();
  RILL_CHECK(kind <= kChunked, unimplemented,
             "[hdf5] {}: \"{}\" keeps its elements in another file", file.name(), a.where);
  if (kind == kCompact) {
    l.kind = Layout::Kind::compact;
    l.bytes = c.take(c.u16());
  } else if (kind == kContiguous) {
    l.address = c.address();
  } else {
    l.kind = Layout::Kind::chunked;
    if (version == 3) {
      const int count = c.u8();
      l.address = c.address();
      read_chunk_sizes(c, count, 4, a, l);
    } else {
      read_indexed(c, a, l);
    }
  }
  return l;
}

std::vector<Filter> read_filters(const File& file, const Message& m) {
  constexpr std::size_t kMostFilters = 32;
  constexpr std::uint16_t kFirstWithName = 256;
  Cursor c = cursor_of(file, m, "the filters of an array");
  const std::uint8_t version = c.version(2);
  const std::size_t count = c.u8();
  if (version == 0 || count > kMostFilters) c.damaged("has an unknown version or too many filters");
  if (version == 1) c.skip(6);
  std::vector<Filter> filters(count);
  for (Filter& f : filters) {
    f.id = c.u16();
    const std::uint64_t name = version == 1 || f.id >= kFirstWithName ? c.u16() : 0;
    c.skip(2);  // whether it may be left out
    const std::uint64_t values = c.u16();
    c.skip(name);
    if (version == 1) c.skip((8 - name % 8) % 8);
    for (std::uint64_t i = 0; i < values; ++i) f.values.push_back(c.u32());
    if (version == 1 && values % 2) c.skip(4);
  }
  return filters;
}

std::string read_fill(const File& file, const Object& object, const Type& type) {
  const Message* given = object.find(MessageKind::fill_value);
  const bool newer = given;
  if (!given) given = object.find(MessageKind::old_fill_value);
  if (!given) return {};
  const Message m = resolved(file, *given);
  Cursor c = cursor_of(file, m, "the fill value of an array");
  bool defined = true;
  if (newer) {
    const std::uint8_t version = c.version(3);
    if (version == 3) {
      defined = c.u8() & 0x20;
    } else {
      c.skip(2);
      defined = c.u8() != 0 || version == 1;
    }
  }
  if (!defined) return {};
  const std::uint64_t size = c.u32();
  if (size == 0 || size == 0xffffffff) return {};  // the default, or none
  if (size != type.size) c.damaged("has another size than an element");
  return std::string(c.take(size));
}

}  // namespace rill::io::hdf5
