// Rows of text with separators.
#include "rill/ops/array_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

constexpr TypeSet kFieldTypes{float32, float64, int32, int64, string};

void decode_csv_shape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i)
    RILL_CHECK(!c.input(i).is_fully_defined() || c.input(i).num_elements() <= 1, invalid_argument,
               "[{}] record_defaults[{}] has shape {}; expected one element, or none for a field "
               "that must be there",
               c.tag(), i - 1, c.input(i));
  RILL_CHECK(c.num_outputs() == c.num_inputs() - 1, invalid_argument,
             "[{}] there are {} columns and {} record_defaults", c.tag(), c.num_outputs(),
             c.num_inputs() - 1);
  for (int i = 1; i < c.num_inputs(); ++i)
    RILL_CHECK(kFieldTypes.contains(c.input_dtype(i)), invalid_argument,
               "[{}] record_defaults[{}] is {}; expected one of {}", c.tag(), i - 1,
               c.input_dtype(i), kFieldTypes.to_string());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
}
const Op& decode_csv_op = OpBuilder("DecodeCSV", "io.decode_csv")
                              .attr("OUT_TYPE: list(type)")
                              .input("records: string")
                              .input("record_defaults: OUT_TYPE")
                              .output("output: OUT_TYPE")
                              .attr("field_delim: string = \",\"")
                              .attr("use_quote_delim: bool = true")
                              .attr("na_value: string = \"\"")
                              .attr("select_cols: list(int) = []")
                              .doc("The fields of rows of CSV text, a tensor for each column.")
                              .shape(decode_csv_shape)
                              .no_gradient()
                              .define();

}  // namespace

namespace io {

RecordDefault::RecordDefault(DType required) : dtype_(required) {
  RILL_CHECK(kFieldTypes.contains(required), invalid_argument,
             "[csv] a column is {}; expected one of {}", required, kFieldTypes.to_string());
}
RecordDefault::RecordDefault(const Tensor& value) : RecordDefault(value.dtype()) {
  RILL_CHECK(value.size() == 1, invalid_argument,
             "[csv] the default of a column has shape {}; expected one element", value.shape());
  value_ = reshape(value, TensorShape::scalar());
}
Tensor RecordDefault::value_of(const Operand& value) { return constant(value); }

std::vector<Tensor> decode_csv(const Operand& records,
                               const std::vector<RecordDefault>& record_defaults,
                               DecodeCsvOptions o) {
  const Arg x(records);
  std::vector<Tensor> inputs{*x};
  std::vector<DType> types;
  for (const RecordDefault& d : record_defaults) {
    types.push_back(d.dtype());
    inputs.push_back(d.required() ? zeros({0}, d.dtype()) : reshape(d.value(), {1}));
  }
  const std::vector<Attr> attrs{{"OUT_TYPE", AttrValue(std::span<const DType>(types))},
                                {"field_delim", o.field_delim},
                                {"use_quote_delim", o.use_quote_delim},
                                {"na_value", o.na_value},
                                {"select_cols", o.select_cols}};
  return execute_all(decode_csv_op, as_inputs(inputs), attrs,
                     static_cast<int>(record_defaults.size()));
}

}  // namespace io
}  // namespace rill
