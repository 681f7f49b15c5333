#include "rill/base/format.h"
#include "rill/keras/registry/class_registry_impl.h"

namespace rill::keras {

std::string registering_call(std::string_view class_name) {
  const std::size_t arrow = class_name.find('>');
  const std::string_view name = class_name.substr(arrow == class_name.npos ? 0 : arrow + 1);
  return arrow == class_name.npos
             ? format("keras::utils::register_keras_serializable<{}>(\"{}\")", name, name)
             : format("keras::utils::register_keras_serializable<{}>(\"{}\", \"{}\")", name,
                      class_name.substr(0, arrow), name);
}

}  // namespace rill::keras
