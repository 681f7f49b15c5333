#include "rill/io/example.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "rill/graph/function/function.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"
#include "tests/expect_error.h"
#include "tests/fuzz.h"

namespace rill::train {
namespace {

using rill::testing::damaged, rill::testing::expect_error;

Feature integers(std::vector<std::int64_t> v) { return {.int64_list = {std::move(v)}}; }
Feature floats(std::vector<float> v) { return {.float_list = {std::move(v)}}; }
Feature texts(std::vector<std::string> v) { return {.bytes_list = {std::move(v)}}; }
std::string bytes(const std::map<std::string, Feature>& features) {
  return Example{.features = {features}}.SerializeToString();
}
template <std::size_t N>
std::string raw(const char (&text)[N]) {
  return {text, N - 1};
}

// ---- messages: the bytes are those that TensorFlow 2.15 writes
TEST(Example, BytesAreProtobufs) {
  EXPECT_EQ(bytes({{"a", integers({1, -2, 300})}}),
            raw("\x0a\x18\x0a\x16\x0a\x01\x61\x12\x11\x1a\x0f\x0a\x0d\x01\xfe\xff\xff\xff\xff\xff"
                "\xff\xff\xff\x01\xac\x02"));
  EXPECT_EQ(bytes({{"b", texts({"x", ""})}}),
            raw("\x0a\x0e\x0a\x0c\x0a\x01\x62\x12\x07\x0a\x05\x0a\x01\x78\x0a\x00"));
  EXPECT_EQ(bytes({{"c", floats({1.5f, -2})}}),
            raw("\x0a\x13\x0a\x11\x0a\x01\x63\x12\x0c\x12\x0a\x0a\x08\x00\x00\xc0\x3f\x00\x00\x00"
                "\xc0"));
  EXPECT_EQ(bytes({{"d", {.kind = Feature::Kind::int64_list}}}),
            raw("\x0a\x09\x0a\x07\x0a\x01\x64\x12\x02\x1a\x00"));
  EXPECT_EQ(bytes({}), raw("\x0a\x00"));
  const SequenceExample s{
      .context = {{{"a", integers({7})}}},
      .feature_lists = {{{"l", {{integers({1}), integers({2, 3})}}}}},
  };
  EXPECT_EQ(s.SerializeToString(),
            raw("\x0a\x0c\x0a\x0a\x0a\x01\x61\x12\x05\x1a\x03\x0a\x01\x07\x12\x16\x0a\x14\x0a\x01"
                "\x6c\x12\x0f\x0a\x05\x1a\x03\x0a\x01\x01\x0a\x06\x1a\x04\x0a\x02\x02\x03"));
}
TEST(Example, ReadBackAndPrinted) {
  const Example e = Example::FromString(
      bytes({{"a", integers({1, -2})}, {"b", texts({std::string("q\"\n\0\xff", 5)})}}));
  EXPECT_EQ(e.features.feature.at("a").int64_list.value, (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(e.features.feature.at("a").WhichOneof("kind"), "int64_list");
  std::ostringstream os;
  os << e;
  EXPECT_EQ(os.str(),
            "features {\n  feature {\n    key: \"a\"\n    value {\n      int64_list {\n"
            "        value: 1\n        value: -2\n      }\n    }\n  }\n"
            "  feature {\n    key: \"b\"\n    value {\n      bytes_list {\n"
            "        value: \"q\\\"\\n\\000\\377\"\n      }\n    }\n  }\n}\n");
  const std::string s =
      SequenceExample{.feature_lists = {{{"l", {{floats({1}), floats({})}}}}}}.SerializeToString();
  EXPECT_EQ(SequenceExample::FromString(s).feature_lists.feature_list.at("l").feature.size(), 2u);
}
TEST(Example, WhatIsNoExampleIsSaid) {
  expect_error<errors::DataLossError>([] { Example::FromString("\x0a\x05xx"); },
                                      "4 bytes are not an Example");
  expect_error<errors::InvalidArgumentError>(
      [] {
        bytes({{"a", {.float_list = {{1}}, .int64_list = {{1}}}}});
      },
      "2 of its lists have values");
}

// ---- parse_example
const std::vector<std::string>& three() {
  static const std::vector<std::string> list{
      bytes({{"x", floats({1, 2})}, {"n", integers({5})}, {"t", texts({"a", "b", "c"})}}),
      bytes({{"x", floats({3, 4})}, {"t", texts({"d"})}}),
      bytes({{"x", floats({5, 6})}, {"n", integers({-1})}})};
  return list;
}
TEST(ParseExample, ABatchOfFixedAndVariableLengths) {
  const Nest out = io::parse_example(three(), {{"x", io::FixedLenFeature({2}, float32)},
                                               {"n", io::FixedLenFeature({}, int64, 9)},
                                               {"t", io::VarLenFeature(string)}});
  EXPECT_EQ(out["x"].to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(out["x"].shape(), TensorShape({3, 2}));
  EXPECT_EQ(out["n"].to_vector<std::int64_t>(), (std::vector<std::int64_t>{5, 9, -1}));
  const SparseTensor t = out["t"].as_sparse();
  EXPECT_EQ(t.indices.to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 0, 0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(t.values.to_vector<std::string>(), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(t.dense_shape.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 3}));
}
TEST(ParseExample, OneExample) {
  const Nest out = io::parse_single_example(three()[0], {{"x", io::FixedLenFeature({2}, float32)},
                                                         {"n", io::FixedLenFeature({}, int32)},
                                                         {"t", io::VarLenFeature(string)}});
  EXPECT_EQ(out["x"].shape(), TensorShape({2}));
  EXPECT_EQ(out["n"].dtype(), int32);  // an Example holds int64 alone
  EXPECT_EQ(out["n"].item<int>(), 5);
  EXPECT_EQ(out["t"].as_sparse().indices.to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2}));
}
TEST(ParseExample, SequencesArePaddedAndPlacesAreSorted) {
  const Nest padded = io::parse_example(
      three(), {{"t", io::FixedLenSequenceFeature(
                          {}, string, {.allow_missing = true, .default_value = constant("-")})}});
  EXPECT_EQ(padded["t"].to_vector<std::string>(),
            (std::vector<std::string>{"a", "b", "c", "d", "-", "-", "-", "-", "-"}));
  const std::vector<std::string> placed{bytes({{"ix", integers({3, 1})}, {"v", floats({30, 10})}}),
                                        bytes({{"ix", integers({0})}, {"v", floats({5})}})};
  const SparseTensor s =
      io::parse_example(placed, {{"s", io::SparseFeature("ix", "v", float32, 5)}})["s"].as_sparse();
  EXPECT_EQ(s.indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 0, 3, 1, 0}));
  EXPECT_EQ(s.values.to_vector<float>(), (std::vector<float>{10, 30, 5}));
  EXPECT_EQ(s.dense_shape.to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 5}));
}
TEST(ParseExample, RaggedRows) {
  const Nest out = io::parse_example(
      three(), {{"t", io::RaggedFeature(string)},
                {"r", io::RaggedFeature(float64, {.value_key = "x", .row_splits_dtype = int64})}});
  EXPECT_EQ(out["t"].as_ragged().to_string(), "[[b'a', b'b', b'c'], [b'd'], []]");
  EXPECT_EQ(out["t"].as_ragged().row_splits_dtype(), int32);
  EXPECT_EQ(out["r"].as_ragged().to_list<double>(),
            (std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(io::parse_single_example(three()[0], {{"t", io::RaggedFeature(string)}})["t"]
                .to_vector<std::string>(),
            (std::vector<std::string>{"a", "b", "c"}));
}
// A row id of 2^40 in a record of 40 bytes would be 2^40 rows.
TEST(ParseExample, RowIdsMakeNoMoreRowsThanAreBelievable) {
  using F = io::RaggedFeature;
  const io::FeatureSpecs specs{{"r", F(float32, {.value_key = "v",
                                                 .partitions = {F::ValueRowIds("ids")},
                                                 .row_splits_dtype = int64})}};
  const auto with = [](std::int64_t id) {
    return bytes({{"v", floats({1, 2})}, {"ids", integers({0, id})}});
  };
  const auto rows = [&](const std::string& record) {
    return io::parse_single_example(record, specs)["r"].as_ragged().nrows().item<std::int64_t>();
  };
  const auto traced = function([&](const Tensor& record) {
    return io::parse_single_example(record, specs)["r"].as_ragged().nrows();
  });
  const auto traced_batch = function([&](const Tensor& records) {
    return io::parse_example(records, specs)["r"].as_ragged().nrows();
  });
  EXPECT_EQ(rows(with(70'000)), 70'001);
  EXPECT_EQ(traced(constant(with(70'000))).item<std::int64_t>(), 70'001);
  EXPECT_EQ(traced_batch(constant({with(70'000), with(3)})).item<std::int64_t>(), 2);
  const std::string reason = "leave more than 16777216 rows without a value";
  for (const std::int64_t id : {std::int64_t{1} << 25, std::int64_t{1} << 40, INT64_MAX}) {
    expect_error<errors::InvalidArgumentError>([&] { rows(with(id)); }, reason);
    expect_error<errors::InvalidArgumentError>([&] { traced(constant(with(id))); }, reason);
    for (const std::vector<std::string>& batch :
         {std::vector<std::string>{with(0), with(id)}, {with(id), with(id), with(id)}}) {
      expect_error<errors::InvalidArgumentError>([&] { io::parse_example(batch, specs); }, reason);
      expect_error<errors::InvalidArgumentError>([&] { traced_batch(constant(batch)); }, reason);
    }
  }
  // Each of them might be, all of them together not.
  expect_error<errors::InvalidArgumentError>(
      [&] { io::parse_example(std::vector<std::string>(3, with(10'000'000)), specs); }, reason);
}
TEST(ParseExample, DamagedPartitionsAreRefused) {
  using F = io::RaggedFeature;
  const auto fails = [](F::Partition p, std::vector<std::int64_t> numbers, const char* text) {
    const io::FeatureSpecs specs{
        {"r", F(float32, {.value_key = "v", .partitions = {p}, .row_splits_dtype = int64})}};
    const std::string record = bytes({{"v", floats({1, 2})}, {"n", integers(std::move(numbers))}});
    expect_error<errors::InvalidArgumentError>([&] { io::parse_single_example(record, specs); },
                                               text);
  };
  const std::int64_t huge = std::int64_t{1} << 62;
  fails(F::RowSplits("n"), {0, huge},
        "the rows end at 4611686018427387904, but there are 2 values");
  fails(F::RowSplits("n"), {0, huge, 2}, "row_splits[2] = 2 is less than row_splits[1]");
  fails(F::RowSplits("n"), {}, "row_splits is empty");
  fails(F::RowLengths("n"), {huge, huge, 2}, "row_splits[2] = -9223372036854775808 is less than");
  fails(F::RowLengths("n"), {-1, 3}, "row_lengths[0] is -1; expected 0 or more");
  fails(F::RowLengths("n"), {1}, "the rows end at 1, but there are 2 values");
  fails(F::RowStarts("n"), {0, huge}, "row_splits[2] = 2 is less than row_splits[1]");
  fails(F::RowLimits("n"), {-4, 2}, "row_splits[1] = -4 is less than row_splits[0] = 0");
  fails(F::ValueRowIds("n"), {0, -1}, "value_rowids[1] is -1; expected row numbers from 0 on");
  fails(F::ValueRowIds("n"), {0}, "1 value_rowids for 2 values");
}
TEST(ParseExample, FeaturesMayReadTheSameKeyInOneWay) {
  const Nest out =
      io::parse_example(three(), {{"q", io::RaggedFeature(string, {.value_key = "t"})},
                                  {"r", io::RaggedFeature(string, {.value_key = "t"})}});
  for (const char* key : {"q", "r"})
    EXPECT_EQ(out[key].as_ragged().to_string(), "[[b'a', b'b', b'c'], [b'd'], []]") << key;
  const auto fails = [](const io::FeatureSpecs& features, const char* text) {
    expect_error<errors::InvalidArgumentError>([&] { io::parse_example(three(), features); }, text);
  };
  const io::RaggedFeature ragged(float32, {.value_key = "x"});
  fails({{"x", io::VarLenFeature(float32)}, {"r", ragged}},
        "\"x\" is read by a ragged and by a sparse feature; ragged and sparse keys must not "
        "intersect");
  fails({{"x", io::FixedLenFeature({2}, float32)}, {"r", ragged}},
        "\"x\" is read by a dense and by a ragged feature");
  fails({{"x", io::FixedLenFeature({2}, float32)}, {"s", io::SparseFeature("ix", "x", float32, 5)}},
        "\"x\" is read by a dense and by a sparse feature");
  fails({{"q", io::RaggedFeature(int64, {.value_key = "x"})}, {"r", ragged}},
        "two features read \"x\" as int64 and as float32");
  fails({{"q", io::RaggedFeature(float32, {.value_key = "x", .row_splits_dtype = int64})},
         {"r", ragged}},
        "row_splits_dtype int64 and int32");
}
TEST(ParseExample, SaysWhichExampleAndWhichFeature) {
  const auto fails = [](const io::FeatureSpecs& features, const char* text) {
    expect_error<errors::InvalidArgumentError>([&] { io::parse_example(three(), features); }, text);
  };
  fails({{"q", io::FixedLenFeature({}, int64)}},
        "[io.parse_example] example 0: feature \"q\" (int64) is missing, and has no default");
  fails({{"n", io::FixedLenFeature({}, int64)}}, "example 1: feature \"n\" (int64) is missing");
  fails({{"x", io::FixedLenFeature({3}, float32)}}, "feature \"x\" has 2 values; expected 3");
  fails({{"x", io::FixedLenFeature({2}, int64)}},
        "feature \"x\" is a float_list; expected a int64_list");
  fails({}, "features is empty");
  expect_error<errors::InvalidArgumentError>(
      [] {
        io::parse_example(three()[0], {{"x", io::VarLenFeature(float32)}});
      },
      "parse_single_example takes a scalar");
  expect_error<errors::InvalidArgumentError>(
      [] {
        io::parse_single_example("\x0a\x05xx", {{"x", io::VarLenFeature(float32)}});
      },
      "the bytes are not an Example");
  expect_error<errors::InvalidArgumentError>(
      [] {
        io::parse_example(three(), {{"n", io::FixedLenFeature({}, int64, "")}});
      },
      "default_value of \"n\" is string; expected int64");
}
TEST(ParseExample, TheLastOfTwoFeaturesCounts) {
  const std::string twice = bytes({{"n", integers({1, 2})}}), again = bytes({{"n", integers({3})}});
  const Nest out = io::parse_single_example(twice + again, {{"n", io::VarLenFeature(int64)}});
  EXPECT_EQ(out["n"].as_sparse().values.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3}));
}

// ---- parse_sequence_example
const std::string& steps() {
  static const std::string bytes_of_steps =
      SequenceExample{.context = {{{"label", integers({3})}}},
                      .feature_lists = {{{"x", {{floats({1, 2}), floats({3, 4}), floats({5, 6})}}},
                                         {"t", {{texts({"a"}), texts({}), texts({"b", "c"})}}}}}}
          .SerializeToString();
  return bytes_of_steps;
}
TEST(ParseSequenceExample, OneWithItsContext) {
  const auto [context, lists] =
      io::parse_single_sequence_example(steps(), {{"label", io::FixedLenFeature({}, int32)}},
                                        {{"x", io::FixedLenSequenceFeature({2}, float64, {})},
                                         {"t", io::RaggedFeature(string)},
                                         {"none", io::VarLenFeature(int64)}});
  EXPECT_EQ(context["label"].item<int>(), 3);
  EXPECT_EQ(context["label"].dtype(), int32);
  EXPECT_EQ(lists["x"].shape(), TensorShape({3, 2}));
  EXPECT_EQ(lists["x"].dtype(), float64);
  EXPECT_EQ(lists["t"].as_ragged().to_string(), "[[b'a'], [], [b'b', b'c']]");
  EXPECT_EQ(lists["none"].as_sparse().values.size(), 0);
}
TEST(ParseSequenceExample, ABatchIsPadded) {
  const auto [context, lists, lengths] = io::parse_sequence_example(
      std::vector<std::string>{steps(), SequenceExample().SerializeToString()}, {},
      {{"x", io::FixedLenSequenceFeature({2}, float32, {.allow_missing = true})}});
  EXPECT_EQ(context.size(), 0u);
  EXPECT_EQ(lists["x"].shape(), TensorShape({2, 3, 2}));
  EXPECT_EQ(lists["x"].to_vector<float>(),
            (std::vector<float>{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(lengths["x"].to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 0}));
}
TEST(ParseSequenceExample, SaysWhichListAndStep) {
  const auto fails = [](const io::FeatureSpecs& lists, const char* text) {
    expect_error<errors::InvalidArgumentError>(
        [&] { io::parse_single_sequence_example(steps(), {}, lists); }, text);
  };
  const io::FixedLenSequenceFeature::Options no;
  fails({{"x", io::FixedLenSequenceFeature({3}, float32, no)}},
        "[io.parse_single_sequence_example] step 0 of list \"x\" has 2 values; expected 3");
  fails({{"t", io::FixedLenSequenceFeature({1}, string, no)}},
        "step 1 of list \"t\" has 0 values; expected 1");
  fails({{"x", io::VarLenFeature(int64)}}, "step 0 of list \"x\" is a float_list");
  fails({{"y", io::FixedLenSequenceFeature({2}, float32, no)}}, "list \"y\" is missing");
  fails({{"x", io::FixedLenFeature({2}, float32)}}, "is of another kind");
  fails({}, "both dicts of features are empty");
}
TEST(SerializeTensor, GoesBothWays) {
  for (const Tensor& t : {constant({{1.5f, 2.f}}), constant({"a", "", "long"}),
                          zeros({0, 3}, int64), constant(true)}) {
    const Tensor back = io::parse_tensor(io::serialize_tensor(t), t.dtype());
    EXPECT_EQ(back.shape(), t.shape());
    EXPECT_EQ(back.to_string(), t.to_string());
  }
}

// Bytes that are changed by chance: an error or a result, and nothing outside of them is read.
TEST(Fuzz, DamagedExamples) {
  const std::string good = bytes({{"x", floats({1, 2})},
                                  {"n", integers({5, -7})},
                                  {"t", texts({"a", "bcd"})},
                                  {"u", integers({1})},
                                  {"rows", integers({0, 1})}});
  const auto partitioned = [](io::RaggedFeature::Partition p) {
    return io::RaggedFeature(float32, {.value_key = "x", .partitions = {p}});
  };
  const io::RaggedFeature::Partition partitions[] = {
      io::RaggedFeature::ValueRowIds("rows"), io::RaggedFeature::RowSplits("rows"),
      io::RaggedFeature::RowLengths("rows"), io::RaggedFeature::RowStarts("rows"),
      io::RaggedFeature::RowLimits("rows")};
  const long rounds = rill::testing::fuzz_rounds(10'000, 10);
  std::mt19937 random(rill::testing::fuzz_seed(7));
  const std::string sequence = steps();
  long parsed = 0;
  for (long i = 0; i < rounds; ++i) {
    const std::string bad = damaged(good, random);
    try {
      const Nest out = io::parse_single_example(
          bad, {{"x", io::FixedLenFeature({2}, float32, 0)},
                {"n", io::VarLenFeature(int64)},
                {"t", io::FixedLenSequenceFeature({}, string, {.allow_missing = true})},
                {"u", io::FixedLenFeature({}, int64, 0)}});
      ++parsed;
    } catch (const errors::InvalidArgumentError&) {
    }
    if (i % 8 == 0) {
      const io::FeatureSpecs rows{{"x", partitioned(partitions[i / 8 % 5])}};
      try {
        io::parse_single_example(bad, rows);
        io::parse_example(std::vector<std::string>{good, bad}, rows);
      } catch (const errors::InvalidArgumentError&) {
      }
    }
    try {
      io::parse_single_sequence_example(
          damaged(sequence, random), {{"label", io::VarLenFeature(int64)}},
          {{"x", io::FixedLenSequenceFeature({2}, float32, {.allow_missing = true})},
           {"t", io::RaggedFeature(string)}});
    } catch (const errors::InvalidArgumentError&) {
    }
    try {
      static const std::string tensor =
          io::serialize_tensor(constant({"ab", "c", ""})).item<std::string>();
      io::parse_tensor(damaged(tensor, random), string);
    } catch (const errors::Error&) {
    }
    try {
      Example::FromString(bad);
      SequenceExample::FromString(bad);
    } catch (const errors::DataLossError&) {
    }
  }
  EXPECT_GT(parsed, rounds / 20);
  EXPECT_LT(parsed, rounds);
}

}  // namespace
}  // namespace rill::train
