#include "rill/base/check.h"
#include "rill/io/hdf5/btree_impl.h"
#include "rill/io/hdf5/heaps_impl.h"
#include "rill/io/hdf5/type_impl.h"

namespace rill::io::hdf5 {
namespace {

constexpr const char* kWhat = "an attribute";

struct Head {
  std::uint8_t version, flags;
  std::uint64_t type_size, space_size;
  std::string name;
};

// Leaves the cursor at the type.
Head read_head(Cursor& c) {
  Head h{};
  h.version = c.version(3);
  if (h.version == 0) c.damaged("has version 0");
  h.flags = c.u8();
  const std::uint64_t name_size = c.u16();
  h.type_size = c.u16();
  h.space_size = c.u16();
  if (h.version == 3) c.skip(1);  // the character set
  const std::string_view name = c.take(name_size);
  h.name = name.substr(0, name.find('\0'));
  if (h.version == 1) c.align8();
  return h;
}

void insert(const File& file, Message m, Attributes& all) {
  RILL_CHECK(!m.shared, unimplemented,
             "[hdf5] {}: the attribute at byte {} is kept in a table of shared messages, which is "
             "not read",
             file.name(), m.place);
  Cursor c = cursor_of(file, m, kWhat);
  std::string name = read_head(c).name;
  file.spend(sizeof(Attributes::value_type) + name.size() + m.body.size());
  all.insert_or_assign(std::move(name), std::move(m));
}

// Attributes of an object that has many, or large ones.
void read_attribute_info(const File& file, const Message& info, Attributes& all) {
  constexpr std::uint8_t kShared = 2;
  Cursor c = cursor_of(file, info, "the table of attributes");
  c.version(0);
  if (c.u8() & 1) c.skip(2);  // the order of creation
  const std::uint64_t heap_address = c.address(), names = c.address();
  if (heap_address == kNowhere || names == kNowhere) return;
  FractalHeap heap(file, heap_address);
  each_record(file, names, BTreeKind::attribute_name, [&](Cursor& record) {
    const std::string_view id = record.take(heap.id_size());
    FractalHeap::Found found = heap.object(id);
    Message m;
    m.kind = MessageKind::attribute;
    m.shared = record.u8() & kShared;
    m.place = found.place;
    m.body = std::move(found.bytes);
    insert(file, std::move(m), all);
  });
}

}  // namespace

Attributes read_attributes(const File& file, const Object& object) {
  Attributes all;
  for (const Message& m : object.messages) {
    if (m.kind == MessageKind::attribute) insert(file, m, all);
    if (m.kind == MessageKind::attribute_info) read_attribute_info(file, m, all);
  }
  return all;
}

AttributeValue read_attribute(const File& file, const Message& m) {
  Cursor c = cursor_of(file, m, kWhat);
  const Head head = read_head(c);
  const auto part = [&](MessageKind kind, std::uint64_t size, bool shared) {
    Message p;
    p.kind = kind;
    p.shared = shared;
    p.place = c.place();
    p.body = c.take(size);
    if (head.version == 1) c.align8();
    return p;
  };
  const bool can_share = head.version >= 2;
  const Message type = part(MessageKind::datatype, head.type_size, can_share && (head.flags & 1));
  const Message space =
      part(MessageKind::dataspace, head.space_size, can_share && (head.flags & 2));
  AttributeValue v;
  v.type = read_type(file, type);
  v.space = read_space(file, space);
  v.place = c.place();
  v.bytes = c.take(c.left());
  return v;
}

}  // namespace rill::io::hdf5
