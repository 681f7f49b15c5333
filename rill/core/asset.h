#pragma once
#include <string>

#include "rill/core/trackable.h"

namespace rill RILL_API {

// A file that an object needs besides its values, as a table its vocabulary. Checkpoints hold the
// object, not the file; a SavedModel takes the file with it.
class AssetNode final : public TrackableNode {
 public:
  explicit AssetNode(std::string p) : path(std::move(p)) {}
  const std::string path;
};

}  // namespace RILL_API
