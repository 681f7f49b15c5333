// What is behind the handle of a lookup table.
#include <algorithm>
#include <cstring>

#include "rill/base/check.h"
#include "rill/base/hash.h"
#include "rill/base/parallel.h"
#include "rill/core/tensor_summary.h"
#include "rill/ops/lookup/table_impl.h"

namespace rill::lookup {
namespace {

constexpr const char *kSavedKeys = "table|-keys", *kSavedValues = "table|-values";
constexpr std::int64_t kFindGrain = 4096;

std::string shown(const Tensor& t, std::int64_t i) {
  if (t.dtype() == string) return host_data<std::string>(t)[i].substr(0, 80);
  return std::to_string(t.dtype() == int32 ? host_data<std::int32_t>(t)[i]
                                           : host_data<std::int64_t>(t)[i]);
}

}  // namespace

LookupTable& table_of(const Tensor& handle, std::string_view tag) {
  auto* table = dynamic_cast<LookupTable*>(handle.impl()->resource.get());
  RILL_CHECK(table, invalid_argument, "[{}] expected a lookup table, got {}", tag,
             handle.impl()->resource ? handle.impl()->resource->kind() : "a tensor");
  return *table;
}

LookupTable::LookupTable(std::string table_op, DType key, DType value, TensorShape shape,
                         std::string table_name)
    : op(std::move(table_op)),
      key_dtype(key),
      value_dtype(value),
      value_shape(std::move(shape)),
      name(std::move(table_name)),
      keys_(key),
      values_(value, value_shape) {
  RILL_CHECK(kKeyTypes.contains(key), invalid_argument,
             "[lookup] keys of a table are {}; expected one of {}", key, kKeyTypes.to_string());
  RILL_CHECK(kValueTypes.contains(value) && value_shape.is_fully_defined(), invalid_argument,
             "[lookup] values of a table are {} of shape {}; expected a known shape and one of {}",
             value, value_shape, kValueTypes.to_string());
}

void LookupTable::check_keys(const Tensor& keys, std::string_view tag) const {
  RILL_CHECK(keys.dtype() == key_dtype, invalid_argument,
             "[{}] the keys of table \"{}\" are {}, got {}; write tf::cast(keys, tf::{})", tag,
             name, key_dtype, keys.dtype(), key_dtype);
}

void LookupTable::check_values(const Tensor& keys, const Tensor& values,
                               std::string_view tag) const {
  check_keys(keys, tag);
  RILL_CHECK(values.dtype() == value_dtype, invalid_argument,
             "[{}] the values of table \"{}\" are {}, got {}; write tf::cast(values, tf::{})", tag,
             name, value_dtype, values.dtype(), value_dtype);
  Dims want = keys.shape().dims();
  for (std::int64_t d : value_shape.dims()) want.push_back(d);
  RILL_CHECK(values.shape() == TensorShape(want), invalid_argument,
             "[{}] keys have shape {} and values {}; expected values of shape {}", tag,
             keys.shape(), values.shape(), TensorShape(want));
}

Tensor LookupTable::find(const Tensor& given, const Tensor& by_default, std::string_view tag) {
  check_keys(given, tag);
  RILL_CHECK(by_default.dtype() == value_dtype, invalid_argument,
             "[{}] the values of table \"{}\" are {}, default_value is {}", tag, name, value_dtype,
             by_default.dtype());
  const Tensor keys = to_host(given), spare = to_host(by_default);
  Dims dims = keys.shape().dims();
  for (std::int64_t d : value_shape.dims()) dims.push_back(d);
  const TensorShape shape(dims);
  const bool each = spare.shape() == shape && spare.shape() != value_shape;
  RILL_CHECK(each || spare.shape() == value_shape, invalid_argument,
             "[{}] default_value has shape {}; expected {}, that of a value, or {}, one for each "
             "key",
             tag, spare.shape(), value_shape, shape);
  const Tensor out = make_tensor(value_dtype, shape);
  const std::int64_t width = values_.row_elements();
  const std::size_t item = value_dtype == string ? 0 : value_dtype.itemsize();
  const auto use_default = [&](std::int64_t i) {
    const std::int64_t from = each ? i * width : 0;
    if (value_dtype == string)
      std::copy_n(host_data<std::string>(spare) + from, width,
                  mutable_data<std::string>(out) + i * width);
    else
      std::memcpy(mutable_data<char>(out) + static_cast<std::size_t>(i * width) * item,
                  host_data<char>(spare) + static_cast<std::size_t>(from) * item,
                  static_cast<std::size_t>(width) * item);
  };
  const std::shared_lock lock(mutex_);
  RILL_CHECK(!fixed() || initialized_, failed_precondition,
             "[{}] table \"{}\" is not initialised; {}", tag, name, how_to_fill);
  parallel_for(keys.size(), kFindGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = keys_.find(keys, i);
      if (row < 0)
        use_default(i);
      else
        values_.copy(static_cast<std::size_t>(row), out, i);
    }
  });
  return out;
}

void LookupTable::initialize(const Tensor& given, const Tensor& given_values,
                             std::string_view tag) {
  check_values(given, given_values, tag);
  const Tensor keys = to_host(given), values = to_host(given_values);
  KeyRows new_keys(key_dtype);
  ValueRows new_values(value_dtype, value_shape);
  for (std::int64_t i = 0; i < keys.size(); ++i) {
    const std::size_t before = new_keys.size(), row = new_keys.add(keys, i);
    RILL_CHECK(row == before || new_values.equal(row, values, i), failed_precondition,
               "[{}] key \"{}\" has two values in table \"{}\"; expected one", tag, shown(keys, i),
               name);
    if (row == before) new_values.set(row, values, i);
  }
  const std::unique_lock lock(mutex_);
  if (initialized_) {  // once more is fine where it changes nothing
    bool same = new_keys.size() == keys_.size();
    for (std::int64_t i = 0; same && i < keys.size(); ++i) {
      const std::int64_t row = keys_.find(keys, i);
      same = row >= 0 && values_.equal(static_cast<std::size_t>(row), values, i);
    }
    RILL_CHECK(same, failed_precondition, "[{}] table \"{}\" is initialised with other data", tag,
               name);
    return;
  }
  keys_ = std::move(new_keys);
  values_ = std::move(new_values);
  initialized_ = true;
}

void LookupTable::insert(const Tensor& given, const Tensor& given_values, std::string_view tag) {
  RILL_CHECK(!fixed(), failed_precondition,
             "[{}] table \"{}\" never changes; use experimental::MutableHashTable", tag, name);
  check_values(given, given_values, tag);
  const Tensor keys = to_host(given), values = to_host(given_values);
  refuse_reserved(keys, tag);
  const std::unique_lock lock(mutex_);
  for (std::int64_t i = 0; i < keys.size(); ++i) values_.set(keys_.add(keys, i), values, i);
}

void LookupTable::remove(const Tensor& given, std::string_view tag) {
  RILL_CHECK(!fixed(), failed_precondition,
             "[{}] table \"{}\" never changes; use experimental::MutableHashTable", tag, name);
  check_keys(given, tag);
  const Tensor keys = to_host(given);
  refuse_reserved(keys, tag);
  const std::unique_lock lock(mutex_);
  for (std::int64_t i = 0; i < keys.size(); ++i)
    if (const std::int64_t row = keys_.remove(keys, i); row >= 0)
      values_.move_last_to(static_cast<std::size_t>(row));
}

void LookupTable::replace(const Tensor& given, const Tensor& given_values, std::string_view tag) {
  Tensor keys = to_host(given), values = to_host(given_values);
  // A table of open addresses is exported with an axis for the parts of a key.
  if (op == "MutableDenseHashTableV2" && keys.ndim() == 2 && keys.shape().dim(1) == 1) {
    keys = make_view(keys, TensorShape(Dims{keys.size()}));
    Dims dims{keys.size()};
    for (std::int64_t d : value_shape.dims()) dims.push_back(d);
    if (values.size() == TensorShape(dims).num_elements())
      values = make_view(values, TensorShape(dims));
  }
  check_values(keys, values, tag);
  const std::unique_lock lock(mutex_);
  keys_.clear();
  values_.clear();
  for (std::int64_t i = 0; i < keys.size(); ++i)
    if (!is_empty(keys, i)) values_.set(keys_.add(keys, i), values, i);
  initialized_ = true;
}

std::int64_t LookupTable::size() {
  const std::shared_lock lock(mutex_);
  return static_cast<std::int64_t>(keys_.size());
}

std::pair<Tensor, Tensor> LookupTable::contents() {
  const std::shared_lock lock(mutex_);
  return {keys_.list(), values_.list()};
}

std::vector<std::string> LookupTable::saved_keys() {
  if (!checkpointed) return {};
  return {kSavedKeys, kSavedValues};
}
std::vector<TrackableNode::SavedValue> LookupTable::saved_values() {
  if (!checkpointed) return {};
  auto [keys, values] = contents();
  return {{kSavedKeys, keys}, {kSavedValues, values}};
}
void LookupTable::restore_value(std::string_view key, const Tensor& t) {
  if (!checkpointed || (key != kSavedKeys && key != kSavedValues))
    return TrackableNode::restore_value(key, t);
  if (key == kSavedKeys) {
    check_keys(t, "restore");
    restored_keys_ = t;
    return;
  }
  RILL_CHECK(restored_keys_.defined(), data_loss,
             "[restore] the checkpoint has the values of table \"{}\", but not its keys", name);
  const Tensor keys = std::exchange(restored_keys_, Tensor());
  replace(keys, t, "restore");
}

// ---- open addresses
namespace {

// TensorFlow's hash of one key.
std::uint64_t hash_of(const Tensor& keys, std::int64_t i) {
  if (keys.dtype() == string) return murmur64(host_data<std::string>(keys)[i]);
  return static_cast<std::uint64_t>(keys.dtype() == int32 ? host_data<std::int32_t>(keys)[i]
                                                          : host_data<std::int64_t>(keys)[i]);
}
bool same_key(const Tensor& a, std::int64_t i, const Tensor& b) {
  if (a.dtype() == string) return host_data<std::string>(a)[i] == host_data<std::string>(b)[0];
  return hash_of(a, i) == hash_of(b, 0);
}

}  // namespace

DenseTable::DenseTable(DType key, DType value, TensorShape shape, std::string table_name,
                       const Tensor& empty_key, const Tensor& deleted_key, std::int64_t buckets)
    : LookupTable("MutableDenseHashTableV2", key, value, std::move(shape), std::move(table_name)),
      empty_key_(to_host(empty_key)),
      deleted_key_(to_host(deleted_key)),
      buckets_(buckets) {
  for (const Tensor* t : {&empty_key_, &deleted_key_})
    RILL_CHECK(t->dtype() == key && t->size() == 1, invalid_argument,
               "[DenseHashTable] empty_key and deleted_key must be one key of dtype {}, got {} of "
               "shape {}",
               key, t->dtype(), t->shape());
  RILL_CHECK(!same_key(empty_key_, 0, deleted_key_), invalid_argument,
             "[DenseHashTable] empty_key and deleted_key are the same; expected two keys that "
             "never occur");
  RILL_CHECK(buckets_ > 0 && (buckets_ & (buckets_ - 1)) == 0 && buckets_ <= (1LL << 30),
             invalid_argument,
             "[DenseHashTable] initial_num_buckets is {}; expected a power of two", buckets_);
}

void DenseTable::refuse_reserved(const Tensor& keys, std::string_view tag) const {
  for (std::int64_t i = 0; i < keys.size(); ++i)
    RILL_CHECK(!same_key(keys, i, empty_key_) && !same_key(keys, i, deleted_key_), invalid_argument,
               "[{}] key \"{}\" is the empty_key or deleted_key of table \"{}\", which no entry "
               "can have",
               tag, shown(keys, i), name);
}
bool DenseTable::is_empty(const Tensor& keys, std::int64_t i) const {
  return same_key(keys, i, empty_key_) || same_key(keys, i, deleted_key_);
}

// The buckets as TensorFlow would have them after these insertions.
std::pair<Tensor, Tensor> DenseTable::contents() {
  const std::unique_lock lock(mutex_);
  const Tensor keys = keys_.list();
  while (static_cast<double>(keys.size()) > static_cast<double>(buckets_) * 0.8) buckets_ *= 2;
  const Tensor all_keys = make_tensor(key_dtype, TensorShape(Dims{buckets_, 1}));
  Dims dims{buckets_};
  for (std::int64_t d : value_shape.dims()) dims.push_back(d);
  if (dims.size() == 1) dims.push_back(1);
  const Tensor all_values = make_tensor(value_dtype, TensorShape(dims));
  const auto put = [&](std::int64_t bucket, const Tensor& from, std::int64_t i) {
    if (key_dtype == string)
      mutable_data<std::string>(all_keys)[bucket] = host_data<std::string>(from)[i];
    else
      std::memcpy(
          mutable_data<char>(all_keys) + static_cast<std::size_t>(bucket) * key_dtype.itemsize(),
          host_data<char>(from) + static_cast<std::size_t>(i) * key_dtype.itemsize(),
          key_dtype.itemsize());
  };
  for (std::int64_t b = 0; b < buckets_; ++b) put(b, empty_key_, 0);
  if (value_dtype != string && all_values.size() > 0)
    std::memset(mutable_data<char>(all_values), 0,
                static_cast<std::size_t>(all_values.size()) * value_dtype.itemsize());
  const std::uint64_t mask = static_cast<std::uint64_t>(buckets_) - 1;
  for (std::int64_t i = 0; i < keys.size(); ++i) {
    std::uint64_t bucket = hash_of(keys, i) & mask;
    for (std::uint64_t probe = 1;
         !same_key(all_keys, static_cast<std::int64_t>(bucket), empty_key_); ++probe)
      bucket = (bucket + probe) & mask;
    put(static_cast<std::int64_t>(bucket), keys, i);
    values_.copy(static_cast<std::size_t>(i), all_values, static_cast<std::int64_t>(bucket));
  }
  return {all_keys, all_values};
}

}  // namespace rill::lookup
