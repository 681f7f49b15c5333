// Strings as characters of Unicode, and back.
#include "rill/base/unicode.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

void check_unicode(ShapeContext& c) {
  const std::string_view errors = c.string_attr("errors");
  RILL_CHECK(errors == "strict" || errors == "replace" || errors == "ignore", invalid_argument,
             "[{}] errors is \"{}\"; expected \"strict\", \"replace\" or \"ignore\"", c.tag(),
             errors);
  const std::int64_t spare = c.int_attr("replacement_char");
  RILL_CHECK(spare >= 0 && spare < 0x110000, invalid_argument,
             "[{}] replacement_char is {}; expected a character of Unicode, below 1114112", c.tag(),
             spare);
  for (const char* attr : {"input_encoding", "output_encoding"}) {
    const AttrValue* name = c.find_attr(attr);
    if (!name) continue;
    TextEncoding encoding{};
    RILL_CHECK(text_encoding(name->as_string(), &encoding), invalid_argument,
               "[{}] {} is \"{}\"; expected one of {}", c.tag(), attr, name->as_string(),
               text_encodings());
    RILL_CHECK(attr[0] == 'i' || encoding == TextEncoding::utf8 ||
                   encoding == TextEncoding::utf16_be || encoding == TextEncoding::utf32_be,
               invalid_argument,
               "[{}] output_encoding is \"{}\"; expected UTF-8, UTF-16-BE or UTF-32-BE", c.tag(),
               name->as_string());
  }
}

void decode_shape(ShapeContext& c) {
  check_unicode(c);
  // A graph from a file may claim as many elements as there are numbers.
  const std::int64_t texts = c.input(0).is_fully_defined() ? c.input(0).num_elements() : -1;
  const std::int64_t n = texts < 0 || texts == INT64_MAX ? -1 : texts + 1;
  c.set_output(0, TensorShape(Dims{n}));
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, TensorShape(Dims{-1}));
}
OpBuilder decoding(const char* name, const char* tag) {
  OpBuilder b(name, tag);
  b.input("input: string")
      .output("row_splits: Tsplits")
      .output("char_values: int32")
      .attr("input_encoding: string")
      .attr("errors: string = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false")
      .type("Tsplits", kIndexTypes, int64)
      .shape(decode_shape)
      .no_gradient();
  return b;
}
const Op& decode_op = decoding("UnicodeDecode", "strings.unicode_decode")
                          .doc("The characters of strings, one row a string.")
                          .define();
const Op& decode_offsets_op =
    decoding("UnicodeDecodeWithOffsets", "strings.unicode_decode_with_offsets")
        .output("char_to_byte_starts: int64")
        .doc("The characters of strings, one row a string, and the bytes at which they begin.")
        .define();
const Op& encode_op = OpBuilder("UnicodeEncode", "strings.unicode_encode")
                          .input("input_values: int32")
                          .input("input_splits: Tsplits")
                          .output("output: string")
                          .attr("errors: string = 'replace'")
                          .attr("output_encoding: string")
                          .attr("replacement_char: int = 65533")
                          .type("Tsplits", kIndexTypes, int64)
                          .doc("Rows of characters as strings.")
                          .shape([](ShapeContext& c) {
                            check_unicode(c);
                            require_rank(c, 0, 1, "input_values");
                            require_rank(c, 1, 1, "input_splits");
                            const TensorShape& splits = c.input(1);
                            const std::int64_t n = splits.has_rank() ? splits.dim(0) : -1;
                            RILL_CHECK(n != 0, invalid_argument,
                                       "[{}] input_splits is empty; expected 0 at least", c.tag());
                            c.set_output(0, TensorShape(Dims{n < 0 ? -1 : n - 1}));
                          })
                          .no_gradient()
                          .define();
const Op& transcode_op = OpBuilder("UnicodeTranscode", "strings.unicode_transcode")
                             .input("input: string")
                             .output("output: string")
                             .attr("input_encoding: string")
                             .attr("output_encoding: string")
                             .attr("errors: string = 'replace'")
                             .attr("replacement_char: int = 65533")
                             .attr("replace_control_characters: bool = false")
                             .doc("Strings in another encoding.")
                             .shape([](ShapeContext& c) { check_unicode(c), unchanged_shape(c); })
                             .no_gradient()
                             .define();
const Op& script_op = OpBuilder("UnicodeScript", "strings.unicode_script")
                          .input("input: int32")
                          .output("output: int32")
                          .doc("The scripts of characters, by ICU's numbers.")
                          .shape(unchanged_shape)
                          .no_gradient()
                          .define();

// Rows behind the axes of `like`, of its elements in order.
RaggedTensor behind_axes(const Tensor& like, const Tensor& values, const Tensor& splits,
                         const char* tag) {
  if (like.ndim() == 0) return RaggedTensor::from_nested_row_splits(values, {});
  RaggedTensor rows = RaggedTensor::from_row_splits(values, splits, false);
  for (int axis = like.ndim() - 1; axis > 0; --axis) {
    const std::int64_t length = like.shape().dim(axis);
    RILL_CHECK(length >= 0, invalid_argument,
               "[{}] input has shape {}; expected known sizes behind the first", tag, like.shape());
    std::int64_t nrows = 1;
    for (int i = 0; i < axis; ++i)
      nrows = nrows < 0 || like.shape().dim(i) < 0 ? -1 : nrows * like.shape().dim(i);
    rows = RaggedTensor::from_uniform_row_length(rows, length, nrows);
  }
  return rows;
}

std::vector<Tensor> decode(const Op& op, const Tensor& s, const std::string& encoding,
                           const strings::UnicodeDecodeOptions& o) {
  RILL_CHECK(s.shape().has_rank(), invalid_argument,
             "[{}] the rank of input is not known; use set_shape()", op.tag);
  const Tensor flat = reshape(s, {-1});
  const In in[] = {flat};
  const Attr attrs[] = {{"input_encoding", encoding},
                        {"errors", o.errors},
                        {"replacement_char", o.replacement_char},
                        {"replace_control_characters", o.replace_control_characters}};
  return execute_all(op, in, attrs, static_cast<int>(op.outputs.size()));
}
Tensor encode(const Tensor& values, const Tensor& splits, const std::string& encoding,
              const std::string& errors, std::int64_t replacement) {
  return execute(
      encode_op, {values, splits},
      {{"errors", errors}, {"output_encoding", encoding}, {"replacement_char", replacement}});
}
// A string for each character. What is no longer to be replaced has been.
Tensor each_encoded(const Tensor& codes, const std::string& encoding,
                    const strings::UnicodeSplitOptions& o) {
  return encode(codes, range(size(codes, int64) + 1), encoding, o.errors, o.replacement_char);
}

}  // namespace

namespace strings {

RaggedTensor unicode_decode(const Operand& input, const std::string& input_encoding,
                            const UnicodeDecodeOptions& options) {
  const Arg s(input);
  const auto out = decode(decode_op, *s, input_encoding, options);
  return behind_axes(*s, out[1], out[0], "strings.unicode_decode");
}
std::pair<RaggedTensor, RaggedTensor> unicode_decode_with_offsets(
    const Operand& input, const std::string& input_encoding, const UnicodeDecodeOptions& options) {
  const Arg s(input);
  const auto out = decode(decode_offsets_op, *s, input_encoding, options);
  const RaggedTensor codes = behind_axes(*s, out[1], out[0], "strings.unicode_decode_with_offsets");
  return {codes, codes.with_flat_values(out[2])};
}

RaggedTensor unicode_split(const Operand& input, const std::string& input_encoding,
                           const UnicodeSplitOptions& o) {
  const RaggedTensor codes = unicode_decode(
      input, input_encoding, {.errors = o.errors, .replacement_char = o.replacement_char});
  return codes.with_flat_values(each_encoded(codes.flat_values(), input_encoding, o));
}
std::pair<RaggedTensor, RaggedTensor> unicode_split_with_offsets(const Operand& input,
                                                                 const std::string& input_encoding,
                                                                 const UnicodeSplitOptions& o) {
  const auto [codes, offsets] = unicode_decode_with_offsets(
      input, input_encoding, {.errors = o.errors, .replacement_char = o.replacement_char});
  return {codes.with_flat_values(each_encoded(codes.flat_values(), input_encoding, o)), offsets};
}

Tensor unicode_encode(const RaggedTensor& input, const std::string& output_encoding,
                      const UnicodeEncodeOptions& o) {
  const int levels = input.ragged_rank();
  RILL_CHECK(levels == 1 && input.flat_values().ndim() == 1, invalid_argument,
             "[strings.unicode_encode] input has ragged_rank {} and values of shape {}; expected "
             "rows of characters (encode ragged_values() of rows of rows)",
             levels, input.flat_values().shape());
  return encode(input.flat_values(), input.row_splits(), output_encoding, o.errors,
                o.replacement_char);
}
Tensor unicode_encode(const Operand& input, const std::string& output_encoding,
                      const UnicodeEncodeOptions& o) {
  const Arg x(input, input.is_literal() ? int32 : DType());
  RILL_CHECK(x->shape().has_rank() && x->ndim() >= 1, invalid_argument,
             "[strings.unicode_encode] input has shape {}; expected rows of characters",
             x->shape());
  // Rows of one length.
  const Tensor sizes = shape(*x, int64), outer = sizes(slice(0, -1)), length = sizes[-1];
  const Tensor rows = reduce_prod(outer);
  const Tensor strings = encode(reshape(*x, {-1}), range(rows + 1) * length, output_encoding,
                                o.errors, o.replacement_char);
  if (x->ndim() == 1) return strings[0];
  Dims dims = x->shape().dims();
  dims.pop_back();
  const Tensor out = reshape(strings, outer);
  out.set_shape(TensorShape(dims));
  return out;
}

Tensor unicode_transcode(const Operand& input, const std::string& input_encoding,
                         const std::string& output_encoding, const UnicodeDecodeOptions& o) {
  return execute(transcode_op, {Arg(input)},
                 {{"input_encoding", input_encoding},
                  {"output_encoding", output_encoding},
                  {"errors", o.errors},
                  {"replacement_char", o.replacement_char},
                  {"replace_control_characters", o.replace_control_characters}});
}

Tensor unicode_script(const Operand& input) {
  return execute(script_op, {Arg(input, input.is_literal() ? int32 : DType())});
}

}  // namespace strings
}  // namespace rill
