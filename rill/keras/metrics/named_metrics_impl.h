#pragma once
#include <span>

#include "rill/keras/metrics/metric.h"

namespace rill::keras {

// The functions that have names, beside those that are losses.
struct NamedMetric {
  const char *name, *alias;
  BinaryFn function;
};
std::span<const NamedMetric> named_metrics();

// The classes of the library, made of a configuration; an empty one has the defaults.
struct MetricClass {
  const char* class_name;
  MetricRef (*make)(const Config& config);
};
std::span<const MetricClass> metric_classes();

}  // namespace rill::keras
