#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "rill/base/format.h"
#include "rill/data/file_datasets.h"
#include "rill/io/file.h"
#include "rill/io/tf_record.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/string_ops.h"
#include "tests/expect_error.h"
#include "tests/sanitizer.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace rill::data {
namespace {

using rill::testing::expect_error;
using ::testing::ElementsAre;
using Strings = std::vector<std::string>;

std::string file_with(const char* name, std::string_view bytes) {
  const std::string path = rill::testing::scratch_folder() + "/" + name;
  io::write_file_atomically(path, bytes);
  return path;
}
Strings strings_of(const Dataset& dataset) {
  Strings out;
  for (const Nest& e : dataset) out.push_back(e.item<std::string>());
  return out;
}
std::string records_file(const char* name, const Strings& records, const char* compression = "") {
  const std::string path = rill::testing::scratch_folder() + "/" + name;
  io::TFRecordWriter w(path, {.compression_type = compression});
  for (const std::string& r : records) w.write(r);
  w.close();
  return path;
}

// ---- lines
TEST(TextLine, EndsAreTakenAway) {
  EXPECT_THAT(strings_of(TextLineDataset(file_with("t", "a\r\nb\rc\n\n\nd"))),
              ElementsAre("a", "bc", "", "", "d"));
  EXPECT_THAT(strings_of(TextLineDataset(file_with("t", "a\n"))), ElementsAre("a"));
  EXPECT_THAT(strings_of(TextLineDataset(file_with("t", "\n"))), ElementsAre(""));
  EXPECT_THAT(strings_of(TextLineDataset(file_with("t", ""))), ElementsAre());
}
TEST(TextLine, FilesOneAfterTheOtherOrInTurns) {
  RILL_SHOWS("D46");
  const std::string a = file_with("a", "a1\na2\na3\n"), b = file_with("b", "b1\nb2");
  EXPECT_THAT(strings_of(TextLineDataset({a, b})), ElementsAre("a1", "a2", "a3", "b1", "b2"));
  EXPECT_THAT(strings_of(TextLineDataset({a, b}, {.num_parallel_reads = 2})),
              ElementsAre("a1", "b1", "a2", "b2", "a3"));
  EXPECT_EQ(TextLineDataset(constant({a, b})).as_vector().size(), 5u);
  const Dataset names = Dataset::from_tensor_slices(constant({a, b}));
  EXPECT_THAT(strings_of(TextLineDataset(names)), ElementsAre("a1", "a2", "a3", "b1", "b2"));
}
TEST(TextLine, AGuidesPipelineOfFiles) {
  RILL_SHOWS("D47");
  const std::string a = file_with("a", "header\n#no\na1\n"),
                    b = file_with("b", "header\nb1\n# no\n");
  const Dataset lines =
      Dataset::from_tensor_slices(constant({a, b})).flat_map([](const Tensor& filename) {
        return TextLineDataset(filename).skip(1).filter(
            [](const Tensor& line) { return not_equal(strings::substr(line, 0, 1), "#"); });
      });
  EXPECT_THAT(strings_of(lines), ElementsAre("a1", "b1"));
  EXPECT_EQ(lines.element_spec().leaf().dtype(), string);
}
TEST(TextLine, AMissingFileIsNamedOnceAndTheNextIsRead) {
  const std::string b = file_with("b", "b1");
  Iterator it = TextLineDataset({"/missing/file", b}).iter();
  expect_error<errors::NotFoundError>([&] { it.next(); }, "/missing/file");
  EXPECT_EQ(it.next().item<std::string>(), "b1");
  expect_error<errors::OutOfRangeError>([&] { it.next(); }, "End of sequence");
}
TEST(TextLine, BatchesAreMadeAsTheyAreRead) {
  const std::string a = file_with("a", "1\n2\n3\n4\n5");
  std::vector<Strings> batches;
  for (const Nest& e : TextLineDataset(a).batch(2)) batches.push_back(e.to_vector<std::string>());
  EXPECT_THAT(batches, ElementsAre(Strings{"1", "2"}, Strings{"3", "4"}, Strings{"5"}));
  const auto all = TextLineDataset(a).batch(1'000'000'000'000).as_vector();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].shape(), TensorShape({5}));
  EXPECT_EQ(TextLineDataset(a).batch(2, {.drop_remainder = true}).as_vector().size(), 2u);
}

// ---- TFRecords
TEST(TFRecordDataset, EveryCompression) {
  RILL_SHOWS("D45");
  Strings records;
  for (int i = 0; i < 3000; ++i) records.push_back("record " + std::to_string(i));
  for (const char* compression : {"", "ZLIB", "GZIP"})
    EXPECT_EQ(strings_of(TFRecordDataset(records_file("r", records, compression),
                                         {.compression_type = compression})),
              records)
        << compression;
  // Names as a string, a list or a tensor.
  const std::string one = records_file("r", {"1", "2"}), other = records_file("s", {"3"});
  EXPECT_THAT(strings_of(TFRecordDataset({one, other})), ElementsAre("1", "2", "3"));
  EXPECT_THAT(strings_of(TFRecordDataset(constant({other, one}))), ElementsAre("3", "1", "2"));
  EXPECT_THAT(strings_of(TFRecordDataset(constant(one))), ElementsAre("1", "2"));
  expect_error<errors::InvalidArgumentError>(
      [] { TFRecordDataset("r", {.compression_type = "LZMA"}); }, "LZMA");
}
TEST(TFRecordDataset, TheRecordsBeforeADamageAreReadAndThenTheNextFile) {
  std::string bytes = io::file_contents(records_file("r", {"one", "two", "three"}));
  bytes[bytes.size() - 6] ^= 1;
  const std::string damaged = file_with("damaged", bytes), good = records_file("g", {"four"});
  Iterator it = TFRecordDataset({damaged, good}).iter();
  EXPECT_EQ(it.next().item<std::string>(), "one");
  EXPECT_EQ(it.next().item<std::string>(), "two");
  expect_error<errors::DataLossError>([&] { it.next(); }, "corrupted record at 38 in \"");
  EXPECT_EQ(it.next().item<std::string>(), "four");
}
TEST(TFRecordDataset, APackedFileThatIsCutShortGivesWhatIsWhole) {
  const std::string path = records_file("r", Strings(1000, std::string(100, 'x')), "GZIP");
  const std::string bytes = io::file_contents(path);
  Iterator it = TFRecordDataset(file_with("cut", bytes.substr(0, bytes.size() / 2)),
                                {.compression_type = "GZIP"})
                    .iter();
  int n = 0;
  try {
    for (;; ++n) it.next();
  } catch (const errors::DataLossError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("cut"));
  }
  EXPECT_GT(n, 100);
  EXPECT_LT(n, 1000);
}
TEST(TFRecordDataset, ContinuesInANewIteratorExactlyWhereItWasSaved) {
  Strings records;
  for (int i = 0; i < 40; ++i) records.push_back(std::to_string(i));
  for (const char* compression : {"", "GZIP"}) {
    const std::string a = records_file("a", {records.begin(), records.begin() + 15}, compression),
                      b = records_file("b", {records.begin() + 15, records.end()}, compression);
    const auto pipeline = [&](std::int64_t parallel) {
      return TFRecordDataset({a, b},
                             {.compression_type = compression, .num_parallel_reads = parallel})
          .shuffle(7, {.seed = 3})
          .prefetch(2);
    };
    for (std::int64_t parallel : {0, 2})
      for (int taken : {0, 1, 14, 20, 39, 40}) {
        Iterator it = pipeline(parallel).iter();
        for (int i = 0; i < taken; ++i) it.next();
        const std::string state = it.save();
        Strings rest, again;
        for (Nest e; it.next(&e);) rest.push_back(e.item<std::string>());
        Iterator other = pipeline(parallel).iter();
        other.restore(state);
        for (Nest e; other.next(&e);) again.push_back(e.item<std::string>());
        EXPECT_EQ(rest.size(), 40u - static_cast<std::size_t>(taken));
        EXPECT_EQ(again, rest) << compression << parallel << ", " << taken;
      }
  }
}
TEST(TFRecordDataset, AStateOfOtherFilesIsRefused) {
  const std::string a = records_file("a", {"1", "2"}), b = records_file("b", {"1", "2"});
  Iterator it = TFRecordDataset(a).iter();
  it.next();
  Iterator other = TFRecordDataset(b).iter();
  expect_error<errors::InvalidArgumentError>([&] { other.restore(it.save()); }, "here it is \"");
}

// ---- records of one length
TEST(FixedLengthRecord, WithoutHeaderAndFooter) {
  const std::string path = file_with("f", "HHaabbccF");
  EXPECT_THAT(strings_of(FixedLengthRecordDataset(path, 2, {.header_bytes = 2, .footer_bytes = 1})),
              ElementsAre("aa", "bb", "cc"));
  Iterator it = FixedLengthRecordDataset(file_with("f", "HHaabbcF"), 2,
                                         {.header_bytes = 2, .footer_bytes = 1})
                    .iter();
  it.next();
  it.next();
  expect_error<errors::DataLossError>([&] { it.next(); }, "ends at 8 within a record");
  expect_error<errors::InvalidArgumentError>([&] { FixedLengthRecordDataset(path, 0); },
                                             "record_bytes is 0");
}

// ---- CSV: what each text gives is what CsvDataset of TensorFlow 2.15 gives
std::vector<Strings> rows_of(std::string_view text, const std::vector<RecordDefault>& defaults,
                             CsvOptions options = {}) {
  std::vector<Strings> rows;
  Iterator it = CsvDataset(file_with("csv", text), defaults, std::move(options)).iter();
  for (;;) {
    try {
      Nest row;
      if (!it.next(&row)) return rows;
      Strings& out = rows.emplace_back();
      for (const Tensor& t : row.flatten())
        out.push_back(t.dtype() == string ? t.item<std::string>() : format("{}", t.item<double>()));
    } catch (const errors::InvalidArgumentError& e) {
      const std::string what = e.what();
      const std::size_t line = what.find("line");
      if (line == what.npos) throw;
      rows.push_back({"error", what.substr(line)});
    }
  }
}
TEST(CsvDataset, RowsEndsAndQuotes) {
  const std::vector<RecordDefault> two{float32, float32}, texts{string, string};
  EXPECT_THAT(rows_of("1,2\n3,4", two), ElementsAre(Strings{"1", "2"}, Strings{"3", "4"}));
  EXPECT_THAT(rows_of("1,2\r\n3,4\r5,6\r\n", two),
              ElementsAre(Strings{"1", "2"}, Strings{"3", "4"}, Strings{"5", "6"}));
  EXPECT_THAT(rows_of("\"a\"\"b\",\"x\ny\"\nc,d\n", texts),
              ElementsAre(Strings{"a\"b", "x\ny"}, Strings{"c", "d"}));
  EXPECT_THAT(rows_of("\"1\",\"2\"", {int32, float32}), ElementsAre(Strings{"1", "2"}));
  EXPECT_THAT(rows_of("\"a\",b\n", texts, {.use_quote_delim = false}),
              ElementsAre(Strings{"\"a\"", "b"}));
  EXPECT_THAT(rows_of("1e400,inf\nnan,-1e-400\n", two),
              ElementsAre(Strings{"inf", "inf"}, Strings{"nan", "-0"}));
  EXPECT_THAT(rows_of("1\t2\n", {int32, int32}, {.field_delim = "\t"}),
              ElementsAre(Strings{"1", "2"}));
  EXPECT_THAT(rows_of("", two), ElementsAre());
}
TEST(CsvDataset, EmptyFieldsAndChosenColumns) {
  EXPECT_THAT(rows_of("1\n\n3\n", {0.f}), ElementsAre(Strings{"1"}, Strings{"0"}, Strings{"3"}));
  EXPECT_THAT(rows_of("1,,3\n,5,6\n", {float32, 9.f, float32}),
              ElementsAre(Strings{"1", "9", "3"},
                          Strings{"error",
                                  "line 2, column 0: the field is empty, and the column "
                                  "has no default"}));
  EXPECT_THAT(rows_of("NA,NA\n1,2\n", {7.f, "x"}, {.na_value = "NA"}),
              ElementsAre(Strings{"7", "x"}, Strings{"1", "2"}));
  EXPECT_THAT(rows_of("a,b,c\n1,2,3\n4,5\n6,7,8,9\n", {int32, int32},
                      {.header = true, .select_cols = {0, 2}}),
              ElementsAre(Strings{"1", "3"},
                          Strings{"error", "line 3: the row has 2 fields; expected more than 2"},
                          Strings{"6", "8"}));
  EXPECT_THAT(rows_of("1,2,3\n4,5,6\n", {int32, int32}, {.exclude_cols = {1}}),
              ElementsAre(Strings{"1", "3"}, Strings{"4", "6"}));
}
TEST(CsvDataset, ABadRowIsNamedAndTheNextIsRead) {
  const std::vector<RecordDefault> two{int32, int32}, texts{string, string};
  EXPECT_THAT(
      rows_of("1,2,3\n4,5\n", two),
      ElementsAre(Strings{"error", "line 1: the row has 3 fields; expected 2"}, Strings{"4", "5"}));
  EXPECT_THAT(
      rows_of("1,1\n2,1.5\n3000000000,1\n4,4", two),
      ElementsAre(Strings{"1", "1"}, Strings{"error", "line 2, column 1: \"1.5\" is no int32"},
                  Strings{"error", "line 3, column 0: \"3000000000\" is no int32"},
                  Strings{"4", "4"}));
  EXPECT_THAT(rows_of("a\"b,c\nd,e\n", texts),
              ElementsAre(Strings{"error",
                                  "line 1, column 0: a field that is not quoted has a "
                                  "quote in it"},
                          Strings{"d", "e"}));
  EXPECT_THAT(rows_of("a,b\n\"1,2\n", texts),
              ElementsAre(Strings{"a", "b"},
                          Strings{"error", "line 2, column 0: a quoted field does not end"}));
}
TEST(CsvDataset, BatchesAreColumnsAndItContinues) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += std::to_string(i) + ",\"" + std::to_string(i * i) + "\"\n";
  const Dataset batches = CsvDataset(file_with("csv", text), {int64, "x"}).batch(4);
  EXPECT_EQ(batches.to_string(),
            "<BatchDataset shapes: ((None,), (None,)), types: (tf.int64, tf.string)>");
  Iterator it = batches.iter();
  EXPECT_EQ(it.next().part(0).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  Iterator other = batches.iter();
  other.restore(it.save());
  EXPECT_EQ(other.next().part(1).to_vector<std::string>(), (Strings{"16", "25", "36", "49"}));
}
TEST(CsvDataset, WrongArguments) {
  expect_error<errors::InvalidArgumentError>([] { CsvDataset("a", {}); },
                                             "record_defaults is empty");
  expect_error<errors::InvalidArgumentError>([] { CsvDataset("a", {bool_}); }, "bool");
  expect_error<errors::InvalidArgumentError>(
      [] { CsvDataset("a", {int32}, {.field_delim = "ab"}); }, "field_delim is \"ab\"");
  expect_error<errors::InvalidArgumentError>(
      [] {
        CsvDataset("a", {int32, int32}, {.select_cols = {2, 1}});
      },
      "select_cols[1] is 1");
}

TEST(MakeCsvDataset, FindsOutNamesAndTypes) {
  const std::string path = file_with("m.csv", "a,b,c,d,e\n1,2.5,x,3000000000,\n2,3,y,1,\n3,,z,,\n");
  using experimental::make_csv_dataset;
  const Dataset all = make_csv_dataset(path, 2, {.num_epochs = 1, .shuffle = false});
  EXPECT_EQ(all.output_types().to_string(),
            "{'a': tf.int32, 'b': tf.float32, 'c': tf.string, 'd': tf.int64, 'e': tf.string}");
  const std::vector<Nest> batches = all.as_vector();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0]["d"].to_vector<std::int64_t>(), (std::vector<std::int64_t>{3000000000, 1}));
  EXPECT_EQ(batches[1]["b"].to_vector<float>(), std::vector<float>{0});
  EXPECT_EQ(batches[1]["e"].to_vector<std::string>(), Strings{""});

  Iterator it =
      make_csv_dataset(path, 2, {.label_name = "a", .select_columns = {"c", "a"}, .shuffle = false})
          .iter();
  it.next();
  const Nest second = it.next();  // goes on with the first row
  EXPECT_EQ(second.part(0)["c"].to_vector<std::string>(), (Strings{"z", "x"}));
  EXPECT_EQ(second.part(1).to_vector<int>(), (std::vector<int>{3, 1}));
  EXPECT_EQ(
      make_csv_dataset(
          path, 9, {.column_names = {"p", "q", "r", "s", "t"}, .header = false, .num_epochs = 1})
          .as_vector()[0]["p"]
          .shape()
          .dim(0),
      4);
  expect_error<errors::InvalidArgumentError>(
      [&] { make_csv_dataset(path, 2, {.label_name = "b", .select_columns = {"a"}}); },
      "label_name is \"b\"; the columns are a");
  expect_error<errors::InvalidArgumentError>(
      [&] { make_csv_dataset(path, 2, {.select_columns = {"zz"}}); },
      "select_columns has \"zz\"; the columns are a, b, c, d, e");
  expect_error<errors::NotFoundError>([&] { make_csv_dataset("/none/*.csv", 2); }, "/none/*.csv");
}

// ---- data that does not fit into memory is in TFRecords, of which little is held at a time
double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * 4096;
}
TEST(TFRecord, LargeFilesAreStreamed) {
  RILL_SHOWS("D79");
  if (rill::testing::has_sanitizer()) GTEST_SKIP() << "sanitizers hold memory back";
  constexpr int kLarge = 96 << 20, kRecord = 64 << 10;
  const std::string path = rill::testing::scratch_folder() + "/large.tfrecord";
  {
    io::TFRecordWriter out(path);
    for (int i = 0; i < kLarge / kRecord; ++i)
      out.write(std::string(kRecord, static_cast<char>('a' + i % 26)));
    out.close();
  }
  const Dataset lengths =
      TFRecordDataset(path)
          .map([](const Tensor& r) { return strings::length(r); }, {.num_parallel_calls = 2})
          .shuffle(100)
          .batch(16)
          .prefetch(2);
  const double before = resident_bytes();
  double most = 0;
  std::int64_t all = 0;
  for (const Nest& e : lengths) {
    for (int n : e.to_vector<int>()) all += n;
    most = std::max(most, resident_bytes() - before);
  }
  EXPECT_EQ(all, kLarge);
  EXPECT_LT(most, 48e6);
  io::remove_file(path);
}

}  // namespace
}  // namespace rill::data
