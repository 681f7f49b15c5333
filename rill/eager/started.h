#pragma once
#include <atomic>

namespace rill {

// Set by the first op: from then on devices cannot be configured.
extern std::atomic<bool> runtime_started;
// An op without a kernel for its device runs on the host.
extern std::atomic<bool> soft_placement;

}  // namespace rill
