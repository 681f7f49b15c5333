#pragma once
#include <string>

namespace rill::conformance {

// docs/gpu_ops.md, as the registry has it.
std::string gpu_ops_page();

}  // namespace rill::conformance
