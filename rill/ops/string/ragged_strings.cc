// Functions of strings on ragged tensors: those on the flat values, with the same rows.
#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/ragged/ragged_impl.h"
#include "rill/ops/string_ops.h"

namespace rill::strings {

RaggedTensor length(const RaggedTensor& input, const std::string& unit) {
  return input.with_flat_values(length(input.flat_values(), unit));
}
RaggedTensor substr(const RaggedTensor& input, const Operand& pos, const Operand& len,
                    const std::string& unit) {
  return input.with_flat_values(substr(input.flat_values(), pos, len, unit));
}
RaggedTensor upper(const RaggedTensor& input, const std::string& encoding) {
  return input.with_flat_values(upper(input.flat_values(), encoding));
}
RaggedTensor lower(const RaggedTensor& input, const std::string& encoding) {
  return input.with_flat_values(lower(input.flat_values(), encoding));
}
RaggedTensor strip(const RaggedTensor& input) {
  return input.with_flat_values(strip(input.flat_values()));
}
RaggedTensor regex_replace(const RaggedTensor& input, const Operand& pattern,
                           const Operand& rewrite, bool replace_global) {
  return input.with_flat_values(
      regex_replace(input.flat_values(), pattern, rewrite, replace_global));
}
RaggedTensor regex_full_match(const RaggedTensor& input, const Operand& pattern) {
  return input.with_flat_values(regex_full_match(input.flat_values(), pattern));
}
RaggedTensor to_number(const RaggedTensor& input, DType out_type) {
  return input.with_flat_values(to_number(input.flat_values(), out_type));
}
RaggedTensor as_string(const RaggedTensor& input, AsStringOptions options) {
  return input.with_flat_values(as_string(input.flat_values(), std::move(options)));
}
RaggedTensor to_hash_bucket(const RaggedTensor& input, std::int64_t num_buckets) {
  return input.with_flat_values(to_hash_bucket(input.flat_values(), num_buckets));
}
RaggedTensor to_hash_bucket_fast(const RaggedTensor& input, std::int64_t num_buckets) {
  return input.with_flat_values(to_hash_bucket_fast(input.flat_values(), num_buckets));
}

Tensor reduce_join(const RaggedTensor& inputs, ReduceJoinOptions options) {
  RILL_CHECK(!options.keepdims, invalid_argument,
             "[strings.reduce_join] of a ragged tensor keepdims needs an axis");
  return reduce_join(inputs.flat_values(), std::move(options));
}
Tensor reduce_join(const RaggedTensor& inputs, int axis, ReduceJoinOptions options) {
  const int last = inputs.shape().rank() - 1;
  RILL_CHECK(inputs.ragged_rank() == 1 && last == 1 && (axis == 1 || axis == -1), invalid_argument,
             "[strings.reduce_join] axis {} of a ragged tensor of shape {}; expected the rows of "
             "one of rank 2, axis 1",
             axis, inputs.shape());
  // Each string but the first of its row takes the separator in front, and then rows may be padded.
  const Tensor splits = inputs.row_splits();
  const Tensor places = places_in_rows(splits, inputs.value_rowids());
  const Tensor front = where(equal(places, zeros_like(places)), "", options.separator);
  const RaggedTensor parts = inputs.with_flat_values(join({front, inputs.flat_values()}));
  return reduce_join(parts.to_tensor(), 1, {.keepdims = options.keepdims});
}

}  // namespace rill::strings
