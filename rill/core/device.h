#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/error.h"

namespace rill RILL_API {

enum class DeviceType : unsigned char { cpu, gpu, test };
inline constexpr int kDeviceTypes = 3;
const char* device_type_name(DeviceType type);  // "CPU", "GPU", "TEST"

// A point in the queue of a device: reached when all that was queued before it is done.
// Any thread may ask. synchronize() reports failures of queued work; this does not.
class DeviceEvent {
 public:
  virtual ~DeviceEvent();
  virtual bool reached() const = 0;
  virtual void wait() const = 0;  // the calling thread waits until it is reached
  // From `start` to this one, as the device measures it; waits for both. InvalidArgument when
  // they are of devices that have no common clock.
  virtual double milliseconds_since(const DeviceEvent& start) const = 0;
};

// Where buffers live and kernels run. Every device is asynchronous to its
// callers: work is queued and runs in order; what the host wants to see it
// waits for. The CPU is the special case whose queue is always empty, because
// a kernel runs inside the call. Devices live as long as the process.
class Device {
 public:
  Device(DeviceType type, int index);
  virtual ~Device();
  Device(const Device&) = delete;

  DeviceType type() const { return type_; }
  int index() const { return index_; }
  // "/job:localhost/replica:0/task:0/device:CPU:0"
  const std::string& name() const { return name_; }
  // The host may touch the memory and kernels run inside the call.
  bool is_host() const { return type_ == DeviceType::cpu; }
  // Whose kernels run here: the TEST device has none and runs the CPU's.
  DeviceType kernels() const { return type_ == DeviceType::test ? DeviceType::cpu : type_; }
  // Kernels are called later, by the queue. Elsewhere the thread that runs an op
  // calls its kernel: the CPU's does the work, a GPU's queues launches.
  bool defers_kernels() const { return type_ == DeviceType::test; }

  // ResourceExhausted when the memory is not to be had.
  virtual void* allocate(std::size_t bytes) = 0;
  // In stream order: work queued before may still use the memory.
  virtual void deallocate(void* p, std::size_t bytes) noexcept = 0;

  // Runs `work` after all that was queued before it. The CPU runs it at once.
  virtual void enqueue(std::function<void()> work) = 0;
  // Waits until the queue is empty, then throws the first error that queued
  // work reported since the last call, if any.
  virtual void synchronize() = 0;
  // Marks the end of what is queued now.
  virtual std::shared_ptr<DeviceEvent> record_event();
  // What is queued from now on waits for an event, of this device or another. The caller
  // waits too where the two devices cannot tell each other.
  virtual void wait_for(const std::shared_ptr<DeviceEvent>& event);
  virtual void report(Code code, std::string message) = 0;

  // The address by which a kernel of this device reaches memory of it.
  virtual void* kernel_address(void* p) const { return p; }
  // Between two places of this device, in stream order.
  virtual void copy(void* dst, const void* src, std::size_t bytes) = 0;
  // In stream order; returns when `src` may be changed.
  virtual void copy_from_host(void* dst, const void* src, std::size_t bytes) = 0;
  // Waits until the copy is done.
  virtual void copy_to_host(void* dst, const void* src, std::size_t bytes) = 0;

 private:
  DeviceType type_;
  int index_;
  std::string name_;
};

// The first CPU: where a tensor lives by default.
Device& cpu_device();

// The device that a name means: "/cpu:0", "CPU:0", "cpu", "/device:TEST:0",
// "/job:localhost/replica:0/task:0/device:CPU:1". InvalidArgument for a name
// that cannot be read or a missing device, with the list of those
// that are.
Device& find_device(std::string_view name);
std::vector<Device*> all_devices();

// Makes a device known; used by logical devices, the test device and plug-ins.
Device& add_device(std::unique_ptr<Device> device);

struct MemoryStats {
  std::size_t bytes_in_use = 0, peak_bytes = 0, cached_bytes = 0, allocations = 0;
};
// Of the host allocator.
MemoryStats memory_stats();
void reset_peak_memory();
// Gives cached memory back to the system.
void release_cached_memory();

}  // namespace RILL_API
