#pragma once
#include <functional>
#include <string_view>

#include "rill/core/tensor.h"

namespace rill RILL_API {
namespace keras {

// A user's function of labels and predictions, as a loss or a metric.
using LossFunction = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
// Lets files name it; `is_it` knows it again.
struct RegisterFunction {
  RegisterFunction(std::string_view registered_name, LossFunction function,
                   std::function<bool(const LossFunction&)> is_it);
};

}  // namespace keras
}  // namespace RILL_API
