#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rill/keras/losses/loss.h"

namespace rill::keras {

// The losses that have names.
struct NamedLoss {
  const char *name, *alias, *class_name;
  BinaryFn function;
  // One without an alias has an empty one, which is not a name.
  bool goes_by(std::string_view given) const {
    return !given.empty() && (given == name || given == alias);
  }
};
std::span<const NamedLoss> named_losses();
// Every name that a loss goes by, each once: functions, those of users among them, then aliases,
// then classes.
std::vector<std::string> loss_names();
std::vector<std::string> loss_class_names();  // those of users too

// What a file calls a loss that is a function: its name, empty for one that has none. Nothing for
// an object, of which a file holds class and arguments.
std::optional<std::string> name_for_files(const LossRef& loss);

// A loss object, of the library or of a user's registered class, from its class and arguments.
LossRef loss_from_config(const std::string& class_name, const Config& config);

// Whether the class is one of the library.
bool is_library_loss(const Loss& loss);

// ---- users' classes that were registered
// The name that a file holds: "package>name", or that of the class when it is not registered.
std::string saved_class_name(const Loss& loss);
// Undefined for a class that is not known. InvalidArgument when the loss comes back as another
// than the one saved.
LossRef registered_loss(const std::string& class_name, const Config& config);
std::vector<std::string> registered_loss_names();

}  // namespace rill::keras
