#include "rill/saving/checkpoint_state.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <filesystem>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/saving/tensor_bundle.h"
#include "rill_proto/checkpoint.pb.h"

namespace rill::train {
namespace {

namespace fs = std::filesystem;

// Keeps the first complaint instead of printing it.
class Complaint : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  std::string text;
};

std::string relative_to(const std::string& folder, const std::string& path) {
  const fs::path from = fs::absolute(folder).lexically_normal(),
                 to = fs::absolute(path).lexically_normal();
  // "x/" has an empty last part, which counts as a step.
  const fs::path base = from.has_filename() ? from : from.parent_path();
  const std::string relative = to.lexically_relative(base).string();
  return relative.empty() || relative.rfind("..", 0) == 0 ? to.string() : relative;
}

}  // namespace

std::optional<CheckpointState> get_checkpoint_state(const std::string& checkpoint_dir,
                                                    const std::string& latest_filename) {
  const std::string path = io::join_path(checkpoint_dir, latest_filename);
  if (!io::file_exists(path)) return std::nullopt;
  proto::CheckpointState state;
  Complaint complaint;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&complaint);
  if (!parser.ParseFromString(io::file_contents(path), &state)) {
    RILL_LOG(warning, "\"{}\" is damaged and not used: {}", path, complaint.text);
    return std::nullopt;
  }
  RILL_CHECK(!state.model_checkpoint_path().empty(), data_loss,
             "[checkpoint] \"{}\" does not name checkpoints: model_checkpoint_path is missing",
             path);
  CheckpointState out{
      .model_checkpoint_path = io::join_path(checkpoint_dir, state.model_checkpoint_path()),
      .last_preserved_timestamp = state.last_preserved_timestamp()};
  for (const std::string& p : state.all_model_checkpoint_paths())
    out.all_model_checkpoint_paths.push_back(io::join_path(checkpoint_dir, p));
  out.all_model_checkpoint_timestamps.assign(state.all_model_checkpoint_timestamps().begin(),
                                             state.all_model_checkpoint_timestamps().end());
  return out;
}

void update_checkpoint_state(const std::string& save_dir, CheckpointState s,
                             const std::string& latest_filename) {
  auto& all = s.all_model_checkpoint_paths;
  RILL_CHECK(s.all_model_checkpoint_timestamps.empty() ||
                 s.all_model_checkpoint_timestamps.size() == all.size(),
             invalid_argument, "[checkpoint] {} paths with {} timestamps", all.size(),
             s.all_model_checkpoint_timestamps.size());
  if (all.empty() || all.back() != s.model_checkpoint_path) {
    all.push_back(s.model_checkpoint_path);
    s.all_model_checkpoint_timestamps.clear();
  }
  proto::CheckpointState state;
  state.set_model_checkpoint_path(relative_to(save_dir, s.model_checkpoint_path));
  for (const std::string& p : all) state.add_all_model_checkpoint_paths(relative_to(save_dir, p));
  for (double t : s.all_model_checkpoint_timestamps) state.add_all_model_checkpoint_timestamps(t);
  state.set_last_preserved_timestamp(s.last_preserved_timestamp);
  std::string text;
  google::protobuf::TextFormat::PrintToString(state, &text);
  io::write_file_atomically(io::join_path(save_dir, latest_filename), text);
}

bool checkpoint_exists(const std::string& prefix) {
  return io::file_exists(bundle_index_path(prefix));
}

std::string latest_checkpoint(const std::string& checkpoint_dir,
                              const std::string& latest_filename) {
  const auto state = get_checkpoint_state(checkpoint_dir, latest_filename);
  if (!state) return {};
  if (checkpoint_exists(state->model_checkpoint_path)) return state->model_checkpoint_path;
  RILL_LOG(error, "\"{}\" names checkpoint \"{}\", which is not there",
           io::join_path(checkpoint_dir, latest_filename), state->model_checkpoint_path);
  return {};
}

}  // namespace rill::train
