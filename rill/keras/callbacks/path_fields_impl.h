#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rill::keras::callbacks {

// A path with numbers in it: "weights.{epoch:02d}-{val_loss:.2f}", filled in as Python's
// str.format does it. InvalidArgument, which names `who`, the path and the field, for what Python
// refuses and for an unknown name.
using PathFields = std::vector<std::pair<std::string, std::variant<std::int64_t, double>>>;
std::string filled_in(std::string_view who, std::string_view path, const PathFields& fields);

}  // namespace rill::keras::callbacks
