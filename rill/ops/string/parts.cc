// Strings cut into their bytes, and rows of strings joined into n-grams.
#include <algorithm>

#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

constexpr std::int64_t kMostPads = 1 << 20;

const Op& ngrams_op =
    OpBuilder("StringNGrams", "strings.ngrams")
        .input("data: string")
        .input("data_splits: Tsplits")
        .output("ngrams: string")
        .output("ngrams_splits: Tsplits")
        .attr("separator: string")
        .attr("ngram_widths: list(int)")
        .attr("left_pad: string")
        .attr("right_pad: string")
        .attr("pad_width: int")
        .attr("preserve_short_sequences: bool")
        .type("Tsplits", kIndexTypes, int64)
        .doc("Runs of strings in each row, joined.")
        .shape([](ShapeContext& c) {
          require_rank(c, 0, 1, "data");
          require_rank(c, 1, 1, "data_splits");
          for (const std::int64_t width : c.ints_attr("ngram_widths"))
            RILL_CHECK(width > 0 && width <= kMostPads, invalid_argument,
                       "[{}] ngram_width is {}; expected 1 or more", c.tag(), width);
          RILL_CHECK(c.int_attr("pad_width") <= kMostPads, invalid_argument,
                     "[{}] padding_width is {}; expected at most {}", c.tag(),
                     c.int_attr("pad_width"), kMostPads);
          c.set_output(0, TensorShape(Dims{-1}));
          c.set_output(1, c.input(1).has_rank() ? c.input(1) : TensorShape(Dims{-1}));
        })
        .no_gradient()
        .define();

}  // namespace

namespace strings {

RaggedTensor bytes_split(const Operand& input) {
  const Tensor s = convert_to_tensor(input);
  RILL_CHECK(s.dtype() == string, invalid_argument,
             "[strings.bytes_split] input is {}; expected strings", s.dtype());
  RILL_CHECK(s.shape().has_rank() && s.ndim() <= 1, invalid_argument,
             "[strings.bytes_split] input has shape {}; expected a string or a list of them",
             s.shape());
  const Tensor flat = reshape(s, {-1});
  const RaggedTensor places = ragged::range(cast(length(flat), int64));
  const Tensor each = gather(flat, places.value_rowids());
  const Tensor values = substr(each, places.flat_values(), ones_like(places.flat_values()));
  return s.ndim() == 0 ? RaggedTensor::from_nested_row_splits(values, {})
                       : places.with_flat_values(values);
}

RaggedTensor ngrams(const RaggedTensor& data, const std::vector<int>& ngram_width,
                    const NgramsOptions& o) {
  RILL_CHECK(!ngram_width.empty() && data.dtype() == string && data.ragged_rank() == 1 &&
                 data.flat_values().ndim() == 1,
             invalid_argument,
             "[strings.ngrams] got {} widths for {} of ragged_rank {}; expected one or more, and "
             "rows of strings",
             ngram_width.size(), data.dtype(), data.ragged_rank());
  const bool padded = !o.left_pad.empty() || !o.right_pad.empty();
  const Tensor splits = data.row_splits();
  const In in[] = {data.flat_values(), splits};
  const std::vector<std::int64_t> widths(ngram_width.begin(), ngram_width.end());
  const Attr attrs[] = {{"separator", o.separator},
                        {"ngram_widths", widths},
                        {"left_pad", o.left_pad},
                        {"right_pad", o.right_pad},
                        {"pad_width", padded ? std::max(o.padding_width, -1) : 0},
                        {"preserve_short_sequences", o.preserve_short_sequences}};
  const std::vector<Tensor> out = execute_all(ngrams_op, in, attrs, 2);
  return RaggedTensor::from_row_splits(out[0], out[1], false);
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

}  // namespace strings
}  // namespace rill
