// Serialized Examples as tensors.
#include <memory>

#include "rill/ops/array_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

namespace rill {
namespace {

// serialized, names, sparse_keys, dense_keys, ragged_keys, then the defaults.
constexpr int kFirstDefault = 5;

// The kinds of values that an Example holds.
constexpr TypeSet kStoredTypes{string, float32, int64};
void require_types(const ShapeContext& c, const char* attr, std::size_t n, TypeSet allowed) {
  const std::span<const DType> types = c.attr(attr).as_types();
  RILL_CHECK(types.size() == n, invalid_argument, "[{}] {} has {} dtypes; expected {}", c.tag(),
             attr, types.size(), n);
  for (DType d : types)
    RILL_CHECK(allowed.contains(d), invalid_argument, "[{}] {} has {}; expected one of {}", c.tag(),
               attr, d, allowed.to_string());
}

void parse_example_shape(ShapeContext& c) {
  const TensorShape& serialized = c.input(0);
  RILL_CHECK(!serialized.has_rank() || serialized.rank() <= 1, invalid_argument,
             "[{}] serialized has shape {}; expected a scalar or a vector", c.tag(), serialized);
  RILL_CHECK(c.int_attr("num_sparse") >= 0 && c.int_attr("num_sparse") <= c.num_outputs(),
             invalid_argument, "[{}] num_sparse is {}; expected 0 to {}", c.tag(),
             c.int_attr("num_sparse"), c.num_outputs());
  const auto sparse = static_cast<int>(c.int_attr("num_sparse"));
  const std::span<const TensorShape> dense = c.attr("dense_shapes").as_shapes();
  const auto ragged = static_cast<int>(c.attr("ragged_value_types").as_types().size());
  RILL_CHECK(static_cast<int>(dense.size()) == c.num_inputs() - kFirstDefault, invalid_argument,
             "[{}] dense_shapes has {} shapes; expected {}, one per dense feature", c.tag(),
             dense.size(), c.num_inputs() - kFirstDefault);
  RILL_CHECK(c.num_outputs() == 3 * sparse + static_cast<int>(dense.size()) + 2 * ragged,
             invalid_argument, "[{}] it has {} outputs; expected {}", c.tag(), c.num_outputs(),
             3 * sparse + static_cast<int>(dense.size()) + 2 * ragged);
  require_types(c, "sparse_types", static_cast<std::size_t>(sparse), kStoredTypes);
  require_types(c, "ragged_value_types", static_cast<std::size_t>(ragged), kStoredTypes);
  require_types(c, "ragged_split_types", static_cast<std::size_t>(ragged), kIndexTypes);
  for (int i = kFirstDefault; i < c.num_inputs(); ++i)
    RILL_CHECK(kStoredTypes.contains(c.input_dtype(i)), invalid_argument,
               "[{}] the default of dense feature {} is {}; expected one of {}", c.tag(),
               i - kFirstDefault, c.input_dtype(i), kStoredTypes.to_string());
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
    require_apart("dense", dense_keys_, "sparse", sparse_keys_);
    require_apart("dense", dense_keys_, "ragged", ragged_keys_);
    require_apart("ragged", ragged_keys_, "sparse", sparse_keys_);
    inputs_ = {Tensor(), zeros({0}, string), keys_of(sparse_keys_), keys_of(dense_keys_),
               keys_of(ragged_keys_)};
    inputs_.insert(inputs_.end(), defaults_.begin(), defaults_.end());
  }

  Nest run(const Tensor& serialized, bool batch) const {
    std::vector<Tensor> inputs = inputs_;
    inputs[0] = serialized;
    const auto sparse = static_cast<int>(sparse_keys_.size()),
               dense = static_cast<int>(dense_keys_.size()),
               ragged = static_cast<int>(ragged_keys_.size());
    const std::vector<Attr> attrs{
        {"Tdense", AttrValue(std::span<const DType>(dense_types_))},
        {"num_sparse", sparse},
        {"sparse_types", AttrValue(std::span<const DType>(sparse_types_))},
        {"ragged_value_types", AttrValue(std::span<const DType>(ragged_types_))},
        {"ragged_split_types", AttrValue(std::span<const DType>(split_types_))},
        {"dense_shapes", AttrValue(std::span<const TensorShape>(shapes_))}};
    const std::vector<Tensor> out =
        execute_all(parse_example_op, as_inputs(inputs), attrs, 3 * sparse + dense + 2 * ragged);
    std::vector<std::pair<std::string, Nest>> items;
    for (const Item& item : items_) items.emplace_back(item.key, value_of(item, out, batch));
    return Nest(std::move(items));
  }

 private:
  struct Item {
    std::string key;
    DType dtype;
    enum class Kind : unsigned char { dense, sparse, ragged };
    int number;  // among those of its kind
    Kind kind = Kind::dense;
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
    if (found != sparse_keys_.end()) {
      const auto n = found - sparse_keys_.begin();
      require_same_type(key, sparse_types_[static_cast<std::size_t>(n)], stored_type(dtype, key));
      return static_cast<int>(n);
    }
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
    items_.push_back({key, f.dtype, add_sparse(key, f.dtype), Item::Kind::sparse});
  }
  void add(const std::string& key, const io::SparseFeature& f) {
    Item item{key, f.dtype, add_sparse(f.value_key, f.dtype), Item::Kind::sparse, &f};
    for (const std::string& k : f.index_keys) item.places.push_back(add_sparse(k, int64));
    items_.push_back(std::move(item));
  }
  void add(const std::string& key, const io::RaggedFeature& f) {
    RILL_CHECK(kIndexTypes.contains(f.row_splits_dtype), invalid_argument,
               "[RaggedFeature] row_splits_dtype of \"{}\" is {}; expected int32 or int64", key,
               f.row_splits_dtype);
    const std::string& of = f.value_key.empty() ? key : f.value_key;
    const auto n = static_cast<std::size_t>(
        std::find(ragged_keys_.begin(), ragged_keys_.end(), of) - ragged_keys_.begin());
    items_.push_back({key, f.dtype, static_cast<int>(n), Item::Kind::ragged});
    const DType type = stored_type(f.dtype, key);
    if (n < ragged_keys_.size()) {
      require_same_type(of, ragged_types_[n], type);
      RILL_CHECK(
          split_types_[n] == f.row_splits_dtype, invalid_argument,
          "[io.parse_example] two ragged features of \"{}\" have row_splits_dtype {} and {}; "
          "expected one",
          of, split_types_[n], f.row_splits_dtype);
      return;
    }
    ragged_keys_.push_back(of);
    ragged_types_.push_back(type);
    split_types_.push_back(f.row_splits_dtype);
  }
  static void require_same_type(const std::string& key, DType a, DType b) {
    RILL_CHECK(
        a == b, invalid_argument,
        "[io.parse_example] two features read \"{}\" as {} and as {}; an Example holds it as "
        "one of them",
        key, a, b);
  }
  // The op reads a key once, in one way.
  static void require_apart(const char* kind, const std::vector<std::string>& keys,
                            const char* other_kind, const std::vector<std::string>& others) {
    for (const std::string& key : keys)
      RILL_CHECK(
          std::find(others.begin(), others.end(), key) == others.end(), invalid_argument,
          "[io.parse_example] \"{}\" is read by a {} and by a {} feature; {} and {} keys must "
          "not intersect. Parse twice, or make one of the other",
          key, kind, other_kind, kind, other_kind);
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
    if (item.kind == Item::Kind::ragged) {
      const std::size_t first = 3 * sparse_keys_.size() + dense_keys_.size(),
                        i = static_cast<std::size_t>(item.number);
      const Tensor values = cast(out[first + i], item.dtype);
      if (!batch) return Nest(values);
      return RaggedTensor::from_row_splits(values, out[first + ragged_keys_.size() + i], false)
          .to_nest();
    }
    if (item.kind == Item::Kind::dense)
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
  std::vector<std::string> dense_keys_, sparse_keys_, ragged_keys_;
  std::vector<DType> dense_types_, sparse_types_, ragged_types_, split_types_;
  std::vector<TensorShape> shapes_;
  std::vector<Tensor> defaults_, inputs_;
};

// Whether a call with `b` asks for what one with `a` asks for.
bool same(const Tensor& a, const Tensor& b) { return a.impl() == b.impl(); }
bool same(const io::FixedLenFeature& a, const io::FixedLenFeature& b) {
  return a.dtype == b.dtype && a.shape == b.shape && same(a.default_value, b.default_value);
}
bool same(const io::FixedLenSequenceFeature& a, const io::FixedLenSequenceFeature& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.allow_missing == b.allow_missing &&
         same(a.default_value, b.default_value);
}
bool same(const io::VarLenFeature& a, const io::VarLenFeature& b) { return a.dtype == b.dtype; }
bool same(const io::SparseFeature& a, const io::SparseFeature& b) {
  return a.dtype == b.dtype && a.value_key == b.value_key && a.index_keys == b.index_keys &&
         a.sizes == b.sizes && a.already_sorted == b.already_sorted;
}
bool same(const io::RaggedFeature& a, const io::RaggedFeature& b) {
  return a.dtype == b.dtype && a.value_key == b.value_key &&
         a.row_splits_dtype == b.row_splits_dtype;
}
bool same(const io::FeatureSpecs& a, const io::FeatureSpecs& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), k = b.begin(); i != a.end(); ++i, ++k) {
    if (i->first != k->first || i->second.index() != k->second.index()) return false;
    const bool equal = std::visit(
        [&](const auto& f) {
          return same(f, std::get<std::remove_cvref_t<decltype(f)>>(k->second));
        },
        i->second);
    if (!equal) return false;
  }
  return true;
}

// A map function parses example after example with the same features: what is the same for all is
// made once.
struct Prepared {
  explicit Prepared(const io::FeatureSpecs& f) : features(f), request(features) {}
  io::FeatureSpecs features;
  Request request;
};
const Request& request_for(const io::FeatureSpecs& features) {
  thread_local std::unique_ptr<Prepared> last;
  if (!last || !same(last->features, features)) last = std::make_unique<Prepared>(features);
  return last->request;
}

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
  // What a trace makes is its own.
  if (call_context().executor) return Request(features).run(*x, rank == 1);
  return request_for(features).run(*x, rank == 1);
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
