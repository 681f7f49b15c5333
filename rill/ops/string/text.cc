// Length, parts, case and white space of strings.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

void check_unit(ShapeContext& c) {
  const std::string_view unit = c.string_attr("unit");
  RILL_CHECK(unit == "BYTE" || unit == "UTF8_CHAR", invalid_argument,
             "[{}] unit is \"{}\"; expected \"BYTE\" or \"UTF8_CHAR\"", c.tag(), unit);
}
const Op& length_op = OpBuilder("StringLength", "strings.length")
                          .input("input: string")
                          .output("output: int32")
                          .attr("unit: string = 'BYTE'")
                          .doc("The number of bytes, or of characters of UTF-8, of each string.")
                          .shape([](ShapeContext& c) { check_unit(c), unchanged_shape(c); })
                          .no_gradient()
                          .define();

void substr_shape(ShapeContext& c) {
  check_unit(c);
  const TensorShape &pos = c.input(1), &len = c.input(2);
  RILL_CHECK(pos.is_compatible_with(len), invalid_argument,
             "[{}] pos has shape {} and len {}; expected equal shapes", c.tag(), pos, len);
  c.set_output(0, broadcast_shapes(c.input(0), pos.has_rank() ? pos : len, c.tag()));
}
const Op& substr_op =
    OpBuilder("Substr", "strings.substr")
        .input("input: string")
        .input("pos: T")
        .input("len: T")
        .output("output: string")
        .attr("unit: string = 'BYTE'")
        .type("T", kIndexTypes)
        .doc("The len units of each string from pos on; a negative pos counts from the end.")
        .shape(substr_shape)
        .no_gradient()
        .define();

void split_shape(ShapeContext& c) {
  require_rank(c, 0, 1, "input");
  require_rank(c, 1, 0, "sep");
  c.set_output(0, TensorShape(Dims{-1, 2}));
  c.set_output(1, TensorShape(Dims{-1}));
  c.set_output(2, TensorShape(Dims{2}));
}
const Op& split_op =
    OpBuilder("StringSplitV2", "strings.split")
        .input("input: string")
        .input("sep: string")
        .output("indices: int64")
        .output("values: string")
        .output("shape: int64")
        .attr("maxsplit: int = -1")
        .doc("The parts of strings as a sparse matrix: one row a string, one column a part.")
        .shape(split_shape)
        .no_gradient()
        .define();

void case_shape(ShapeContext& c) {
  const std::string_view encoding = c.string_attr("encoding");
  RILL_CHECK(encoding.empty() || encoding == "utf-8", invalid_argument,
             "[{}] encoding is \"{}\"; expected \"\" or \"utf-8\"", c.tag(), encoding);
  unchanged_shape(c);
}
const Op& upper_op = OpBuilder("StringUpper", "strings.upper")
                         .input("input: string")
                         .output("output: string")
                         .attr("encoding: string = ''")
                         .doc("Small letters made capitals.")
                         .shape(case_shape)
                         .no_gradient()
                         .define();
const Op& lower_op = OpBuilder("StringLower", "strings.lower")
                         .input("input: string")
                         .output("output: string")
                         .attr("encoding: string = ''")
                         .doc("Capitals made small letters.")
                         .shape(case_shape)
                         .no_gradient()
                         .define();
const Op& strip_op = OpBuilder("StringStrip", "strings.strip")
                         .input("input: string")
                         .output("output: string")
                         .doc("The strings without white space at both ends.")
                         .shape(unchanged_shape)
                         .no_gradient()
                         .define();

}  // namespace

namespace strings {

Tensor length(const Operand& input, const std::string& unit) {
  return execute(length_op, {Arg(input)}, {{"unit", unit}});
}

Tensor substr(const Operand& input, const Operand& pos, const Operand& len,
              const std::string& unit) {
  const Arg s(input);
  const ArgPair range(pos, len);
  return execute(substr_op, {s, range.first(), range.second()}, {{"unit", unit}});
}

RaggedTensor split(const Operand& input, SplitOptions o) {
  const auto& [sep, maxsplit] = o;
  const Arg s(input);
  RILL_CHECK(s->shape().has_rank(), invalid_argument,
             "[strings.split] the rank of input is not known; use set_shape()");
  const Tensor separator = constant(sep), flat = reshape(*s, {-1});
  const In in[] = {flat, separator};
  const Attr attrs[] = {{"maxsplit", maxsplit}};
  const std::vector<Tensor> out = execute_all(split_op, in, attrs, 3);
  if (s->ndim() == 0) return RaggedTensor::from_nested_row_splits(out[1], {});
  const Tensor rows = out[0](all, 0);
  const Tensor splits = searchsorted(rows, range(size(flat, int64) + 1), "left", int64);
  RaggedTensor parts = RaggedTensor::from_row_splits(out[1], splits, false);
  std::int64_t nrows = flat.shape().dim(0);
  for (int axis = s->ndim() - 1; axis > 0; --axis) {
    const std::int64_t length = s->shape().dim(axis);
    RILL_CHECK(length >= 0, invalid_argument,
               "[strings.split] input has shape {}; expected known sizes behind the first",
               s->shape());
    nrows = nrows < 0 ? -1 : length > 0 ? nrows / length : s->shape().dim(axis - 1);
    parts = RaggedTensor::from_uniform_row_length(parts, length, nrows);
  }
  return parts;
}

Tensor upper(const Operand& input, const std::string& encoding) {
  return execute(upper_op, {Arg(input)}, {{"encoding", encoding}});
}
Tensor lower(const Operand& input, const std::string& encoding) {
  return execute(lower_op, {Arg(input)}, {{"encoding", encoding}});
}
Tensor strip(const Operand& input) { return execute(strip_op, {Arg(input)}); }

}  // namespace strings
}  // namespace rill
