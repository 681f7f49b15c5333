#include "rill/io/hdf5/btree_impl.h"
#include "rill/io/hdf5/heaps_impl.h"
#include "rill/io/hdf5/object_impl.h"

namespace rill::io::hdf5 {
namespace {

void insert(const File& file, Links& links, std::string name, Link link) {
  file.spend(sizeof(Links::value_type) + name.size() + link.target.size());
  links.insert_or_assign(std::move(name), std::move(link));
}

// ---- groups as HDF5 has had them from the beginning: a tree whose leaves are lists of names
void read_symbols(const File& file, std::uint64_t address, const LocalHeap& heap, Links& links) {
  constexpr const char* kWhat = "a list of a group's members";
  constexpr std::uint32_t kSoft = 2;
  Cursor head = file.block(address, 8, kWhat);
  head.signature("SNOD");
  head.skip(2);
  const std::uint64_t count = head.u16();
  const auto a = static_cast<std::uint64_t>(file.address_size());
  Cursor c = file.block(address + 8, count * (2 * a + 24), kWhat);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string name = heap.text(c.address());
    Link link;
    link.address = c.address();
    const std::uint32_t cached = c.u32();
    c.skip(4);
    const std::uint32_t target = c.u32();
    c.skip(12);
    if (cached == kSoft) {
      link.kind = Link::Kind::soft;
      link.target = heap.text(target);
    }
    insert(file, links, std::move(name), std::move(link));
  }
}

void read_symbol_table(const File& file, const Message& m, Links& links) {
  Cursor c = cursor_of(file, m, "the table of a group");
  const std::uint64_t tree = c.address();
  const LocalHeap heap(file, c.address());
  each_child(file, tree, OldBTreeKind::group, static_cast<std::uint64_t>(file.length_size()),
             [&](Cursor&, std::string_view, std::uint64_t child) {
               read_symbols(file, child, heap, links);
             });
}

// ---- newer groups: link messages, in the header or in a heap
void read_link(const File& file, Cursor& c, Links& links) {
  constexpr std::uint8_t kHard = 0, kSoft = 1;
  if (c.u8() != 1) c.damaged("has an unknown version");
  const std::uint8_t flags = c.u8();
  const std::uint8_t kind = flags & 8 ? c.u8() : kHard;
  if (flags & 4) c.skip(8);   // the order of creation
  if (flags & 16) c.skip(1);  // the character set
  std::string name(c.take(c.number(1 << (flags & 3))));
  Link link;
  if (kind == kHard) {
    link.address = c.address();
  } else if (kind == kSoft) {
    link.kind = Link::Kind::soft;
    link.target = c.take(c.u16());
  } else {
    link.kind = Link::Kind::outside;
  }
  insert(file, links, std::move(name), std::move(link));
}

void read_link_info(const File& file, const Message& m, Links& links) {
  Cursor c = cursor_of(file, m, "the table of a group");
  c.version(0);
  if (c.u8() & 1) c.skip(8);  // the order of creation
  const std::uint64_t heap_address = c.address(), names = c.address();
  if (heap_address == kNowhere || names == kNowhere) return;
  FractalHeap heap(file, heap_address);
  each_record(file, names, BTreeKind::link_name, [&](Cursor& record) {
    record.skip(4);  // the name's hash
    const FractalHeap::Found found = heap.object(record.take(heap.id_size()));
    Cursor link(file, found.place, found.bytes, "a link");
    read_link(file, link, links);
  });
}

}  // namespace

Links read_links(const File& file, const Object& group) {
  Links links;
  for (const Message& m : group.messages) {
    if (m.kind == MessageKind::symbol_table) read_symbol_table(file, m, links);
    if (m.kind == MessageKind::link_info) read_link_info(file, m, links);
    if (m.kind == MessageKind::link) {
      Cursor c = cursor_of(file, m, "a link");
      read_link(file, c, links);
    }
  }
  return links;
}

}  // namespace rill::io::hdf5
