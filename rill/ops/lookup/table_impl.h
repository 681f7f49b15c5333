#pragma once
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rill/core/asset.h"
#include "rill/core/op.h"
#include "rill/core/resource.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/lookup_ops.h"

// What is behind the handle of a lookup table.
namespace rill::lookup {

constexpr TypeSet kKeyTypes{string, int32, int64};
constexpr TypeSet kValueTypes = kAllTypes;

// The keys of a table, each with the number of its row. A row that is removed gives its number to
// the last one.
class KeyRows {
 public:
  explicit KeyRows(DType dtype) : dtype_(dtype) {}
  std::size_t size() const { return dtype_ == string ? texts_.size() : numbers_.size(); }
  // The row of element i of keys; -1: not there.
  std::int64_t find(const Tensor& keys, std::int64_t i) const;
  // The same, added at the end where it is not there.
  std::size_t add(const Tensor& keys, std::int64_t i);
  // The row that is now free, to which the last one moved; -1: the key was not there.
  std::int64_t remove(const Tensor& keys, std::int64_t i);
  void clear();
  Tensor list() const;  // by rows

 private:
  std::int64_t number(const Tensor& keys, std::int64_t i) const;
  DType dtype_;
  std::unordered_map<std::string, std::size_t> by_text_;
  std::unordered_map<std::int64_t, std::size_t> by_number_;
  std::vector<std::string> texts_;
  std::vector<std::int64_t> numbers_;
};

// The values, a row of equal size for each key.
class ValueRows {
 public:
  ValueRows(DType dtype, TensorShape shape);
  void set(std::size_t row, const Tensor& values, std::int64_t i);  // at most one behind the last
  bool equal(std::size_t row, const Tensor& values, std::int64_t i) const;
  void copy(std::size_t row, const Tensor& out, std::int64_t i) const;
  void move_last_to(std::size_t row);
  void clear();
  Tensor list() const;
  std::int64_t row_elements() const { return elements_; }

 private:
  std::size_t rows() const;
  DType dtype_;
  TensorShape shape_;
  std::int64_t elements_;
  std::size_t bytes_;
  std::vector<std::string> texts_;
  std::vector<char> plain_;
};

class LookupTable : public Resource {
 public:
  // How ops name it: HashTableV2, MutableHashTableV2, MutableHashTableOfTensorsV2,
  // MutableDenseHashTableV2.
  LookupTable(std::string table_op, DType key, DType value, TensorShape value_shape,
              std::string table_name);
  const char* kind() const override { return "lookup table"; }
  bool fixed() const { return op == "HashTableV2"; }

  // Of the shape of keys, then that of values. default_value is one value, or one for each key.
  Tensor find(const Tensor& keys, const Tensor& default_value, std::string_view tag);
  // FailedPrecondition where a key has another value already, in this call or from before.
  void initialize(const Tensor& keys, const Tensor& values, std::string_view tag);
  void insert(const Tensor& keys, const Tensor& values, std::string_view tag);
  void remove(const Tensor& keys, std::string_view tag);
  void replace(const Tensor& keys, const Tensor& values, std::string_view tag);
  std::int64_t size();
  virtual std::pair<Tensor, Tensor> contents();
  void check_keys(const Tensor& keys, std::string_view tag) const;

  // Of a table that grows, and whose maker wants it: "table-keys" and "table-values".
  std::vector<SavedValue> saved_values() override;
  std::vector<std::string> saved_keys() override;
  void restore_value(std::string_view key, const Tensor& t) override;

  const std::string op;
  const DType key_dtype, value_dtype;
  const TensorShape value_shape;
  const std::string name;
  bool checkpointed = false;
  std::string how_to_fill = "run its initializer first";

 protected:
  // Keys that cannot be in the table.
  virtual void refuse_reserved(const Tensor&, std::string_view) const {}
  virtual bool is_empty(const Tensor&, std::int64_t) const { return false; }
  void check_values(const Tensor& keys, const Tensor& values, std::string_view tag) const;
  std::shared_mutex mutex_;
  KeyRows keys_;
  ValueRows values_;

 private:
  bool initialized_ = false;
  Tensor restored_keys_;  // until their values come
};

// InvalidArgument when the tensor is another resource.
LookupTable& table_of(const Tensor& handle, std::string_view tag);

// TensorFlow's table of open addresses, which exports its buckets as they are.
class DenseTable final : public LookupTable {
 public:
  DenseTable(DType key, DType value, TensorShape value_shape, std::string table_name,
             const Tensor& empty_key, const Tensor& deleted_key, std::int64_t buckets);
  std::pair<Tensor, Tensor> contents() override;

 protected:
  void refuse_reserved(const Tensor& keys, std::string_view tag) const override;
  bool is_empty(const Tensor& keys, std::int64_t i) const override;

 private:
  const Tensor empty_key_, deleted_key_;
  std::int64_t buckets_;
};

// What an initializer says.
class TableContents {
 public:
  DType key_dtype, value_dtype;
  Tensor keys, values;  // or, where they are not there, a file
  std::string filename, delimiter;
  int key_index = 0, value_index = 0;
  std::int64_t vocab_size = -1, offset = 0;
  void initialize(const Tensor& handle) const;
  RefCount refs;
};

// The lines of a file as keys and values; InvalidArgument, with file and line, for what is none.
std::pair<Tensor, Tensor> parse_table_file(const std::string& text, const TableContents& how,
                                           std::string_view tag);

// The ops.
void initialize_table(const Tensor& handle, const Tensor& keys, const Tensor& values);
void initialize_table_from_file(const Tensor& handle, const TableContents& how);
Tensor find_in_table(const Tensor& handle, const Tensor& keys, const Tensor& default_value);
Tensor table_size(const Tensor& handle);
std::pair<Tensor, Tensor> export_table(const Tensor& handle);
void insert_into_table(const Tensor& handle, const Tensor& keys, const Tensor& values);
void remove_from_table(const Tensor& handle, const Tensor& keys);
void import_table(const Tensor& handle, const Tensor& keys, const Tensor& values);

}  // namespace rill::lookup
