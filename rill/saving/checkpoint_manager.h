#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rill/saving/checkpoint.h"

namespace rill RILL_API {
namespace train {

struct CheckpointManagerOptions {
  std::string directory = {};           // made when the first checkpoint is
  std::optional<int> max_to_keep = {};  // all of them when not given
  std::optional<double> keep_checkpoint_every_n_hours = {};
  std::string checkpoint_name = "ckpt";  // the prefix of the files
  // With an interval, save() writes only when the counter has moved on by that much.
  Variable step_counter = {};
  std::optional<std::int64_t> checkpoint_interval = {};
  std::function<void()> init_fn = {};  // for restore_or_initialize()
};
struct CheckpointSaveOptions {
  std::optional<std::int64_t> checkpoint_number = {};  // by default the count of saves
  bool check_interval = true;
};

// Keeps the newest checkpoints of a folder and deletes the others: "ckpt-1", "ckpt-2", ...
// What an earlier program left there is known from the file `checkpoint`, and is kept or
// deleted with the rest.
//
//   tf::train::CheckpointManager manager(checkpoint, {.directory = "./save", .max_to_keep = 3});
//   manager.save({.checkpoint_number = batch_index});
class CheckpointManager {
 public:
  CheckpointManager(const Checkpoint& checkpoint, CheckpointManagerOptions options);
  template <StringLike S>
  CheckpointManager(const Checkpoint& checkpoint, const S& directory,
                    CheckpointManagerOptions options = {})
      : CheckpointManager(checkpoint, (options.directory = std::string(std::string_view(directory)),
                                       std::move(options))) {}

  // The path that was written; empty when the interval has not passed. The count of saves
  // continues even where a number is given.
  std::string save(const CheckpointSaveOptions& options = {});
  // Restores the newest checkpoint and returns its path; without one calls init_fn, and the
  // path is empty.
  std::string restore_or_initialize();

  const std::string& latest_checkpoint() const { return latest_; }  // empty: none
  std::vector<std::string> checkpoints() const;  // oldest first, without those that are kept
                                                 // for good by keep_checkpoint_every_n_hours
  const std::string& directory() const { return options_.directory; }
  const Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  void record() const;
  void sweep();
  Checkpoint checkpoint_;
  CheckpointManagerOptions options_;
  std::string latest_;
  double last_preserved_ = 0;
  std::vector<std::pair<std::string, double>> kept_;  // path, when; oldest first
  std::optional<std::int64_t> last_step_;
};

}  // namespace train
}  // namespace RILL_API
