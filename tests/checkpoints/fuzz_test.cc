// Damaged checkpoints: every one is read, or refused by a typed error that the reader chose.
// Nothing crashes, hangs, leaks or takes memory that the files do not fill. The corpus is
// the goldens. Damage by itself is found by checksums, so half of it is made before they are.
//
//   RILL_FUZZ=1000000 RILL_FUZZ_SEED=3 checkpoints_test --gtest_filter='Fuzz.*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "rill/io/file.h"
#include "rill/io/sorted_table.h"
#include "rill/saving/tensor_bundle.h"
#include "training.h"

namespace rill::checkpoints {
namespace {

using Random = std::mt19937_64;
using saving_tests::fresh_folder;
using saving_tests::golden;

std::size_t below(Random& r, std::size_t n) { return n ? static_cast<std::size_t>(r() % n) : 0; }

std::string damage(std::string s, Random& r) {
  if (s.empty()) return std::string(1, static_cast<char>(r()));
  switch (below(r, 5)) {
    case 0:
      return s.substr(0, below(r, s.size()));
    case 1:
      s[below(r, s.size())] ^= static_cast<char>(1 << below(r, 8));
      return s;
    case 2:
      for (std::size_t k = 1 + below(r, 4); k > 0; --k)
        s[below(r, s.size())] = static_cast<char>(r());
      return s;
    case 3:
      return s.insert(below(r, s.size()), s.substr(below(r, s.size()), 1 + below(r, 16)));
    default:
      return s.erase(below(r, s.size()), 1 + below(r, 16));
  }
}

struct Files {
  std::string index, data;
};

// Wrong numbers and names under right checksums.
std::string damage_table(const std::string& index, Random& r) {
  io::TableEntries entries = io::read_table(index, "corpus");
  for (std::size_t k = 1 + below(r, 3); k > 0; --k) {
    auto& [key, value] = entries[below(r, entries.size())];
    switch (below(r, 4)) {
      case 0:
        key = damage(key, r);
        break;
      case 1:
        value = entries[below(r, entries.size())].second;
        break;
      default:
        value = damage(value, r);
    }
  }
  std::map<std::string, std::string> sorted(entries.begin(), entries.end());
  io::TableWriter w;
  for (const auto& [key, value] : sorted) w.add(key, value);
  return w.finish();
}

// The graph of objects damaged, and written again with all that is beside it.
Files damage_graph(const std::string& prefix, const std::string& scratch, Random& r) {
  const BundleReader good(prefix);
  BundleWriter bad(scratch);
  for (const std::string& key : good.keys()) {
    Tensor value = good.read(key);
    if (key == "_CHECKPOINTABLE_OBJECT_GRAPH")
      value = tf::constant(damage(value.item<std::string>(), r));
    bad.add(key, value);
  }
  bad.finish();
  return {io::file_contents(bundle_index_path(scratch)),
          io::file_contents(bundle_data_path(scratch, 0, 1))};
}

void write_plainly(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void use(const std::string& prefix) {
  const auto reader = tf::train::load_checkpoint(prefix);
  for (const auto& [key, shape] : reader.get_variable_to_shape_map()) {
    try {
      const Tensor t = reader.get_tensor(key);
      EXPECT_EQ(t.shape(), shape);
    } catch (const errors::Internal&) {
      throw;
    } catch (const errors::Error&) {  // this one; the others may be whole
    }
  }
  Training t(optimizers().at("v1_adam")());
  t.steps(0, 1);
  const std::vector<float> before = t.values();
  try {
    t.checkpoint().restore(prefix).expect_partial();
    t.steps(3, 4);
  } catch (const errors::Error&) {
    EXPECT_EQ(t.values(), before);  // all or nothing
    throw;
  }
}

TEST(Fuzz, DamagedCheckpointsAreReadOrRefused) {
  const char* n = std::getenv("RILL_FUZZ");
  const long count = n ? std::atol(n) : 400;
  const char* seed_text = std::getenv("RILL_FUZZ_SEED");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
  const char* only = std::getenv("RILL_FUZZ_ONLY");  // the number of one case, to look at it again
  const char* const corpus[] = {"every_type", "sliced", "nested-1", "optimizers/v1_adam-1",
                                "optimizers/adam-1"};
  const std::string folder = fresh_folder("fuzz"), prefix = folder + "/c";
  long read = 0, refused = 0;
  for (long i = only ? std::atol(only) : 0; i < (only ? std::atol(only) + 1 : count); ++i) {
    Random r(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string from = golden(corpus[below(r, std::size(corpus))]);
    Files files{io::file_contents(bundle_index_path(from)),
                io::file_contents(bundle_data_path(from, 0, 1))};
    switch (below(r, 4)) {
      case 0:
        files.index = damage(files.index, r);
        break;
      case 1:
        files.data = damage(files.data, r);
        break;
      case 2:
        files.index = damage_table(files.index, r);
        break;
      default:
        files = damage_graph(from, folder + "/scratch", r);
    }
    write_plainly(bundle_index_path(prefix), files.index);
    write_plainly(bundle_data_path(prefix, 0, 1), files.data);
    try {
      use(prefix);
      ++read;
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
      ++refused;
    }
  }
  if (!only) {
    EXPECT_GT(read, 0);
    EXPECT_GT(refused, 0);
  }
  RecordProperty("read", static_cast<int>(read));
  RecordProperty("refused", static_cast<int>(refused));
}

}  // namespace
}  // namespace rill::checkpoints
