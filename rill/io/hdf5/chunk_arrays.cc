#include <algorithm>
#include <bit>

#include "rill/base/check.h"
#include "rill/io/hdf5/array_impl.h"

// Two indexes of chunks by number: arrays that are fixed and arrays that grow at their end.
namespace rill::io::hdf5 {
namespace {

unsigned log2_of(std::uint64_t n) { return static_cast<unsigned>(std::bit_width(n)) - 1; }

// What both have in common: entries, alone or in pages with a checksum each.
class ArrayReader {
 public:
  ArrayReader(const File& file, bool filtered) : file_(file), filtered_(filtered) {}
  std::vector<Entry> entries() { return std::move(entries_); }

 protected:
  std::uint64_t address_size() const { return static_cast<std::uint64_t>(file_.address_size()); }
  // Signature, version, kind of entries, address of the header.
  std::uint64_t block_head() const { return 6 + address_size(); }

  void header(Cursor& c, std::string_view signature) {
    c.signature(signature);
    c.version(0);
    if (c.u8() != (filtered_ ? 1 : 0)) c.damaged("is of another kind than its array");
    entry_size_ = c.u8();
    const std::uint64_t plain = address_size();
    if (filtered_ ? entry_size_ < plain + 5 || entry_size_ > plain + 12 : entry_size_ != plain)
      c.damaged("has entries of an impossible size");
  }
  void head_of_block(Cursor& c, std::string_view signature) {
    c.signature(signature);
    c.version(0);
    c.skip(1);
    c.address();
  }

  void read_entry(Cursor& c, std::uint64_t number) {
    Entry e{number, c.address(), 0, 0};
    if (filtered_) {
      e.size = c.number(static_cast<int>(entry_size_ - address_size() - 4));
      e.mask = c.u32();
    }
    if (e.address == kNowhere) return;
    file_.spend(sizeof e);
    entries_.push_back(e);
  }

  void read_page(std::uint64_t at, std::uint64_t first, std::uint64_t count) {
    Cursor c = file_.block(at, count * entry_size_ + 4, "a page of chunks");
    for (std::uint64_t i = 0; i < count; ++i) read_entry(c, first + i);
    c.checksum();
  }

  static bool bit_of(std::string_view bits, std::uint64_t i) {
    return i / 8 < bits.size() && (static_cast<unsigned char>(bits[i / 8]) & (128u >> (i % 8)));
  }

  // Enough for any count to be multiplied with any size of entries.
  void check_count(std::uint64_t n, std::uint64_t at) const {
    if (n > file_.size() / entry_size_)
      file_.damaged(at, "an index of chunks claims more than the file can hold");
  }

  const File& file_;
  bool filtered_;
  std::uint64_t entry_size_ = 0;
  std::vector<Entry> entries_;
};

class FixedArray : public ArrayReader {
 public:
  FixedArray(const File& file, std::uint64_t at, bool filtered) : ArrayReader(file, filtered) {
    constexpr const char* kWhat = "a fixed array of chunks";
    const auto l = static_cast<std::uint64_t>(file.length_size());
    Cursor c = file.block(at, 8 + l + address_size() + 4, kWhat);
    header(c, "FAHD");
    const unsigned page_bits = c.u8();
    const std::uint64_t count = c.length(), data = c.address();
    c.checksum();
    if (data == kNowhere) return;
    check_count(count, at);
    const std::uint64_t page = page_bits < 63 ? std::uint64_t{1} << page_bits : kNowhere;
    if (count <= page) {
      Cursor d = file.block(data, block_head() + count * entry_size_ + 4, kWhat);
      head_of_block(d, "FADB");
      for (std::uint64_t i = 0; i < count; ++i) read_entry(d, i);
      d.checksum();
      return;
    }
    const std::uint64_t pages = (count - 1) / page + 1, bits = (pages + 7) / 8;
    Cursor d = file.block(data, block_head() + bits + 4, kWhat);
    head_of_block(d, "FADB");
    const std::string_view is_there = d.take(bits);
    d.checksum();
    const std::uint64_t first = d.place(), stride = page * entry_size_ + 4;
    for (std::uint64_t p = 0; p < pages; ++p)
      if (bit_of(is_there, p))
        read_page(first + p * stride, p * page, std::min(page, count - p * page));
  }
};

// The first entries are in the index block. All others are in data blocks, which grow: "super
// block" number k has 2^(k/2) data blocks of 2^((k+1)/2) times the smallest size. The index block
// lists the data blocks of the first super blocks itself, and the addresses of the other ones.
class ExtensibleArray : public ArrayReader {
 public:
  ExtensibleArray(const File& file, std::uint64_t at, bool filtered) : ArrayReader(file, filtered) {
    const auto l = static_cast<std::uint64_t>(file.length_size());
    Cursor c = file.block(at, 12 + 6 * l + address_size() + 4, kWhat);
    header(c, "EAHD");
    const unsigned count_bits = c.u8();
    const std::uint64_t in_index = c.u8();
    smallest_ = c.u8();
    const std::uint64_t pointers = c.u8();
    const unsigned page_bits = c.u8();
    c.skip(4 * l);  // how many blocks there are
    end_ = c.length();
    c.length();
    const std::uint64_t index = c.address();
    c.checksum();
    if (count_bits < 1 || count_bits > 64 || !std::has_single_bit(smallest_) ||
        !std::has_single_bit(pointers) || page_bits > 62 || log2_of(smallest_) >= count_bits)
      c.damaged("has sizes that cannot be");
    if (index == kNowhere) return;
    offset_bytes_ = (count_bits + 7) / 8;
    page_ = std::uint64_t{1} << page_bits;
    const unsigned supers = 1 + count_bits - log2_of(smallest_);
    const unsigned listed = std::min(supers, 2 * log2_of(pointers));  // without their own block
    read_index(index, in_index, supers, listed);
  }

 private:
  static constexpr const char* kWhat = "an extensible array of chunks";

  static std::uint64_t blocks_of(unsigned super) { return std::uint64_t{1} << (super / 2); }
  std::uint64_t entries_of(unsigned super) const {  // in each of its data blocks
    const unsigned shift = (super + 1) / 2;
    return shift > 40 ? kNowhere : smallest_ << shift;
  }

  void read_index(std::uint64_t at, std::uint64_t in_index, unsigned supers, unsigned listed) {
    std::uint64_t blocks = 0;
    for (unsigned k = 0; k < listed; ++k) blocks += blocks_of(k);
    Cursor c = file_.block(
        at,
        block_head() + in_index * entry_size_ + (blocks + (supers - listed)) * address_size() + 4,
        kWhat);
    head_of_block(c, "EAIB");
    for (std::uint64_t i = 0; i < in_index; ++i) read_entry(c, i);
    const std::vector<std::uint64_t> block_at = addresses(c, blocks);
    const std::vector<std::uint64_t> super_at = addresses(c, supers - listed);
    c.checksum();
    std::uint64_t number = in_index;
    std::size_t next = 0;
    for (unsigned k = 0; k < listed; ++k)
      for (std::uint64_t b = 0; b < blocks_of(k); ++b, number += entries_of(k))
        read_data(block_at[next++], number, entries_of(k), {}, 0);
    for (unsigned k = listed; k < supers && number < end_; ++k) {
      if (super_at[k - listed] != kNowhere) read_super(super_at[k - listed], k, number);
      if (entries_of(k) == kNowhere) break;  // far beyond any file
      number += blocks_of(k) * entries_of(k);
    }
  }
  std::vector<std::uint64_t> addresses(Cursor& c, std::uint64_t n) const {
    std::vector<std::uint64_t> list(n);  // the cursor has been made for as many
    for (std::uint64_t& at : list) at = c.address();
    return list;
  }

  void read_super(std::uint64_t at, unsigned k, std::uint64_t number) {
    const std::uint64_t blocks = blocks_of(k), each = entries_of(k);
    check_count(blocks, at);
    check_count(each, at);
    const std::uint64_t pages = each > page_ ? each / page_ : 0, bits = blocks * ((pages + 7) / 8);
    Cursor c =
        file_.block(at, block_head() + offset_bytes_ + bits + blocks * address_size() + 4, kWhat);
    head_of_block(c, "EASB");
    c.skip(offset_bytes_);
    const std::string_view is_there = c.take(bits);
    const std::vector<std::uint64_t> block_at = addresses(c, blocks);
    c.checksum();
    for (std::uint64_t b = 0; b < blocks; ++b, number += each)
      read_data(block_at[b], number, each, is_there, b * pages);
  }

  void read_data(std::uint64_t at, std::uint64_t number, std::uint64_t count,
                 std::string_view is_there, std::uint64_t first_bit) {
    if (at == kNowhere) return;
    check_count(count, at);
    const std::uint64_t head = block_head() + offset_bytes_;
    if (count <= page_) {
      Cursor c = file_.block(at, head + count * entry_size_ + 4, kWhat);
      head_of_block(c, "EADB");
      c.skip(offset_bytes_);
      for (std::uint64_t i = 0; i < count; ++i) read_entry(c, number + i);
      c.checksum();
      return;
    }
    Cursor c = file_.block(at, head + 4, kWhat);
    head_of_block(c, "EADB");
    c.skip(offset_bytes_);
    c.checksum();
    const std::uint64_t stride = page_ * entry_size_ + 4;
    for (std::uint64_t p = 0; p < count / page_; ++p)
      if (bit_of(is_there, first_bit + p))
        read_page(c.place() + p * stride, number + p * page_, page_);
  }

  std::uint64_t smallest_ = 1, end_ = 0, page_ = 1, offset_bytes_ = 0;
};

}  // namespace

std::vector<Entry> read_fixed_array(const File& file, std::uint64_t header, bool filtered) {
  return FixedArray(file, header, filtered).entries();
}
std::vector<Entry> read_extensible_array(const File& file, std::uint64_t header, bool filtered) {
  return ExtensibleArray(file, header, filtered).entries();
}

}  // namespace rill::io::hdf5
