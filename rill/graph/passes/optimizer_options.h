#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/api.h"

namespace rill RILL_API {

// The passes that make a traced function faster before it is planned. Functions are
// optimised at their first run; a switch changes those that have not run yet.
// function.explain() says what each pass did.
namespace graph_passes {

std::vector<std::string> list();                     // in the order in which they run
void enable(std::string_view name, bool on = true);  // NotFound for another name
void disable(std::string_view name);
void enable_all(bool on);
bool enabled(std::string_view name);

}  // namespace graph_passes

}  // namespace RILL_API
