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
  return file_.size() > offset_ ? file_.size() - offset_ + (buffer_.size() - used_)
                                : buffer_.size() - used_;
}

std::size_t UnpackingFile::read(char* to, std::size_t n) {
  if (unpacker_) return unpack(to, n);
  std::size_t done = 0;
  while (done < n) {
    if (used_ == buffer_.size()) {
      buffer_.resize(kBuffer);
      buffer_.resize(file_.read_some(offset_, buffer_.data(), kBuffer));
      offset_ += buffer_.size();
      used_ = 0;
      if (buffer_.empty()) break;
    }
    const std::size_t some = std::min(n - done, buffer_.size() - used_);
    std::memcpy(to + done, buffer_.data() + used_, some);
    used_ += some;
    done += some;
  }
  return done;
}

std::size_t UnpackingFile::unpack(char* to, std::size_t n) {
  z_stream& z = unpacker_->stream;
  z.next_out = reinterpret_cast<Bytef*>(to);
  std::size_t left = n;
  while (left > 0) {
    if (used_ == buffer_.size()) {
      buffer_.resize(kBuffer);
      buffer_.resize(file_.read_some(offset_, buffer_.data(), kBuffer));
      offset_ += buffer_.size();
      used_ = 0;
    }
    if (used_ == buffer_.size() && unpacker_->between) break;  // the end
    z.next_in = reinterpret_cast<Bytef*>(buffer_.data() + used_);
    z.avail_in = static_cast<uInt>(buffer_.size() - used_);
    z.avail_out = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
    const uInt had_out = z.avail_out, had_in = z.avail_in;
    unpacker_->between = false;
    const int code = inflate(&z, Z_NO_FLUSH);
    used_ = buffer_.size() - z.avail_in;
    left -= had_out - z.avail_out;
    if (code == Z_STREAM_END) {  // files may be joined: another stream can follow
      inflateReset(&z);
      unpacker_->between = true;
      continue;
    }
    RILL_CHECK(code == Z_OK || (code == Z_BUF_ERROR && had_in > 0), data_loss,
               "[io] \"{}\" cannot be unpacked near offset {}: {}", file_.path(),
               offset_ - (buffer_.size() - used_),
               z.msg ? z.msg : "the file ends within the packed bytes");
  }
  return n - left;
}

}  // namespace rill::io
