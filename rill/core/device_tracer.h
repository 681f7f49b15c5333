#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "rill/base/api.h"

namespace rill RILL_API {

// What a device did by itself: a kernel, a copy or a fill, in its own time.
struct DeviceActivity {
  enum class Kind { kernel, copy, fill };
  Kind kind = Kind::kernel;
  std::string name;    // of the kernel; "host to device"
  std::string op;      // that queued it; empty: a copy of the user's, or a recorded step
  std::string device;  // "GPU:0"
  std::int64_t start_ns = 0, end_ns = 0;  // by observer_clock_ns()
  std::int64_t bytes = 0;                 // that were copied or filled
};

// Watches devices of a kind; a plug-in has one.
class DeviceTracer {
 public:
  virtual ~DeviceTracer() = default;
  // Why nothing is watched; empty: it is, until stop().
  virtual std::string start(std::int64_t most) = 0;
  // Waits for what was queued. Returns it in the order of its start, at most `most` of them, and
  // counts the others.
  virtual std::vector<DeviceActivity> stop(std::int64_t& dropped) = 0;
};

// REQUIRES: it lives as long as the process.
void set_device_tracer(DeviceTracer* tracer);
DeviceTracer* device_tracer();  // null: no plug-in has one

}  // namespace RILL_API
