#include "rill/core/recording.h"

#include <atomic>

namespace rill {
namespace {

std::atomic<RecordFn> recorders[kDeviceTypes];

}  // namespace

Recording::~Recording() = default;

void set_recorder(DeviceType type, RecordFn fn) { recorders[static_cast<int>(type)] = fn; }
bool can_record(const Device& device) { return recorders[static_cast<int>(device.type())]; }
std::unique_ptr<Recording> record(Device& device, const std::function<void()>& work) {
  const RecordFn fn = recorders[static_cast<int>(device.type())];
  return fn ? fn(device, work) : nullptr;
}

}  // namespace rill
