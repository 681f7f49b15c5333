#include <bit>
#include <vector>

#include "rill/io/hdf5/btree_impl.h"

namespace rill::io::hdf5 {
namespace {

constexpr std::uint64_t kNodeFrame = 4 + 1 + 1 + 4;  // signature, version, kind, checksum

// How many bytes a number up to `limit` takes.
int bytes_for(std::uint64_t limit) {
  return (static_cast<int>(std::bit_width(limit | 1)) - 1) / 8 + 1;
}

class Tree {
 public:
  Tree(const File& file, std::uint64_t header, BTreeKind kind,
       const std::function<void(Cursor&)>& call)
      : file_(file), kind_(kind), call_(call) {
    const auto a = static_cast<std::uint64_t>(file.address_size());
    Cursor c = file.block(
        header,
        4 + 1 + 1 + 4 + 2 + 2 + 1 + 1 + a + 2 + static_cast<std::uint64_t>(file.length_size()) + 4,
        "the header of a B-tree");
    c.signature("BTHD");
    c.version(0);
    if (c.u8() != static_cast<std::uint8_t>(kind)) c.damaged("is of another kind");
    node_size_ = c.u32();
    record_size_ = c.u16();
    const unsigned depth = c.u16();
    c.skip(2);  // when nodes are split and merged
    root_ = c.address();
    const std::uint64_t count = c.u16();
    c.length();  // all records
    c.checksum();
    // A tree that is deeper than this has more records than fit into 64 bits.
    if (record_size_ == 0 || node_size_ < kNodeFrame + record_size_ || depth > 63)
      c.damaged("has sizes that cannot be");
    set_levels(depth);
    if (root_ != kNowhere && count > 0) node(root_, count, depth);
  }

 private:
  // Nodes have a fixed size, so what they can hold follows from it, and from that the width of
  // the counts in nodes above.
  struct Level {
    std::uint64_t most_below = 0;  // records in a node and all below it
    int total_bytes = 0;           // of such a number; in leaves it is not written
  };
  void set_levels(unsigned depth) {
    const std::uint64_t in_leaf = (node_size_ - kNodeFrame) / record_size_;
    count_bytes_ = bytes_for(in_leaf);
    levels_.push_back({in_leaf, 0});
    for (unsigned d = 1; d <= depth; ++d) {
      const std::uint64_t pointer = pointer_size(d);
      if (node_size_ < kNodeFrame + pointer)
        file_.damaged(root_, "a B-tree has sizes that cannot be");
      const std::uint64_t here = (node_size_ - kNodeFrame - pointer) / (record_size_ + pointer);
      const std::uint64_t below = levels_.back().most_below;
      const std::uint64_t most =
          below > (kNowhere - here) / (here + 1) ? kNowhere : (here + 1) * below + here;
      levels_.push_back({most, bytes_for(most)});
    }
  }
  std::uint64_t pointer_size(unsigned depth) const {
    return static_cast<std::uint64_t>(file_.address_size() + count_bytes_ +
                                      levels_[depth - 1].total_bytes);
  }

  void node(std::uint64_t address, std::uint64_t count, unsigned depth) {
    const std::uint64_t pointers = depth > 0 ? (count + 1) * pointer_size(depth) : 0;
    Cursor c =
        file_.block(address, kNodeFrame + count * record_size_ + pointers, "a node of a B-tree");
    c.signature(depth > 0 ? "BTIN" : "BTLF");
    c.version(0);
    if (c.u8() != static_cast<std::uint8_t>(kind_)) c.damaged("is of another kind");
    std::vector<std::string> records;  // short: they stay in the nodes of deep trees' paths
    const std::uint64_t first = c.place();
    for (std::uint64_t i = 0; i < count; ++i) {
      file_.spend(sizeof(std::string) + record_size_);
      records.emplace_back(c.take(record_size_));
    }
    struct Child {
      std::uint64_t address, count;
    };
    std::vector<Child> children;
    for (std::uint64_t i = 0; depth > 0 && i <= count; ++i) {
      const std::uint64_t at = c.address();
      children.push_back({at, c.number(count_bytes_)});
      if (depth > 1) c.number(levels_[depth - 1].total_bytes);
    }
    c.checksum();
    for (std::uint64_t i = 0; i <= count; ++i) {
      if (depth > 0) node(children[i].address, children[i].count, depth - 1);
      if (i == count) break;
      Cursor record(file_, first + i * record_size_, std::move(records[i]), "a record of a B-tree");
      call_(record);
    }
  }

  const File& file_;
  BTreeKind kind_;
  const std::function<void(Cursor&)>& call_;
  std::uint64_t node_size_ = 0, record_size_ = 0, root_ = kNowhere;
  int count_bytes_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

void each_record(const File& file, std::uint64_t header, BTreeKind kind,
                 const std::function<void(Cursor&)>& call) {
  Tree(file, header, kind, call);
}

}  // namespace rill::io::hdf5
