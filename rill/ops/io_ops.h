#pragma once
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rill/core/nest.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Files and records as tensors, with the names of tf.io. Files and folders themselves are in
// rill/io/gfile.h, messages in rill/io/example.h.
namespace rill RILL_API {
namespace io {

// ---- whole files. NotFound and the like name the file.
Tensor read_file(const Operand& filename);                          // all bytes, as a string scalar
void write_file(const Operand& filename, const Operand& contents);  // makes folders, too
// The files that match any of the patterns, sorted: `*`, `?` and `[a-z]` within a name.
Tensor matching_files(const Operand& pattern);

// ---- bytes
struct DecodeRawOptions {
  bool little_endian = true;
};
// The bytes of each string as numbers along a new last axis. InvalidArgument where strings differ
// in length, or their length is no multiple of the number's size.
Tensor decode_raw(const Operand& input_bytes, DType out_type, DecodeRawOptions options = {});

// A tensor with its dtype and shape as one string, a TensorProto, and back. InvalidArgument for
// bytes that are none, or that hold another dtype.
Tensor serialize_tensor(const Operand& tensor);
Tensor parse_tensor(const Operand& serialized, DType out_type);

// ---- CSV
// A column: a dtype, of a field that must be there, or the value of an empty field. float32,
// float64, int32, int64 or string; InvalidArgument otherwise. In Python: tf.float32, [0.0].
class RecordDefault {
 public:
  RecordDefault(DType required);
  template <class T>
  requires(std::is_arithmetic_v<T> || StringLike<T>) RecordDefault(const T& value)
      : RecordDefault(value_of(value)) {}
  RecordDefault(const Tensor& value);  // one element

  DType dtype() const { return dtype_; }
  bool required() const { return !value_.defined(); }
  const Tensor& value() const { return value_; }

 private:
  static Tensor value_of(const Operand& value);
  DType dtype_;
  Tensor value_;
};
struct DecodeCsvOptions {
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value = {};                   // stands for an empty field, too
  std::vector<std::int64_t> select_cols = {};  // in order; none: all
};
// The fields of each string, a row: one tensor per column, of the shape of `records`.
std::vector<Tensor> decode_csv(const Operand& records,
                               const std::vector<RecordDefault>& record_defaults,
                               DecodeCsvOptions options = {});

// ---- Examples
// What parse_example makes of a feature. An Example holds strings, float32 and int64; for
// another number type the nearest of them is read and cast.

// A tensor of a fixed shape for each example; `default_value`, of that shape or a scalar, where the
// feature is missing.
class FixedLenFeature {
 public:
  FixedLenFeature(const TensorShape& shape, DType dtype);
  FixedLenFeature(const TensorShape& shape, DType dtype, const Operand& default_value);
  // {} is a scalar's shape.
  FixedLenFeature(std::initializer_list<Dim> shape, DType dtype);
  FixedLenFeature(std::initializer_list<Dim> shape, DType dtype, const Operand& default_value);
  TensorShape shape;
  DType dtype;
  Tensor default_value;
};
// [length, ...] for each example; in a batch padded by `default_value`, else zeros or "".
class FixedLenSequenceFeature {
 public:
  struct Options {
    bool allow_missing = false;  // must be true in parse_example
    Tensor default_value = {};   // none in a SequenceExample
  };
  FixedLenSequenceFeature(const TensorShape& shape, DType dtype, const Options& options);
  FixedLenSequenceFeature(std::initializer_list<Dim> shape, DType dtype, const Options& options);
  TensorShape shape;
  DType dtype;
  bool allow_missing;
  Tensor default_value;
};
// A SparseTensor: of an example [length], of a batch [batch, largest length].
class VarLenFeature {
 public:
  explicit VarLenFeature(DType dtype) : dtype(dtype) {}
  DType dtype;
};
// A SparseTensor of values and their places, two features of one example.
class SparseFeature {
 public:
  SparseFeature(std::string index_key, std::string value_key, DType dtype, std::int64_t size,
                bool already_sorted = false);
  // Of several axes: a feature of places for each.
  SparseFeature(std::vector<std::string> index_keys, std::string value_key, DType dtype,
                std::vector<std::int64_t> sizes, bool already_sorted = false);
  std::vector<std::string> index_keys;
  std::string value_key;
  DType dtype;
  std::vector<std::int64_t> sizes;
  bool already_sorted;
};

// A RaggedTensor with a row for each example of a batch; of one example a vector. Partitions make
// rows of the values, the outermost first:
//
//   RaggedFeature(float32, {.value_key = "values", .partitions = {RaggedFeature::RowLengths("n")}})
class RaggedFeature {
 public:
  // Numbers that another feature holds, or rows of one length.
  struct Partition {
    enum class Kind : unsigned char {
      row_splits,
      row_lengths,
      value_rowids,
      row_starts,
      row_limits,
      uniform_row_length
    } kind;
    std::string key = {};
    std::int64_t length = 0;
    bool operator==(const Partition&) const = default;
  };
  static Partition RowSplits(std::string key) { return {Partition::Kind::row_splits, key}; }
  static Partition RowLengths(std::string key) { return {Partition::Kind::row_lengths, key}; }
  static Partition ValueRowIds(std::string key) { return {Partition::Kind::value_rowids, key}; }
  static Partition RowStarts(std::string key) { return {Partition::Kind::row_starts, key}; }
  static Partition RowLimits(std::string key) { return {Partition::Kind::row_limits, key}; }
  static Partition UniformRowLength(std::int64_t length) {
    return {Partition::Kind::uniform_row_length, {}, length};
  }
  struct Options {
    std::string value_key = {};  // of the values in the Example; none: the key of the feature
    std::vector<Partition> partitions = {};  // of Examples; not of steps of SequenceExamples
    DType row_splits_dtype = int32;
  };
  explicit RaggedFeature(DType dtype) : dtype(dtype) {}
  // int32 or int64 row splits.
  RaggedFeature(DType dtype, const Options& options)
      : dtype(dtype),
        value_key(options.value_key),
        partitions(options.partitions),
        row_splits_dtype(options.row_splits_dtype) {}
  DType dtype;
  std::string value_key;
  std::vector<Partition> partitions;
  DType row_splits_dtype = int32;
};

using FeatureSpec = std::variant<FixedLenFeature, FixedLenSequenceFeature, VarLenFeature,
                                 SparseFeature, RaggedFeature>;
using FeatureSpecs = std::map<std::string, FeatureSpec>;

// A dict of the features of one serialized Example ...
Nest parse_single_example(const Operand& serialized, const FeatureSpecs& features);
// ... or of a vector of them. InvalidArgument for a feature that is missing, has another kind or
// another number of values than `features` says; it names the feature and the example.
Nest parse_example(const Operand& serialized, const FeatureSpecs& features);

// ---- SequenceExamples: a context, whose features are those of an Example, and lists of features,
// one for each step.
//
//   auto [context, sequence] = tf::io::parse_single_sequence_example(
//       record, {{"label", FixedLenFeature({}, int64)}},
//       {{"frames", FixedLenSequenceFeature({64}, float32, {})}, {"words",
//       VarLenFeature(string)}});
//
// The lists of one: FixedLenSequenceFeature gives [steps, ...], VarLenFeature a SparseTensor
// [steps, longest], RaggedFeature a row per step. A list that is missing is an InvalidArgument
// where FixedLenSequenceFeature does not allow it, and empty otherwise.
std::pair<Nest, Nest> parse_single_sequence_example(const Operand& serialized,
                                                    const FeatureSpecs& context_features,
                                                    const FeatureSpecs& sequence_features);
// Of a vector of them: each result has the examples as its axis 0, and steps that an example does
// not have are zeros or "". The third result tells how many steps each has, for every
// FixedLenSequenceFeature.
std::tuple<Nest, Nest, Nest> parse_sequence_example(const Operand& serialized,
                                                    const FeatureSpecs& context_features,
                                                    const FeatureSpecs& sequence_features);

}  // namespace io

// The names of TensorFlow 1.
using io::decode_csv, io::decode_raw, io::matching_files, io::parse_example,
    io::parse_single_example, io::parse_single_sequence_example, io::parse_tensor, io::read_file,
    io::serialize_tensor, io::write_file;
using io::FixedLenFeature, io::FixedLenSequenceFeature, io::RaggedFeature, io::SparseFeature,
    io::VarLenFeature;

}  // namespace RILL_API
