#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Rows of text with separators (RFC 4180).
namespace rill RILL_API {
namespace io {

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

}  // namespace io
}  // namespace RILL_API
