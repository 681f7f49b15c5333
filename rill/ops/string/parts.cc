// Strings cut into their letters, and rows of strings joined into n-grams.
#include <algorithm>

#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/string_ops.h"

namespace rill::strings {
namespace {

RaggedTensor letters(const Operand& input, const std::string& unit, const char* tag) {
  const Tensor s = convert_to_tensor(input);
  RILL_CHECK(s.dtype() == string, invalid_argument, "[{}] input is {}; expected strings", tag,
             s.dtype());
  RILL_CHECK(s.shape().has_rank() && s.ndim() <= 1, invalid_argument,
             "[{}] input has shape {}; expected a string or a list of them", tag, s.shape());
  const Tensor flat = reshape(s, {-1});
  const RaggedTensor places = ragged::range(cast(length(flat, unit), int64));
  const Tensor each = gather(flat, places.value_rowids());
  const Tensor values = substr(each, places.flat_values(), ones_like(places.flat_values()), unit);
  return s.ndim() == 0 ? RaggedTensor::from_nested_row_splits(values, {})
                       : places.with_flat_values(values);
}

// Each row between so many left and right pads.
RaggedTensor padded(const RaggedTensor& rows, const NgramsOptions& options, int count) {
  if (count <= 0 || (options.left_pad.empty() && options.right_pad.empty())) return rows;
  const Tensor n = cast(rows.nrows(), int64);
  auto pads = [&](const std::string& pad) {
    const Tensor all = fill(reshape(n * count, {1}), pad);
    return RaggedTensor::from_row_splits(all, range(n + 1) * count, false);
  };
  std::vector<RaggedTensor> parts;
  if (!options.left_pad.empty()) parts.push_back(pads(options.left_pad));
  parts.push_back(rows);
  if (!options.right_pad.empty()) parts.push_back(pads(options.right_pad));
  return concat(parts, 1);
}

RaggedTensor ngrams_of(const RaggedTensor& given, int width, const NgramsOptions& options) {
  RILL_CHECK(width > 0, invalid_argument, "[strings.ngrams] ngram_width is {}; expected 1 or more",
             width);
  const int pads =
      options.padding_width < 0 ? width - 1 : std::min(options.padding_width, width - 1);
  const RaggedTensor rows = padded(given, options, pads).with_row_splits_dtype(int64);
  const Tensor lengths = rows.row_lengths(), starts = rows.row_starts();
  Tensor counts = maximum(lengths - (width - 1), 0);
  const RaggedTensor first = ragged::range(starts, starts + counts);
  std::vector<Tensor> words;
  for (int i = 0; i < width; ++i)
    words.push_back(gather(rows.flat_values(), first.flat_values() + i));
  const RaggedTensor grams = first.with_flat_values(join(words, options.separator));
  if (!options.preserve_short_sequences) return grams;
  // Rows that are too short for one, but not empty, as a whole.
  const Tensor is_short = logical_and(equal(counts, 0), greater(lengths, 0));
  const Tensor at = squeeze(where(is_short), 1);
  std::vector<std::string> whole;
  const RaggedTensor some = gather(rows, at);
  const auto lists = some.to_list<std::string>();
  for (const std::vector<std::string>& list : lists) {
    std::string& text = whole.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i) text += (i ? options.separator : "") + list[i];
  }
  return concat({grams, RaggedTensor::from_row_lengths(reshape(constant(whole, string), {-1}),
                                                       cast(is_short, int64), false)},
                1);
}

}  // namespace

RaggedTensor bytes_split(const Operand& input) {
  return letters(input, "BYTE", "strings.bytes_split");
}
RaggedTensor unicode_split(const Operand& input, const std::string& input_encoding) {
  RILL_CHECK(input_encoding == "UTF-8", unimplemented,
             "[strings.unicode_split] input_encoding is \"{}\"; only \"UTF-8\" is supported",
             input_encoding);
  return letters(input, "UTF8_CHAR", "strings.unicode_split");
}

RaggedTensor ngrams(const RaggedTensor& data, const std::vector<int>& ngram_width,
                    const NgramsOptions& options) {
  RILL_CHECK(!ngram_width.empty() && data.dtype() == string && data.ragged_rank() == 1,
             invalid_argument,
             "[strings.ngrams] got {} widths for {} of ragged_rank {}; expected one or more, and "
             "rows of strings",
             ngram_width.size(), data.dtype(), data.ragged_rank());
  std::vector<RaggedTensor> parts;
  for (const int width : ngram_width) parts.push_back(ngrams_of(data, width, options));
  return parts.size() == 1 ? parts[0] : concat(parts, 1);
}
RaggedTensor ngrams(const RaggedTensor& data, int ngram_width, const NgramsOptions& options) {
  return ngrams(data, std::vector<int>{ngram_width}, options);
}
Tensor ngrams(const Operand& data, int ngram_width, const NgramsOptions& options) {
  const Tensor words = convert_to_tensor(data);
  RILL_CHECK(words.ndim() == 1, invalid_argument,
             "[strings.ngrams] data has shape {}; expected a list, or a ragged tensor",
             words.shape());
  const RaggedTensor row = RaggedTensor::from_row_splits(
      words, concat({zeros({1}, int64), rill::shape(words, int64)}, 0), false);
  return ngrams(row, ngram_width, options).flat_values();
}

}  // namespace rill::strings
