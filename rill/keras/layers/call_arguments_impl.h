#pragma once
#include <string_view>
#include <vector>

namespace rill::keras {

// What a call of a layer of this class takes by name.
struct CallArguments {
  std::vector<std::string_view> inputs = {};  // tensors behind the first, in the layer's order
  std::vector<std::string_view> flags = {};   // what CallOptions::arguments holds
};
const CallArguments& call_arguments(std::string_view class_name);

}  // namespace rill::keras
