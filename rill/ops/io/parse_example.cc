// Serialized Examples as tensors.
#include <memory>

#include "rill/ops/io/feature_request_impl.h"

namespace rill {
namespace {

// serialized, names, sparse_keys, dense_keys, ragged_keys, then the defaults.
constexpr int kFirstDefault = 5;

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

// The features, and what else a call gives the op that is the same each time.
class Request {
 public:
  explicit Request(const io::FeatureSpecs& specs) : features_(specs) {
    RILL_CHECK(!specs.empty(), invalid_argument,
               "[io.parse_example] features is empty; expected at least one");
    inputs_ = {Tensor(), zeros({0}, string), FeatureRequest::keys_of(features_.sparse_keys()),
               FeatureRequest::keys_of(features_.dense_keys()),
               FeatureRequest::keys_of(features_.ragged_keys())};
    const std::vector<Tensor>& defaults = features_.dense_defaults();
    inputs_.insert(inputs_.end(), defaults.begin(), defaults.end());
  }
  Nest run(const Tensor& serialized, bool batch) const {
    std::vector<Tensor> inputs = inputs_;
    inputs[0] = serialized;
    const std::vector<Attr> attrs{{"Tdense", features_.dense_types()},
                                  {"num_sparse", static_cast<int>(features_.sparse_keys().size())},
                                  {"sparse_types", features_.sparse_types()},
                                  {"ragged_value_types", features_.ragged_types()},
                                  {"ragged_split_types", features_.split_types()},
                                  {"dense_shapes", features_.dense_shapes()}};
    return features_.dict_of(
        execute_all(parse_example_op, as_inputs(inputs), attrs, features_.num_outputs()), batch);
  }

 private:
  FeatureRequest features_;
  std::vector<Tensor> inputs_;
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
  return a.dtype == b.dtype && a.value_key == b.value_key && a.partitions == b.partitions &&
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
