#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/core/trackable.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

// Tables that turn keys into values: tf.lookup.
namespace rill RILL_API {
namespace lookup {

// Columns of a text file that are none: the whole line, as a string, or its number, from 0.
struct TextFileIndex {
  static constexpr int WHOLE_LINE = -2, LINE_NUMBER = -1;
};

class TableContents;
void retain(TableContents*) noexcept;
void release(TableContents*) noexcept;

// What a table that never changes holds. Keys are strings, int32 or int64.
class TableInitializer {
 public:
  DType key_dtype() const;
  DType value_dtype() const;
  const Ref<TableContents>& contents() const { return contents_; }

 protected:
  explicit TableInitializer(Ref<TableContents> contents);
  Ref<TableContents> contents_;
};

struct KeyValueOptions {
  DType key_dtype = {}, value_dtype = {};  // of literals; else their own
};
// As many keys as values, each a list or a scalar.
class KeyValueTensorInitializer : public TableInitializer {
 public:
  KeyValueTensorInitializer(const Operand& keys, const Operand& values,
                            const KeyValueOptions& options = {});
};

struct TextFileOptions {
  std::int64_t vocab_size = -1;         // lines that are read, and must be there; -1: all
  std::string delimiter = "\t";         // one character
  std::int64_t value_index_offset = 0;  // added to line numbers
};
// The lines of a text file. An index is a column, or one of TextFileIndex: line numbers are int64,
// whole lines strings. The file is read when a table is made of it, and is an asset of that table.
class TextFileInitializer : public TableInitializer {
 public:
  TextFileInitializer(const std::string& filename, DType key_dtype, int key_index,
                      DType value_dtype, int value_index, const TextFileOptions& options = {});
};

// What all tables have. Handles: copies are one table. Usable eagerly, in functions, in dataset
// maps; InvalidArgument for keys of another dtype.
class Table {
 public:
  Tensor size() const;  // int64: the number of keys
  DType key_dtype() const;
  DType value_dtype() const;
  const std::string& name() const;
  const Tensor& resource_handle() const { return handle_; }
  Ref<TrackableNode> trackable() const;  // what checkpoints hold
  // Keys and values, in the order in which they came.
  std::pair<Tensor, Tensor> export_() const;

 protected:
  Table(Tensor handle, Tensor default_value);
  Tensor find(const Operand& keys, const Tensor& default_value) const;
  Tensor handle_, default_value_;
};

struct TableOptions {
  std::string name = {};
};

//   tf::lookup::StaticHashTable table(
//       tf::lookup::KeyValueTensorInitializer({"cat", "dog"}, {0, 1}), -1);
//   std::cout << table.lookup({"dog", "bird"});   // [1 -1]
//
// FailedPrecondition where one key has two values. Checkpoints do not hold it: it is made again.
class StaticHashTable : public Table {
 public:
  StaticHashTable(const TableInitializer& initializer, const Operand& default_value,
                  const TableOptions& options = {});
  Tensor lookup(const Operand& keys) const;  // of the shape of keys
  Tensor lookup(std::initializer_list<Operand> keys) const { return lookup(Operand(keys)); }
  RaggedTensor lookup(const RaggedTensor& keys) const;
  SparseTensor lookup(const SparseTensor& keys) const;
  template <class K>
  Tensor operator[](const K& keys) const {
    return lookup(Operand(keys));
  }
  Tensor default_value() const { return default_value_; }
};

struct StaticVocabularyTableOptions {
  DType lookup_key_dtype = {};  // string, int32 or int64; that of the initializer when not given
  std::string name = {};
};
// Numbers of words. Words that are not among the keys fall into num_oov_buckets buckets behind the
// vocabulary, by the fingerprint of the word (of an integer: of its digits): the same in every
// program, and as in TensorFlow. The values of the initializer are int64.
class StaticVocabularyTable : public Table {
 public:
  StaticVocabularyTable(const TableInitializer& initializer, std::int64_t num_oov_buckets,
                        const StaticVocabularyTableOptions& options = {});
  // No vocabulary: buckets alone.
  explicit StaticVocabularyTable(std::int64_t num_oov_buckets,
                                 const StaticVocabularyTableOptions& options = {});
  Tensor lookup(const Operand& keys) const;  // int64
  Tensor lookup(std::initializer_list<Operand> keys) const { return lookup(Operand(keys)); }
  RaggedTensor lookup(const RaggedTensor& keys) const;
  SparseTensor lookup(const SparseTensor& keys) const;
  template <class K>
  Tensor operator[](const K& keys) const {
    return lookup(Operand(keys));
  }
  Tensor size() const;  // with the buckets

 private:
  std::int64_t buckets_ = 0;
  DType lookup_dtype_;
};

namespace experimental {

struct MutableHashTableOptions {
  std::string name = "MutableHashTable";
  bool checkpoint = true;  // checkpoints hold its contents
};
// A table that grows. Values have the shape of default_value.
class MutableHashTable : public Table {
 public:
  MutableHashTable(DType key_dtype, DType value_dtype, const Operand& default_value,
                   const MutableHashTableOptions& options = {});
  Tensor lookup(const Operand& keys) const;
  Tensor lookup(std::initializer_list<Operand> keys) const { return lookup(Operand(keys)); }
  // A default for each key.
  Tensor lookup(const Operand& keys, const Operand& dynamic_default_values) const;
  RaggedTensor lookup(const RaggedTensor& keys) const;
  SparseTensor lookup(const SparseTensor& keys) const;
  template <class K>
  Tensor operator[](const K& keys) const {
    return lookup(Operand(keys));
  }
  // A key that is there gets the new value.
  void insert(const Operand& keys, const Operand& values) const;
  void remove(const Operand& keys) const;  // those that are not there change nothing
  void remove(std::initializer_list<Operand> keys) const { remove(Operand(keys)); }
  Tensor default_value() const { return default_value_; }
};

struct DenseHashTableOptions {
  std::int64_t initial_num_buckets = 0;  // a power of two; 0: 2^17
  std::string name = "MutableDenseHashTable";
  bool checkpoint = true;
};
// The same, in one block of memory: two keys that never occur mark what is empty and what was
// removed. InvalidArgument for them as keys.
class DenseHashTable : public MutableHashTable {
 public:
  DenseHashTable(DType key_dtype, DType value_dtype, const Operand& default_value,
                 const Operand& empty_key, const Operand& deleted_key,
                 const DenseHashTableOptions& options = {});
};

}  // namespace experimental
}  // namespace lookup
}  // namespace RILL_API
