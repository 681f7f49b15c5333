#pragma once
#include <span>

#include "rill/keras/losses/loss.h"

namespace rill::keras {

// The losses that have names.
struct NamedLoss {
  const char *name, *alias, *class_name;
  BinaryFn function;
};
std::span<const NamedLoss> named_losses();

// A loss object of the library from its class and arguments.
LossRef loss_from_config(const std::string& class_name, const Config& config);

}  // namespace rill::keras
