#pragma once
#include "rill/graph/ir/graph.h"

namespace rill {

// Whether a FusedBatchNormV3 will run on a device other than the host, as far as it can be told
// before there is a plan: a layer runs where its variables are.
bool is_normalised_on_device(const Node& norm);

}  // namespace rill
