#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "rill/ops/array_ops.h"
#include "rill/ops/io/ragged_partition_impl.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

// What the ops that parse Examples and SequenceExamples share.
namespace rill {

// The kinds of values that an Example holds.
inline constexpr TypeSet kStoredTypes{string, float32, int64};
inline void require_types(const ShapeContext& c, const char* attr, std::size_t n, TypeSet allowed) {
  const std::span<const DType> types = c.attr(attr).as_types();
  RILL_CHECK(types.size() == n, invalid_argument, "[{}] {} has {} dtypes; expected {}", c.tag(),
             attr, types.size(), n);
  for (DType d : types)
    RILL_CHECK(allowed.contains(d), invalid_argument, "[{}] {} has {}; expected one of {}", c.tag(),
               attr, d, allowed.to_string());
}

// The kind of number that an Example holds and that becomes a `d`.
inline DType stored_type(DType d, const std::string& key) {
  if (d == string || d == float32 || d == int64) return d;
  RILL_CHECK(d != complex64 && d != complex128 && kPlainTypes.contains(d), invalid_argument,
             "[io.parse_example] feature \"{}\" is to be {}; an Example holds strings and numbers",
             key, d);
  return d.is_floating() ? float32 : int64;
}

// What one call of the op is to find, and how the dict is made of its results.
class FeatureRequest {
 public:
  explicit FeatureRequest(const io::FeatureSpecs& features) {
    for (const auto& [key, spec] : features)
      std::visit([&, k = &key](const auto& s) { add(*k, s); }, spec);
    require_apart("dense", dense_keys_, "sparse", sparse_keys_);
    require_apart("dense", dense_keys_, "ragged", ragged_keys_);
    require_apart("ragged", ragged_keys_, "sparse", sparse_keys_);
  }

  // What an op is given of them.
  static Tensor keys_of(const std::vector<std::string>& keys) {
    return keys.empty() ? zeros({0}, string) : constant(keys, string);
  }
  const std::vector<std::string>& dense_keys() const { return dense_keys_; }
  const std::vector<std::string>& sparse_keys() const { return sparse_keys_; }
  const std::vector<std::string>& ragged_keys() const { return ragged_keys_; }
  AttrValue dense_types() const { return AttrValue(std::span<const DType>(dense_types_)); }
  AttrValue sparse_types() const { return AttrValue(std::span<const DType>(sparse_types_)); }
  AttrValue ragged_types() const { return AttrValue(std::span<const DType>(ragged_types_)); }
  AttrValue split_types() const { return AttrValue(std::span<const DType>(split_types_)); }
  AttrValue dense_shapes() const { return AttrValue(std::span<const TensorShape>(shapes_)); }
  const std::vector<Tensor>& dense_defaults() const { return defaults_; }
  int num_outputs() const {
    return static_cast<int>(3 * sparse_keys_.size() + dense_keys_.size() + 2 * ragged_keys_.size());
  }

  // The dict, of outputs of the op that begin with those of these features: places, values and
  // sizes of sparse ones, dense ones, values and splits of ragged ones.
  Nest dict_of(const std::vector<Tensor>& out, bool batch) const {
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
    std::vector<int> places = {};               // of partitions: other ragged ones, or -1
    std::vector<io::RaggedFeature::Partition> partitions = {};
  };
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
  int add_ragged(const std::string& key, DType stored, DType splits) {
    for (std::size_t i = 0; i < ragged_keys_.size(); ++i) {
      if (ragged_keys_[i] != key) continue;
      require_same_type(key, ragged_types_[i], stored);
      RILL_CHECK(
          split_types_[i] == splits, invalid_argument,
          "[io.parse_example] two ragged features of \"{}\" have row_splits_dtype {} and {}; "
          "expected one",
          key, split_types_[i], splits);
      return static_cast<int>(i);
    }
    ragged_keys_.push_back(key);
    ragged_types_.push_back(stored);
    split_types_.push_back(splits);
    return static_cast<int>(ragged_keys_.size()) - 1;
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
    Item item{key, f.dtype, 0, Item::Kind::ragged};
    item.number = add_ragged(f.value_key.empty() ? key : f.value_key, stored_type(f.dtype, key),
                             f.row_splits_dtype);
    item.partitions = f.partitions;
    for (const io::RaggedFeature::Partition& p : f.partitions) {
      const bool uniform = p.kind == io::RaggedFeature::Partition::Kind::uniform_row_length;
      RILL_CHECK(
          uniform ? p.length > 0 : !p.key.empty(), invalid_argument,
          "[RaggedFeature] a partition of \"{}\" has neither a key nor a length of 1 or more", key);
      item.places.push_back(uniform ? -1 : add_ragged(p.key, int64, f.row_splits_dtype));
    }
    items_.push_back(std::move(item));
  }

  // Of a partition of a ragged feature, in the dtype of its row splits.
  Tensor numbers_of(const Item& item, std::size_t k, const std::vector<Tensor>& out) const {
    if (item.places[k] < 0) return {};
    const auto place = static_cast<std::size_t>(item.places[k]);
    return cast(out[3 * sparse_keys_.size() + dense_keys_.size() + place],
                split_types_[static_cast<std::size_t>(item.number)]);
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
      PartitionedValues values(cast(out[first + i], item.dtype));
      if (!batch) {
        for (std::size_t k = item.partitions.size(); k-- > 0;)
          values = partitioned(values, item.partitions[k], numbers_of(item, k, out));
        return values.to_nest();
      }
      Tensor splits = out[first + ragged_keys_.size() + i];
      for (std::size_t k = item.partitions.size(); k-- > 0;) {
        RaggedTensor numbers;
        if (item.places[k] >= 0)
          numbers = RaggedTensor::from_row_splits(
              numbers_of(item, k, out),
              out[first + ragged_keys_.size() + static_cast<std::size_t>(item.places[k])], false);
        values = partitioned_batch(values, item.partitions[k], numbers, &splits);
      }
      if (item.partitions.empty())
        return RaggedTensor::from_row_splits(values.dense, splits, false).to_nest();
      return values.by_splits(splits).to_nest();
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
  std::vector<Tensor> defaults_;
};

}  // namespace rill
