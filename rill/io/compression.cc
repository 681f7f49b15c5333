#include <snappy.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "rill/base/check.h"
#include "rill/io/compression_impl.h"

namespace rill::io {
namespace {

constexpr std::size_t kBuffer = 1 << 18;
constexpr int kWindowBits = 15, kGzip = 16, kMemory = 9;

int window_bits(Compression c) {
  return c == Compression::gzip ? kWindowBits + kGzip : kWindowBits;
}

}  // namespace

Compression compression_of(std::string_view name) {
  if (name.empty() || name == "NONE") return Compression::none;
  if (name == "ZLIB") return Compression::zlib;
  if (name == "GZIP") return Compression::gzip;
  if (name == "SNAPPY") return Compression::snappy;
  RILL_FAIL(invalid_argument,
            "[io] there is no compression \"{}\"; expected \"\", \"ZLIB\", \"GZIP\" or "
            "\"SNAPPY\"",
            name);
}

// ---- packing
struct PackingFile::Packer {
  virtual ~Packer() = default;
  virtual void append(std::string_view bytes, OutputFile& to) = 0;
  virtual void flush(OutputFile& to) = 0;
  virtual void finish(OutputFile& to) = 0;
};

struct PackingFile::Deflater final : PackingFile::Packer {
  Deflater(const std::string& path, Compression c, int level) {
    RILL_CHECK(deflateInit2(&stream, level, Z_DEFLATED, window_bits(c), kMemory,
                            Z_DEFAULT_STRATEGY) == Z_OK,
               invalid_argument, "[io] compression level {} for \"{}\"; expected -1 to 9", level,
               path);
  }
  ~Deflater() override { deflateEnd(&stream); }
  void append(std::string_view bytes, OutputFile& to) override { pack(bytes, Z_NO_FLUSH, to); }
  void flush(OutputFile& to) override { pack({}, Z_SYNC_FLUSH, to); }
  void finish(OutputFile& to) override { pack({}, Z_FINISH, to); }

 private:
  void pack(std::string_view bytes, int mode, OutputFile& to) {
    z_stream& z = stream;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    std::size_t left = bytes.size();
    do {
      z.avail_in = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
      left -= z.avail_in;
      const int now = left == 0 ? mode : Z_NO_FLUSH;
      do {
        z.next_out = reinterpret_cast<Bytef*>(out.data());
        z.avail_out = kBuffer;
        RILL_INTERNAL_CHECK(deflate(&z, now) != Z_STREAM_ERROR);
        to.append({out.data(), kBuffer - z.avail_out});
      } while (z.avail_out == 0);
    } while (left > 0);
  }
  z_stream stream{};
  std::string out = std::string(kBuffer, '\0');
};

// Blocks of up to 256 kB, more than which TensorFlow does not read: the size of what is packed,
// big-endian in four bytes, and that.
struct PackingFile::SnappyPacker final : PackingFile::Packer {
  void append(std::string_view bytes, OutputFile& to) override {
    while (!bytes.empty()) {
      const std::size_t some = std::min(kBuffer - block.size(), bytes.size());
      block += bytes.substr(0, some);
      bytes.remove_prefix(some);
      if (block.size() == kBuffer) flush(to);
    }
  }
  void flush(OutputFile& to) override {
    if (block.empty()) return;
    snappy::Compress(block.data(), block.size(), &packed);
    char size[4];
    for (int i = 0; i < 4; ++i) size[i] = static_cast<char>(packed.size() >> (24 - 8 * i));
    to.append({size, 4});
    to.append(packed);
    block.clear();
  }
  void finish(OutputFile& to) override { flush(to); }

 private:
  std::string block, packed;
};

PackingFile::PackingFile(const std::string& path, Compression c, int level) : file_(path) {
  if (c == Compression::snappy)
    packer_ = std::make_unique<SnappyPacker>();
  else if (c != Compression::none)
    packer_ = std::make_unique<Deflater>(path, c, level);
}
PackingFile::~PackingFile() {
  if (packer_) {
    try {
      close();
    } catch (const errors::Error&) {  // nobody to tell
    }
  }
}
void PackingFile::append(std::string_view bytes) {
  if (packer_)
    packer_->append(bytes, file_);
  else
    file_.append(bytes);
}
void PackingFile::flush() {
  if (packer_) packer_->flush(file_);
  file_.flush();
}
void PackingFile::close() {
  if (packer_) {
    packer_->finish(file_);
    packer_.reset();
  }
  file_.close();
}

// ---- unpacking
struct UnpackingFile::Unpacker {
  explicit Unpacker(const InputFile& packed_file) : file(packed_file) {}
  virtual ~Unpacker() = default;
  // Up to `n` bytes; none at the end alone. What is before damage comes before its DataLoss.
  virtual std::size_t unpack(char* to, std::size_t n) = 0;
  virtual void restart() { offset = 0; }

 protected:
  [[noreturn]] void damaged(std::uint64_t where, std::string_view why) const {
    RILL_FAIL(data_loss, "[io] \"{}\" cannot be unpacked near offset {}: {}", file.path(), where,
              why);
  }
  const InputFile& file;
  std::uint64_t offset = 0;  // behind what was read of the file
};

struct UnpackingFile::Inflater final : UnpackingFile::Unpacker {
  Inflater(const InputFile& packed_file, Compression c) : Unpacker(packed_file) {
    RILL_INTERNAL_CHECK(inflateInit2(&z, window_bits(c)) == Z_OK);
  }
  ~Inflater() override { inflateEnd(&z); }
  void restart() override {
    Unpacker::restart();
    inflateReset(&z);
    between = true;
    packed.clear();
    used = 0;
  }
  std::size_t unpack(char* to, std::size_t n) override {
    z.next_out = reinterpret_cast<Bytef*>(to);
    std::size_t left = n;
    while (left > 0) {
      if (used == packed.size()) {
        packed.resize(kBuffer);
        packed.resize(file.read_some(offset, packed.data(), kBuffer));
        offset += packed.size();
        used = 0;
      }
      if (used == packed.size() && between) break;  // the end
      z.next_in = reinterpret_cast<Bytef*>(packed.data() + used);
      z.avail_in = static_cast<uInt>(packed.size() - used);
      z.avail_out = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
      const uInt had_out = z.avail_out, had_in = z.avail_in;
      between = false;
      const int code = inflate(&z, Z_NO_FLUSH);
      used = packed.size() - z.avail_in;
      left -= had_out - z.avail_out;
      if (code == Z_STREAM_END) {  // files may be joined: another stream can follow
        inflateReset(&z);
        between = true;
        continue;
      }
      const bool good = code == Z_OK || (code == Z_BUF_ERROR && had_in > 0);
      if (good) continue;
      if (left < n) break;
      damaged(offset - (packed.size() - used),
              z.msg ? z.msg : "the file ends within the packed bytes");
    }
    return n - left;
  }

 private:
  z_stream z{};
  bool between = true;  // no stream has begun: the file may end here
  std::string packed;
  std::size_t used = 0;  // of the packed bytes
};

struct UnpackingFile::SnappyUnpacker final : UnpackingFile::Unpacker {
  using Unpacker::Unpacker;
  void restart() override {
    Unpacker::restart();
    block.clear();
    used = 0;
  }
  std::size_t unpack(char* to, std::size_t n) override {
    while (used == block.size())
      if (!next_block()) return 0;
    const std::size_t some = std::min(n, block.size() - used);
    std::memcpy(to, block.data() + used, some);
    used += some;
    return some;
  }

 private:
  // Memory for what the file has, and for what that may become.
  static constexpr std::size_t kMostBlock = std::size_t{1} << 30;
  bool next_block() {
    const std::uint64_t start = offset;
    char head[4];
    const std::size_t got = read(head, 4);
    if (got == 0) return false;
    if (got < 4) damaged(start, "the file ends within the size of a block");
    std::size_t size = 0;
    for (const char c : head) size = size << 8 | static_cast<unsigned char>(c);
    if (size > file.size() - offset) damaged(start, "the file ends within a block");
    packed.resize(size);
    std::size_t whole = 0;
    if (read(packed.data(), size) < size ||
        !snappy::GetUncompressedLength(packed.data(), size, &whole) || whole > kMostBlock ||
        !snappy::IsValidCompressedBuffer(packed.data(), size) ||
        !snappy::Uncompress(packed.data(), size, &block))
      damaged(start, "a block is damaged");
    used = 0;
    return true;
  }
  std::size_t read(char* to, std::size_t n) {
    std::size_t done = 0;
    while (done < n) {
      const std::size_t some = file.read_some(offset, to + done, n - done);
      if (some == 0) break;
      done += some;
      offset += some;
    }
    return done;
  }
  std::string packed, block;
  std::size_t used = 0;  // of the block
};

UnpackingFile::UnpackingFile(const std::string& path, Compression c) : file_(path) {
  if (c == Compression::snappy)
    unpacker_ = std::make_unique<SnappyUnpacker>(file_);
  else if (c != Compression::none)
    unpacker_ = std::make_unique<Inflater>(file_, c);
}
UnpackingFile::~UnpackingFile() = default;

std::uint64_t UnpackingFile::at_most_left() const {
  if (unpacker_) return UINT64_MAX;
  return (file_.size() > file_offset_ ? file_.size() - file_offset_ : 0) + (end_ - begin_);
}

bool UnpackingFile::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(std::max(kBuffer, 2 * buffer_.size()));
  const std::size_t room = buffer_.size() - end_;
  std::size_t got;
  if (unpacker_) {
    got = unpacker_->unpack(buffer_.data() + end_, room);
  } else {
    got = file_.read_some(file_offset_, buffer_.data() + end_, room);
    file_offset_ += got;
  }
  end_ += got;
  return got > 0;
}

std::string_view UnpackingFile::peek(std::size_t n) {
  while (end_ - begin_ < n && fill()) {
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

std::size_t UnpackingFile::read(char* to, std::size_t n) {
  std::size_t done = 0;
  while (done < n) {
    if (begin_ == end_ && !fill()) break;
    const std::size_t some = std::min(n - done, end_ - begin_);
    std::memcpy(to + done, buffer_.data() + begin_, some);
    skip(some);
    done += some;
  }
  return done;
}

void UnpackingFile::seek(std::uint64_t offset) {
  if (!unpacker_) {
    begin_ = end_ = 0;
    file_offset_ = offset_ = offset;
    RILL_CHECK(offset <= file_.size(), data_loss,
               "[io] \"{}\" has {} bytes; it was to be read on from {}", path(), file_.size(),
               offset);
    return;
  }
  if (offset < offset_) {
    unpacker_->restart();
    begin_ = end_ = 0;
    offset_ = 0;
  }
  while (offset_ < offset) {
    const std::string_view there = peek(1);
    RILL_CHECK(!there.empty(), data_loss,
               "[io] \"{}\" unpacks to {} bytes; it was to be read on from {}", path(), offset_,
               offset);
    skip(static_cast<std::size_t>(std::min<std::uint64_t>(there.size(), offset - offset_)));
  }
}

}  // namespace rill::io
