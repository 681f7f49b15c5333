#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "rill/base/check.h"
#include "rill/io/hdf5.h"
#include "rill/io/hdf5/file_impl.h"

namespace rill::io {

bool is_hdf5(std::string_view b) { return b.substr(0, 8) == "\x89HDF\r\n\x1a\n"; }

}  // namespace rill::io

namespace rill::io::hdf5 {
namespace {

std::atomic<int> ignored_checksums{0};

}  // namespace

IgnoreChecksums::IgnoreChecksums() { ++ignored_checksums; }
IgnoreChecksums::~IgnoreChecksums() { --ignored_checksums; }

std::uint32_t lookup3(std::string_view s) {
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(s.size()), b = a, c = a;
  // Words are little-endian; the last ones are filled up with zeros.
  const auto add_words = [&](std::string_view part) {
    std::uint32_t words[3] = {};
    std::memcpy(words, part.data(), part.size());
    a += words[0], b += words[1], c += words[2];
  };
  using std::rotl;
  for (; s.size() > 12; s.remove_prefix(12)) {
    add_words(s.substr(0, 12));
    a -= c, a ^= rotl(c, 4), c += b;
    b -= a, b ^= rotl(a, 6), a += c;
    c -= b, c ^= rotl(b, 8), b += a;
    a -= c, a ^= rotl(c, 16), c += b;
    b -= a, b ^= rotl(a, 19), a += c;
    c -= b, c ^= rotl(b, 4), b += a;
  }
  if (s.empty()) return c;
  add_words(s);
  c ^= b, c -= rotl(b, 14);
  a ^= c, a -= rotl(c, 11);
  b ^= a, b -= rotl(a, 25);
  c ^= b, c -= rotl(b, 16);
  a ^= c, a -= rotl(c, 4);
  b ^= a, b -= rotl(a, 14);
  c ^= b, c -= rotl(b, 24);
  return c;
}

// ---- the file
File::File(const std::string& path)
    : name_(path), input_(std::make_unique<InputFile>(path)), size_(input_->size()) {
  open();
}
File::File(std::string bytes, std::string name)
    : name_(std::move(name)), bytes_(std::move(bytes)), size_(bytes_.size()) {
  open();
}

bool File::begins_at(std::uint64_t at) const {
  char first[8];
  if (at > size_ || size_ - at < sizeof first) return false;
  read_at(at, first, sizeof first);
  return is_hdf5({first, sizeof first});
}

// The superblock: how wide addresses are and where the root group is. It is at the start of
// the file, or behind a "user block" of 512, 1024, 2048, ... bytes.
void File::open() {
  while (!begins_at(base_)) {
    base_ = base_ ? base_ * 2 : 512;
    RILL_CHECK(base_ < size_, data_loss, "[hdf5] {} is not an HDF5 file", name_);
  }
  size_ -= base_;  // from here on addresses are relative to the superblock
  allowance_ = full_allowance();

  constexpr std::uint64_t kLongest = 128;
  Cursor c = block(0, std::min(size_, kLongest), "the superblock");
  c.skip(8);
  const int version = c.version(3);
  if (version < 2) c.skip(4);  // versions of parts that have had one version only
  address_size_ = c.u8();
  length_size_ = c.u8();
  const auto usable = [](int n) { return n == 2 || n == 4 || n == 8; };
  if (!usable(address_size_) || !usable(length_size_))
    c.damaged(
        format("says that addresses have {} and lengths {} bytes", address_size_, length_size_));
  c.skip(version < 2 ? 1 + 2 + 2 + 4 : 1);  // sizes of tree nodes, flags
  if (version == 1) c.skip(4);              // another one
  c.address();                              // the base; the signature's place is as good
  c.address();                              // free space, or the superblock's extension
  const std::uint64_t end = c.address();
  if (version < 2) {
    c.address();  // the driver
    c.address();  // the root's name
  }
  root_ = c.address();
  if (version >= 2) c.checksum();
  // The end counts from the base, but some writers count a user block in.
  RILL_CHECK(end <= size_ || (base_ > 0 && end - base_ <= size_), data_loss,
             "[hdf5] {} is cut short: it has {} bytes and should have {}", name_, size_, end);
}

void File::read_at(std::uint64_t at, void* to, std::uint64_t n) const {
  if (input_)
    input_->read(at, to, n);
  else if (n > 0)
    std::memcpy(to, bytes_.data() + at, n);
}

void File::read(std::uint64_t at, void* to, std::uint64_t n, const char* what) const {
  if (at > size_ || n > size_ - at)
    damaged(at, format("{} of {} bytes lies outside the file, which has {}", what, n, size_));
  read_at(base_ + at, to, n);
}

Cursor File::block(std::uint64_t at, std::uint64_t n, const char* what) const {
  if (at > size_ || n > size_ - at)  // before memory is taken
    damaged(at, format("{} of {} bytes lies outside the file, which has {}", what, n, size_));
  constexpr std::uint64_t kEach = 48;  // small blocks take time as well
  spend(n + kEach);
  std::string bytes(n, '\0');
  read(at, bytes.data(), n, what);
  return Cursor(*this, at, std::move(bytes), what);
}

void File::damaged(std::uint64_t at, const std::string& what) const {
  if (at == kNowhere) RILL_FAIL(data_loss, "[hdf5] {} is damaged: {}", name_, what);
  RILL_FAIL(data_loss, "[hdf5] {} is damaged at byte {}: {}", name_, base_ + at, what);
}

std::uint64_t File::full_allowance() const {
  constexpr std::uint64_t kTimes = 24, kAtLeast = 1 << 20;
  return size_ * kTimes + kAtLeast;
}
void File::spend(std::uint64_t n) const {
  if (n > allowance_)
    damaged(kNowhere, "its parts refer to each other without end, or far too often");
  allowance_ -= n;
}
File::Allowance::Allowance(const File& file) : file_(file), before_(file.allowance_) {
  file_.allowance_ = file_.full_allowance();
}
File::Allowance::~Allowance() { file_.allowance_ = before_; }

// ---- the cursor
void Cursor::damaged(const std::string& why) const {
  file_.damaged(place(), format("{} {}", what_, why));
}

std::string_view Cursor::take(std::uint64_t n) {
  if (n > left()) damaged(format("has {} bytes left where {} should follow", left(), n));
  const std::string_view part(bytes_.data() + at_, n);
  at_ += n;
  return part;
}

std::uint64_t Cursor::number(int bytes) {
  std::uint64_t v = 0;
  unsigned shift = 0;
  for (const char c : take(static_cast<std::uint64_t>(bytes))) {
    v |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << shift;
    shift += 8;
  }
  return v;
}

std::uint64_t Cursor::address() {
  const int n = file_.address_size();
  const std::uint64_t v = number(n);
  return n < 8 && v == (std::uint64_t{1} << (8 * n)) - 1 ? kNowhere : v;
}

std::string_view Cursor::take_text() {
  const std::string_view rest(bytes_.data() + at_, left());
  const std::size_t end = rest.find('\0');
  if (end == rest.npos) damaged("holds a text without an end");
  at_ += end + 1;
  return rest.substr(0, end);
}

void Cursor::align8() { skip((8 - at_ % 8) % 8); }

void Cursor::signature(std::string_view text) {
  const std::string_view got = take(text.size());
  if (got == text) return;
  at_ -= text.size();
  damaged(format("does not begin with \"{}\"", text));
}

std::uint8_t Cursor::version(std::uint8_t last) {
  const std::uint8_t v = u8();
  if (v > last) damaged(format("has version {}; those up to {} are known", v, last));
  return v;
}

void Cursor::checksum() {
  const std::uint32_t expected = lookup3({bytes_.data(), at_});
  if (u32() != expected && ignored_checksums == 0) damaged("differs from its checksum");
}

}  // namespace rill::io::hdf5
