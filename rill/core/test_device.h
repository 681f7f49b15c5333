#pragma once
#include "rill/core/device.h"

namespace rill {

// "/device:TEST:0": an accelerator for tests on any machine. The host cannot
// touch its memory (a read or write ends the process), and its queue runs
// kernels late, on another thread, with the CPU's kernels. Made on first use.
Device& test_device();

}  // namespace rill
