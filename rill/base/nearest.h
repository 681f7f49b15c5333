#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rill {

// " Did you mean \"x\"?" with the known name nearest to a wrong one by edit
// distance, or " Known: a, b, ..." when none is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);
// "a", "b", "c": for an error that tells what there is.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace rill
