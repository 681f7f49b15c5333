// Files that were made to hurt: small, but with a claim that multiplies. Each must be refused soon,
// and before memory is taken.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "rill/base/error.h"
#include "rill/io/coding.h"
#include "rill/io/file.h"
#include "rill/io/hdf5.h"
#include "rill/io/hdf5/file_impl.h"
#include "tests/expect_error.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;
using std::uint64_t;

constexpr uint64_t kNowhere = hdf5::kNowhere;

template <class... T>
std::string fixed(T... values) {
  std::string s;
  (put_fixed(s, values), ...);
  return s;
}
std::string padded(std::string s) { return s.append((8 - s.size() % 8) % 8, '\0'); }

// A file of the oldest form, whose root group has the given messages.
class OldFile {
 public:
  static constexpr uint64_t kRoot = 96;

  void message(std::uint16_t kind, const std::string& body) {
    const std::string b = padded(body);
    messages_ += fixed(kind, static_cast<std::uint16_t>(b.size()), uint64_t{0}).substr(0, 8) + b;
    ++count_;
  }
  // Where the next part will be.
  uint64_t next() const { return kParts + parts_.size(); }
  uint64_t add(const std::string& part) {
    const uint64_t at = next();
    parts_ += padded(part);
    return at;
  }
  Hdf5Reader open() const {
    std::string s = "\x89HDF\r\n\x1a\n";
    s += std::string("\0\0\0\0\0\x08\x08\0\4\0\x10\0\0\0\0\0", 16);
    s += fixed(uint64_t{0}, kNowhere, next(), kNowhere);
    s += fixed(uint64_t{0}, kRoot, uint64_t{0}, uint64_t{0}, uint64_t{0});
    s += fixed(std::uint16_t{1}, count_, std::uint32_t{1},
               static_cast<std::uint32_t>(messages_.size()), std::uint32_t{0});
    s += messages_;
    EXPECT_LE(s.size(), kParts);
    s.resize(kParts);
    return Hdf5Reader(s + parts_, "hostile.h5");
  }

 private:
  static constexpr uint64_t kParts = 1 << 17;
  std::string messages_, parts_;
  std::uint16_t count_ = 0;
};

// A node of a tree of groups, all of whose children are the same.
std::string tree_node(int level, std::uint16_t count, uint64_t child) {
  std::string s = "TREE" + std::string{'\0', static_cast<char>(level)} + fixed(count);
  s += fixed(kNowhere, kNowhere);
  for (int i = 0; i < count; ++i) s += fixed(uint64_t{0}, child);
  return s + fixed(uint64_t{0});
}
uint64_t add_heap(OldFile& f, const std::string& names) {
  const uint64_t data = f.add(names);
  return f.add("HEAP" + fixed(std::uint32_t{0}, uint64_t{names.size()}, kNowhere, data));
}

template <class F>
void expect_soon(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// Two ways down from each of 200 levels: 2^200 leaves.
TEST(HostileHdf5, ATreeWithMoreBranchesThanTheFileHasBytes) {
  OldFile f;
  const uint64_t heap = add_heap(f, std::string("\0a\0", 3));
  uint64_t node = f.add("SNOD" + fixed(std::uint16_t{1}, std::uint16_t{0}));
  for (int level = 0; level < 200; ++level) node = f.add(tree_node(level, 2, node));
  f.message(0x11, fixed(node, heap));
  const Hdf5Reader r = f.open();
  expect_soon([&] {
    expect_error<errors::DataLoss>([&] { r.list(""); }, "hostile.h5 is damaged: its parts refer");
  });
}

TEST(HostileHdf5, ATreeThatContainsItself) {
  OldFile f;
  const uint64_t heap = add_heap(f, std::string("\0", 1));
  f.message(0x11, fixed(f.next(), heap));
  f.add(tree_node(3, 2, f.next()));
  expect_error<errors::DataLoss>([&] { f.open().list(""); },
                                 "is not one level below the one that leads to it");
}

TEST(HostileHdf5, AHeaderThatContinuesInItself) {
  OldFile f;
  f.message(0x10, fixed(OldFile::kRoot + 16, uint64_t{24}));
  f.message(0x10, fixed(OldFile::kRoot + 16, uint64_t{48}));
  for (int i = 0; i < 60; ++i) f.message(0, "");
  const Hdf5Reader r = f.open();
  expect_soon([&] { EXPECT_FALSE(r.has_group("")); });  // the count of messages ends it
}

// Each link is a path over eight others.
TEST(HostileHdf5, SoftLinksThatMultiply) {
  constexpr int kLinks = 14;
  OldFile f;
  std::string names(1, '\0'), symbols;
  for (int i = 0; i < kLinks; ++i) {
    const uint64_t name = names.size();
    names += "l" + std::to_string(i) + '\0';
    const auto target = static_cast<std::uint32_t>(names.size());
    for (int k = 0; k < 8; ++k) names += i == 0 ? "/" : "/l" + std::to_string(i - 1);
    names += '\0';
    symbols += fixed(name, kNowhere, std::uint32_t{2}, std::uint32_t{0}, target, std::uint32_t{0},
                     uint64_t{0});
  }
  const uint64_t heap = add_heap(f, names);
  const uint64_t leaf =
      f.add("SNOD" + fixed(std::uint16_t{1}, static_cast<std::uint16_t>(kLinks)) + symbols);
  f.message(0x11, fixed(f.add(tree_node(0, 1, leaf)), heap));
  const Hdf5Reader r = f.open();
  EXPECT_TRUE(r.has_group("l1"));
  expect_soon(
      [&] { expect_error<errors::DataLoss>([&] { r.has_group("l13"); }, "lead in a circle"); });
}

// 4000 texts, all of which are the same megabyte.
TEST(HostileHdf5, TextsThatAreOneAndTheSame) {
  constexpr std::uint16_t kCount = 4000;
  const std::string text(1 << 20, 'x');
  OldFile f;
  const uint64_t heap =
      f.add("GCOL" + fixed(std::uint32_t{1}, uint64_t{text.size() + 48}) +
            fixed(std::uint16_t{1}, std::uint16_t{1}, std::uint32_t{0}, uint64_t{text.size()}) +
            text + fixed(uint64_t{0}, uint64_t{0}));
  const std::string type = std::string("\x19\x01\0\0\x10\0\0\0\x13\0\0\0\1\0\0\0", 16);
  const std::string space = std::string("\1\1\0\0\0\0\0\0", 8) + fixed(uint64_t{kCount});
  std::string a = fixed(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{16}, std::uint16_t{16});
  a += padded(std::string("a\0", 2)) + type + space;
  for (int i = 0; i < kCount; ++i)
    a += fixed(static_cast<std::uint32_t>(text.size()), heap, std::uint32_t{1});
  f.message(0x0c, a);
  const Hdf5Reader r = f.open();
  ASSERT_TRUE(r.has_attribute("", "a"));
  expect_soon([&] { expect_error<errors::DataLoss>([&] { r.texts("", "a"); }, "far too often"); });
}

std::string golden(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return file_contents(std::string(root ? root : ".") + "/rill/io/testdata/hdf5/" + name);
}
std::string replaced(std::string s, const std::string& what, const std::string& with) {
  const std::size_t at = s.find(what);
  EXPECT_NE(at, s.npos);
  return at == s.npos ? s : s.replace(at, with.size(), with);
}

// The shape of "gzip", and the chunks that hold it.
TEST(HostileHdf5, SizesOfArraysAndChunks) {
  const std::string whole = golden("old.h5"), shape = fixed(uint64_t{20}, uint64_t{7});
  const std::string large = replaced(whole, shape, fixed(uint64_t{1} << 40, uint64_t{7}));
  expect_error<errors::DataLoss>([&] { Hdf5Reader(large, "large.h5").read("gzip"); },
                                 "claims more elements than a file of");
  const std::string chunk = fixed(std::uint32_t{8}, std::uint32_t{3}, std::uint32_t{2});
  const std::string swollen =
      replaced(whole, chunk, fixed(std::uint32_t{8} << 24, std::uint32_t{3}, std::uint32_t{2}));
  expect_error<errors::DataLoss>([&] { Hdf5Reader(swollen, "swollen.h5").read("gzip"); },
                                 "swollen.h5 is damaged at byte");
}

TEST(HostileHdf5, ErrorsNameTheFileAndThePlace) {
  std::string s = golden("latest.h5");
  s[s.find("OHDR") + 20] ^= 1;
  expect_error<errors::DataLoss>([&] { Hdf5Reader(s, "flipped.h5").list(""); },
                                 "flipped.h5 is damaged at byte");
  expect_error<errors::DataLoss>([&] { Hdf5Reader(s, "flipped.h5").list(""); },
                                 "an object's header differs from its checksum");
  s.resize(s.size() - 1);
  expect_error<errors::DataLoss>([&] { Hdf5Reader(s, "cut.h5"); }, "cut.h5 is cut short");
}

// The values that Bob Jenkins gives for his hash.
TEST(HostileHdf5, TheHashOfChecksums) {
  EXPECT_EQ(hdf5::lookup3(""), 0xdeadbeef);
  EXPECT_EQ(hdf5::lookup3("Four score and seven years ago"), 0x17770551u);
}

}  // namespace
}  // namespace rill::io
