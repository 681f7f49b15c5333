#pragma once
#include "rill/core/trackable.h"
#include "rill/keras/metrics/metric.h"

namespace rill::keras {

// The state of a metric, shared by its handles.
class MetricImpl : public TrackableNode {
 public:
  ~MetricImpl() override;
  std::string name;
  DType dtype;
  struct State {
    std::string name;
    Variable variable;
  };
  std::vector<State> state;
};

// The variable is the state of a metric.
bool is_metric_state(const Variable& v);

}  // namespace rill::keras
