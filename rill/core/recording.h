#pragma once
#include <functional>
#include <memory>

#include "rill/core/device.h"

namespace rill RILL_API {

// What calls of kernels queued on a device, kept so that it can be queued again in one
// go. The memory that it uses must stay where it is.
class Recording {
 public:
  virtual ~Recording();
  // Queues it again. `refresh` calls those kernels again whose numbers differ from run
  // to run (the step size of an optimizer): they write the numbers down and queue
  // nothing.
  virtual void replay(const std::function<void()>& refresh) = 0;
};

using RecordFn = std::unique_ptr<Recording> (*)(Device& device, const std::function<void()>& work);
// How devices of a type record; a plug-in says so when it is loaded.
void set_recorder(DeviceType type, RecordFn fn);
bool can_record(const Device& device);
// Calls `work`, whose kernels are kept and not run. Null when it cannot be recorded;
// ResourceExhausted when there was no memory for it.
std::unique_ptr<Recording> record(Device& device, const std::function<void()>& work);

}  // namespace RILL_API
