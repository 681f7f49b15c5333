#pragma once
#include <functional>
#include <string_view>
#include <typeinfo>

#include "rill/keras/metrics/metric.h"

namespace rill RILL_API {
namespace keras {

// A user's metric, for models that were compiled with it.
struct RegisterMetric {
  RegisterMetric(std::string_view registered_name, const std::type_info& type,
                 std::function<MetricRef(const Config&)> factory);
};

}  // namespace keras
}  // namespace RILL_API
