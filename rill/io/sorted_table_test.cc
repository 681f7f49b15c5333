#include "rill/io/sorted_table.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include "rill/base/error.h"
#include "rill/base/format.h"
#include "rill/io/coding.h"
#include "rill/io/crc32c.h"
#include "tests/expect_error.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;

TableEntries numbered(int n) {
  TableEntries out;
  for (int i = 0; i < n; ++i)
    out.emplace_back(format("layer_{:05d}/kernel", i), std::string(100, static_cast<char>(i)));
  return out;
}
std::string write(const TableEntries& entries) {
  TableWriter w;
  for (const auto& [k, v] : entries) w.add(k, v);
  return w.finish();
}

TEST(SortedTable, ReadsBackWhatItWrote) {
  for (int n : {0, 1, 15, 16, 17, 100, 6000}) {
    const TableEntries entries = numbered(n);
    EXPECT_EQ(read_table(write(entries), "t"), entries) << n;
  }
}

TEST(SortedTable, LargeValuesHaveBlocksOfTheirOwn) {
  const TableEntries entries{
      {"", "h"}, {"a", std::string(600'000, 'x')}, {"b", "y"}, {"b\xff", "z"}};
  EXPECT_EQ(read_table(write(entries), "t"), entries);
}

// One data block, packed by snappy, as some builds of TensorFlow write it.
TEST(SortedTable, ReadsPackedBlocks) {
  const TableEntries entries = numbered(10);
  std::string plain = write(entries), out;
  // The data block ends where the empty block of 8 bytes and the index begin.
  std::string_view footer(plain.data() + plain.size() - 48, 40);
  std::uint64_t meta_at = 0;
  ASSERT_TRUE(get_varint(footer, &meta_at));
  const std::string body = plain.substr(0, meta_at - 5);
  const auto add = [&](std::string block, char type) {
    std::string handle;
    put_varint(handle, out.size());
    put_varint(handle, block.size());
    block += type;
    out += block;
    put_fixed(out, mask_crc(crc32c(block)));
    return handle;
  };
  std::string packed;
  snappy::Compress(body.data(), body.size(), &packed);
  ASSERT_LT(packed.size(), body.size());
  const std::string empty("\0\0\0\0\1\0\0\0", 8), data = add(packed, 1), meta = add(empty, 0);
  std::string index("\0\1", 2);
  put_varint(index, data.size());
  index += "m" + data + empty;
  std::string end = meta + add(index, 0);
  end.resize(40);
  out += end + plain.substr(plain.size() - 8);
  EXPECT_EQ(read_table(out, "t"), entries);
}

TEST(SortedTable, EveryCutAndEveryFlipIsSeen) {
  const std::string good = write(numbered(3));
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_THROW(read_table(good.substr(0, n), "t"), errors::DataLoss) << n;
  // The padding of the footer, after two handles of three bytes, means nothing.
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (i >= good.size() - 42 && i < good.size() - 8) continue;
    std::string bad = good;
    bad[i] ^= 4;
    EXPECT_THROW(read_table(bad, "t"), errors::DataLoss) << i;
  }
  expect_error<errors::DataLoss>([] { read_table(std::string(100, 'x'), "some.index"); },
                                 "\"some.index\" does not end as an index does (at offset 92)");
}

}  // namespace
}  // namespace rill::io
