#pragma once
#include <memory>
#include <string>

#include "rill/saving/checkpoint.h"
#include "rill/saving/object_graph_impl.h"

namespace rill::train {

// One restore: the checkpoint, and the objects that it is for. Lives as long as an object
// may still come to be, or somebody holds the status.
std::shared_ptr<CheckpointStatus::Impl> restore_objects(const Roots& roots, const std::string& path,
                                                        const TrackableNode* optional);

}  // namespace rill::train
