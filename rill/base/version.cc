#include "rill/base/version.h"

namespace rill {

const char* version() { return RILL_VERSION; }

}  // namespace rill
