#pragma once
#include "rill/core/trackable.h"
#include "rill/keras/metrics/metric.h"

namespace rill::keras {

// The state of a metric, shared by its handles.
class MetricImpl : public TrackableNode {
 public:
  std::string name;
  DType dtype;
  struct State {
    std::string name;
    Variable variable;
  };
  std::vector<State> state;
};

}  // namespace rill::keras
