#pragma once
#include <vector>

#include "rill/graph/ir/graph.h"

namespace rill {

// The control edges that say to other runtimes what the order of nodes says to
// this one.
struct EffectOrder {
  // By node id: nodes that must have run before, besides its inputs.
  std::vector<std::vector<const Node*>> before;
  // Nodes with effects that no later effect waits for.
  std::vector<const Node*> last;
  // All nodes whose effects must happen even if nothing uses their results.
  std::vector<const Node*> effects;
};
EffectOrder effect_order(const Graph& graph);

}  // namespace rill
