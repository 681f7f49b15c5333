#include "rill/core/float32_math.h"

#include <atomic>

namespace rill {
namespace {
std::atomic<bool> tensor_float_32{false};
}

bool tensor_float_32_allowed() { return tensor_float_32.load(std::memory_order_relaxed); }
void allow_tensor_float_32(bool allowed) { tensor_float_32 = allowed; }

}  // namespace rill
