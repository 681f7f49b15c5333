// Read once and kept by the compiler (RillQuickBuild.cmake). Only what most of the
// library includes and what seldom changes: a change here compiles everything again.
// No file may rely on this one; each includes what it uses.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "rill/base/check.h"
#include "rill/base/error.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"
