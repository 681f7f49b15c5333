#pragma once
#include "rill_proto/checkpoint.pb.h"

namespace rill {

// Gives the objects that Keras 3, or Keras before 2.11, saved also the names of Keras 2. A graph of
// another program stays as it is. The ids in it must have been checked.
void give_names_of_keras2(proto::TrackableObjectGraph& graph);

}  // namespace rill
