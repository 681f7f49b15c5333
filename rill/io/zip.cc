#include "rill/io/zip.h"

#include <zlib.h>

#include <algorithm>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/io/file.h"

namespace rill::io {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 36;  // no file of ours is larger

std::uint64_t number(const std::string& s, std::uint64_t at, int bytes) {
  std::uint64_t v = 0;
  for (int i = bytes - 1; i >= 0; --i)
    v = v << 8 | static_cast<unsigned char>(s[at + static_cast<std::uint64_t>(i)]);
  return v;
}
void put(std::string& out, std::uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i) & 0xff);
}

std::string inflate_raw(std::string_view in, std::uint64_t size, const std::string& what) {
  std::string out(size, '\0');
  z_stream z{};
  RILL_INTERNAL_CHECK(inflateInit2(&z, -15) == Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  std::uint64_t done = 0;
  int rc = Z_OK;
  while (rc == Z_OK && done < size) {
    z.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    const auto room = static_cast<uInt>(std::min<std::uint64_t>(size - done, 1u << 30));
    z.avail_out = room;
    rc = inflate(&z, Z_NO_FLUSH);
    const std::uint64_t made = room - z.avail_out;
    done += made;
    if (made == 0 && rc == Z_OK) break;
  }
  inflateEnd(&z);
  RILL_CHECK(done == size && (rc == Z_STREAM_END || rc == Z_OK), data_loss,
             "[zip] {} does not unpack to the {} bytes that its directory names", what, size);
  return out;
}

std::string deflate_raw(std::string_view in) {
  z_stream z{};
  RILL_INTERNAL_CHECK(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, in.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int rc = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  RILL_INTERNAL_CHECK(rc == Z_STREAM_END);
  return out;
}

std::uint32_t crc_of(std::string_view s) {
  uLong c = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < s.size(); at += 1u << 30)
    c = crc32(c, reinterpret_cast<const Bytef*>(s.data() + at),
              static_cast<uInt>(std::min<std::size_t>(s.size() - at, 1u << 30)));
  return static_cast<std::uint32_t>(c);
}

}  // namespace

ZipReader ZipReader::open(const std::string& path) { return ZipReader(file_contents(path), path); }

ZipReader::ZipReader(std::string bytes, std::string archive_name)
    : bytes_(std::move(bytes)), archive_(std::move(archive_name)) {
  const std::uint64_t size = bytes_.size();
  const auto need = [&](std::uint64_t at, std::uint64_t n) {
    RILL_CHECK(at <= size && n <= size - at, data_loss,
               "[zip] {} is damaged: it ends at byte {}, before byte {}", archive_, size, at + n);
  };
  // The end record is within the last 64 KB, behind the directory.
  RILL_CHECK(size >= 22, data_loss, "[zip] {} is not a zip archive: it has {} bytes", archive_,
             size);
  std::uint64_t end = size;
  for (std::uint64_t at = size - 22;; --at) {
    if (number(bytes_, at, 4) == kEnd) {
      end = at;
      break;
    }
    if (at == 0 || size - at > 22 + 65535) break;
  }
  RILL_CHECK(end < size, data_loss, "[zip] {} is not a zip archive: it has no directory at its end",
             archive_);
  std::uint64_t count = number(bytes_, end + 10, 2), at = number(bytes_, end + 16, 4);
  if ((count == 0xffff || at == 0xffffffff) && end >= 20 &&
      number(bytes_, end - 20, 4) == kEnd64Locator) {
    const std::uint64_t end64 = number(bytes_, end - 20 + 8, 8);
    need(end64, 56);
    RILL_CHECK(number(bytes_, end64, 4) == kEnd64, data_loss,
               "[zip] {} is damaged: byte {} is not an end record", archive_, end64);
    count = number(bytes_, end64 + 32, 8);
    at = number(bytes_, end64 + 48, 8);
  }
  RILL_CHECK(count <= size / 46, data_loss, "[zip] {} is damaged: it names {} files", archive_,
             count);
  for (std::uint64_t i = 0; i < count; ++i) {
    need(at, 46);
    RILL_CHECK(number(bytes_, at, 4) == kCentral, data_loss,
               "[zip] {} is damaged: byte {} is not an entry of the directory", archive_, at);
    Entry e;
    e.method = static_cast<std::uint16_t>(number(bytes_, at + 10, 2));
    e.crc = static_cast<std::uint32_t>(number(bytes_, at + 16, 4));
    e.compressed = number(bytes_, at + 20, 4);
    e.size = number(bytes_, at + 24, 4);
    e.header = number(bytes_, at + 42, 4);
    const std::uint64_t name_size = number(bytes_, at + 28, 2),
                        extra_size = number(bytes_, at + 30, 2),
                        comment_size = number(bytes_, at + 32, 2);
    need(at + 46, name_size + extra_size + comment_size);
    std::string name = bytes_.substr(at + 46, name_size);
    // Sizes beyond 4 GB are in an extra field, those that are needed, in this order.
    const std::uint64_t extra_end = at + 46 + name_size + extra_size;
    for (std::uint64_t x = at + 46 + name_size; x + 4 <= extra_end;) {
      const std::uint64_t id = number(bytes_, x, 2), n = number(bytes_, x + 2, 2);
      if (x + 4 + n > extra_end) break;
      std::uint64_t f = x + 4;
      if (id == 1)
        for (std::uint64_t* v : {&e.size, &e.compressed, &e.header})
          if (*v == 0xffffffff && f + 8 <= x + 4 + n) {
            *v = number(bytes_, f, 8);
            f += 8;
          }
      x += 4 + n;
    }
    at += 46 + name_size + extra_size + comment_size;
    names_.push_back(std::move(name));
    entries_.push_back(e);
  }
}

bool ZipReader::contains(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::string ZipReader::read(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  RILL_CHECK(found != names_.end(), not_found, "[zip] {} holds no file \"{}\".{}", archive_, name,
             did_you_mean(name, names_));
  const Entry& e = entries_[static_cast<std::size_t>(found - names_.begin())];
  const std::string what = format("file \"{}\" of {}", name, archive_);
  const std::uint64_t size = bytes_.size();
  RILL_CHECK(e.header <= size && size - e.header >= 30 && number(bytes_, e.header, 4) == kLocal,
             data_loss, "[zip] {} does not begin at byte {}", what, e.header);
  const std::uint64_t begin =
      e.header + 30 + number(bytes_, e.header + 26, 2) + number(bytes_, e.header + 28, 2);
  RILL_CHECK(begin <= size && e.compressed <= size - begin, data_loss,
             "[zip] {} is cut off: it has {} bytes from byte {} on, the archive {}", what,
             e.compressed, begin, size);
  // Deflate cannot shrink more than 1032 times, so a larger claim is a lie.
  RILL_CHECK(e.size <= kMaxSize && e.size <= e.compressed * 1040 + 64, data_loss,
             "[zip] {} claims to unpack to {} bytes", what, e.size);
  const std::string_view packed(bytes_.data() + begin, e.compressed);
  RILL_CHECK(e.method == 0 || e.method == 8, unimplemented,
             "[zip] {} is packed by method {}; only stored and deflated files are read", what,
             e.method);
  RILL_CHECK(e.method != 0 || e.size == e.compressed, data_loss,
             "[zip] {} is stored, but its two sizes differ", what);
  std::string out = e.method == 0 ? std::string(packed) : inflate_raw(packed, e.size, what);
  RILL_CHECK(crc_of(out) == e.crc, data_loss, "[zip] {} is damaged: its checksum differs", what);
  return out;
}

void ZipWriter::add(std::string_view name, std::string_view content, bool compress) {
  RILL_CHECK(content.size() < 0xffffffff && out_.size() < 0xffffffff - content.size(),
             unimplemented, "[zip] \"{}\" has {} bytes: archives over 4 GB are not written", name,
             content.size());
  std::string packed;
  if (compress) packed = deflate_raw(content);
  const std::string_view body = compress ? std::string_view(packed) : content;
  const std::uint64_t header = out_.size();
  std::string common;     // what both the entry and the directory say
  put(common, 20, 2);     // version needed
  put(common, 0x800, 2);  // names in UTF-8
  put(common, compress ? 8 : 0, 2);
  put(common, 0, 2);     // time
  put(common, 0x21, 2);  // 1980-01-01
  put(common, crc_of(content), 4);
  put(common, body.size(), 4);
  put(common, content.size(), 4);
  put(common, name.size(), 2);
  put(common, 0, 2);  // no extra field
  put(out_, kLocal, 4);
  out_ += common;
  out_ += name;
  out_ += body;
  put(directory_, kCentral, 4);
  put(directory_, 0x0314, 2);  // made on Unix
  directory_ += common;
  put(directory_, 0, 2);               // no comment
  put(directory_, 0, 2);               // disk
  put(directory_, 0, 2);               // internal attributes
  put(directory_, 0100644u << 16, 4);  // permissions
  put(directory_, header, 4);
  directory_ += name;
  ++count_;
}

std::string ZipWriter::finish() {
  const std::uint64_t at = out_.size();
  out_ += directory_;
  put(out_, kEnd, 4);
  put(out_, 0, 4);
  put(out_, count_, 2);
  put(out_, count_, 2);
  put(out_, directory_.size(), 4);
  put(out_, at, 4);
  put(out_, 0, 2);
  directory_.clear();
  return std::move(out_);
}

}  // namespace rill::io
