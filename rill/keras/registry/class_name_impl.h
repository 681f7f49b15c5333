#pragma once
#include <string>
#include <string_view>
#include <typeinfo>

namespace rill::keras {

// The last part of a class's name: "Linear" of net::Linear<3>.
std::string class_name_of(const std::type_info& type);
// "MyLayer" -> "my_layer", "Conv2D" -> "conv2d".
std::string snake_case(std::string_view class_name);

}  // namespace rill::keras
