#include <algorithm>

#include "rill/base/check.h"
#include "rill/io/hdf5/array_impl.h"
#include "rill/io/hdf5/btree_impl.h"

namespace rill::io::hdf5 {
namespace {

class IndexReader {
 public:
  IndexReader(const File& file, const Array& array)
      : file_(file), a_(array), rank_(array.space.sizes.size()) {
    for (std::size_t i = 0; i < rank_; ++i) {
      const std::uint64_t size = array.layout.chunk[i], n = array.space.sizes[i],
                          most = array.space.most[i];
      counts_.push_back(n / size + (n % size != 0));
      most_.push_back(most == kNowhere ? kNowhere : most / size + (most % size != 0));
    }
    if (array.layout.address != kNowhere) read();
  }
  std::vector<Chunk> chunks() { return std::move(chunks_); }

 private:
  void read() {
    switch (a_.layout.index) {
      case Layout::Index::old_btree:
        return read_old_btree();
      case Layout::Index::single:
        return read_single();
      case Layout::Index::implicit:
        return read_implicit();
      case Layout::Index::fixed_array:
        return read_fixed();
      case Layout::Index::extensible_array:
        return read_extensible();
      case Layout::Index::btree:
        return read_btree();
    }
  }
  void add(Chunk chunk) {
    if (chunk.address == kNowhere) return;
    // A chunk outside the array is left over from when that was larger.
    for (std::size_t i = 0; i < rank_; ++i)
      if (chunk.at[i] >= counts_[i]) return;
    // Chunks do not overlap, so all of them fit into the file. With this, and with what deflate
    // can make of a byte, the work is bounded by the file's size.
    if (chunk.size > file_.size() - stored_)
      file_.damaged(chunk.address,
                    format("the chunks of \"{}\" are larger than the file", a_.where));
    stored_ += chunk.size;
    file_.spend(sizeof chunk + rank_ * sizeof(std::uint64_t));
    chunks_.push_back(std::move(chunk));
  }

  void read_old_btree() {
    // A key has size, mask, and the place in elements with a last one that is always 0.
    const std::uint64_t key_size = 8 + 8 * (rank_ + 1);
    each_child(file_, a_.layout.address, OldBTreeKind::chunks, key_size,
               [&](Cursor& node, std::string_view key, std::uint64_t child) {
                 Cursor c(file_, node.place(), std::string(key), "the key of a chunk");
                 Chunk chunk;
                 chunk.address = child;
                 chunk.size = c.u32();
                 chunk.mask = c.u32();
                 for (std::size_t i = 0; i < rank_; ++i) {
                   const std::uint64_t at = c.u64();
                   if (at % a_.layout.chunk[i]) c.damaged("is not a multiple of the chunk's size");
                   chunk.at.push_back(at / a_.layout.chunk[i]);
                 }
                 add(std::move(chunk));
               });
  }

  void read_single() {
    Chunk chunk;
    chunk.at.assign(rank_, 0);
    chunk.address = a_.layout.address;
    chunk.size = a_.filters.empty() ? a_.chunk_bytes() : a_.layout.single_size;
    chunk.mask = a_.layout.single_mask;
    add(std::move(chunk));
  }

  // All chunks one behind another, in the order of the largest shape that the array may have.
  void read_implicit() {
    const std::uint64_t bytes = a_.chunk_bytes();
    const std::uint64_t most = file_.size() / bytes;
    std::uint64_t all = 1;
    for (const std::uint64_t n : most_) {
      if (n > 0 && all > most / n)
        file_.damaged(a_.layout.address,
                      format("the chunks of \"{}\" are larger than the file", a_.where));
      all *= n;
    }
    count_from(0);
    for (std::uint64_t i = 0; i < all; ++i)
      add_numbered({i, a_.layout.address + i * bytes, bytes, 0});
  }

  // Numbers count the dimension that may grow without end as if it were the first.
  void read_extensible() {
    const auto grows = std::find(most_.begin(), most_.end(), kNowhere);
    if (grows == most_.end())
      file_.damaged(a_.layout.address,
                    format("\"{}\" has the index of an array that grows, but cannot", a_.where));
    count_from(static_cast<std::size_t>(grows - most_.begin()));
    for (const Entry& e : read_extensible_array(file_, a_.layout.address, !a_.filters.empty()))
      add_numbered(e);
  }

  void read_fixed() {
    count_from(0);
    for (const Entry& e : read_fixed_array(file_, a_.layout.address, !a_.filters.empty()))
      add_numbered(e);
  }

  void count_from(std::size_t first) {
    order_ = {first};
    for (std::size_t i = 0; i < rank_; ++i)
      if (i != first) order_.push_back(i);
  }
  void add_numbered(const Entry& e) {
    Chunk chunk;
    chunk.at.resize(rank_);
    std::uint64_t rest = e.number;
    for (std::size_t k = rank_; k-- > 1;) {
      const std::uint64_t n = most_[order_[k]];
      if (n == 0) return;  // an array without elements
      chunk.at[order_[k]] = rest % n;
      rest /= n;
    }
    chunk.at[order_[0]] = rest;
    chunk.address = e.address;
    chunk.size = a_.filters.empty() ? a_.chunk_bytes() : e.size;
    chunk.mask = e.mask;
    add(std::move(chunk));
  }

  void read_btree() {
    const bool filtered = !a_.filters.empty();
    const std::uint64_t place_size = 8 * rank_;
    each_record(file_, a_.layout.address, filtered ? BTreeKind::filtered_chunk : BTreeKind::chunk,
                [&](Cursor& c) {
                  Chunk chunk;
                  chunk.address = c.address();
                  chunk.size = a_.chunk_bytes();
                  if (filtered) {
                    if (c.left() < place_size + 5 || c.left() > place_size + 12)
                      c.damaged("of a chunk has an impossible size");
                    chunk.size = c.number(static_cast<int>(c.left() - place_size - 4));
                    chunk.mask = c.u32();
                  }
                  for (std::size_t i = 0; i < rank_; ++i) chunk.at.push_back(c.u64());
                  add(std::move(chunk));
                });
  }

  const File& file_;
  const Array& a_;
  std::size_t rank_;
  std::vector<std::uint64_t> counts_, most_;  // chunks in each dimension, now and at most
  std::vector<std::size_t> order_;            // of dimensions in numbers, the slowest first
  std::uint64_t stored_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace

std::vector<Chunk> read_chunk_index(const File& file, const Array& array) {
  return IndexReader(file, array).chunks();
}

}  // namespace rill::io::hdf5
