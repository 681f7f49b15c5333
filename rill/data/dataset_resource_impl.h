#pragma once
#include "rill/core/resource.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {

// A dataset as a tensor, so that it can be an element and what a user's function
// returns.
class DatasetResource final : public Resource {
 public:
  explicit DatasetResource(const Dataset& d) : dataset(d) {}
  const char* kind() const override { return "dataset"; }
  Dataset dataset;
};

}  // namespace rill::data
