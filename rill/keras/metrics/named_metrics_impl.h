#pragma once
#include <span>

#include "rill/keras/metrics/metric.h"

namespace rill::keras {

// The metrics that have names, beside those that are losses.
struct NamedMetric {
  const char *name, *class_name;
  BinaryFn function;    // null: an object alone
  MetricRef (*make)();  // of the class, with its defaults
};
std::span<const NamedMetric> named_metrics();

}  // namespace rill::keras
