// Damaged GraphDefs: every one is read, or refused by a typed error that the reader
// chose. Nothing crashes, hangs or leaks. The corpus is the goldens.
//
//   RILL_FUZZ=1000000 RILL_FUZZ_SEED=3 graph_def_test --gtest_filter='Fuzz.*'
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "case.h"
#include "rill/rill.h"

namespace rill::graph_defs {
namespace {

using Random = std::mt19937_64;

std::vector<std::string> corpus() {
  std::vector<std::string> out;
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"/rill", "/tensorflow"})
    for (const auto& e : std::filesystem::directory_iterator(goldens_folder() + folder))
      if (e.path().extension() == ".pb") paths.push_back(e.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& p : paths) out.push_back(read_graph_def(p.string()));
  return out;
}

std::size_t below(Random& r, std::size_t n) { return n ? static_cast<std::size_t>(r() % n) : 0; }

// Bytes that are wrong.
std::string damage_bytes(std::string s, const std::string& other, Random& r) {
  if (s.empty()) return s;
  switch (below(r, 6)) {
    case 0:
      return s.substr(0, below(r, s.size()));
    case 1:
      for (std::size_t k = 1 + below(r, 4); k > 0; --k)
        s[below(r, s.size())] ^= static_cast<char>(1 << below(r, 8));
      return s;
    case 2:
      for (std::size_t k = 1 + below(r, 8); k > 0; --k)
        s[below(r, s.size())] = static_cast<char>(r());
      return s;
    case 3: {  // a part twice, or in another place
      const std::size_t from = below(r, s.size()),
                        n = below(r, std::min<std::size_t>(64, s.size() - from));
      return s.insert(below(r, s.size()), s.substr(from, n));
    }
    case 4: {
      const std::size_t from = below(r, s.size());
      return s.erase(from, 1 + below(r, 32));
    }
    default:  // two graphs in one: names meet
      return s + other.substr(0, below(r, other.size() + 1));
  }
}

// A graph that can be parsed, and is wrong: edges, sizes, types and names changed in
// its text.
std::string damage_text(const std::string& bytes, Random& r) {
  std::string text = graph_def_to_text(bytes);
  auto places = [&](const char* word) {
    std::vector<std::size_t> at;
    for (std::size_t i = text.find(word); i != std::string::npos; i = text.find(word, i + 1))
      at.push_back(i + std::string_view(word).size());
    return at;
  };
  auto value_end = [&](std::size_t i) { return text.find('\n', i); };
  auto replace = [&](const char* word, const std::string& value) {
    const auto at = places(word);
    if (at.empty()) return;
    const std::size_t i = at[below(r, at.size())];
    text.replace(i, value_end(i) - i, value);
  };
  auto take = [&](const char* word) -> std::string {
    const auto at = places(word);
    if (at.empty()) return "\"x\"";
    const std::size_t i = at[below(r, at.size())];
    return text.substr(i, value_end(i) - i);
  };
  static const char* const sizes[] = {
      "-1", "0", "1", "-2", "9223372036854775807", "4294967296", "1099511627776", "3", "65536"};
  static const char* const types[] = {"DT_FLOAT",     "DT_INT32",    "DT_STRING",
                                      "DT_BOOL",      "DT_RESOURCE", "DT_VARIANT",
                                      "DT_COMPLEX64", "DT_INT64",    "DT_HALF"};
  for (std::size_t k = 1 + below(r, 3); k > 0; --k) {
    switch (below(r, 9)) {
      case 0:
        replace(" input: ", take(" name: "));
        break;
      case 1:
        replace(" op: ", take(" op: "));
        break;
      case 2:
        replace(" size: ", sizes[below(r, std::size(sizes))]);
        break;
      case 3:
        replace(" type: ", types[below(r, std::size(types))]);
        break;
      case 4:
        replace(" i: ", sizes[below(r, std::size(sizes))]);
        break;
      case 5:
        replace(" dtype: ", types[below(r, std::size(types))]);
        break;
      case 6:
        replace(" key: ", take(" key: "));
        break;
      case 7:
        replace(" input: ", take(" input: "));
        break;
      default:
        replace(" int_val: ", sizes[below(r, 8)]);
        replace(" s: ", take(" s: "));
    }
  }
  try {
    return graph_def_from_text(text);
  } catch (const errors::DataLoss&) {
    return bytes;  // a number too large for its field, a key twice
  }
}

long count() {
  const char* n = std::getenv("RILL_FUZZ");
  return n ? std::atol(n) : 2000;
}

TEST(Fuzz, DamagedGraphsAreReadOrRefused) {
  const std::vector<std::string> graphs = corpus();
  ASSERT_FALSE(graphs.empty());
  const char* seed_text = std::getenv("RILL_FUZZ_SEED");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
  const char* only = std::getenv("RILL_FUZZ_ONLY");  // the number of one case, to look at it again
  long read = 0, refused = 0;
  for (long i = only ? std::atol(only) : 0; i < (only ? std::atol(only) + 1 : count()); ++i) {
    Random r(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string& from = graphs[below(r, graphs.size())];
    const std::string bytes =
        below(r, 2) ? damage_bytes(from, graphs[below(r, graphs.size())], r) : damage_text(from, r);
    if (const char* path = std::getenv("RILL_FUZZ_KEEP"))  // what a crash leaves behind
      std::ofstream(path, std::ios::binary) << bytes;
    try {
      const ImportedGraph g = import_graph_def(bytes, {.max_fill_bytes = 1 << 22});
      ++read;
      // What was read can be cut to a function and written again.
      std::vector<std::string> inputs;
      for (const TensorSpec& p : g.placeholders()) inputs.push_back(p.name());
      const std::vector<std::string> names = g.node_names();
      if (names.empty()) continue;
      to_graph_def(g.function(inputs, {names.back()}), {.freeze = false});
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read + refused, 0);
  if (!only) {
    EXPECT_GT(read, 0);
    EXPECT_GT(refused, 0);
  }
  RecordProperty("read", static_cast<int>(read));
  RecordProperty("refused", static_cast<int>(refused));
}

}  // namespace
}  // namespace rill::graph_defs
