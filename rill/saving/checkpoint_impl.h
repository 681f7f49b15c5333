#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rill/saving/checkpoint.h"
#include "rill/saving/object_graph_impl.h"

namespace rill::train {

inline constexpr const char* kCounter = "save_counter";

class Checkpoint::Impl {
 public:
  Impl(const TrackableRef* root, std::vector<Entry> entries);
  // The counter of saves, which the checkpoint holds too; made on first use.
  const Variable& counter();
  // Counts, and writes PREFIX-<number>: by default the count. Nothing is counted when the
  // write fails.
  std::string save(const std::string& prefix, std::optional<std::int64_t> number);

  Roots roots;

 private:
  void add(const std::string& name, const Ref<TrackableNode>& node);
  bool owns_root_ = true;
  std::mutex mutex_;
  bool counter_made_ = false;
  Variable save_counter_;
};

}  // namespace rill::train
