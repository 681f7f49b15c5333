#pragma once
#include "rill/core/trackable.h"

namespace rill::keras {

// A list or a map of layers as a member of a class: an object of checkpoints, though no layer.
class LayerList final : public TrackableNode {};

}  // namespace rill::keras
