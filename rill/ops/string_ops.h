#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Strings: their elements are bytes. Names, arguments and defaults are those of
// tf.strings. A unit is "BYTE" or "UTF8_CHAR".
namespace rill RILL_API {

class RaggedTensor;  // rill/ops/ragged_ops.h

namespace strings {

// The strings one after the other, element by element; scalars go with every element.
Tensor join(const TensorList& inputs, const std::string& separator = "");
// int32: the bytes, or the characters of UTF-8, of each string.
Tensor length(const Operand& input, const std::string& unit = "BYTE");
// `len` units from `pos` on, which counts from the end when it is negative.
// Strings, positions and lengths broadcast. InvalidArgument for a position
// outside its string.
Tensor substr(const Operand& input, const Operand& pos, const Operand& len,
              const std::string& unit = "BYTE");

// The parts of each string, a ragged axis behind those of input; of one string values() has them.
// Split at `sep`; at runs of white space, with none left at the ends, when it is "". At most
// maxsplit times, unless that is -1.
struct SplitOptions {
  std::string sep = {};
  int maxsplit = -1;
};
RaggedTensor split(const Operand& input, SplitOptions options = {});
template <StringLike S>
RaggedTensor split(const Operand& input, const S& sep, int maxsplit = -1);  // in ragged_ops.h

// The bytes of each string, as strings.
RaggedTensor bytes_split(const Operand& input);

// ---- characters of Unicode. Encodings that are read: UTF-8, UTF-16-BE, UTF-16-LE, UTF-16 (by its
// mark), UTF-32-BE, UTF-32-LE, US-ASCII, ISO-8859-1; written: UTF-8, UTF-16-BE, UTF-32-BE.
struct UnicodeDecodeOptions {
  // Of bytes that are no character: "replace" by replacement_char, "ignore", or "strict", which is
  // InvalidArgument.
  std::string errors = "replace";
  std::int64_t replacement_char = 65533;
  bool replace_control_characters = false;  // U+0000 to U+001F are none, too
};
struct UnicodeEncodeOptions {
  std::string errors = "replace";
  std::int64_t replacement_char = 65533;
};
using UnicodeSplitOptions = UnicodeEncodeOptions;
// The characters of each string, int32, a ragged axis behind those of input; of one string
// flat_values() has them.
RaggedTensor unicode_decode(const Operand& input, const std::string& input_encoding,
                            const UnicodeDecodeOptions& options = {});
// And the byte at which each begins: int64.
std::pair<RaggedTensor, RaggedTensor> unicode_decode_with_offsets(
    const Operand& input, const std::string& input_encoding,
    const UnicodeDecodeOptions& options = {});
// The characters as strings.
RaggedTensor unicode_split(const Operand& input, const std::string& input_encoding = "UTF-8",
                           const UnicodeSplitOptions& options = {});
std::pair<RaggedTensor, RaggedTensor> unicode_split_with_offsets(
    const Operand& input, const std::string& input_encoding = "UTF-8",
    const UnicodeSplitOptions& options = {});
// A string for each row of characters.
Tensor unicode_encode(const RaggedTensor& input, const std::string& output_encoding,
                      const UnicodeEncodeOptions& options = {});
Tensor unicode_encode(const Operand& input, const std::string& output_encoding,
                      const UnicodeEncodeOptions& options = {});
Tensor unicode_transcode(const Operand& input, const std::string& input_encoding,
                         const std::string& output_encoding,
                         const UnicodeDecodeOptions& options = {});
// The script of each character by ICU's numbers (0 common, 14 Greek, 25 Latin); -1: no character.
Tensor unicode_script(const Operand& input);

struct NgramsOptions {
  std::string separator = " ";
  // Around each row; where one is given, both are there.
  std::string left_pad = "", right_pad = "";
  int padding_width = -1;                 // how many of them; -1: ngram_width - 1
  bool preserve_short_sequences = false;  // a row that is too short is one n-gram
};
// Runs of ngram_width strings, joined; of several widths one after the other.
RaggedTensor ngrams(const RaggedTensor& data, const std::vector<int>& ngram_width,
                    const NgramsOptions& options = {});
RaggedTensor ngrams(const RaggedTensor& data, int ngram_width, const NgramsOptions& options = {});
Tensor ngrams(const Operand& data, int ngram_width, const NgramsOptions& options = {});

// encoding "": letters of ASCII; "utf-8": all letters, by Unicode's full mapping.
Tensor upper(const Operand& input, const std::string& encoding = "");
Tensor lower(const Operand& input, const std::string& encoding = "");
// Without white space at both ends.
Tensor strip(const Operand& input);

// Patterns are RE2's. In `rewrite` \1 to \9 are groups, \0 is the whole match.
Tensor regex_replace(const Operand& input, const Operand& pattern, const Operand& rewrite,
                     bool replace_global = true);
Tensor regex_full_match(const Operand& input, const Operand& pattern);  // bool

// Numbers of float32, float64, int32 or int64. InvalidArgument for what is none.
Tensor to_number(const Operand& input, DType out_type = float32);
struct AsStringOptions {
  int precision = -1;       // digits after the point; -1: 6
  bool scientific = false;  // 1.5e+00
  bool shortest = false;    // the shorter of both
  int width = -1;
  std::string fill =
      "";  // what fills up the width: "", " ", "0"; "+" writes the sign, "-" fills at the right
};
Tensor as_string(const Operand& input, AsStringOptions options = {});

// A number in [0, num_buckets) for each string: int64, the same in every program.
Tensor to_hash_bucket(const Operand& input, std::int64_t num_buckets);
Tensor to_hash_bucket_fast(const Operand& input, std::int64_t num_buckets);
// `key`: two numbers; without it nobody can choose strings that meet.
Tensor to_hash_bucket_strong(const Operand& input, std::int64_t num_buckets,
                             const std::vector<std::int64_t>& key);

struct ReduceJoinOptions {
  bool keepdims = false;
  std::string separator = "";
};
// All strings of a tensor joined, in row-major order; or along axes, the first
// listed being the innermost.
Tensor reduce_join(const Operand& inputs, ReduceJoinOptions options = {});
Tensor reduce_join(const Operand& inputs, int axis, ReduceJoinOptions options = {});
Tensor reduce_join(const Operand& inputs, std::initializer_list<int> axis,
                   ReduceJoinOptions options = {});

// The same of the strings of ragged tensors, as split() gives them.
Tensor reduce_join(const RaggedTensor& inputs, ReduceJoinOptions options = {});
// Rows joined: of axis 1, or -1, where elements are no rows.
Tensor reduce_join(const RaggedTensor& inputs, int axis, ReduceJoinOptions options = {});
RaggedTensor length(const RaggedTensor& input, const std::string& unit = "BYTE");
RaggedTensor substr(const RaggedTensor& input, const Operand& pos, const Operand& len,
                    const std::string& unit = "BYTE");
RaggedTensor upper(const RaggedTensor& input, const std::string& encoding = "");
RaggedTensor lower(const RaggedTensor& input, const std::string& encoding = "");
RaggedTensor strip(const RaggedTensor& input);
RaggedTensor regex_replace(const RaggedTensor& input, const Operand& pattern,
                           const Operand& rewrite, bool replace_global = true);
RaggedTensor regex_full_match(const RaggedTensor& input, const Operand& pattern);
RaggedTensor to_number(const RaggedTensor& input, DType out_type = float32);
RaggedTensor as_string(const RaggedTensor& input, AsStringOptions options = {});
RaggedTensor to_hash_bucket(const RaggedTensor& input, std::int64_t num_buckets);
RaggedTensor to_hash_bucket_fast(const RaggedTensor& input, std::int64_t num_buckets);

}  // namespace strings

namespace io {
// Bytes as text of the 64 letters A-Z a-z 0-9 - _; with pad = filled up to fours. Decoding takes
// both forms; InvalidArgument for other letters.
Tensor encode_base64(const Operand& input, bool pad = false);
Tensor decode_base64(const Operand& input);
}  // namespace io

// The names of TensorFlow 1.
using strings::as_string, strings::reduce_join, strings::regex_replace, strings::substr;
inline Tensor string_join(const TensorList& inputs, const std::string& separator = "") {
  return strings::join(inputs, separator);
}
inline Tensor string_to_number(const Operand& input, DType out_type = float32) {
  return strings::to_number(input, out_type);
}
inline Tensor string_to_hash_bucket(const Operand& input, std::int64_t num_buckets) {
  return strings::to_hash_bucket(input, num_buckets);
}
inline Tensor string_to_hash_bucket_fast(const Operand& input, std::int64_t num_buckets) {
  return strings::to_hash_bucket_fast(input, num_buckets);
}

}  // namespace RILL_API
