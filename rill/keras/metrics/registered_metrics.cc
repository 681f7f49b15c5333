// Metrics of users' classes.
#include "rill/keras/metrics/registered_metrics.h"
#include "rill/base/check.h"
#include "rill/keras/metrics/metric_impl.h"
#include "rill/keras/metrics/named_metrics_impl.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

namespace {

ClassRegistry<std::function<MetricRef(const Config&)>>& known() {
  static auto* k = new ClassRegistry<std::function<MetricRef(const Config&)>>;
  return *k;
}

}  // namespace

RegisterMetric::RegisterMetric(std::string_view name, const std::type_info& type,
                               std::function<MetricRef(const Config&)> f) {
  known().add(name, type, std::move(f));
}

std::string saved_class_name(const Metric& metric) {
  return known().name_of(typeid(metric), metric.class_name());
}

std::vector<std::string> registered_metric_names() { return known().names(); }

MetricRef registered_metric(const std::string& class_name, const Config& given) {
  const auto make = known().find(class_name);
  if (!make) return {};
  const Config config = given.is_dict() ? given : Config::dict();
  MetricRef metric = make(config);
  RILL_CHECK(metric.defined(), invalid_argument,
             "[metric] from_config of the class {} gave no metric; expected an object", class_name);
  // Logs and history show it under the name that it had, whether the class takes one or not.
  if (const std::string name = config.get("name", ""); !name.empty()) {
    const Ref<TrackableNode> node = metric->trackable();
    static_cast<MetricImpl&>(*node).name = name;
  }
  return metric;
}

}  // namespace rill::keras
