#include "rill/eager/memory_info.h"

#include "rill/base/check.h"
#include "rill/core/device_memory.h"

namespace rill::config::experimental {
namespace {

// Null: the host, whose allocator counts for all of its devices.
DeviceMemory* memory_of(std::string_view device, const char* tag) {
  Device& d = find_device(device);
  auto* memory = dynamic_cast<DeviceMemory*>(&d);
  RILL_CHECK(memory || d.is_host(), unimplemented, "[{}] {} does not count its memory", tag,
             d.name());
  return memory;
}

}  // namespace

MemoryInfo get_memory_info(std::string_view device) {
  const DeviceMemory* memory = memory_of(device, "get_memory_info");
  const MemoryStats s = memory ? memory->stats() : memory_stats();
  return {static_cast<std::int64_t>(s.bytes_in_use), static_cast<std::int64_t>(s.peak_bytes)};
}

void reset_memory_stats(std::string_view device) {
  if (DeviceMemory* memory = memory_of(device, "reset_memory_stats"))
    memory->reset_peak();
  else
    reset_peak_memory();
}

void set_memory_limit(std::string_view device, std::int64_t megabytes) {
  RILL_CHECK(megabytes >= 0, invalid_argument, "[set_memory_limit] got {} MB; expected 0 or more",
             megabytes);
  DeviceMemory* memory = memory_of(device, "set_memory_limit");
  RILL_CHECK(memory, unimplemented,
             "[set_memory_limit] the host has no limit; give one to a further CPU by "
             "set_logical_device_configuration");
  memory->set_limit(static_cast<std::size_t>(megabytes) << 20);
}

}  // namespace rill::config::experimental
