#pragma once
#include <atomic>

namespace rill {
class Op;
}

// Kernels' own times for the profiler, by CUPTI. Its library is opened when a profile starts;
// without it a profile shows the time in which kernels are queued.
namespace rill::cuda {

extern std::atomic<bool> tracing;
// What this thread queues from now on is this op's; null: nobody's.
void trace_op(const Op* op);

void install_tracer();

}  // namespace rill::cuda
