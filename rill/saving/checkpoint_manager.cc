#include "rill/saving/checkpoint_manager.h"

#include <algorithm>
#include <chrono>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/saving/checkpoint_impl.h"
#include "rill/saving/checkpoint_state.h"

namespace rill::train {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The index first: without it the rest is not a checkpoint.
void delete_checkpoint(const std::string& prefix) {
  io::remove_file(bundle_index_path(prefix));
  const std::string folder = io::folder_of(prefix),
                    name = prefix.substr(prefix.rfind('/') + 1) + ".data-";
  const std::size_t size = name.size() + std::string_view("00000-of-00001").size();
  for (const std::string& file : io::list_folder(folder))
    if (file.size() == size && file.rfind(name, 0) == 0)
      io::remove_file(io::join_path(folder, file));
}

}  // namespace

CheckpointManager::CheckpointManager(const Checkpoint& checkpoint, CheckpointManagerOptions options)
    : checkpoint_(checkpoint), options_(std::move(options)) {
  RILL_CHECK(!options_.directory.empty(), invalid_argument,
             "[CheckpointManager] no directory is given");
  RILL_CHECK(!options_.max_to_keep || *options_.max_to_keep > 0, invalid_argument,
             "[CheckpointManager] max_to_keep is {}; expected a positive number, or none to keep "
             "all checkpoints",
             *options_.max_to_keep);
  RILL_CHECK(!options_.checkpoint_interval || options_.step_counter.defined(), invalid_argument,
             "[CheckpointManager] a checkpoint_interval needs a step_counter to measure it");
  const auto state = get_checkpoint_state(options_.directory);
  const double clock = now();
  if (!state) {
    last_preserved_ = clock - 1;  // before anything that is saved now
    return;
  }
  latest_ = state->model_checkpoint_path;
  last_preserved_ = state->last_preserved_timestamp;
  if (clock < last_preserved_) {
    RILL_LOG(warning, "the clock is {} seconds behind the last checkpoint that was kept for good",
             last_preserved_ - clock);
    last_preserved_ = clock;
  }
  const auto& paths = state->all_model_checkpoint_paths;
  const auto& times = state->all_model_checkpoint_timestamps;
  for (std::size_t i = 0; i < paths.size() && i < times.size(); ++i)
    if (const double t = std::min(times[i], clock); t > last_preserved_)
      kept_.emplace_back(paths[i], t);
}

std::vector<std::string> CheckpointManager::checkpoints() const {
  std::vector<std::string> out;
  for (const auto& k : kept_) out.push_back(k.first);
  return out;
}

void CheckpointManager::record() const {
  CheckpointState state{.model_checkpoint_path = latest_,
                        .all_model_checkpoint_paths = checkpoints(),
                        .last_preserved_timestamp = last_preserved_};
  for (const auto& k : kept_) state.all_model_checkpoint_timestamps.push_back(k.second);
  update_checkpoint_state(options_.directory, std::move(state));
}

void CheckpointManager::sweep() {
  if (!options_.max_to_keep) return;
  while (kept_.size() > static_cast<std::size_t>(*options_.max_to_keep)) {
    const auto [path, time] = kept_.front();
    kept_.erase(kept_.begin());
    if (options_.keep_checkpoint_every_n_hours &&
        time - *options_.keep_checkpoint_every_n_hours * 3600 >= last_preserved_) {
      last_preserved_ = time;
      continue;
    }
    delete_checkpoint(path);
  }
}

std::string CheckpointManager::save(const CheckpointSaveOptions& options) {
  if (options_.checkpoint_interval) {
    const auto step = options_.step_counter.item<std::int64_t>();
    if (last_step_ && (step == *last_step_ || (options.check_interval &&
                                               step < *last_step_ + *options_.checkpoint_interval)))
      return {};
    last_step_ = step;
  }
  const std::string path = checkpoint_.impl_->save(
      io::join_path(options_.directory, options_.checkpoint_name), options.checkpoint_number);
  // One that is written again goes to the end.
  std::erase_if(kept_, [&](const auto& k) { return k.first == path; });
  kept_.emplace_back(path, now());
  latest_ = path;
  record();  // before anything is deleted, so that the newest is known whatever happens
  sweep();
  record();
  return path;
}

std::string CheckpointManager::restore_or_initialize() {
  if (!latest_.empty()) {
    checkpoint_.restore(latest_);
    if (options_.checkpoint_interval) last_step_ = options_.step_counter.item<std::int64_t>();
    return latest_;
  }
  if (options_.init_fn) options_.init_fn();
  return {};
}

}  // namespace rill::train
