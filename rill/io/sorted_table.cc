#include "rill/io/sorted_table.h"

#include <snappy.h>

#include "rill/base/check.h"
#include "rill/io/coding.h"
#include "rill/io/crc32c.h"

namespace rill::io {
namespace {

constexpr std::uint64_t kMagic = 0xdb4775248b80fb57;
constexpr std::size_t kFooterSize = 48, kTrailerSize = 5, kBlockSize = 262144;
constexpr char kPlain = 0, kSnappy = 1;
// A block that unpacks to more than this is not one of a checkpoint's index.
constexpr std::size_t kMaxBlock = std::size_t{1} << 30;

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// A short key from `last` on, and before `next`.
std::string separator(std::string last, std::string_view next) {
  const std::size_t n = shared_prefix(last, next);
  if (n < last.size() && n < next.size()) {
    const auto byte = static_cast<unsigned char>(last[n]);
    if (byte < 0xff && byte + 1 < static_cast<unsigned char>(next[n])) {
      last.resize(n + 1);
      last[n] = static_cast<char>(byte + 1);
    }
  }
  return last;
}
// A short key from `last` on.
std::string successor(std::string last) {
  for (std::size_t i = 0; i < last.size(); ++i)
    if (static_cast<unsigned char>(last[i]) != 0xff) {
      last[i] = static_cast<char>(last[i] + 1);
      last.resize(i + 1);
      break;
    }
  return last;
}

struct Handle {
  std::uint64_t offset = 0, size = 0;
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  TableEntries read() {
    RILL_CHECK(bytes_.size() >= kFooterSize, data_loss,
               "[checkpoint] \"{}\" has {} bytes, too few for an index (at least {}); it was cut "
               "short or is another kind of file",
               path_, bytes_.size(), kFooterSize);
    const std::size_t footer_at = bytes_.size() - kFooterSize;
    const auto magic = get_fixed<std::uint64_t>(bytes_.data() + bytes_.size() - 8);
    RILL_CHECK(magic == kMagic, data_loss,
               "[checkpoint] \"{}\" does not end as an index does (at offset {}); it was cut short "
               "or is another kind of file",
               path_, bytes_.size() - 8);
    std::string_view footer = bytes_.substr(footer_at, kFooterSize - 8);
    Handle meta, index;
    if (!get_handle(footer, &meta) || !get_handle(footer, &index))
      damaged(footer_at, "the footer names no blocks");
    TableEntries out;
    std::string index_memory, memory;
    block(meta, memory);  // tells nothing that we need, but is to be whole
    for (const auto& [key, value] : entries(index, index_memory)) {
      std::string_view handle_bytes = value;
      Handle handle;
      if (!get_handle(handle_bytes, &handle))
        damaged(index.offset, "the index of blocks names none");
      for (auto& e : entries(handle, memory)) {
        if (!out.empty() && e.first <= out.back().first)
          damaged(handle.offset, "keys are not in order");
        out.push_back(std::move(e));
      }
    }
    return out;
  }

 private:
  [[noreturn]] void damaged(std::uint64_t at, const char* what) const {
    RILL_FAIL(data_loss, "[checkpoint] \"{}\" is damaged at offset {}: {}", path_, at, what);
  }

  static bool get_handle(std::string_view& in, Handle* h) {
    return get_varint(in, &h->offset) && get_varint(in, &h->size);
  }

  // The bytes of a block, checked; in `memory` where they had to be unpacked.
  std::string_view block(const Handle& h, std::string& memory) const {
    const std::uint64_t end = bytes_.size() - kFooterSize;
    if (h.offset > end || h.size > end - h.offset || end - h.offset - h.size < kTrailerSize)
      damaged(h.offset, "a block reaches beyond the end of the file");
    const std::string_view stored = bytes_.substr(h.offset, h.size + 1);  // with its type
    const auto crc = get_fixed<std::uint32_t>(stored.data() + stored.size());
    if (mask_crc(crc32c(stored)) != crc) damaged(h.offset, "the checksum of a block is wrong");
    const std::string_view body = stored.substr(0, h.size);
    if (stored.back() == kPlain) return body;
    if (stored.back() != kSnappy) damaged(h.offset, "a block is compressed in an unknown way");
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(body.data(), body.size(), &size) || size > kMaxBlock ||
        !snappy::IsValidCompressedBuffer(body.data(), body.size()) ||
        !snappy::Uncompress(body.data(), body.size(), &memory))
      damaged(h.offset, "a compressed block cannot be unpacked");
    return memory;
  }

  TableEntries entries(const Handle& h, std::string& memory) const {
    std::string_view rest = block(h, memory);
    if (rest.size() < 8) damaged(h.offset, "a block is too small");
    const auto restarts = get_fixed<std::uint32_t>(rest.data() + rest.size() - 4);
    if (restarts > (rest.size() - 4) / 4) damaged(h.offset, "a block has too many restarts");
    rest.remove_suffix(4 + 4 * static_cast<std::size_t>(restarts));
    TableEntries out;
    std::string key;
    while (!rest.empty()) {
      std::uint64_t shared, added, size;
      if (!get_varint(rest, &shared) || !get_varint(rest, &added) || !get_varint(rest, &size) ||
          shared > key.size() || added > rest.size() || size > rest.size() - added)
        damaged(h.offset, "an entry of a block is longer than the block");
      key.resize(shared);
      key += rest.substr(0, added);
      out.emplace_back(key, std::string(rest.substr(added, size)));
      rest.remove_prefix(added + size);
    }
    return out;
  }

  std::string_view bytes_;
  const std::string& path_;
};

}  // namespace

void TableWriter::Block::add(std::string_view key, std::string_view value) {
  std::size_t shared = 0;
  if (count == interval) {
    restarts.push_back(static_cast<std::uint32_t>(body.size()));
    count = 0;
  } else {
    shared = shared_prefix(last_key, key);
  }
  put_varint(body, shared);
  put_varint(body, key.size() - shared);
  put_varint(body, value.size());
  body += key.substr(shared);
  body += value;
  last_key = key;
  ++count;
}

std::string TableWriter::write_block(const Block& block) {
  std::string handle, body = block.body;
  for (std::uint32_t r : block.restarts) put_fixed(body, r);
  put_fixed(body, static_cast<std::uint32_t>(block.restarts.size()));
  put_varint(handle, out_.size());
  put_varint(handle, body.size());
  body += kPlain;
  out_ += body;
  put_fixed(out_, mask_crc(crc32c(body)));
  return handle;
}

void TableWriter::name_pending_block(const std::string& key) {
  if (pending_handle_.empty()) return;
  index_.add(key, pending_handle_);
  pending_handle_.clear();
}

void TableWriter::flush() {
  if (data_.body.empty()) return;
  pending_handle_ = write_block(data_);
  pending_last_ = data_.last_key;
  data_ = Block(16);
}

void TableWriter::add(std::string_view key, std::string_view value) {
  RILL_INTERNAL_CHECK(data_.body.empty() || key > data_.last_key);
  if (key.size() + value.size() >= 2 * kBlockSize) flush();
  name_pending_block(separator(pending_last_, key));
  data_.add(key, value);
  if (data_.size() >= kBlockSize) flush();
}

std::string TableWriter::finish() {
  flush();
  const std::string meta = write_block(Block(16));
  name_pending_block(successor(pending_last_));
  std::string footer = meta + write_block(index_);
  footer.resize(kFooterSize - 8);
  put_fixed(footer, kMagic);
  return std::move(out_) + footer;
}

TableEntries read_table(std::string_view bytes, const std::string& path) {
  return Reader(bytes, path).read();
}

}  // namespace rill::io
