#include "rill/io/example.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/sparse_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

std::string example(const std::map<std::string, train::Feature>& features) {
  return train::Example{.features = {features}}.SerializeToString();
}

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
}

}  // namespace rill::conformance
