// Serialized SequenceExamples as tensors.
#include "rill/ops/io/feature_request_impl.h"

namespace rill {
namespace {

// Inputs: serialized, debug_name, three lists of keys for the context and three for the lists,
// which lists may be missing, then the defaults of the context's dense features.
constexpr int kFirstContextDefault = 9;

std::size_t types_of(const ShapeContext& c, const char* attr) {
  return c.attr(attr).as_types().size();
}

void parse_sequence_example_shape(ShapeContext& c) {
  const TensorShape& serialized = c.input(0);
  RILL_CHECK(!serialized.has_rank() || serialized.rank() <= 1, invalid_argument,
             "[{}] serialized has shape {}; expected a scalar or a vector", c.tag(), serialized);
  const std::size_t sparse = types_of(c, "context_sparse_types"),
                    dense = types_of(c, "Tcontext_dense"),
                    ragged = types_of(c, "context_ragged_value_types"),
                    list_sparse = types_of(c, "feature_list_sparse_types"),
                    list_dense = types_of(c, "feature_list_dense_types"),
                    list_ragged = types_of(c, "feature_list_ragged_value_types");
  require_types(c, "context_sparse_types", sparse, kStoredTypes);
  require_types(c, "Tcontext_dense", dense, kStoredTypes);
  require_types(c, "context_ragged_value_types", ragged, kStoredTypes);
  require_types(c, "context_ragged_split_types", ragged, kIndexTypes);
  require_types(c, "feature_list_sparse_types", list_sparse, kStoredTypes);
  require_types(c, "feature_list_dense_types", list_dense, kStoredTypes);
  require_types(c, "feature_list_ragged_value_types", list_ragged, kStoredTypes);
  require_types(c, "feature_list_ragged_split_types", list_ragged, kIndexTypes);
  const auto context_shapes = c.attr("context_dense_shapes").as_shapes(),
             list_shapes = c.attr("feature_list_dense_shapes").as_shapes();
  const std::pair<std::int64_t, std::size_t> counts[] = {
      {c.int_attr("Ncontext_sparse"), sparse},
      {c.int_attr("Nfeature_list_sparse"), list_sparse},
      {c.int_attr("Nfeature_list_dense"), list_dense},
      {static_cast<std::int64_t>(context_shapes.size()), dense},
      {static_cast<std::int64_t>(list_shapes.size()), list_dense},
      {c.num_inputs() - kFirstContextDefault, dense}};
  for (const auto& [given, wanted] : counts)
    RILL_CHECK(given == static_cast<std::int64_t>(wanted), invalid_argument,
               "[{}] its attributes disagree: {} features in one, {} in another", c.tag(), given,
               wanted);
  for (const auto& shapes : {context_shapes, list_shapes})
    for (const TensorShape& shape : shapes)
      RILL_CHECK(shape.is_fully_defined(), invalid_argument,
                 "[{}] a dense feature has shape {}; expected known sizes", c.tag(), shape);

  const int rank = serialized.has_rank() ? serialized.rank() : -1;
  const Dim examples = rank == 1 ? Dim(serialized.dim(0)) : Dim(-1);
  int out = 0;
  const auto vectors = [&](std::size_t n, std::int64_t size = -1) {
    for (std::size_t i = 0; i < n; ++i) c.set_output(out++, TensorShape(Dims{size}));
  };
  // Places, values and sizes of sparse tensors with `axes` more than `serialized` has.
  const auto sparse_tensors = [&](std::size_t n, int axes) {
    const std::int64_t width = rank < 0 ? -1 : rank + axes;
    for (std::size_t i = 0; i < n; ++i) c.set_output(out++, TensorShape(Dims{-1, width}));
    vectors(n);
    vectors(n, width);
  };
  const auto dense_tensors = [&](std::span<const TensorShape> shapes, bool steps) {
    for (const TensorShape& shape : shapes) {
      if (rank < 0) {
        c.set_output(out++, TensorShape());
        continue;
      }
      Dims dims;
      if (rank == 1) dims.push_back(serialized.dim(0));
      if (steps) dims.push_back(-1);
      for (std::int64_t d : shape.dims()) dims.push_back(d);
      c.set_output(out++, TensorShape(dims));
    }
  };
  sparse_tensors(sparse, 1);
  dense_tensors(context_shapes, false);
  vectors(2 * ragged);
  sparse_tensors(list_sparse, 2);
  dense_tensors(list_shapes, true);
  for (std::size_t i = 0; i < list_dense; ++i)
    c.set_output(out++, rank < 0    ? TensorShape()
                        : rank == 0 ? TensorShape::scalar()
                                    : TensorShape{examples});
  vectors(3 * list_ragged);
  RILL_CHECK(c.num_outputs() == out, invalid_argument, "[{}] it has {} outputs; expected {}",
             c.tag(), c.num_outputs(), out);
}

const Op& parse_sequence_example_op =
    OpBuilder("ParseSequenceExampleV2", "io.parse_sequence_example")
        .attr("Ncontext_sparse: int = 0")
        .attr("Tcontext_dense: list(type) = []")
        .attr("context_sparse_types: list(type) = []")
        .attr("context_ragged_value_types: list(type) = []")
        .attr("context_ragged_split_types: list(type) = []")
        .attr("context_dense_shapes: list(shape) = []")
        .attr("Nfeature_list_sparse: int = 0")
        .attr("Nfeature_list_dense: int = 0")
        .attr("feature_list_dense_types: list(type) = []")
        .attr("feature_list_sparse_types: list(type) = []")
        .attr("feature_list_ragged_value_types: list(type) = []")
        .attr("feature_list_ragged_split_types: list(type) = []")
        .attr("feature_list_dense_shapes: list(shape) = []")
        .input("serialized: string")
        .input("debug_name: string")
        .input("context_sparse_keys: string")
        .input("context_dense_keys: string")
        .input("context_ragged_keys: string")
        .input("feature_list_sparse_keys: string")
        .input("feature_list_dense_keys: string")
        .input("feature_list_ragged_keys: string")
        .input("feature_list_dense_missing_assumed_empty: bool")
        .input("context_dense_defaults: Tcontext_dense")
        .output("context_sparse_indices: Ncontext_sparse * int64")
        .output("context_sparse_values: context_sparse_types")
        .output("context_sparse_shapes: Ncontext_sparse * int64")
        .output("context_dense_values: Tcontext_dense")
        .output("context_ragged_values: context_ragged_value_types")
        .output("context_ragged_row_splits: context_ragged_split_types")
        .output("feature_list_sparse_indices: Nfeature_list_sparse * int64")
        .output("feature_list_sparse_values: feature_list_sparse_types")
        .output("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
        .output("feature_list_dense_values: feature_list_dense_types")
        .output("feature_list_dense_lengths: Nfeature_list_dense * int64")
        .output("feature_list_ragged_values: feature_list_ragged_value_types")
        .output("feature_list_ragged_outer_splits: feature_list_ragged_split_types")
        .output("feature_list_ragged_inner_splits: feature_list_ragged_split_types")
        .doc("The contexts and lists of features of serialized SequenceExamples, as tensors.")
        .shape(parse_sequence_example_shape)
        .no_gradient()
        .define();

// The lists of features that are asked for, and how the dicts are made of what the op gives.
class ListRequest {
 public:
  explicit ListRequest(const io::FeatureSpecs& specs) {
    for (const auto& [key, spec] : specs)
      std::visit([&, k = &key](const auto& s) { add(*k, s); }, spec);
  }

  std::vector<std::string> keys[3];  // sparse, dense, ragged
  std::vector<DType> types[3], split_types;
  std::vector<TensorShape> shapes;
  std::vector<char> may_be_missing;
  int num_outputs() const {
    return static_cast<int>(3 * keys[kSparse].size() + 2 * keys[kDense].size() +
                            3 * keys[kRagged].size());
  }

  // Of the outputs from number `first` on.
  Nest dict_of(const std::vector<Tensor>& out, int first, bool batch) const {
    std::vector<std::pair<std::string, Nest>> items;
    for (const Item& item : items_) items.emplace_back(item.key, value_of(item, out, first, batch));
    return Nest(std::move(items));
  }
  Nest lengths_of(const std::vector<Tensor>& out, int first) const {
    std::vector<std::pair<std::string, Nest>> items;
    const std::size_t lengths =
        static_cast<std::size_t>(first) + 3 * keys[kSparse].size() + keys[kDense].size();
    for (const Item& item : items_)
      if (item.kind == kDense) items.emplace_back(item.key, Nest(out[lengths + item.number]));
    return Nest(std::move(items));
  }
  static constexpr int kSparse = 0, kDense = 1, kRagged = 2;

 private:
  struct Item {
    std::string key;
    DType dtype;
    int kind;
    std::size_t number;  // among those of its kind
  };
  void add_item(const std::string& key, int kind, DType dtype, const std::string& stored_as) {
    items_.push_back({key, dtype, kind, keys[kind].size()});
    keys[kind].push_back(stored_as);
    types[kind].push_back(stored_type(dtype, key));
  }
  void add(const std::string& key, const io::FixedLenSequenceFeature& f) {
    RILL_CHECK(
        !f.default_value.defined(), invalid_argument,
        "[io.parse_sequence_example] sequence feature \"{}\" has a default_value; steps that "
        "an example does not have are zeros",
        key);
    RILL_CHECK(f.shape.is_fully_defined(), invalid_argument,
               "[FixedLenSequenceFeature] \"{}\" has shape {}; expected known sizes", key, f.shape);
    add_item(key, kDense, f.dtype, key);
    shapes.push_back(f.shape);
    may_be_missing.push_back(f.allow_missing);
  }
  void add(const std::string& key, const io::VarLenFeature& f) {
    add_item(key, kSparse, f.dtype, key);
  }
  void add(const std::string& key, const io::RaggedFeature& f) {
    RILL_CHECK(kIndexTypes.contains(f.row_splits_dtype), invalid_argument,
               "[RaggedFeature] row_splits_dtype of \"{}\" is {}; expected int32 or int64", key,
               f.row_splits_dtype);
    RILL_CHECK(
        f.partitions.empty(), unimplemented,
        "[io.parse_sequence_example] sequence feature \"{}\" has partitions; the steps of an "
        "example are its rows",
        key);
    add_item(key, kRagged, f.dtype, f.value_key.empty() ? key : f.value_key);
    split_types.push_back(f.row_splits_dtype);
  }
  template <class Other>
  void add(const std::string& key, const Other&) {
    throw_error(Code::invalid_argument,
                format("[io.parse_sequence_example] sequence feature \"{}\" is of another kind; "
                       "expected FixedLenSequenceFeature, VarLenFeature or RaggedFeature",
                       key));
  }

  Nest value_of(const Item& item, const std::vector<Tensor>& out, int first, bool batch) const {
    const std::size_t sparse = keys[kSparse].size(), ragged = keys[kRagged].size(), i = item.number;
    auto at = static_cast<std::size_t>(first);
    if (item.kind == kSparse) {
      SparseTensor t;
      t.indices = out[at + i];
      t.values = out[at + sparse + i];
      t.dense_shape = out[at + 2 * sparse + i];
      return cast(t, item.dtype).to_nest();
    }
    at += 3 * sparse;
    if (item.kind == kDense) return Nest(cast(out[at + i], item.dtype));
    at += 2 * keys[kDense].size();
    const RaggedTensor steps = RaggedTensor::from_row_splits(cast(out[at + i], item.dtype),
                                                             out[at + 2 * ragged + i], false);
    if (!batch) return steps.to_nest();
    return RaggedTensor::from_row_splits(steps, out[at + ragged + i], false).to_nest();
  }

  std::vector<Item> items_;
};

struct Parsed {
  Nest context, lists, lengths;
};
Parsed parse_sequences(const char* name, const Operand& serialized,
                       const io::FeatureSpecs& context_features,
                       const io::FeatureSpecs& sequence_features, int rank) {
  const Arg x(serialized);
  RILL_CHECK(x->dtype() == string, invalid_argument, "[{}] serialized is {}; expected strings",
             name, x->dtype());
  RILL_CHECK(!x->shape().has_rank() || x->ndim() == rank, invalid_argument,
             "[{}] serialized has shape {}; expected {}", name, x->shape(),
             rank == 0 ? "a scalar; parse_sequence_example takes a vector"
                       : "a vector; parse_single_sequence_example takes a scalar");
  RILL_CHECK(!context_features.empty() || !sequence_features.empty(), invalid_argument,
             "[{}] both dicts of features are empty; expected at least one feature", name);
  for (const auto& [key, spec] : context_features)
    RILL_CHECK(
        !std::holds_alternative<io::FixedLenSequenceFeature>(spec), invalid_argument,
        "[{}] context feature \"{}\" is a FixedLenSequenceFeature; expected FixedLenFeature, "
        "VarLenFeature, SparseFeature or RaggedFeature",
        name, key);
  const FeatureRequest context(context_features);
  const ListRequest lists(sequence_features);
  std::vector<Tensor> inputs{*x, zeros({0}, string)};
  for (const auto* keys : {&context.sparse_keys(), &context.dense_keys(), &context.ragged_keys(),
                           &lists.keys[0], &lists.keys[1], &lists.keys[2]})
    inputs.push_back(FeatureRequest::keys_of(*keys));
  const std::vector<char>& missing = lists.may_be_missing;
  const std::vector<std::int32_t> flags(missing.begin(), missing.end());
  inputs.push_back(flags.empty() ? zeros({0}, bool_) : cast(constant(flags, int32), bool_));
  inputs.insert(inputs.end(), context.dense_defaults().begin(), context.dense_defaults().end());
  const auto types = [](const std::vector<DType>& t) {
    return AttrValue(std::span<const DType>(t));
  };
  const auto count = [](const std::vector<std::string>& keys) {
    return static_cast<int>(keys.size());
  };
  const std::vector<Attr> attrs{
      {"Ncontext_sparse", count(context.sparse_keys())},
      {"Tcontext_dense", context.dense_types()},
      {"context_sparse_types", context.sparse_types()},
      {"context_ragged_value_types", context.ragged_types()},
      {"context_ragged_split_types", context.split_types()},
      {"context_dense_shapes", context.dense_shapes()},
      {"Nfeature_list_sparse", count(lists.keys[ListRequest::kSparse])},
      {"Nfeature_list_dense", count(lists.keys[ListRequest::kDense])},
      {"feature_list_dense_types", types(lists.types[ListRequest::kDense])},
      {"feature_list_sparse_types", types(lists.types[ListRequest::kSparse])},
      {"feature_list_ragged_value_types", types(lists.types[ListRequest::kRagged])},
      {"feature_list_ragged_split_types", types(lists.split_types)},
      {"feature_list_dense_shapes", AttrValue(std::span<const TensorShape>(lists.shapes))}};
  const int first = context.num_outputs();
  const std::vector<Tensor> out =
      execute_all(parse_sequence_example_op, as_inputs(inputs), attrs, first + lists.num_outputs());
  return {context.dict_of(out, rank == 1), lists.dict_of(out, first, rank == 1),
          lists.lengths_of(out, first)};
}

}  // namespace

namespace io {

std::pair<Nest, Nest> parse_single_sequence_example(const Operand& serialized,
                                                    const FeatureSpecs& context_features,
                                                    const FeatureSpecs& sequence_features) {
  Parsed p = parse_sequences("io.parse_single_sequence_example", serialized, context_features,
                             sequence_features, 0);
  return {std::move(p.context), std::move(p.lists)};
}
std::tuple<Nest, Nest, Nest> parse_sequence_example(const Operand& serialized,
                                                    const FeatureSpecs& context_features,
                                                    const FeatureSpecs& sequence_features) {
  Parsed p = parse_sequences("io.parse_sequence_example", serialized, context_features,
                             sequence_features, 1);
  return {std::move(p.context), std::move(p.lists), std::move(p.lengths)};
}

}  // namespace io
}  // namespace rill
