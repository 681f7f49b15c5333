#pragma once
#include "rill/base/api.h"

namespace rill RILL_API {

// The version of the library that is linked, as "major.minor.patch".
const char* version();

}  // namespace RILL_API
