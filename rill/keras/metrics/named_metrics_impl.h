#pragma once
#include <span>
#include <vector>

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

// A metric of the same kind with a state of its own. InvalidArgument for one of a class of the
// user's.
MetricRef metric_anew(const MetricRef& metric);
// Metrics without a name of their own that are of one class are told apart by numbers:
// "precision", "precision_1". The classes are those that Keras numbers, and the user's.
void number_metrics(const std::vector<MetricRef>& metrics);

}  // namespace rill::keras
