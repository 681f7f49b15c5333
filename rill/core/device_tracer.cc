#include "rill/core/device_tracer.h"

#include <atomic>

namespace rill {

static std::atomic<DeviceTracer*> tracer_storage{nullptr};

void set_device_tracer(DeviceTracer* tracer) { tracer_storage = tracer; }
DeviceTracer* device_tracer() { return tracer_storage; }

}  // namespace rill
