// Tables as a user sees them.
#include "rill/base/check.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/lookup/table_impl.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill::lookup {
namespace {

Tensor one_value(const Operand& value, DType dtype) {
  const Tensor t = convert_to_tensor(value, value.is_literal() ? dtype : DType());
  RILL_CHECK(t.dtype() == dtype, invalid_argument,
             "[lookup] default_value is {}, the values of the table are {}; write "
             "tf::cast(default_value, tf::{})",
             t.dtype(), dtype, dtype);
  return t;
}

// A table is made at once, whatever is being traced, as a variable is.
template <class T, class... A>
Tensor new_table(A&&... arguments) {
  return make_resource(Ref<Resource>(new T(std::forward<A>(arguments)...)));
}

Tensor fixed_table(const TableInitializer& initializer, const std::string& name) {
  const TableContents& contents = *initializer.contents();
  auto* table = new LookupTable("HashTableV2", contents.key_dtype, contents.value_dtype,
                                TensorShape::scalar(), name.empty() ? "hash_table" : name);
  const Tensor handle = make_resource(Ref<Resource>(table));
  // The file is found from the table as TensorFlow's object graphs have it.
  const Ref<TrackableNode> how(new TrackableNode);
  if (!contents.filename.empty())
    how->track("_filename", Ref<TrackableNode>(new AssetNode(contents.filename)));
  table->track("_initializer", how);
  contents.initialize(handle);
  return handle;
}

Tensor growing_table(DType key, DType value, const TensorShape& shape,
                     const experimental::MutableHashTableOptions& o) {
  const bool scalar = shape.rank() == 0;
  auto* table = new LookupTable(scalar ? "MutableHashTableV2" : "MutableHashTableOfTensorsV2", key,
                                value, shape, o.name);
  table->checkpointed = o.checkpoint;
  return make_resource(Ref<Resource>(table));
}

}  // namespace

Table::Table(Tensor handle, Tensor default_value)
    : handle_(std::move(handle)), default_value_(std::move(default_value)) {}
Tensor Table::size() const { return table_size(handle_); }
DType Table::key_dtype() const { return table_of(handle_, "lookup").key_dtype; }
DType Table::value_dtype() const { return table_of(handle_, "lookup").value_dtype; }
const std::string& Table::name() const { return table_of(handle_, "lookup").name; }
Ref<TrackableNode> Table::trackable() const {
  TrackableNode* node = handle_.impl()->resource.get();
  retain(node);
  return Ref<TrackableNode>(node);
}
std::pair<Tensor, Tensor> Table::export_() const { return export_table(handle_); }
Tensor Table::find(const Operand& keys, const Tensor& default_value) const {
  const Arg k(keys, key_dtype());
  table_of(handle_, "lookup.lookup").check_keys(*k, "lookup.lookup");
  return find_in_table(handle_, *k, default_value);
}

// ---- tables that never change
StaticHashTable::StaticHashTable(const TableInitializer& initializer, const Operand& default_value,
                                 const TableOptions& o)
    : Table({}, one_value(default_value, initializer.value_dtype())) {
  RILL_CHECK(default_value_.ndim() == 0, invalid_argument,
             "[StaticHashTable] default_value has shape {}; expected a scalar",
             default_value_.shape());
  handle_ = fixed_table(initializer, o.name);
}
Tensor StaticHashTable::lookup(const Operand& keys) const { return find(keys, default_value_); }
RaggedTensor StaticHashTable::lookup(const RaggedTensor& keys) const {
  return keys.with_flat_values(lookup(keys.flat_values()));
}
SparseTensor StaticHashTable::lookup(const SparseTensor& keys) const {
  return {keys.indices, lookup(keys.values), keys.dense_shape};
}

// ---- vocabularies
namespace {

DType checked_key(DType wanted, DType of_table) {
  if (!wanted.defined()) return of_table;
  const bool fits = wanted == of_table || (wanted == int32 && of_table == int64) ||
                    (wanted == int64 && of_table == int32);
  RILL_CHECK(fits, invalid_argument,
             "[StaticVocabularyTable] lookup_key_dtype is {}, the keys of the initializer are {}; "
             "expected the same kind",
             wanted, of_table);
  return wanted;
}
void check_buckets(std::int64_t n, bool alone) {
  RILL_CHECK(n >= (alone ? 1 : 0), invalid_argument,
             "[StaticVocabularyTable] num_oov_buckets is {}; expected {} or more", n,
             alone ? 1 : 0);
}

}  // namespace

StaticVocabularyTable::StaticVocabularyTable(const TableInitializer& initializer,
                                             std::int64_t num_oov_buckets,
                                             const StaticVocabularyTableOptions& o)
    : Table({}, to_tensor(std::int64_t{-1}, int64)), buckets_(num_oov_buckets) {
  check_buckets(buckets_, false);
  RILL_CHECK(initializer.value_dtype() == int64, invalid_argument,
             "[StaticVocabularyTable] the values of the initializer are {}; expected int64: give "
             "it {{.value_dtype = tf::int64}}",
             initializer.value_dtype());
  lookup_dtype_ = checked_key(o.lookup_key_dtype, initializer.key_dtype());
  handle_ = fixed_table(initializer, o.name);
}
StaticVocabularyTable::StaticVocabularyTable(std::int64_t num_oov_buckets,
                                             const StaticVocabularyTableOptions& o)
    : Table({}, to_tensor(std::int64_t{-1}, int64)),
      buckets_(num_oov_buckets),
      lookup_dtype_(o.lookup_key_dtype.defined() ? o.lookup_key_dtype : string) {
  check_buckets(buckets_, true);
  const DType keys = lookup_dtype_ == string ? string : int64;
  handle_ = fixed_table(KeyValueTensorInitializer(zeros({0}, keys), zeros({0}, int64)), o.name);
}
Tensor StaticVocabularyTable::size() const { return Table::size() + buckets_; }
Tensor StaticVocabularyTable::lookup(const Operand& keys) const {
  const Arg k(keys, lookup_dtype_);
  RILL_CHECK(k->dtype() == lookup_dtype_, invalid_argument,
             "[StaticVocabularyTable] the keys are {}; expected {}", k->dtype(), lookup_dtype_);
  const DType stored = key_dtype();
  const Tensor found = find(stored == k->dtype() ? *k : cast(*k, stored), default_value_);
  if (buckets_ == 0) return found;
  const Tensor words = k->dtype() == string ? *k : strings::as_string(*k);
  const Tensor spilt = strings::to_hash_bucket_fast(words, buckets_) + Table::size();
  return where(not_equal(found, default_value_), found, spilt);
}
RaggedTensor StaticVocabularyTable::lookup(const RaggedTensor& keys) const {
  return keys.with_flat_values(lookup(keys.flat_values()));
}
SparseTensor StaticVocabularyTable::lookup(const SparseTensor& keys) const {
  return {keys.indices, lookup(keys.values), keys.dense_shape};
}

// ---- tables that grow
namespace experimental {

MutableHashTable::MutableHashTable(DType key_dtype, DType value_dtype, const Operand& default_value,
                                   const MutableHashTableOptions& o)
    : Table({}, one_value(default_value, value_dtype)) {
  handle_ = growing_table(key_dtype, value_dtype, default_value_.shape(), o);
}
Tensor MutableHashTable::lookup(const Operand& keys) const { return find(keys, default_value_); }
Tensor MutableHashTable::lookup(const Operand& keys, const Operand& dynamic_default_values) const {
  return find(keys, one_value(dynamic_default_values, value_dtype()));
}
RaggedTensor MutableHashTable::lookup(const RaggedTensor& keys) const {
  return keys.with_flat_values(lookup(keys.flat_values()));
}
SparseTensor MutableHashTable::lookup(const SparseTensor& keys) const {
  return {keys.indices, lookup(keys.values), keys.dense_shape};
}
void MutableHashTable::insert(const Operand& keys, const Operand& values) const {
  const Arg k(keys, key_dtype()), v(values, value_dtype());
  insert_into_table(handle_, *k, *v);
}
void MutableHashTable::remove(const Operand& keys) const {
  const Arg k(keys, key_dtype());
  remove_from_table(handle_, *k);
}

DenseHashTable::DenseHashTable(DType key_dtype, DType value_dtype, const Operand& default_value,
                               const Operand& empty_key, const Operand& deleted_key,
                               const DenseHashTableOptions& o)
    : MutableHashTable(key_dtype, value_dtype, default_value, {.name = o.name}) {
  auto* table = new DenseTable(key_dtype, value_dtype, default_value_.shape(), o.name,
                               to_tensor(empty_key, key_dtype), to_tensor(deleted_key, key_dtype),
                               o.initial_num_buckets ? o.initial_num_buckets : 1 << 17);
  table->checkpointed = o.checkpoint;
  handle_ = make_resource(Ref<Resource>(table));
}

}  // namespace experimental
}  // namespace rill::lookup
