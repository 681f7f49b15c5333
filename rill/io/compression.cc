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
  RILL_FAIL(invalid_argument,
            "[io] there is no compression \"{}\"; expected \"\", \"ZLIB\" or \"GZIP\"", name);
}

struct PackingFile::Packer {
  z_stream stream{};
  std::string out = std::string(kBuffer, '\0');
};

PackingFile::PackingFile(const std::string& path, Compression c, int level) : file_(path) {
  if (c == Compression::none) return;
  packer_ = std::make_unique<Packer>();
  RILL_CHECK(deflateInit2(&packer_->stream, level, Z_DEFLATED, window_bits(c), kMemory,
                          Z_DEFAULT_STRATEGY) == Z_OK,
             invalid_argument, "[io] compression level {} for \"{}\"; expected -1 to 9", level,
             path);
}
PackingFile::~PackingFile() {
  if (packer_) {
    try {
      close();
    } catch (const errors::Error&) {  // nobody to tell
    }
  }
  if (packer_) deflateEnd(&packer_->stream);
}

void PackingFile::pack(std::string_view bytes, int mode) {
  z_stream& z = packer_->stream;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  std::size_t left = bytes.size();
  do {
    z.avail_in = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
    left -= z.avail_in;
    const int now = left == 0 ? mode : Z_NO_FLUSH;
    do {
      z.next_out = reinterpret_cast<Bytef*>(packer_->out.data());
      z.avail_out = kBuffer;
      RILL_INTERNAL_CHECK(deflate(&z, now) != Z_STREAM_ERROR);
      file_.append({packer_->out.data(), kBuffer - z.avail_out});
    } while (z.avail_out == 0);
  } while (left > 0);
}

void PackingFile::append(std::string_view bytes) {
  if (packer_)
    pack(bytes, Z_NO_FLUSH);
  else
    file_.append(bytes);
}
void PackingFile::flush() {
  if (packer_) pack({}, Z_SYNC_FLUSH);
  file_.flush();
}
void PackingFile::close() {
  if (packer_) {
    pack({}, Z_FINISH);
    deflateEnd(&packer_->stream);
    packer_.reset();
  }
  file_.close();
}

struct UnpackingFile::Unpacker {
  z_stream stream{};
  bool between = true;  // no stream has begun: the file may end here
  std::string packed;
  std::size_t used = 0;  // of the packed bytes
};

UnpackingFile::UnpackingFile(const std::string& path, Compression c) : file_(path) {
  if (c == Compression::none) return;
  unpacker_ = std::make_unique<Unpacker>();
  RILL_INTERNAL_CHECK(inflateInit2(&unpacker_->stream, window_bits(c)) == Z_OK);
}
UnpackingFile::~UnpackingFile() {
  if (unpacker_) inflateEnd(&unpacker_->stream);
}

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
    got = unpack(buffer_.data() + end_, room);
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
    inflateReset(&unpacker_->stream);
    unpacker_->between = true;
    unpacker_->packed.clear();
    unpacker_->used = begin_ = end_ = 0;
    file_offset_ = offset_ = 0;
  }
  while (offset_ < offset) {
    const std::string_view there = peek(1);
    RILL_CHECK(!there.empty(), data_loss,
               "[io] \"{}\" unpacks to {} bytes; it was to be read on from {}", path(), offset_,
               offset);
    skip(static_cast<std::size_t>(std::min<std::uint64_t>(there.size(), offset - offset_)));
  }
}

std::size_t UnpackingFile::unpack(char* to, std::size_t n) {
  z_stream& z = unpacker_->stream;
  std::string& packed = unpacker_->packed;
  std::size_t& used = unpacker_->used;
  z.next_out = reinterpret_cast<Bytef*>(to);
  std::size_t left = n;
  while (left > 0) {
    if (used == packed.size()) {
      packed.resize(kBuffer);
      packed.resize(file_.read_some(file_offset_, packed.data(), kBuffer));
      file_offset_ += packed.size();
      used = 0;
    }
    if (used == packed.size() && unpacker_->between) break;  // the end
    z.next_in = reinterpret_cast<Bytef*>(packed.data() + used);
    z.avail_in = static_cast<uInt>(packed.size() - used);
    z.avail_out = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
    const uInt had_out = z.avail_out, had_in = z.avail_in;
    unpacker_->between = false;
    const int code = inflate(&z, Z_NO_FLUSH);
    used = packed.size() - z.avail_in;
    left -= had_out - z.avail_out;
    if (code == Z_STREAM_END) {  // files may be joined: another stream can follow
      inflateReset(&z);
      unpacker_->between = true;
      continue;
    }
    const bool good = code == Z_OK || (code == Z_BUF_ERROR && had_in > 0);
    if (!good && left < n) break;  // first what there is before the damage
    RILL_CHECK(good, data_loss, "[io] \"{}\" cannot be unpacked near offset {}: {}", file_.path(),
               file_offset_ - (packed.size() - used),
               z.msg ? z.msg : "the file ends within the packed bytes");
  }
  return n - left;
}

}  // namespace rill::io
