#pragma once
#include <cstdint>
#include <string_view>

#include "rill/base/api.h"

namespace rill RILL_API {
namespace config::experimental {

struct MemoryInfo {
  std::int64_t current = 0, peak = 0;  // bytes in use by tensors
};
// Of the device with that name: "GPU:0", "CPU:0".
MemoryInfo get_memory_info(std::string_view device);
// The peak begins again from what is in use.
void reset_memory_stats(std::string_view device);
// The most that tensors on a GPU may take, in MB; 0: as much as there is. May be changed at any
// time: what is in use stays.
void set_memory_limit(std::string_view device, std::int64_t megabytes);

}  // namespace config::experimental
}  // namespace RILL_API
