#include "rill/saving/checkpoint_reader.h"

#include <filesystem>

#include "rill/base/check.h"
#include "rill/saving/checkpoint_state.h"
#include "rill/saving/tensor_bundle.h"

namespace rill::train {

CheckpointReader::CheckpointReader(const std::string& prefix)
    : bundle_(std::make_shared<BundleReader>(prefix)) {}
bool CheckpointReader::has_tensor(std::string_view key) const { return bundle_->has(key); }
Tensor CheckpointReader::get_tensor(std::string_view key) const { return bundle_->read(key); }
std::map<std::string, TensorShape> CheckpointReader::get_variable_to_shape_map() const {
  std::map<std::string, TensorShape> out;
  for (const std::string& key : bundle_->keys()) out[key] = bundle_->shape(key);
  return out;
}
std::map<std::string, DType> CheckpointReader::get_variable_to_dtype_map() const {
  std::map<std::string, DType> out;
  for (const std::string& key : bundle_->keys()) out[key] = bundle_->dtype(key);
  return out;
}

CheckpointReader load_checkpoint(const std::string& path) {
  if (checkpoint_exists(path) || !std::filesystem::is_directory(path))
    return CheckpointReader(path);
  const std::string newest = latest_checkpoint(path);
  RILL_CHECK(!newest.empty(), not_found,
             "[load_checkpoint] the folder \"{}\" names no checkpoint in a file `checkpoint`; give "
             "the prefix of one instead",
             path);
  return CheckpointReader(newest);
}
std::vector<std::pair<std::string, TensorShape>> list_variables(const std::string& path) {
  const auto shapes = load_checkpoint(path).get_variable_to_shape_map();
  return {shapes.begin(), shapes.end()};
}
Tensor load_variable(const std::string& path, std::string_view name) {
  return load_checkpoint(path).get_tensor(name);
}

}  // namespace rill::train
