#pragma once
#include "rill/core/device.h"

namespace rill RILL_API {

// What a device that counts its memory tells of it: a second base of such devices.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual MemoryStats stats() const = 0;
  virtual void reset_peak() = 0;
  // Bytes that tensors may take; 0: as many as there are. ResourceExhausted beyond.
  virtual void set_limit(std::size_t bytes) = 0;
};

}  // namespace RILL_API
