#include <zlib.h>

#include <algorithm>

#include "rill/base/check.h"
#include "rill/io/hdf5/array_impl.h"

namespace rill::io::hdf5 {
namespace {

constexpr std::uint16_t kDeflate = 1, kShuffle = 2, kFletcher32 = 3;

std::string name_of(std::uint16_t id) {
  switch (id) {
    case 4:
      return "szip";
    case 5:
      return "nbit";
    case 6:
      return "scaleoffset";
    case 32000:
      return "lzf";
    case 32001:
      return "blosc";
    case 32004:
      return "lz4";
    case 32008:
      return "bitshuffle";
    case 32015:
      return "zstd";
    default:
      return format("number {}", id);
  }
}

std::string inflated(const File& file, const Chunk& chunk, const std::string& in,
                     std::uint64_t size) {
  // Ahead of the memory: deflate makes at most 1032 bytes of one.
  const auto refuse = [&] {
    file.damaged(chunk.address,
                 format("a chunk of {} bytes does not unpack to {}", in.size(), size));
  };
  if (size > in.size() * 1032 + 64) refuse();
  std::string out(size, '\0');
  z_stream z{};
  RILL_INTERNAL_CHECK(inflateInit(&z) == Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  std::uint64_t given = 0, done = 0;
  int rc = Z_OK;
  while (rc == Z_OK && done < size) {  // zlib counts in 32 bits
    z.avail_in = static_cast<uInt>(std::min<std::uint64_t>(in.size() - given, 1u << 30));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    z.avail_out = static_cast<uInt>(std::min<std::uint64_t>(size - done, 1u << 30));
    const std::uint64_t had_in = z.avail_in, had_out = z.avail_out;
    rc = inflate(&z, Z_NO_FLUSH);
    given += had_in - z.avail_in;
    done += had_out - z.avail_out;
  }
  // A stream whose last bytes have just been made may not have seen its checksum yet.
  char none = 0;
  if (rc == Z_OK && done == size) {
    z.avail_in = static_cast<uInt>(std::min<std::uint64_t>(in.size() - given, 1u << 30));
    z.next_out = reinterpret_cast<Bytef*>(&none);
    z.avail_out = 0;
    rc = inflate(&z, Z_FINISH);
  }
  inflateEnd(&z);
  if (rc != Z_STREAM_END || done != size) refuse();
  return out;
}

// Elements were stored as all first bytes, then all second bytes, and so on.
std::string unshuffled(const std::string& in, std::uint64_t each) {
  if (each <= 1 || each > in.size()) return in;
  const std::uint64_t n = in.size() / each;
  std::string out = in;  // what is left over stays at the end
  for (std::uint64_t b = 0; b < each; ++b)
    for (std::uint64_t i = 0; i < n; ++i) out[i * each + b] = in[b * n + i];
  return out;
}

// Sums of 16-bit words, big-endian.
std::uint32_t fletcher32(std::string_view s) {
  std::uint64_t a = 0, b = 0;
  const auto byte = [&](std::size_t i) -> std::uint64_t {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0;
  };
  for (std::size_t i = 0; i < s.size(); i += 2) {
    a = (a + (byte(i) << 8 | byte(i + 1))) % 65535;
    b = (b + a) % 65535;
  }
  return static_cast<std::uint32_t>(b << 16 | a);
}

void check_fletcher32(const File& file, const Chunk& chunk, std::string& data) {
  if (data.size() < 4) file.damaged(chunk.address, "a chunk has no room for its checksum");
  Cursor c(file, chunk.address, data.substr(data.size() - 4), "a chunk");
  data.resize(data.size() - 4);
  const std::uint32_t stored = c.u32(), sum = fletcher32(data);
  // Some old versions swapped the bytes of each half. Both halves may be 0 as 0 or 65535.
  const auto swapped = [](std::uint32_t v) { return (v & 0xff00ff) << 8 | (v >> 8 & 0xff00ff); };
  const auto same = [](std::uint32_t x, std::uint32_t y) {
    return (x >> 16) % 65535 == (y >> 16) % 65535 && (x & 0xffff) % 65535 == (y & 0xffff) % 65535;
  };
  if (!same(stored, sum) && !same(swapped(stored), sum)) c.damaged("differs from its checksum");
}

}  // namespace

std::string unfiltered(const File& file, const Array& a, const Chunk& chunk, std::string data) {
  bool raw = false;
  if (a.layout.raw_at_edges)
    for (std::size_t i = 0; i < a.space.sizes.size(); ++i)
      raw = raw || a.space.sizes[i] - chunk.at[i] * a.layout.chunk[i] < a.layout.chunk[i];
  const std::uint64_t whole = a.chunk_bytes();
  for (std::size_t i = raw ? 0 : a.filters.size(); i-- > 0;) {
    const auto applied = [&](std::size_t k) { return !(chunk.mask >> k & 1); };
    if (!applied(i)) continue;
    const Filter& f = a.filters[i];
    if (f.id == kDeflate) {
      // What the filters before this one made of the elements.
      std::uint64_t size = whole;
      for (std::size_t k = 0; k < i; ++k) {
        if (!applied(k)) continue;
        RILL_CHECK(a.filters[k].id != kDeflate, unimplemented,
                   "[hdf5] {}: \"{}\" is deflated twice, which is not read", file.name(), a.where);
        if (a.filters[k].id == kFletcher32) size += 4;
      }
      data = inflated(file, chunk, data, size);
    } else if (f.id == kShuffle) {
      data = unshuffled(data, f.values.empty() ? a.type.size : f.values[0]);
    } else if (f.id == kFletcher32) {
      check_fletcher32(file, chunk, data);
    } else {
      RILL_FAIL(unimplemented,
                "[hdf5] {}: \"{}\" is packed by the filter {}; only deflate (gzip), shuffle and "
                "fletcher32 are read. Write the file again without it",
                file.name(), a.where, name_of(f.id));
    }
  }
  if (data.size() != whole)
    file.damaged(chunk.address, format("a chunk of \"{}\" has {} bytes; expected {}", a.where,
                                       data.size(), whole));
  return data;
}

}  // namespace rill::io::hdf5
