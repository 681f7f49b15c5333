#include "rill/io/example.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

std::string example(const std::map<std::string, train::Feature>& features) {
  return train::Example{.features = {features}}.SerializeToString();
}
train::FeatureList steps(std::vector<train::Feature> list) { return {.feature = std::move(list)}; }

// What all samples of SequenceExamples ask for, of a batch or of one.
const io::FeatureSpecs& context_features() {
  static const io::FeatureSpecs specs{{"v", io::VarLenFeature(int64)},
                                      {"f", io::FixedLenFeature({2}, float32, {0.5f, 1.5f})},
                                      {"r", io::RaggedFeature(string)}};
  return specs;
}
const io::FeatureSpecs& sequence_features() {
  static const io::FeatureSpecs specs{
      {"d", io::FixedLenSequenceFeature({2}, float32, {.allow_missing = true})},
      {"s", io::VarLenFeature(string)},
      {"g", io::RaggedFeature(int64, {.row_splits_dtype = int64})}};
  return specs;
}
constexpr const char* kSequenceFeatures =
    "{'v': tf.io.VarLenFeature(tf.int64), 'f': tf.io.FixedLenFeature([2], tf.float32, [0.5, 1.5]), "
    "'r': tf.io.RaggedFeature(tf.string)}, "
    "{'d': tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True), "
    "'s': tf.io.VarLenFeature(tf.string), "
    "'g': tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)}";
constexpr const char* kSequenceResults =
    "c['v'].indices, c['v'].values, c['v'].dense_shape, c['f'], l['d'], l['s'].indices, "
    "l['s'].values, l['s'].dense_shape, ";

}  // namespace

RILL_ROWS(io) {
  const std::string a("\1\0\2\0\3\0\4\0\xff\0\0\0\0\0\xf0\x3f", 16), b(16, '\x41');
  row("DecodeRaw")
      .sample({strings({2}, {a, b})}, {{"out_type", uint8}})
      .sample({strings({1, 2}, {a, b})}, {{"out_type", int16}})
      .sample({strings({}, {a})}, {{"out_type", int32}, {"little_endian", false}})
      .sample({strings({}, {b})}, {{"out_type", float64}})
      .sample({strings({2}, {"", ""})}, {{"out_type", float32}})
      .dtypes({float32})
      .error({strings({}, {"abc"})}, {{"out_type", int16}}, "3 bytes; expected a multiple of 2")
      .error({strings({2}, {"ab", "abcd"})}, {{"out_type", int16}},
             "string 1 has 4 bytes and string 0 2");

  row("DecodeCSV")
      .sample({strings({3}, {"1,2.5,a,-7,1e3", "3,,\"b,\"\"\",,4", " 5,inf,,2,3"})})
      .sample({strings({}, {"1,2,3,4,5"})})
      .sample({strings({2, 1}, {"1,,,,", "2,,,,5"})})
      .dtypes({float32})
      .call([](const std::vector<Tensor>& in) {
        return io::decode_csv(in[0], {int32, 9.f, "x", std::int64_t{8}, 0.5});
      })
      .tf("tf.io.decode_csv(x0, [tf.constant([], tf.int32), [9.0], ['x'], tf.constant([8], "
          "tf.int64), [0.5]])")
      .error({strings({}, {"1,2"})}, {}, "record 0 has 2 fields; expected 5")
      .error({strings({}, {"x,2,3,4,5"})}, {}, "record 0, column 0: \"x\" is no int32")
      .error({strings({2}, {"1,2,3,4,5", ",2,3,4,5"})}, {},
             "record 1, column 0: the field is empty, and the column has no default");

  const std::string full = example({{"x", {.float_list = {{1, 2}}}},
                                    {"n", {.int64_list = {{5, -6, 1'000'000'000'000}}}},
                                    {"t", {.bytes_list = {{"a", "b", "c"}}}}}),
                    half =
                        example({{"x", {.float_list = {{3, -4}}}}, {"t", {.bytes_list = {{""}}}}}),
                    other = example({{"x", {.float_list = {{0, 0}}}},
                                     {"n", {.int64_list = {{7}}}},
                                     {"unknown", {.int64_list = {{7}}}}});
  row("ParseExampleV2")
      .sample({strings({3}, {full, half, other})})
      .sample({strings({1}, {other})})
      .dtypes({float32})
      .call([](const std::vector<Tensor>& in) {
        const Nest d = io::parse_example(
            in[0], {{"x", io::FixedLenFeature({2}, float32)},
                    {"t", io::VarLenFeature(string)},
                    {"n", io::FixedLenSequenceFeature({}, int64, {.allow_missing = true})},
                    {"m", io::FixedLenFeature({1, 2}, float32, {{0.5f, 1.5f}})}});
        const SparseTensor t = d["t"].as_sparse();
        return std::vector<Tensor>{d["x"], t.indices, t.values, t.dense_shape, d["n"], d["m"]};
      })
      .tf("(lambda d: [d['x'], d['t'].indices, d['t'].values, d['t'].dense_shape, d['n'], d['m']])"
          "(tf.io.parse_example(x0, {'x': tf.io.FixedLenFeature([2], tf.float32), "
          "'t': tf.io.VarLenFeature(tf.string), "
          "'n': tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True), "
          "'m': tf.io.FixedLenFeature([1, 2], tf.float32, [[0.5, 1.5]])}))")
      .error({strings({1}, {"\x0a\x05xx"})}, {}, "example 0: the bytes are not an Example")
      .error({strings({2}, {full, example({})})}, {},
             "example 1: feature \"x\" \\(float32\\) is missing, and has no default");

  const auto rows_of = [](std::vector<float> v, std::vector<std::int64_t> lengths,
                          std::vector<std::int64_t> splits, std::vector<std::int64_t> ids,
                          std::vector<std::int64_t> starts, std::vector<std::int64_t> limits) {
    return example({{"v", {.float_list = {std::move(v)}}},
                    {"lengths", {.int64_list = {std::move(lengths)}}},
                    {"splits", {.int64_list = {std::move(splits)}}},
                    {"ids", {.int64_list = {std::move(ids)}}},
                    {"starts", {.int64_list = {std::move(starts)}}},
                    {"limits", {.int64_list = {std::move(limits)}}}});
  };
  const std::string three_rows = rows_of({1, 2, 3, 4, 5, 6}, {2, 1, 3}, {0, 2, 3, 6},
                                         {0, 0, 1, 2, 2, 2}, {0, 2, 3}, {2, 3, 6}),
                    two_rows = rows_of({7, 8}, {0, 2}, {0, 0, 2}, {1, 1}, {0, 0}, {0, 2});
  row("io.RaggedFeature")
      .sample({strings({2}, {three_rows, two_rows})})
      .sample({strings({2}, {two_rows, three_rows})})
      .sample({strings({1}, {three_rows})})
      .dtypes({float32})
      .call([](const std::vector<Tensor>& in) {
        using F = io::RaggedFeature;
        const auto rows = [](std::vector<F::Partition> p) {
          return F(float32, {.value_key = "v", .partitions = std::move(p)});
        };
        const io::FeatureSpecs specs{
            {"a", rows({F::RowLengths("lengths")})}, {"b", rows({F::RowSplits("splits")})},
            {"c", rows({F::ValueRowIds("ids")})},    {"d", rows({F::RowStarts("starts")})},
            {"e", rows({F::RowLimits("limits")})},   {"f", rows({F::UniformRowLength(2)})}};
        const Nest batch = io::parse_example(in[0], specs);
        const Nest one = io::parse_single_example(in[0][0], specs);
        std::vector<Tensor> out;
        for (const char* key : {"a", "b", "c", "d", "e", "f"})
          for (const Nest* parsed : {&batch, &one}) {
            const auto r = (*parsed)[key].as<RaggedTensor>();
            out.push_back(r.flat_values());
            for (const Tensor& s : r.nested_row_splits()) out.push_back(s);
          }
        return out;
      })
      .tf("(lambda F, x: (lambda s: [t for k in 'abcdef' for d in (tf.io.parse_example(x, s), "
          "tf.io.parse_single_example(x[0], s)) for t in [getattr(d[k], 'flat_values', d[k])] + "
          "list(getattr(d[k], 'nested_row_splits', []))])({k: F(tf.float32, 'v', [p]) for k, p in "
          "zip('abcdef', "
          "[F.RowLengths('lengths'), F.RowSplits('splits'), F.ValueRowIds('ids'), "
          "F.RowStarts('starts'), F.RowLimits('limits'), F.UniformRowLength(2)])}))"
          "(tf.io.RaggedFeature, x0)");

  const auto sequence = [](const train::Features& context,
                           const std::map<std::string, train::FeatureList>& lists) {
    return train::SequenceExample{.context = context, .feature_lists = {lists}}.SerializeToString();
  };
  const std::string long_one = sequence(
                        {{{"v", {.int64_list = {{5, -6}}}},
                          {"f", {.float_list = {{1, 2}}}},
                          {"r", {.bytes_list = {{"p", "q"}}}}}},
                        {{"d", steps({{.float_list = {{1, 2}}}, {.float_list = {{3, 4}}}})},
                         {"s", steps({{.bytes_list = {{"a"}}},
                                      {.kind = train::Feature::Kind::bytes_list},
                                      {.bytes_list = {{"b", "c"}}}})},
                         {"g", steps({{.int64_list = {{1, 2, 3}}},
                                      {.kind = train::Feature::Kind::int64_list},
                                      {.int64_list = {{4}}}})},
                         {"unknown", steps({{.int64_list = {{1}}}})}}),
                    short_one =
                        sequence({{{"v", {.int64_list = {{7}}}}}},
                                 {{"d", steps({{.float_list = {{9, 8}}}})}, {"s", steps({})}}),
                    empty_one = sequence({}, {});
  row("ParseSequenceExampleV2")
      .sample({strings({3}, {long_one, short_one, empty_one})})
      .sample({strings({1}, {empty_one})})
      .dtypes({float32})
      .call([](const std::vector<Tensor>& in) {
        const auto [c, l, n] =
            io::parse_sequence_example(in[0], context_features(), sequence_features());
        const SparseTensor v = c["v"].as_sparse(), t = l["s"].as_sparse();
        const RaggedTensor r = c["r"].as_ragged(), g = l["g"].as_ragged();
        return std::vector<Tensor>{v.indices,
                                   v.values,
                                   v.dense_shape,
                                   c["f"],
                                   l["d"],
                                   t.indices,
                                   t.values,
                                   t.dense_shape,
                                   n["d"],
                                   r.flat_values(),
                                   r.row_splits(),
                                   g.flat_values(),
                                   g.nested_row_splits()[0],
                                   g.nested_row_splits()[1]};
      })
      .tf(std::string("(lambda c, l, n: [") + kSequenceResults +
          "n['d'], c['r'].values, c['r'].row_splits, l['g'].flat_values, "
          "l['g'].nested_row_splits[0], l['g'].nested_row_splits[1]])"
          "(*tf.io.parse_sequence_example(x0, " +
          kSequenceFeatures + "))")
      .error({strings({1}, {"\x12\x05xx"})}, {}, "example 0: the bytes are not a SequenceExample")
      .error({strings({2}, {empty_one, sequence({}, {{"d", steps({{.float_list = {{1}}}})}})})}, {},
             "example 1: step 0 of list \"d\" has 1 values; expected 2")
      .error({strings({1}, {sequence({}, {{"s", steps({{.float_list = {{1}}}})}})})}, {},
             "step 0 of list \"s\" is a float_list; expected a bytes_list");
  row("io.parse_single_sequence_example")
      .sample({strings({}, {long_one})})
      .sample({strings({}, {short_one})})
      .dtypes({float32})
      .call([](const std::vector<Tensor>& in) {
        const auto [c, l] =
            io::parse_single_sequence_example(in[0], context_features(), sequence_features());
        const SparseTensor v = c["v"].as_sparse(), t = l["s"].as_sparse();
        const RaggedTensor g = l["g"].as_ragged();
        return std::vector<Tensor>{v.indices, v.values,        v.dense_shape, c["f"],
                                   l["d"],    t.indices,       t.values,      t.dense_shape,
                                   c["r"],    g.flat_values(), g.row_splits()};
      })
      .tf(std::string("(lambda c, l: [") + kSequenceResults +
          "c['r'], l['g'].flat_values, l['g'].row_splits])"
          "(*tf.io.parse_single_sequence_example(x0, " +
          kSequenceFeatures + "))");

  row("SerializeTensor")
      .sample({x({2, 3}, {1, -2, 0.5, 100, 0, 3})})
      .sample({x({}, {7})})
      .sample({x({0, 2}, {})})
      .sample({strings({2}, {"ab", ""})})
      .dtypes({float32, float64, float16, int8, int64, uint16, bool_});
  row("ParseTensor")
      .sample(
          {strings({}, {std::string(
                           "\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\0\0\x80\x3f\0\0\0\x40", 18)})},
          {{"out_type", float32}})
      .sample(
          {strings({}, {std::string("\x08\x01\x12\x04\x12\x02\x08\x03\x2a\x04\0\0\x80\x3f", 14)})},
          {{"out_type", float32}})
      .sample({strings({}, {std::string("\x08\x07\x12\x04\x12\x02\x08\x02\x42\x01x\x42\x00", 13)})},
              {{"out_type", string}})
      .dtypes({float32})
      .error({strings({}, {"abc"})}, {{"out_type", float32}}, "3 bytes are not a TensorProto")
      .error({strings({}, {std::string("\x08\x07\x12\x00\x42\x01x", 7)})}, {{"out_type", float32}},
             "the bytes hold string values; expected float32");
}

}  // namespace rill::conformance
