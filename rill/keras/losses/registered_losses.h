#pragma once
#include <functional>
#include <string_view>
#include <typeinfo>

#include "rill/keras/losses/loss.h"

namespace rill RILL_API {
namespace keras {

// A user's loss, for models that were compiled with it.
struct RegisterLoss {
  RegisterLoss(std::string_view registered_name, const std::type_info& type,
               std::function<LossRef(const Config&)> factory);
};

}  // namespace keras
}  // namespace RILL_API
