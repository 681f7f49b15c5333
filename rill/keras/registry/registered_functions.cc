#include "rill/keras/registry/registered_functions_impl.h"

#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

namespace {

struct Known {
  LossFunction function;
  std::function<bool(const LossFunction&)> is_it;
};
ClassRegistry<Known>& known() {
  static auto* k = new ClassRegistry<Known>;
  return *k;
}

}  // namespace

RegisterFunction::RegisterFunction(std::string_view name, LossFunction f,
                                   std::function<bool(const LossFunction&)> is_it) {
  known().add(name, Known{std::move(f), std::move(is_it)});
}

std::string registered_function_name(const LossFunction& f) {
  for (std::string& name : known().names())
    if (known().find(name).is_it(f)) return std::move(name);
  return {};
}
LossFunction registered_function(std::string_view name) {
  return name.empty() ? LossFunction() : known().find(name).function;
}
std::vector<std::string> registered_function_names() { return known().names(); }

}  // namespace rill::keras
