#include <algorithm>
#include <bit>

#include "rill/base/check.h"
#include "rill/io/hdf5/btree_impl.h"
#include "rill/io/hdf5/heaps_impl.h"

namespace rill::io::hdf5 {
namespace {

unsigned log2_of(std::uint64_t n) { return static_cast<unsigned>(std::bit_width(n)) - 1; }

}  // namespace

// The heap is a space of offsets, cut into blocks. The first row has blocks of the start size, as
// has the second; from there on sizes double with each row. Small blocks hold objects ("direct");
// larger ones hold rows of blocks again ("indirect").
FractalHeap::FractalHeap(const File& file, std::uint64_t address) : file_(file), address_(address) {
  const auto a = static_cast<std::uint64_t>(file.address_size());
  const auto l = static_cast<std::uint64_t>(file.length_size());
  Cursor c = file.block(address, 4 + 1 + 2 + 2 + 1 + 4 + 12 * l + 3 * a + 2 + 2 + 2 + 2 + 4,
                        "a fractal heap");
  c.signature("FRHP");
  c.version(0);
  id_size_ = c.u16();
  RILL_CHECK(c.u16() == 0, unimplemented,
             "[hdf5] {}: the fractal heap at byte {} is compressed, which is not read", file.name(),
             address);
  checked_ = c.u8() & 2;
  const std::uint64_t largest = c.u32();
  c.length();  // the next number of a huge object
  huge_tree_ = c.address();
  c.length();     // free space
  c.address();    // where it is listed
  c.skip(8 * l);  // counts and sizes
  width_ = c.u16();
  start_ = c.length();
  max_direct_ = c.length();
  offset_bits_ = c.u16();
  c.u16();  // rows at the beginning
  root_ = c.address();
  root_rows_ = c.u16();
  c.checksum();
  if (!std::has_single_bit(width_) || !std::has_single_bit(start_) ||
      !std::has_single_bit(max_direct_) || max_direct_ < start_ || offset_bits_ > 64 ||
      offset_bits_ < 1 || log2_of(start_) + log2_of(width_) > 62 ||
      log2_of(max_direct_) > offset_bits_ || root_rows_ > 64 || largest == 0 || id_size_ < 1)
    c.damaged("has sizes that cannot be");
  direct_rows_ = log2_of(max_direct_) - log2_of(start_) + 2;
  offset_bytes_ = static_cast<int>(offset_bits_ + 7) / 8;
  length_bytes_ = std::min(static_cast<int>(log2_of(max_direct_) + 7) / 8,
                           static_cast<int>(log2_of(largest)) / 8 + 1);
}

std::uint64_t FractalHeap::row_size(unsigned row) const {
  const unsigned bits = log2_of(start_) + (row > 1 ? row - 1 : 0);
  if (bits > 62) file_.damaged(address_, "a fractal heap has too many rows");
  return std::uint64_t{1} << bits;
}

FractalHeap::Found FractalHeap::object(std::string_view id) {
  Cursor c(file_, address_, std::string(id), "the identifier in a fractal heap");
  const std::uint8_t flags = c.u8();
  if (flags >> 6 != 0) c.damaged("has an unknown version");
  switch (flags >> 4 & 3) {
    case 0: {
      const std::uint64_t offset = c.number(offset_bytes_);
      return managed(offset, length_bytes_ > 0 ? c.number(length_bytes_) : 0);
    }
    case 1: {
      const auto direct = static_cast<std::uint64_t>(file_.address_size() + file_.length_size());
      if (id_size_ <= direct) {
        // A number, found by a tree; it has as many bytes as there is room for.
        return huge(c.number(static_cast<int>(std::min<std::uint64_t>(8, c.left()))));
      }
      const std::uint64_t at = c.address(), size = c.length();
      return huge_at(at, size);
    }
    case 2: {  // in the identifier itself
      std::uint64_t size = (flags & 15u) + 1;
      if (id_size_ > 18) size = ((flags & 15u) << 8 | c.u8()) + 1;
      return {address_, std::string(c.take(size))};
    }
    default:
      c.damaged("has an unknown type");
  }
}

FractalHeap::Found FractalHeap::managed(std::uint64_t offset, std::uint64_t size) {
  const auto found_in = [&](std::uint64_t block, std::uint64_t block_size) -> Found {
    const std::string& bytes = direct(block, block_size);
    if (offset > bytes.size() || size > bytes.size() - offset)
      file_.damaged(block, "an object of a fractal heap does not fit into its block");
    return {block + offset, bytes.substr(offset, size)};
  };
  if (root_rows_ == 0) return found_in(root_, start_);
  std::uint64_t block = root_;
  unsigned rows = root_rows_;
  // Each turn goes to a smaller block, so this ends.
  while (true) {
    const std::uint64_t row_one = width_ * start_;  // where the second row begins
    const unsigned row = offset < row_one ? 0 : log2_of(offset) - log2_of(row_one) + 1;
    if (row >= rows) file_.damaged(block, "a fractal heap refers to an object behind its end");
    const std::uint64_t each = row_size(row);
    const std::uint64_t in_row = offset - (row == 0 ? 0 : row_one << (row - 1));
    const std::uint64_t child = indirect(block, rows).children[row * width_ + in_row / each];
    offset = in_row % each;
    if (row < direct_rows_) return found_in(child, each);
    // The block of this row is cut into rows again.
    if (each < row_one) file_.damaged(block, "a fractal heap has sizes that cannot be");
    rows = log2_of(each) - log2_of(row_one) + 1;
    block = child;
  }
}

const FractalHeap::Indirect& FractalHeap::indirect(std::uint64_t address, unsigned rows) {
  const auto [at, is_new] = indirect_.try_emplace(address);
  Indirect& block = at->second;
  if (is_new) {
    const std::uint64_t count = rows * width_;
    const auto a = static_cast<std::uint64_t>(file_.address_size());
    Cursor c =
        file_.block(address, 4 + 1 + a + static_cast<std::uint64_t>(offset_bytes_) + count * a + 4,
                    "an indirect block");
    c.signature("FHIB");
    c.version(0);
    c.address();  // the heap
    c.skip(static_cast<std::uint64_t>(offset_bytes_));
    for (std::uint64_t i = 0; i < count; ++i) block.children.push_back(c.address());
    c.checksum();
  }
  if (block.children.size() != rows * width_)
    file_.damaged(address, "an indirect block is used with two sizes");
  return block;
}

const std::string& FractalHeap::direct(std::uint64_t address, std::uint64_t size) {
  const auto [at, is_new] = direct_.try_emplace(address);
  if (is_new) {
    Cursor c = file_.block(address, size, "a direct block");
    at->second = c.take(size);
    if (at->second.substr(0, 4) != "FHDB")
      file_.damaged(address, "a direct block does not begin with \"FHDB\"");
    if (checked_) {
      // The checksum follows the head and is taken as if it were zero.
      const auto head = static_cast<std::uint64_t>(5 + file_.address_size() + offset_bytes_);
      if (size < head + 4) file_.damaged(address, "a direct block is too small");
      std::string zeroed = at->second;
      const std::string stored = zeroed.substr(head, 4);
      zeroed.replace(head, 4, 4, '\0');
      Cursor sum(file_, address, zeroed + stored, "a direct block");
      sum.skip(size);
      sum.checksum();
    }
  }
  if (at->second.size() != size) file_.damaged(address, "a direct block is used with two sizes");
  return at->second;
}

FractalHeap::Found FractalHeap::huge_at(std::uint64_t address, std::uint64_t size) const {
  Cursor c = file_.block(address, size, "a huge object");
  return {address, std::string(c.take(size))};
}

FractalHeap::Found FractalHeap::huge(std::uint64_t number) {
  if (!knows_huge_ && huge_tree_ != kNowhere)
    each_record(file_, huge_tree_, BTreeKind::huge_object, [&](Cursor& record) {
      const std::uint64_t at = record.address(), size = record.length();
      file_.spend(64);
      huge_[record.length()] = {at, size};
    });
  knows_huge_ = true;
  const auto found = huge_.find(number);
  if (found == huge_.end()) file_.damaged(address_, "a fractal heap lacks a huge object");
  return huge_at(found->second.first, found->second.second);
}

}  // namespace rill::io::hdf5
