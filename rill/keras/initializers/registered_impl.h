#pragma once
#include <string_view>

#include "rill/keras/initializers/initializers.h"

namespace rill::keras {

// An initializer of a user's class; none where no class is known by that name.
Initializer registered_initializer(std::string_view class_name, const Config& config);

}  // namespace rill::keras
