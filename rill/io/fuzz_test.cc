// Damaged TFRecords, CSV files and NumPy arrays: every one is read, or refused by a typed error,
// and nothing outside of its bytes is read.
//
//   RILL_FUZZ=100000 RILL_FUZZ_SEED=3 io_test --gtest_filter='Fuzz.*'
#include "tests/fuzz.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rill/base/error.h"
#include "rill/io/coding.h"
#include "rill/io/crc32c.h"
#include "rill/io/csv_impl.h"
#include "rill/io/file.h"
#include "rill/io/npy.h"
#include "rill/io/tf_record.h"
#include "rill/io/zip.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/io_ops.h"
#include "tests/scratch_folder.h"

namespace rill::io {
namespace {

using rill::testing::damaged, rill::testing::fuzz_rounds, rill::testing::fuzz_seed;

std::string scratch(const char* name) { return rill::testing::scratch_folder() + "/" + name; }
void write_plainly(const std::string& path, const std::string& bytes) {
  OutputFile f(path);
  f.append(bytes);
  f.close();
}

std::string tf_record(std::string_view record) {
  std::string out;
  put_fixed(out, static_cast<std::uint64_t>(record.size()));
  put_fixed(out, mask_crc(crc32c(out)));
  out += record;
  put_fixed(out, mask_crc(crc32c(record)));
  return out;
}
// The checksum of the first length is right again, so that the length is believed.
void mend_length(std::string& records) {
  if (records.size() < 12) return;
  std::string sum;
  put_fixed(sum, mask_crc(crc32c(std::string_view(records).substr(0, 8))));
  records.replace(8, 4, sum);
}
// Files of many damaged pieces, of which each is read from its beginning.
TEST(Fuzz, DamagedTFRecords) {
  const std::string path = scratch("fuzzed.tfrecord");
  const std::string good = tf_record("the first") + tf_record("") + tf_record(std::string(40, 'x'));
  std::mt19937 random(fuzz_seed(7));
  const long rounds = fuzz_rounds(10'000, 10);
  long whole = 0, refused = 0;
  for (long done = 0; done < rounds;) {
    std::string bytes;
    std::vector<std::uint64_t> starts;
    for (; starts.size() < 500 && done < rounds; ++done) {
      std::string bad = damaged(good, random, 12);
      if (random() % 2) mend_length(bad);
      starts.push_back(bytes.size());
      bytes += bad;
    }
    write_plainly(path, bytes);
    TFRecordReader in(path);
    for (const std::uint64_t start : starts) {
      in.seek(start);
      try {
        std::string record;
        for (int i = 0; i < 3; ++i) {
          if (!in.read(&record)) break;
          ASSERT_LE(record.size(), bytes.size());
        }
        ++whole;
      } catch (const errors::DataLossError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(refused, rounds / 2);
}
TEST(Fuzz, DamagedPackedTFRecords) {
  const std::string path = scratch("fuzzed.tfrecord.packed");
  const long rounds = std::max(500l, fuzz_rounds(5000) / 10);  // each is a file
  std::mt19937 random(fuzz_seed(7));
  for (const char* compression : {"GZIP", "ZLIB", "SNAPPY"}) {
    {
      TFRecordWriter out(path, {.compression_type = compression});
      for (int i = 0; i < 20; ++i) out.write(std::string(static_cast<std::size_t>(i * i), 'a'));
      out.close();
    }
    const std::string good = file_contents(path);
    long records = 0, refused = 0;
    for (long i = 0; i < rounds; ++i) {
      write_plainly(path, damaged(good, random, 20));
      try {
        TFRecordReader in(path, {.compression_type = compression});
        for (std::string record; in.read(&record);) ++records;
      } catch (const errors::DataLossError&) {
        ++refused;
      }
    }
    EXPECT_GT(records, 0);
    EXPECT_GT(refused, 0);
  }
}

constexpr char kCsv[] =
    "1,2.5,some text,\"quoted, with \"\"more\"\"\",-7\n"
    "22,-1e30,,\"a\nnew line\",9223372036854775807\r\n"
    ",nan,\"\",x,0\n";
// The bytes that rows are cut at, rather than any others.
std::string damaged_csv(std::mt19937& random) {
  static const char kSigns[] = ",\"\n\r\0 -+eE.0123456789\xff";
  std::string bad = damaged(kCsv, random);
  for (unsigned k = random() % 4; k > 0 && !bad.empty(); --k)
    bad[random() % bad.size()] = kSigns[random() % (sizeof kSigns - 1)];
  return bad;
}
TEST(Fuzz, DamagedCsvFiles) {
  const std::string path = scratch("fuzzed.csv");
  std::mt19937 random(fuzz_seed(7));
  const long rounds = fuzz_rounds(10'000, 10);
  long right = 0, wrong = 0;
  for (long done = 0; done < rounds;) {
    std::string bytes;
    for (int i = 0; i < 200 && done < rounds; ++i, ++done) bytes += damaged_csv(random);
    write_plainly(path, bytes);
    const CsvSyntax syntax =
        csv_syntax("fuzz", random() % 4 ? "," : ";", random() % 4 != 0, "", {});
    UnpackingFile file(path, Compression::none);
    CsvRow row(syntax);
    std::size_t read = 0;
    for (std::string_view text; (text = next_csv_row(file, syntax)).data();) {
      read += text.size();
      ASSERT_LE(read, bytes.size());
      CsvTrouble trouble;
      if (!row.split(text, &trouble)) {
        ++wrong;
        continue;
      }
      ++right;
      for (const std::string_view field : row.fields()) {
        std::int32_t i = 0;
        std::int64_t l = 0;
        float f = 0;
        double d = 0;
        // What is an int32 is one of the others, too.
        if (parse_field(field, &i)) {
          ASSERT_TRUE(parse_field(field, &l) && l == i) << field;
          ASSERT_TRUE(parse_field(field, &f)) << field;
        }
        if (parse_field(field, &f)) {
          ASSERT_TRUE(parse_field(field, &d)) << field;
        }
      }
    }
  }
  EXPECT_GT(right, rounds);
  EXPECT_GT(wrong, 0);
}
TEST(Fuzz, DamagedCsvRecords) {
  std::mt19937 random(fuzz_seed(8));
  const long rounds = fuzz_rounds(10'000, 10);
  const std::vector<RecordDefault> columns{0, 0.f, "", "-", std::int64_t{0}};
  long right = 0;
  for (long i = 0; i < rounds; i += 4) {
    std::vector<std::string> rows;
    // Mostly one is damaged, so that the others are read.
    for (int k = 0; k < 4; ++k) {
      const std::string text = random() % 3 ? std::string("1,2,a,b,3") : damaged_csv(random);
      rows.push_back(text.substr(0, text.find('\n')));
    }
    try {
      right += decode_csv(constant(rows, string), columns)[0].size();
    } catch (const errors::InvalidArgumentError&) {
    }
  }
  EXPECT_GT(right, rounds / 20);
  EXPECT_LT(right, rounds);
}

TEST(Fuzz, DamagedNpyAndNpz) {
  const Tensor array = reshape(range(24.f), {2, 3, 4});
  const std::string npy = write_npy(array);
  std::vector<std::string> archives;
  for (const bool packed : {false, true}) {
    ZipWriter zip;
    zip.add("a.npy", npy, packed);
    zip.add("b.npy", write_npy(constant({1, 2, 3}, int64)), packed);
    archives.push_back(zip.finish());
  }
  std::mt19937 random(fuzz_seed(7));
  const long rounds = fuzz_rounds(10'000, 10);
  long read = 0, refused = 0, unpacked = 0;
  for (long i = 0; i < rounds; ++i) {
    try {
      if (i % 2) {
        const std::string bad = damaged(npy, random, 128);
        const Tensor t = read_npy(bad, "fuzzed");
        ASSERT_LE(static_cast<std::size_t>(t.size()) * t.dtype().itemsize(), bad.size());
        ++read;
        continue;
      }
      std::string bad = archives[random() % 2];
      // Half of the damage where the directory is, at the end.
      const std::size_t from = random() % 2 ? bad.size() * 2 / 3 : 0;
      bad = bad.substr(0, from) + damaged(bad.substr(from), random);
      const ZipReader zip(bad, "fuzzed");
      for (const std::string& name : zip.names()) read_npy(zip.read(name), name);
      ++unpacked;
    } catch (const errors::Internal& e) {
      ADD_FAILURE() << "case " << i << ": " << e.what();
    } catch (const errors::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read, rounds / 50);
  EXPECT_GT(unpacked, 0);
  EXPECT_GT(refused, rounds / 10);
}

}  // namespace
}  // namespace rill::io
