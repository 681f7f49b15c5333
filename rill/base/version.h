#pragma once
#include "rill/base/api.h"

namespace RILL_API rill {

// The version of the library that is linked, as "major.minor.patch".
const char* version();

}  // namespace rill
