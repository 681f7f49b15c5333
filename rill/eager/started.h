#pragma once
#include <atomic>

namespace rill {

// Set by the first op: from then on devices cannot be configured.
extern std::atomic<bool> runtime_started;

}  // namespace rill
