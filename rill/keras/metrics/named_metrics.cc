#include "rill/keras/metrics/named_metrics_impl.h"

#include "rill/keras/metrics/metrics.h"

namespace rill::keras {

namespace {
template <class M>
MetricRef make() {
  return M();
}
}  // namespace

std::span<const NamedMetric> named_metrics() {
  using namespace metrics;
  static const NamedMetric all[] = {
      {"binary_accuracy", "BinaryAccuracy", binary_accuracy, make<BinaryAccuracy>},
      {"categorical_accuracy", "CategoricalAccuracy", categorical_accuracy,
       make<CategoricalAccuracy>},
      {"sparse_categorical_accuracy", "SparseCategoricalAccuracy", sparse_categorical_accuracy,
       make<SparseCategoricalAccuracy>},
  };
  return all;
}

}  // namespace rill::keras
