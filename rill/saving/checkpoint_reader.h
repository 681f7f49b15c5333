#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/core/tensor.h"

namespace rill {
class BundleReader;
}

namespace rill RILL_API {
namespace train {

// The tensors of a checkpoint by their keys, whatever wrote it. Elements are read when they
// are asked for.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& prefix);
  bool has_tensor(std::string_view key) const;
  // NotFound, with the nearest key; DataLoss for damaged files.
  Tensor get_tensor(std::string_view key) const;
  std::map<std::string, TensorShape> get_variable_to_shape_map() const;
  std::map<std::string, DType> get_variable_to_dtype_map() const;

 private:
  std::shared_ptr<const BundleReader> bundle_;
};

// The checkpoint of that prefix, or the newest one of that folder.
CheckpointReader load_checkpoint(const std::string& ckpt_dir_or_file);
// Keys and shapes, sorted by key.
std::vector<std::pair<std::string, TensorShape>> list_variables(
    const std::string& ckpt_dir_or_file);
Tensor load_variable(const std::string& ckpt_dir_or_file, std::string_view name);

}  // namespace train
}  // namespace RILL_API
