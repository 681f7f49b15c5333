#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rill/keras/metrics/metric.h"

namespace rill::keras {

namespace metrics {
class MeanMetricWrapper;
}

// The functions that have names, beside those that are losses.
struct NamedMetric {
  const char *name, *alias;
  BinaryFn function;
  // One without an alias has an empty one, which is not a name.
  bool goes_by(std::string_view given) const {
    return !given.empty() && (given == name || given == alias);
  }
};
std::span<const NamedMetric> named_metrics();

// The classes of the library, made of a configuration; an empty one has the defaults.
struct MetricClass {
  const char* class_name;
  MetricRef (*make)(const Config& config);
};
std::span<const MetricClass> metric_classes();
// Every name that a metric goes by, each once: functions, those of users among them, then aliases,
// then classes.
std::vector<std::string> metric_names();

// Whether the class is one of the library.
bool is_library_metric(const Metric& metric);

// ---- users' classes that were registered
// The name that a file holds: "package>name", or that of the class when it is not registered.
std::string saved_class_name(const Metric& metric);
// Undefined for a class that is not known.
MetricRef registered_metric(const std::string& class_name, const Config& config);
std::vector<std::string> registered_metric_names();
// The mean of a user's function, which the argument "fn" names. Undefined when it is not known.
MetricRef registered_function_metric(const Config& config);

// The metric as a mean of a function; null for one of another class.
const metrics::MeanMetricWrapper* mean_of_function(const Metric& metric);
// The name of the library's function that is meant; empty for a function of the user's.
std::string library_function_name(const std::function<Tensor(const Tensor&, const Tensor&)>& f);
// The mean of the function that the argument "fn" names. Undefined when it is none of the
// library's.
MetricRef library_function_metric(const Config& config);
// Unnamed metrics of one class get numbers:
// "precision", "precision_1". The classes are those that Keras numbers, and the user's.
void number_metrics(const std::vector<MetricRef>& metrics);

}  // namespace rill::keras
