#include "rill/graph/graph_def_impl.h"

namespace rill {

void raise_control_flow(proto::GraphDef*) {}

}  // namespace rill
