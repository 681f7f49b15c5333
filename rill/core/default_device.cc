#include "rill/core/default_device.h"

#include <cstdlib>

#include "rill/core/gpus.h"

namespace rill {
namespace {

Device* find_default() {
  if (const char* name = std::getenv("RILL_DEFAULT_DEVICE"); name && *name) {
    Device& named = find_device(name);
    return named.is_host() ? nullptr : &named;
  }
  start_gpus();
  for (Device* d : all_devices())
    if (d->type() == DeviceType::gpu && d->index() == 0) return d;
  return nullptr;
}

}  // namespace

Device* default_device() {
  static Device* const device = find_default();
  return device;
}

}  // namespace rill
