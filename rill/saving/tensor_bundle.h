#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/tensor.h"

// Tensors under names, as TensorFlow's checkpoints keep them: PREFIX.index, a sorted table
// of what there is, and PREFIX.data-?????-of-?????, the elements.
namespace rill {

// Nothing is under its name before all is on the disk: what was saved under the same
// prefix before stays when a write fails.
class BundleWriter {
 public:
  explicit BundleWriter(const std::string& prefix);  // makes the folder
  ~BundleWriter();                                   // without finish(): nothing happened
  // Elements are in the file in the order of these calls. InvalidArgument for a name that
  // is there, Unimplemented for dtypes that have no bytes.
  void add(const std::string& key, const Tensor& value);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Keeps the index in memory; elements are read when they are asked for.
class BundleReader {
 public:
  // NotFound when there is no such file; DataLoss when it is not one, or damaged.
  explicit BundleReader(const std::string& prefix);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  const std::string& prefix() const;
  std::vector<std::string> keys() const;  // sorted
  bool has(std::string_view key) const;
  // Of one tensor; NotFound, with the nearest name.
  DType dtype(std::string_view key) const;
  TensorShape shape(std::string_view key) const;
  // Reads and checks the elements; a variable that was saved in parts is put together.
  Tensor read(std::string_view key) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Files of a bundle: "PREFIX.index", "PREFIX.data-00000-of-00001".
std::string bundle_index_path(const std::string& prefix);
std::string bundle_data_path(const std::string& prefix, int shard, int shards);

}  // namespace rill
