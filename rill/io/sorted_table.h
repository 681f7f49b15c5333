#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Sorted string tables: keys with values in blocks, each with a checksum, as the index of
// a checkpoint is written. Byte for byte what TensorFlow writes.
namespace rill::io {

class TableWriter {
 public:
  // REQUIRES: keys strictly increase, byte by byte.
  void add(std::string_view key, std::string_view value);
  // The whole table.
  std::string finish();

 private:
  struct Block {
    explicit Block(std::uint32_t entries_a_restart) : interval(entries_a_restart) {}
    void add(std::string_view key, std::string_view value);
    std::size_t size() const { return body.size() + 4 * restarts.size() + 4; }
    std::uint32_t interval, count = 0;
    std::string body, last_key;
    std::vector<std::uint32_t> restarts{0};
  };
  std::string write_block(const Block& block);  // its handle
  void flush();
  void name_pending_block(const std::string& key);

  std::string out_;
  Block data_{16}, index_{1};
  std::string pending_handle_, pending_last_;  // of the block that the index lacks
};

using TableEntries = std::vector<std::pair<std::string, std::string>>;
// All entries of a table, compressed or not. DataLoss, with the file's name and the place,
// when a byte is wrong.
TableEntries read_table(std::string_view bytes, const std::string& path);

}  // namespace rill::io
