#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "rill/io/file.h"
#include "rill/io/npy.h"
#include "rill/io/pickle_impl.h"
#include "rill/io/zip.h"
#include "tests/expect_error.h"

namespace rill::io {
namespace {

using rill::testing::expect_error;

std::string testdata(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/keras/datasets/testdata/" + name;
}

template <std::size_t N>
std::string bytes(const char (&s)[N]) {
  return std::string(s, N - 1);  // zeros among them
}

TEST(Pickle, ListsOfNumbers) {
  const std::string p =
      bytes("\x80\x02](K\x01M\x2c\x01J\xfe\xff\xff\xff\x8a\x05\0\0\0\0\x80\x8a\0e.");
  const Pickle pickle(p, "p");
  EXPECT_EQ(pickle.ints_of(pickle.root()),
            (std::vector<std::int64_t>{1, 300, -2, -(std::int64_t{1} << 39), 0}));
}

TEST(Pickle, NamesNothingToRun) {
  const char* const evil[] = {
      "\x80\x02"
      "cos\nsystem\nX\x04\0\0\0true\x85R.",
      "\x80\x02"
      "cbuiltins\neval\n."};
  for (const char* e : evil)
    expect_error<errors::Unimplemented>([&] { Pickle(e, "evil.npy"); }, "nothing is run");
  expect_error<errors::Unimplemented>(
      [&] {
        Pickle(
            "\x80\x02"
            "cos\nsystem\n.",
            "evil.npy");
      },
      "evil.npy names os.system at byte 2");
  // Persistent ids, classes, extensions, out-of-band buffers.
  for (const std::string op :
       {"P1\n.", "Q.", "i", "o", "\x81", "\x92", "\x82\x01", "\x97", "\x98", "I1\n."})
    expect_error<errors::Unimplemented>([&] { Pickle("\x80\x02" + op, "evil"); },
                                        "has the instruction");
  expect_error<errors::Unimplemented>([&] { Pickle(bytes("\x80\x00."), "old"); }, "protocol 0");
}

TEST(Pickle, DamageIsSaid) {
  for (const std::string& p : {bytes(""), bytes("\x80"), bytes("\x80\x02"), bytes("\x80\x02."),
                               bytes("\x80\x02X\xff\xff\xff\xff."), bytes("\x80\x02t."),
                               bytes("\x80\x02K\x01"
                                     "e."),
                               bytes("\x80\x02h\x07."), bytes("\x80\x02(."), bytes("\x80\x02NNR."),
                               bytes("\x80\x02]K\x01\x85"
                                     "b."),
                               bytes("\x80\x02"
                                     "cnumpy\nndarray"),
                               bytes("\x80\x02}K\x01u.")})
    expect_error<errors::DataLoss>([&] { Pickle(p, "p.npy"); }, "p.npy is damaged at byte");
}

TEST(Pickle, AListThatHoldsItself) {
  const std::string p = bytes(
      "\x80\x02]q\x00h\x00"
      "a.");
  const Pickle pickle(p, "p");
  EXPECT_EQ(pickle.items_of(pickle.root()).size(), 1u);
  expect_error<errors::DataLoss>([&] { pickle.ints_of(pickle.root()); },
                                 "a list where a whole number");
}

// A short file whose lists are all one list: what it would need is not allocated.
TEST(Pickle, ABombOfSharedListsIsRefused) {
  std::string p = bytes(
      "\x80\x02"
      "cnumpy.core.multiarray\n_reconstruct\n"
      "cnumpy\nndarray\nK\0\x85U\x01"
      "b\x87R(K\x01M\x10\x27\x85"
      "cnumpy\ndtype\nU\x02O8\x85R\x89](](");
  for (int i = 0; i < 10000; ++i) p += bytes("K\x01");
  p += bytes("eq\x01");
  for (int i = 1; i < 10000; ++i) p += bytes("h\x01");
  p += "etb.";
  std::string header = "{'descr': '|O', 'fortran_order': False, 'shape': (10000,), }";
  header.resize(117, ' ');
  header += '\n';
  const std::string npy = bytes("\x93NUMPY\x01\x00\x76\x00") + header + p;
  expect_error<errors::DataLoss>([&] { read_npy_lists(npy, "bomb"); },
                                 "more numbers than it has bytes");
}

// RILL_FUZZ=1000000 RILL_FUZZ_SEED=3 io_test --gtest_filter='Pickle.Fuzzed*'
TEST(Pickle, FuzzedPicklesAreReadOrRefused) {
  const char* n = std::getenv("RILL_FUZZ");
  const long count = n ? std::atol(n) : 4000;
  const char* seed = std::getenv("RILL_FUZZ_SEED");
  std::mt19937_64 random(seed ? std::strtoull(seed, nullptr, 10) : 1);
  std::vector<std::string> sources;
  for (const char* file : {"imdb_2.npz", "imdb_3.npz", "imdb_4.npz", "imdb_numpy2.npz"})
    sources.push_back(ZipReader::open(testdata(file)).read("x_test.npy"));
  const auto below = [&](std::size_t m) { return static_cast<std::size_t>(random() % m); };
  static const char ops[] = "(.]})tabceRbqhjrKMJXTUBNs0\x80\x85\x86\x87\x88\x89\x8a\x93\x94\x95";
  long read = 0, refused = 0;
  for (long i = 0; i < count; ++i) {
    std::string s = sources[below(sources.size())];
    for (std::size_t k = 1 + below(3); k > 0; --k) {
      // Most of the time within the first part, where the array is made.
      const std::size_t at =
          below(2) ? below(s.size()) : 100 + below(std::min<std::size_t>(200, s.size() - 100));
      switch (below(5)) {
        case 0:
          s[at] = static_cast<char>(random());
          break;
        case 1:
          s[at] = ops[below(sizeof ops - 1)];
          break;
        case 2:
          s.erase(at, 1 + below(8));
          break;
        case 3:
          s.insert(at, s.substr(below(s.size()), 1 + below(16)));
          break;
        default:
          if (below(4) == 0) s.resize(std::max<std::size_t>(at, 101));
      }
      if (s.size() <= 128) s.resize(129);
    }
    try {
      read_npy_lists(s, "fuzzed");
      ++read;
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, count / 4);
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace rill::io
