// Damaged models: every one is read, or refused by a typed error. Damage by itself is found by
// the checksums of archives, so half of it is made before they are. Numbers do not grow: a layer
// of as many units as a file says is what was asked for.
//
//   RILL_FUZZ=1000000 RILL_FUZZ_SEED=3 keras_test --gtest_filter='KerasFuzz.*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "rill/base/error.h"
#include "rill/io/file.h"
#include "rill/io/zip.h"
#include "rill/keras/saving/saving.h"
#include "tests/checkpoint_files.h"
#include "tests/damaged_hdf5.h"

namespace rill::keras {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& r, std::size_t n) { return n ? static_cast<std::size_t>(r() % n) : 0; }

std::string without_digits(std::string s) {
  for (char& c : s)
    if (c >= '0' && c <= '9') c = '-';
  return s;
}

// Text that is nearly a configuration.
std::string damage_json(std::string s, Random& r) {
  static const char* const parts[] = {"null", "[]",   "{}",     "-1",  "\"x\"", "true",
                                      "0",    "1e30", "[[[]]]", "2.5", "\"\"",  ","};
  for (std::size_t k = 1 + below(r, 3); k > 0 && !s.empty(); --k) {
    const std::size_t at = below(r, s.size());
    switch (below(r, 6)) {
      case 0:
        s.resize(at);
        break;
      case 1:
        s.erase(at, 1 + below(r, 40));
        break;
      case 2:
        s.insert(at, without_digits(s.substr(below(r, s.size()), 1 + below(r, 40))));
        break;
      case 3:
        if (s[at] < '0' || s[at] > '9') s[at] = "{}[]\",:nx \\\x80"[below(r, 12)];
        break;
      default: {
        // A value in the place of another: from one separator to the next.
        const std::size_t from = s.find(": ", at);
        if (from == s.npos) break;
        const std::size_t to = s.find_first_of(",}]", from);
        if (to == s.npos) break;
        s.replace(from + 2, to - from - 2, parts[below(r, std::size(parts))]);
      }
    }
  }
  return s;
}

std::string damage_bytes(std::string s, Random& r) {
  if (s.empty()) return s;
  switch (below(r, 4)) {
    case 0:
      return s.substr(0, below(r, s.size()));
    case 1:
      s[below(r, s.size())] ^= static_cast<char>(1 << below(r, 8));
      return s;
    case 2:
      return s.insert(below(r, s.size()), s.substr(below(r, s.size()), 1 + below(r, 16)));
    default:
      return s.erase(below(r, s.size()), 1 + below(r, 16));
  }
}

// An archive with another configuration, or with parts that are not its own.
std::string damage_archive(const std::string& path, const std::string& other, Random& r) {
  const io::ZipReader zip = io::ZipReader::open(path), more = io::ZipReader::open(other);
  io::ZipWriter out;
  const std::size_t kind = below(r, 4);
  for (const std::string& name : zip.names()) {
    if (kind == 0 && below(r, 3) == 0) continue;
    std::string content = (kind == 1 && below(r, 2) == 0 ? more : zip).read(name);
    if (kind >= 2 && name.ends_with(".json")) content = damage_json(content, r);
    out.add(name, content, below(r, 2) == 0);
  }
  return out.finish();
}

std::string golden(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return std::string(root ? root : ".") + "/rill/keras/saving/testdata/" + name;
}

TEST(KerasFuzz, DamagedModelsAreReadOrRefused) {
  const char* n = std::getenv("RILL_FUZZ");
  const long count = n ? std::atol(n) : 600;
  const char* seed_text = std::getenv("RILL_FUZZ_SEED");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
  const char* only = std::getenv("RILL_FUZZ_ONLY");  // the number of one case, to look at it again
  const char* const corpus[] = {"stack", "graph",  "nested",        "ops",
                                "cells", "arrays", "keras3/arrays", "keras3/operators"};
  const std::string path = saving_tests::fresh_folder("keras_fuzz") + "/m.keras";
  long read = 0, refused = 0;
  for (long i = only ? std::atol(only) : 0; i < (only ? std::atol(only) + 1 : count); ++i) {
    Random r(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string from = golden(corpus[below(r, std::size(corpus))]);
    try {
      switch (below(r, 3)) {
        case 0:
          models::from_json(damage_json(io::file_contents(from + ".json"), r));
          break;
        case 1:
          io::write_file_atomically(path, damage_bytes(io::file_contents(from + ".keras"), r));
          models::load_model(path);
          break;
        default:
          io::write_file_atomically(
              path, damage_archive(from + ".keras",
                                   golden(corpus[below(r, std::size(corpus))]) + ".keras", r));
          models::load_model(path);
      }
      ++read;
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "case " << i << " is not an error of ours: " << e.what();
    }
  }
  if (!only) {
    EXPECT_GT(refused, count / 4);
    EXPECT_GT(read, 0);
  }
}

// A layer of as many units as a file says is what was asked for, so numbers stay below 1000.
std::string with_short_numbers(std::string s) {
  const auto is_digit = [&](std::size_t i) { return s[i] >= '0' && s[i] <= '9'; };
  for (std::size_t at = s.find(": "); at != s.npos; at = s.find(": ", at + 1))
    for (std::size_t i = at + 2; i < s.size() && (is_digit(i) || s[i] == '[' || s[i] == ' '); ++i) {
      std::size_t end = i;
      while (end < s.size() && is_digit(end)) ++end;
      for (std::size_t k = i + 3; k < end; ++k) s[k] = ' ';
      i = std::max(i, end);
    }
  return s;
}

// Whole models in HDF5, and archives whose weights are damaged except for the archive's checksum.
//
//   RILL_FUZZ=100000 keras_test --gtest_filter='KerasFuzz.DamagedHdf5*'
TEST(KerasFuzz, DamagedHdf5IsReadOrRefused) {
  const char* n = std::getenv("RILL_FUZZ");
  const long count = n ? std::atol(n) : 1000;
  const char* seed_text = std::getenv("RILL_FUZZ_SEED");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
  const char* only = std::getenv("RILL_FUZZ_ONLY");
  const char* const corpus[] = {"stack",  "graph",  "nested",       "ops",
                                "scaled", "arrays", "keras3/graph", "keras3/recurrent"};
  const std::string folder = saving_tests::fresh_folder("keras_hdf5_fuzz");
  const auto write = [](const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;  // without waiting for the disk
  };
  long read = 0, refused = 0;
  for (long i = only ? std::atol(only) : 0; i < (only ? std::atol(only) + 1 : count); ++i) {
    Random r(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string from = golden(corpus[below(r, std::size(corpus))]),
                      other =
                          io::file_contents(golden(corpus[below(r, std::size(corpus))]) + ".h5");
    try {
      if (below(r, 3) > 0) {
        const std::string bytes =
            rill::testing::damaged_hdf5(io::file_contents(from + ".h5"), other, r);
        write(folder + "/m.h5", with_short_numbers(bytes));
        models::load_model(folder + "/m.h5");
      } else {
        const io::ZipReader zip = io::ZipReader::open(from + ".keras");
        io::ZipWriter out;
        for (const std::string& name : zip.names()) {
          std::string content = zip.read(name);
          if (name.ends_with(".h5")) content = rill::testing::damaged_hdf5(content, other, r);
          out.add(name, content, false);
        }
        write(folder + "/m.keras", out.finish());
        models::load_model(folder + "/m.keras");
      }
      ++read;
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "case " << i << " is not an error of ours: " << e.what();
    }
  }
  if (!only) {
    EXPECT_GT(refused, count / 4);
    EXPECT_GT(read, 0);
  }
}

}  // namespace
}  // namespace rill::keras
