#include <algorithm>
#include <utility>

#include "rill/base/check.h"
#include "rill/io/hdf5/object_impl.h"

namespace rill::io::hdf5 {
namespace {

constexpr std::uint8_t kShared = 2, kFailIfUnknown = 0x80;
constexpr std::uint16_t kLastKnownKind = 0x18;

// A header continues in other blocks: their places and sizes.
struct Part {
  std::uint64_t at, size;
};

class HeaderReader {
 public:
  HeaderReader(const File& file, std::uint64_t address) : file_(file) {
    constexpr std::uint64_t kShortest = 4;
    Cursor first = file.block(address, kShortest, "an object's header");
    if (first.take(4) == "OHDR")
      read_new(address);
    else
      read_old(address);
  }
  std::vector<Message> messages() { return std::move(messages_); }

 private:
  // Version 1: messages of 8 bytes and a body, no checksums.
  void read_old(std::uint64_t address) {
    Cursor c = file_.block(address, 16, "an object's header");
    if (c.u8() != 1) c.damaged("has no signature and is not of version 1");
    c.skip(1);
    const std::uint64_t count = c.u16();
    c.skip(4);  // references to it
    parts_.push_back({address + 16, c.u32()});
    // The list grows as continuations are found.
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Cursor part = file_.block(parts_[i].at, parts_[i].size, "an object's header");
      while (part.left() >= 8 && seen_ < count) {
        const std::uint16_t kind = part.u16();
        const std::uint16_t size = part.u16();
        const std::uint8_t flags = part.u8();
        part.skip(3);
        add(part, kind, flags, size);
      }
    }
  }

  // Version 2: shorter messages, each block with a signature and a checksum.
  void read_new(std::uint64_t address) {
    constexpr std::uint64_t kLongestPrefix = 4 + 2 + 16 + 4 + 8;
    Cursor c = file_.block(address, std::min(kLongestPrefix, file_.size() - address),
                           "an object's header");
    c.signature("OHDR");
    if (c.u8() != 2) c.damaged("has an unknown version");
    const std::uint8_t flags = c.u8();
    if (flags & 0x20) c.skip(16);  // times
    if (flags & 0x10) c.skip(4);   // when attributes move out
    const std::uint64_t size = c.number(1 << (flags & 3));
    const std::uint64_t prefix = c.place() - address;
    if (size > file_.size()) c.damaged("is larger than the file");
    read_new_part({address, prefix + size + 4}, prefix, flags & 4);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].size < 8) file_.damaged(parts_[i].at, "a part of a header is too small");
      read_new_part(parts_[i], 4, flags & 4);
    }
  }
  void read_new_part(Part p, std::uint64_t prefix, bool ordered) {
    Cursor part = file_.block(p.at, p.size, "an object's header");
    part.signature(prefix == 4 ? "OCHK" : "OHDR");
    part.skip(prefix - 4);
    const std::uint64_t head = ordered ? 6 : 4;
    while (part.left() >= 4 + head) {
      const std::uint16_t kind = part.u8();
      const std::uint16_t size = part.u16();
      const std::uint8_t flags = part.u8();
      if (ordered) part.skip(2);
      if (size + std::uint64_t{4} > part.left()) part.damaged("has a message that does not fit");
      add(part, kind, flags, size);
    }
    part.skip(part.left() - 4);  // a gap that is too small for a message
    part.checksum();
  }

  void add(Cursor& from, std::uint16_t kind, std::uint8_t flags, std::uint64_t size) {
    ++seen_;
    Message m;
    m.place = from.place();
    const std::string_view body = from.take(size);
    RILL_CHECK(kind <= kLastKnownKind || !(flags & kFailIfUnknown), unimplemented,
               "[hdf5] {}: an object at byte {} needs a feature that is not known (message {})",
               file_.name(), m.place, kind);
    m.kind = static_cast<MessageKind>(kind);
    if (m.kind == MessageKind::nil || kind > kLastKnownKind) return;
    m.shared = flags & kShared;
    file_.spend(sizeof m + size);
    m.body = body;
    if (m.kind == MessageKind::continuation) {
      Cursor c = cursor_of(file_, m, "the continuation of a header");
      const std::uint64_t at = c.address();
      parts_.push_back({at, c.length()});
      return;
    }
    messages_.push_back(std::move(m));
  }

  const File& file_;
  std::vector<Part> parts_;
  std::vector<Message> messages_;
  std::uint64_t seen_ = 0;
};

}  // namespace

std::vector<Message> read_messages(const File& file, std::uint64_t address) {
  return HeaderReader(file, address).messages();
}

Cursor cursor_of(const File& file, const Message& m, const char* what) {
  return Cursor(file, m.place, m.body, what);
}

Message resolved(const File& file, const Message& m) {
  if (!m.shared) return m;
  Cursor c = cursor_of(file, m, "a shared message");
  const std::uint8_t version = c.version(3), kind = c.u8();
  RILL_CHECK(version < 3 || kind != 1, unimplemented,
             "[hdf5] {}: the message at byte {} is kept in a table of shared messages, which is "
             "not read",
             file.name(), m.place);
  if (version == 1) c.skip(6);
  const std::uint64_t address = c.address();
  for (Message& other : read_messages(file, address))
    if (other.kind == m.kind && !other.shared) return std::move(other);
  c.damaged(format("is said to be in the object at byte {}, which has none", address));
}

const Message* Object::find(MessageKind wanted) const {
  for (const Message& m : messages)
    if (m.kind == wanted) return &m;
  return nullptr;
}

Object read_object(const File& file, std::uint64_t address) {
  Object o;
  o.address = address;
  o.messages = read_messages(file, address);
  if (o.find(MessageKind::symbol_table) || o.find(MessageKind::link_info)) {
    o.kind = Object::Kind::group;
    o.links = read_links(file, o);
  } else if (o.find(MessageKind::datatype) && o.find(MessageKind::dataspace)) {
    o.kind = Object::Kind::array;
  }
  return o;
}

}  // namespace rill::io::hdf5
