// Indices as rows of numbers.
#include "rill/keras/layers/preprocessing/encode_impl.h"

#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

constexpr std::pair<OutputMode, std::string_view> kModes[] = {
    {OutputMode::integers, "int"},        {OutputMode::one_hot, "one_hot"},
    {OutputMode::multi_hot, "multi_hot"}, {OutputMode::count, "count"},
    {OutputMode::tf_idf, "tf_idf"},       {OutputMode::none, ""}};

// Indices with the row that each is in.
struct Entries {
  Tensor rows, ids, weights;
  Tensor count;             // of the rows
  TensorShape outer;        // the axes before the last one of the result
  Tensor outer_sizes = {};  // where there are several
};

// How often each index comes in each row.
Tensor counted(const Entries& e, std::int64_t depth, DType dtype) {
  const Tensor fits = logical_and(greater_equal(e.ids, std::int64_t{0}), less(e.ids, depth));
  const Tensor places = stack({e.rows, where(fits, e.ids, zeros_like(e.ids))}, 1);
  const Tensor ones_of = e.weights.defined() ? cast(e.weights, dtype) : ones_like(e.ids, dtype);
  const Tensor sizes = stack({e.count, constant(depth, int64)});
  return scatter_nd(places, where(fits, ones_of, zeros_like(ones_of)), sizes);
}

Entries of_dense(const Tensor& given, const Tensor& weights) {
  Entries e;
  const int rank = given.ndim();
  const Tensor sizes = rill::shape(given, int64);
  e.outer_sizes = sizes(slice(0, -1));
  e.count = rank == 1 ? constant(std::int64_t{1}, int64) : reduce_prod(e.outer_sizes);
  e.ids = reshape(given, {-1});
  const Tensor length = maximum(sizes[-1], std::int64_t{1});
  e.rows = floordiv(range(size(e.ids, int64)), length);
  if (weights.defined()) e.weights = reshape(weights, {-1});
  Dims outer = given.shape().dims();
  outer.pop_back();
  e.outer = TensorShape(outer);
  return e;
}

}  // namespace

std::string output_mode_name(OutputMode mode) {
  for (const auto& [known, name] : kModes)
    if (known == mode) return std::string(name);
  return {};
}
OutputMode output_mode_of(std::string_view layer, const std::string& given,
                          std::initializer_list<OutputMode> known) {
  const std::string name = given == "binary" ? "multi_hot" : given == "tf-idf" ? "tf_idf" : given;
  std::string all;
  for (const OutputMode mode : known) {
    if (output_mode_name(mode) == name) return mode;
    all += format("{}\"{}\"", all.empty() ? "" : ", ", output_mode_name(mode));
  }
  RILL_FAIL(invalid_argument, "[{}] output_mode is \"{}\"; expected one of {}", layer, given, all);
}

Nest encoded(const Nest& indices, const EncodeOptions& o) {
  if (o.mode == OutputMode::integers)
    return map_values(indices,
                      [&](const Tensor& t) { return t.dtype() == o.dtype ? t : cast(t, o.dtype); });
  Entries e;
  bool scalar = false;
  if (indices.composite_kind() == "ragged") {
    const RaggedTensor r = indices.as_ragged();
    RILL_CHECK(
        r.ragged_rank() == 1 && r.flat_values().ndim() == 1 && o.mode != OutputMode::one_hot,
        invalid_argument,
        "[{}] output_mode is \"{}\" for a ragged tensor of shape {}; expected \"multi_hot\", "
        "\"count\" or \"tf_idf\" for rows of indices",
        o.layer, output_mode_name(o.mode), r.shape());
    e.rows = cast(r.value_rowids(), int64);
    e.ids = cast(r.flat_values(), int64);
    e.count = cast(r.nrows(), int64);
    e.outer = TensorShape(Dims{r.shape().dim(0)});
  } else if (indices.composite_kind() == "sparse") {
    const SparseTensor s = indices.as_sparse();
    RILL_CHECK(s.shape().rank() == 2 && o.mode != OutputMode::one_hot, invalid_argument,
               "[{}] output_mode is \"{}\" for a sparse tensor of shape {}; expected "
               "\"multi_hot\", \"count\" or \"tf_idf\" for a matrix",
               o.layer, output_mode_name(o.mode), s.shape());
    e.rows = s.indices(all, 0);
    e.ids = cast(s.values, int64);
    e.count = s.dense_shape[0];
    e.weights = o.weights;
    e.outer = TensorShape(Dims{s.shape().dim(0)});
  } else {
    Tensor x = cast(indices.as_tensor(), int64);
    Tensor weights = o.weights;
    if (x.ndim() == 0) x = reshape(x, {1}), scalar = o.mode == OutputMode::one_hot;
    const bool new_axis = o.mode == OutputMode::one_hot && (x.shape().dim(-1) != 1 || scalar);
    if (new_axis && !scalar) x = expand_dims(x, -1);
    e = of_dense(x, weights);
  }
  Tensor out = counted(e, o.depth, o.dtype);
  if (o.mode == OutputMode::multi_hot || o.mode == OutputMode::one_hot)
    out = cast(greater(out, zeros_like(out)), o.dtype);
  if (o.mode == OutputMode::tf_idf && o.idf.defined()) out = out * cast(o.idf, o.dtype);
  if (e.outer.rank() != 1)
    out = reshape(out, concat({e.outer_sizes, constant({o.depth}, int64)}, 0));
  TensorShape known = e.outer;
  known.push_back(o.depth);
  out.set_shape(known);
  if (o.sparse) return sparse::from_dense(out);
  return out;
}

}  // namespace rill::keras
