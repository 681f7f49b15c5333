// Serialized Examples as tensors.
#include "rill/ops/array_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/sparse_ops.h"

namespace rill {
namespace {

// serialized, names, sparse_keys, dense_keys, ragged_keys, then the defaults.
constexpr int kFirstDefault = 5;

void parse_example_shape(ShapeContext& c) {
  const TensorShape& serialized = c.input(0);
  RILL_CHECK(!serialized.has_rank() || serialized.rank() <= 1, invalid_argument,
             "[{}] serialized has shape {}; expected a scalar or a vector", c.tag(), serialized);
  const auto sparse = static_cast<int>(c.int_attr("num_sparse"));
  const std::span<const TensorShape> dense = c.attr("dense_shapes").as_shapes();
  const auto ragged = static_cast<int>(c.attr("ragged_value_types").as_types().size());
  RILL_CHECK(static_cast<int>(dense.size()) == c.num_inputs() - kFirstDefault, invalid_argument,
             "[{}] dense_shapes has {} shapes; expected {}, one per dense feature", c.tag(),
             dense.size(), c.num_inputs() - kFirstDefault);
  RILL_CHECK(
      sparse >= 0 && c.num_outputs() == 3 * sparse + static_cast<int>(dense.size()) + 2 * ragged,
      invalid_argument, "[{}] it has {} outputs; expected {}", c.tag(), c.num_outputs(),
      3 * sparse + static_cast<int>(dense.size()) + 2 * ragged);
  const int rank = serialized.has_rank() ? serialized.rank() : -1;
  int out = 0;
  for (int i = 0; i < sparse; ++i)
    c.set_output(out++, TensorShape(Dims{-1, rank < 0 ? -1 : rank + 1}));
  for (int i = 0; i < sparse; ++i) c.set_output(out++, TensorShape(Dims{-1}));
  for (int i = 0; i < sparse; ++i) c.set_output(out++, TensorShape(Dims{rank < 0 ? -1 : rank + 1}));
  for (const TensorShape& shape : dense) {
    RILL_CHECK(shape.has_rank(), invalid_argument,
               "[{}] a dense feature has a shape of unknown rank", c.tag());
    for (int d = 1; d < shape.rank(); ++d)
      RILL_CHECK(shape.dim(d) >= 0, invalid_argument,
                 "[{}] a dense feature has shape {}; only its first size may be unknown", c.tag(),
                 shape);
    if (rank < 0) {
      c.set_output(out++, TensorShape());
      continue;
    }
    Dims dims;
    if (rank == 1) dims.push_back(serialized.dim(0));
    for (std::int64_t d : shape.dims()) dims.push_back(d);
    c.set_output(out++, TensorShape(dims));
  }
  for (int i = 0; i < ragged; ++i) c.set_output(out++, TensorShape(Dims{-1}));
  for (int i = 0; i < ragged; ++i) c.set_output(out++, TensorShape(Dims{-1}));
}

const Op& parse_example_op = OpBuilder("ParseExampleV2", "io.parse_example")
                                 .attr("Tdense: list(type)")
                                 .attr("num_sparse: int")
                                 .attr("sparse_types: list(type)")
                                 .attr("ragged_value_types: list(type)")
                                 .attr("ragged_split_types: list(type)")
                                 .attr("dense_shapes: list(shape)")
                                 .input("serialized: string")
                                 .input("names: string")
                                 .input("sparse_keys: string")
                                 .input("dense_keys: string")
                                 .input("ragged_keys: string")
                                 .input("dense_defaults: Tdense")
                                 .output("sparse_indices: num_sparse * int64")
                                 .output("sparse_values: sparse_types")
                                 .output("sparse_shapes: num_sparse * int64")
                                 .output("dense_values: Tdense")
                                 .output("ragged_values: ragged_value_types")
                                 .output("ragged_row_splits: ragged_split_types")
                                 .doc("The features of serialized Examples, as tensors.")
                                 .shape(parse_example_shape)
                                 .no_gradient()
                                 .define();

// The kind of number that an Example holds and that becomes a `d`.
DType stored_type(DType d, const std::string& key) {
  if (d == string || d == float32 || d == int64) return d;
  RILL_CHECK(d != complex64 && d != complex128 && kPlainTypes.contains(d), invalid_argument,
             "[io.parse_example] feature \"{}\" is to be {}; an Example holds strings and numbers",
             key, d);
  return d.is_floating() ? float32 : int64;
}

// What one call of the op is to find, and how the dict is made of its results.
class Request {
 public:
  explicit Request(const io::FeatureSpecs& features) {
    RILL_CHECK(!features.empty(), invalid_argument,
               "[io.parse_example] features is empty; expected at least one");
    for (const auto& [key, spec] : features)
      std::visit([&, k = &key](const auto& s) { add(*k, s); }, spec);
  }

  Nest run(const Tensor& serialized, bool batch) const {
    std::vector<Tensor> inputs{serialized, zeros({0}, string), keys_of(sparse_keys_),
                               keys_of(dense_keys_), zeros({0}, string)};
    inputs.insert(inputs.end(), defaults_.begin(), defaults_.end());
    const auto sparse = static_cast<int>(sparse_keys_.size()),
               dense = static_cast<int>(dense_keys_.size());
    const std::vector<Attr> attrs{
        {"Tdense", AttrValue(std::span<const DType>(dense_types_))},
        {"num_sparse", sparse},
        {"sparse_types", AttrValue(std::span<const DType>(sparse_types_))},
        {"ragged_value_types", AttrValue(std::span<const DType>())},
        {"ragged_split_types", AttrValue(std::span<const DType>())},
        {"dense_shapes", AttrValue(std::span<const TensorShape>(shapes_))}};
    const std::vector<Tensor> out =
        execute_all(parse_example_op, as_inputs(inputs), attrs, 3 * sparse + dense);
    std::vector<std::pair<std::string, Nest>> items;
    for (const Item& item : items_) items.emplace_back(item.key, value_of(item, out, batch));
    return Nest(std::move(items));
  }

 private:
  struct Item {
    std::string key;
    DType dtype;
    int number;  // among the dense or the sparse ones
    bool is_sparse = false;
    const io::SparseFeature* placed = nullptr;  // its places are other sparse ones
    std::vector<int> places = {};
  };
  static Tensor keys_of(const std::vector<std::string>& keys) {
    return keys.empty() ? zeros({0}, string) : constant(keys, string);
  }
  int add_dense(const std::string& key, DType dtype, const TensorShape& shape, Tensor fallback) {
    dense_keys_.push_back(key);
    dense_types_.push_back(stored_type(dtype, key));
    shapes_.push_back(shape);
    defaults_.push_back(fallback.defined() ? cast(fallback, dense_types_.back())
                                           : zeros({0}, dense_types_.back()));
    return static_cast<int>(dense_keys_.size()) - 1;
  }
  int add_sparse(const std::string& key, DType dtype) {
    const auto found = std::find(sparse_keys_.begin(), sparse_keys_.end(), key);
    if (found != sparse_keys_.end()) return static_cast<int>(found - sparse_keys_.begin());
    sparse_keys_.push_back(key);
    sparse_types_.push_back(stored_type(dtype, key));
    return static_cast<int>(sparse_keys_.size()) - 1;
  }
  void add(const std::string& key, const io::FixedLenFeature& f) {
    RILL_CHECK(f.shape.is_fully_defined(), invalid_argument,
               "[FixedLenFeature] \"{}\" has shape {}; expected known sizes. "
               "FixedLenSequenceFeature takes any length",
               key, f.shape);
    Tensor fallback = f.default_value;
    if (fallback.defined()) {
      RILL_CHECK((fallback.dtype() == string) == (f.dtype == string), invalid_argument,
                 "[FixedLenFeature] default_value of \"{}\" is {}; expected {}", key,
                 fallback.dtype(), f.dtype);
      fallback = broadcast_to(fallback, f.shape);
    }
    items_.push_back({key, f.dtype, add_dense(key, f.dtype, f.shape, fallback)});
  }
  void add(const std::string& key, const io::FixedLenSequenceFeature& f) {
    RILL_CHECK(f.allow_missing, unimplemented,
               "[FixedLenSequenceFeature] \"{}\" has allow_missing = false; parse_example takes "
               "true alone",
               key);
    Dims dims{-1};
    for (std::int64_t d : f.shape.dims()) dims.push_back(d);
    const Tensor filler = f.default_value.defined()
                              ? reshape(f.default_value, TensorShape::scalar())
                              : zeros({}, stored_type(f.dtype, key));
    items_.push_back({key, f.dtype, add_dense(key, f.dtype, TensorShape(dims), filler)});
  }
  void add(const std::string& key, const io::VarLenFeature& f) {
    items_.push_back({key, f.dtype, add_sparse(key, f.dtype), true});
  }
  void add(const std::string& key, const io::SparseFeature& f) {
    Item item{key, f.dtype, add_sparse(f.value_key, f.dtype), true, &f};
    for (const std::string& k : f.index_keys) item.places.push_back(add_sparse(k, int64));
    items_.push_back(std::move(item));
  }

  SparseTensor sparse_of(int number, const std::vector<Tensor>& out) const {
    const auto n = sparse_keys_.size(), i = static_cast<std::size_t>(number);
    SparseTensor t;
    t.indices = out[i];
    t.values = out[n + i];
    t.dense_shape = out[2 * n + i];
    return t;
  }
  Nest value_of(const Item& item, const std::vector<Tensor>& out, bool batch) const {
    if (!item.is_sparse)
      return Nest(
          cast(out[3 * sparse_keys_.size() + static_cast<std::size_t>(item.number)], item.dtype));
    const SparseTensor values = cast(sparse_of(item.number, out), item.dtype);
    return (item.placed ? placed(item, values, out, batch) : values).to_nest();
  }
  // The values at the places that other features tell.
  SparseTensor placed(const Item& item, const SparseTensor& values, const std::vector<Tensor>& out,
                      bool batch) const {
    std::vector<Tensor> columns, sizes;
    if (batch) {
      columns.push_back(values.indices(ellipsis, 0));
      sizes.push_back(values.dense_shape[0]);
    }
    for (std::size_t i = 0; i < item.places.size(); ++i) {
      columns.push_back(sparse_of(item.places[i], out).values);
      sizes.push_back(constant(item.placed->sizes[i], int64));
    }
    SparseTensor t;
    t.indices = stack(columns, 1);
    t.values = values.values;
    t.dense_shape = stack(sizes, 0);
    return item.placed->already_sorted ? t : sparse::reorder(t);
  }

  std::vector<Item> items_;
  std::vector<std::string> dense_keys_, sparse_keys_;
  std::vector<DType> dense_types_, sparse_types_;
  std::vector<TensorShape> shapes_;
  std::vector<Tensor> defaults_;
};

TensorShape shape_from(std::initializer_list<Dim> dims) {
  TensorShape shape{Dims{}};
  for (Dim d : dims) shape.push_back(d);
  return shape;
}

Nest parse(const char* name, const Operand& serialized, const io::FeatureSpecs& features,
           int rank) {
  const Arg x(serialized);
  RILL_CHECK(x->dtype() == string, invalid_argument, "[{}] serialized is {}; expected strings",
             name, x->dtype());
  RILL_CHECK(!x->shape().has_rank() || x->ndim() == rank, invalid_argument,
             "[{}] serialized has shape {}; expected {}", name, x->shape(),
             rank == 0 ? "a scalar; parse_example takes a vector"
                       : "a vector; parse_single_example takes a scalar");
  return Request(features).run(*x, rank == 1);
}

}  // namespace

namespace io {

FixedLenFeature::FixedLenFeature(const TensorShape& s, DType d) : shape(s), dtype(d) {}
FixedLenFeature::FixedLenFeature(const TensorShape& s, DType d, const Operand& v)
    : shape(s),
      dtype(d),
      default_value(to_tensor(v, v.kind() == Operand::Kind::text ? DType() : d)) {}
FixedLenFeature::FixedLenFeature(std::initializer_list<Dim> s, DType d)
    : FixedLenFeature(shape_from(s), d) {}
FixedLenFeature::FixedLenFeature(std::initializer_list<Dim> s, DType d, const Operand& v)
    : FixedLenFeature(shape_from(s), d, v) {}
FixedLenSequenceFeature::FixedLenSequenceFeature(const TensorShape& s, DType d, const Options& o)
    : shape(s), dtype(d), allow_missing(o.allow_missing), default_value(o.default_value) {}
FixedLenSequenceFeature::FixedLenSequenceFeature(std::initializer_list<Dim> s, DType d,
                                                 const Options& o)
    : FixedLenSequenceFeature(shape_from(s), d, o) {}
SparseFeature::SparseFeature(std::string index_key, std::string value, DType d, std::int64_t size,
                             bool sorted)
    : SparseFeature(std::vector<std::string>{std::move(index_key)}, std::move(value), d,
                    std::vector<std::int64_t>{size}, sorted) {}
SparseFeature::SparseFeature(std::vector<std::string> keys, std::string value, DType d,
                             std::vector<std::int64_t> s, bool sorted)
    : index_keys(std::move(keys)),
      value_key(std::move(value)),
      dtype(d),
      sizes(std::move(s)),
      already_sorted(sorted) {
  RILL_CHECK(!index_keys.empty() && index_keys.size() == sizes.size(), invalid_argument,
             "[SparseFeature] it has {} index keys and {} sizes; expected one size per key",
             index_keys.size(), sizes.size());
}

Nest parse_single_example(const Operand& serialized, const FeatureSpecs& features) {
  return parse("io.parse_single_example", serialized, features, 0);
}
Nest parse_example(const Operand& serialized, const FeatureSpecs& features) {
  return parse("io.parse_example", serialized, features, 1);
}

}  // namespace io
}  // namespace rill
