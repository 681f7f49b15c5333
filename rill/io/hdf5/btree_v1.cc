#include "rill/io/hdf5/btree_impl.h"

namespace rill::io::hdf5 {
namespace {

struct Walk {
  const File& file;
  OldBTreeKind kind;
  std::uint64_t key_size;
  const std::function<void(Cursor&, std::string_view, std::uint64_t)>& call;

  // Levels fall by one on the way down, so no path is longer than 255 nodes; the file's allowance
  // bounds how many paths there are.
  void node(std::uint64_t address, int level) const {
    const auto a = static_cast<std::uint64_t>(file.address_size());
    const std::uint64_t head = 8 + 2 * a;
    constexpr const char* kWhat = "a node of a B-tree";
    Cursor first = file.block(address, head, kWhat);
    first.signature("TREE");
    if (first.u8() != static_cast<std::uint8_t>(kind)) first.damaged("is of another kind");
    const int own_level = first.u8();
    if (level >= 0 && own_level != level)
      first.damaged("is not one level below the one that leads to it");
    const std::uint64_t count = first.u16();
    Cursor c = file.block(address + head, count * (key_size + a), kWhat);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string_view key = c.take(key_size);
      const std::uint64_t child = c.address();
      if (own_level > 0)
        node(child, own_level - 1);
      else
        call(c, key, child);
    }
  }
};

}  // namespace

void each_child(const File& file, std::uint64_t root, OldBTreeKind kind, std::uint64_t key_size,
                const std::function<void(Cursor&, std::string_view, std::uint64_t)>& call) {
  Walk{file, kind, key_size, call}.node(root, -1);
}

}  // namespace rill::io::hdf5
