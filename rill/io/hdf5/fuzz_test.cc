// Damaged HDF5 files: every one is read, or refused by a typed error, soon and with little memory.
// Checksums would find most damage of newer files, so half of the cases ignore them.
//
//   RILL_FUZZ=1000000 RILL_FUZZ_SEED=3 io_test --gtest_filter='Hdf5Fuzz.*'
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "rill/base/error.h"
#include "rill/io/file.h"
#include "rill/io/hdf5.h"
#include "rill/io/hdf5/file_impl.h"
#include "tests/damaged_hdf5.h"

namespace rill::io {
namespace {

using rill::testing::below;

class Visitor {
 public:
  Visitor(const Hdf5Reader& reader, std::size_t file_size) : reader_(reader), size_(file_size) {}

  // Groups may contain themselves, so there is an end to it.
  void visit(const std::string& path, int depth = 0) {
    static const char* const attributes[] = {"text", "bytes",       "names",       "none",
                                             "huge", "layer_names", "weight_names"};
    for (const char* name : attributes)
      attempt([&] {
        if (reader_.has_texts(path, name)) reader_.texts(path, name);
      });
    std::vector<std::string> names;
    attempt([&] {
      if (reader_.has_group(path)) names = reader_.list(path);
    });
    for (const std::string& name : names) {
      const std::string below_it = path.empty() ? name : path + "/" + name;
      bool is_array = false;
      attempt([&] { is_array = reader_.has_array(below_it); });
      if (is_array)
        attempt([&] {
          const Tensor t = reader_.read(below_it);
          ++arrays_;
          EXPECT_LE(static_cast<std::size_t>(t.size()) * t.dtype().itemsize(), size_ * 1100);
        });
      else if (depth < 5 && ++groups_ < 100)
        visit(below_it, depth + 1);
    }
  }
  long arrays() const { return arrays_; }

 private:
  template <class F>
  void attempt(F f) {
    try {
      f();
    } catch (const errors::Internal&) {
      throw;
    } catch (const errors::Error&) {  // refused
    }
  }
  const Hdf5Reader& reader_;
  std::size_t size_;
  int groups_ = 0;
  long arrays_ = 0;
};

TEST(Hdf5Fuzz, DamagedFilesAreReadOrRefused) {
  const char* n = std::getenv("RILL_FUZZ");
  const long count = n ? std::atol(n) : 10000;
  const char* seed_text = std::getenv("RILL_FUZZ_SEED");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
  const char* only = std::getenv("RILL_FUZZ_ONLY");  // the number of one case, to look at it again
  const char* root = std::getenv("RILL_SOURCE_DIR");
  std::vector<std::string> corpus;
  for (const char* name :
       {"io/testdata/hdf5/old.h5", "io/testdata/hdf5/latest.h5", "io/testdata/hdf5/indexes.h5",
        "io/testdata/hdf5/narrow.h5", "io/testdata/hdf5/user_block.h5",
        "io/testdata/hdf5/superblock2.h5", "keras/saving/testdata/stack.h5",
        "keras/saving/testdata/scaled.h5", "keras/saving/testdata/keras3/cells.weights.h5"})
    corpus.push_back(file_contents(std::string(root ? root : ".") + "/rill/" + name));
  long opened = 0, refused = 0, arrays = 0;
  std::chrono::duration<double> slowest{0};
  for (long i = only ? std::atol(only) : 0; i < (only ? std::atol(only) + 1 : count); ++i) {
    std::mt19937_64 r(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string& whole = corpus[below(r, corpus.size())];
    const std::string bytes =
        rill::testing::damaged_hdf5(whole, corpus[below(r, corpus.size())], r);
    if (const char* path = std::getenv("RILL_FUZZ_KEEP"))  // what a crash leaves behind
      std::ofstream(path, std::ios::binary) << bytes;
    std::optional<hdf5::IgnoreChecksums> ignore;
    if (below(r, 2)) ignore.emplace();
    const auto begin = std::chrono::steady_clock::now();
    try {
      const Hdf5Reader reader(bytes, "damaged.h5");
      Visitor visitor(reader, bytes.size());
      visitor.visit("");
      arrays += visitor.arrays();
      ++opened;
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "case " << i << " is not an error of ours: " << e.what();
    }
    slowest =
        std::max<std::chrono::duration<double>>(slowest, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(slowest.count(), 5);  // milliseconds, but machines are busy
  RecordProperty("slowest_seconds", std::to_string(slowest.count()));
  if (!only) {
    EXPECT_GT(refused, count / 10);
    EXPECT_GT(opened, count / 10);
    EXPECT_GT(arrays, count);
  }
}

}  // namespace
}  // namespace rill::io
