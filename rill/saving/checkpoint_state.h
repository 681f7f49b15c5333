#pragma once
#include <optional>
#include <string>
#include <vector>

#include "rill/base/api.h"

namespace rill RILL_API {
namespace train {

// What the file `checkpoint` of a folder says: which checkpoint is the newest, and which
// there are, oldest first.
struct CheckpointState {
  std::string model_checkpoint_path = {};
  std::vector<std::string> all_model_checkpoint_paths = {};
  std::vector<double> all_model_checkpoint_timestamps = {};  // seconds since 1970; may be empty
  double last_preserved_timestamp = 0;
};

// Nothing when there is no such file, or, with a warning, when it is damaged; DataLoss when it
// names no checkpoint. Paths are such that they can be opened: those that the file holds relative
// to itself are joined to the folder.
std::optional<CheckpointState> get_checkpoint_state(
    const std::string& checkpoint_dir, const std::string& latest_filename = "checkpoint");

// Writes the file. Paths below the folder are written relative to it, so that the folder
// can be moved. The newest becomes the last of all, where it is not there.
void update_checkpoint_state(const std::string& save_dir, CheckpointState state,
                             const std::string& latest_filename = "checkpoint");

// The path of the newest checkpoint of a folder, for restore(); empty when there is none.
std::string latest_checkpoint(const std::string& checkpoint_dir,
                              const std::string& latest_filename = "checkpoint");

// Whether there is a checkpoint of that prefix.
bool checkpoint_exists(const std::string& prefix);

}  // namespace train
}  // namespace RILL_API
