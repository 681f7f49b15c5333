// Rows of a table, joined as a sparse matrix of their numbers says.
#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse/sparse_impl.h"

namespace rill::nn {
namespace {

Tensor combine(const Operand& params, const Tensor& ids, const Tensor& weights,
               const Tensor& segments, const EmbeddingLookupSparseOptions& options,
               const char* tag) {
  const std::string& combiner = options.combiner;
  RILL_CHECK(combiner == "sum" || combiner == "mean" || combiner == "sqrtn", invalid_argument,
             "[{}] combiner is \"{}\"; expected \"mean\", \"sqrtn\" or \"sum\"", tag, combiner);
  Tensor rows = options.max_norm > 0 ? embedding_lookup(params, ids, options.max_norm)
                                     : embedding_lookup(params, ids);
  auto as_column = [&](Tensor t) {
    while (t.ndim() < rows.ndim()) t = expand_dims(t, -1);
    return t;
  };
  const Tensor weight =
      weights.defined() ? cast(weights, rows.dtype()) : ones(rill::shape(ids), rows.dtype());
  if (weights.defined()) rows = rows * as_column(weight);
  const Tensor sum = segment_sum(rows, segments);
  if (combiner == "sum") return sum;
  const Tensor by = combiner == "mean" ? segment_sum(weight, segments)
                                       : sqrt(segment_sum(square(weight), segments));
  return divide_no_nan(sum, as_column(by));
}

void check_weights(const SparseTensor& ids, const SparseTensor& weights, const char* tag) {
  RILL_CHECK(weights.values.shape().is_compatible_with(ids.values.shape()), invalid_argument,
             "[{}] {} weights for {} ids; expected one for each", tag, weights.values.shape(),
             ids.values.shape());
  RILL_CHECK(weights.dtype().is_floating(), invalid_argument,
             "[{}] weights are {}; expected floating-point numbers", tag, weights.dtype());
}

SparseTensor as_matrix(const SparseTensor& ids, const Tensor& leading) {
  if (rank_of(ids) == 2) return ids;
  return sparse::reshape(ids, stack({reduce_prod(leading), ids.dense_shape[-1]}));
}

Tensor safe_lookup(const Operand& params, const SparseTensor& sparse_ids,
                   const SparseTensor* sparse_weights,
                   const EmbeddingLookupSparseOptions& options) {
  const char* tag = "nn.safe_embedding_lookup_sparse";
  RILL_CHECK(rank_of(sparse_ids) >= 2, invalid_argument,
             "[{}] the ids have rank {}; expected 2 or more", tag, rank_of(sparse_ids));
  const Tensor leading = sparse_ids.dense_shape(slice(None, -1));
  SparseTensor ids = as_matrix(sparse_ids, leading);
  Tensor weights;
  Tensor valid = greater_equal(ids.values, 0);
  if (sparse_weights) {
    check_weights(sparse_ids, *sparse_weights, tag);
    weights = sparse_weights->values;
    if (options.combiner != "sum") valid = logical_and(valid, greater(weights, 0));
    weights = boolean_mask(weights, valid);
  }
  ids = sparse::retain(ids, valid);
  const SparseTensor kept = ids;
  const std::int64_t instead = options.default_id < 0 ? 0 : options.default_id;
  const sparse::FilledRows filled = sparse::fill_empty_rows(kept, instead);
  if (weights.defined())
    weights = sparse::fill_empty_rows({kept.indices, weights, kept.dense_shape}, 1.0).sp.values;
  Tensor out = combine(params, filled.sp.values, weights, filled.sp.indices(all, 0), options, tag);
  if (options.default_id < 0) {
    Tensor empty = filled.empty_row_indicator;
    while (empty.ndim() < out.ndim()) empty = expand_dims(empty, -1);
    out = where(empty, zeros_like(out), out);
  }
  return reshape(out, concat({leading, rill::shape(out, int64)(slice(1, None))}, 0));
}

}  // namespace

Tensor embedding_lookup_sparse(const Operand& params, const SparseTensor& sp_ids,
                               const EmbeddingLookupSparseOptions& options) {
  return combine(params, sp_ids.values, {}, sp_ids.indices(all, 0), options,
                 "nn.embedding_lookup_sparse");
}
Tensor embedding_lookup_sparse(const Operand& params, const SparseTensor& sp_ids,
                               const SparseTensor& sp_weights,
                               const EmbeddingLookupSparseOptions& options) {
  const char* tag = "nn.embedding_lookup_sparse";
  check_weights(sp_ids, sp_weights, tag);
  return combine(params, sp_ids.values, sp_weights.values, sp_ids.indices(all, 0), options, tag);
}
Tensor embedding_lookup_sparse(const Operand& params, const RaggedTensor& ids,
                               const EmbeddingLookupSparseOptions& options) {
  return combine(params, ids.values(), {}, ids.value_rowids(), options,
                 "nn.embedding_lookup_sparse");
}
RaggedTensor embedding_lookup(const Operand& params, const RaggedTensor& ids) {
  return ids.with_flat_values(embedding_lookup(params, ids.flat_values()));
}

Tensor safe_embedding_lookup_sparse(const Operand& params, const SparseTensor& sparse_ids,
                                    const EmbeddingLookupSparseOptions& options) {
  return safe_lookup(params, sparse_ids, nullptr, options);
}
Tensor safe_embedding_lookup_sparse(const Operand& params, const SparseTensor& sparse_ids,
                                    const SparseTensor& sparse_weights,
                                    const EmbeddingLookupSparseOptions& options) {
  return safe_lookup(params, sparse_ids, &sparse_weights, options);
}

}  // namespace rill::nn
