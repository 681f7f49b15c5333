#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/tensor.h"

// Where programs run: eager mode, devices and their configuration.
namespace rill RILL_API {

bool executing_eagerly();       // true unless a function is being traced
void enable_eager_execution();  // eager is the default; kept for programs of TensorFlow 1

// Ops made while it lives run on the device: auto scope = tf::device("/cpu:0");
class [[nodiscard]] DeviceScope {
 public:
  explicit DeviceScope(std::string_view name);
  DeviceScope(const DeviceScope&) = delete;
  ~DeviceScope();

 private:
  Device* saved_;
};
inline DeviceScope device(std::string_view name) { return DeviceScope(name); }

namespace config {

struct PhysicalDevice {
  std::string name;         // "/physical_device:CPU:0"
  std::string device_type;  // "CPU", "GPU"
  friend bool operator==(const PhysicalDevice&, const PhysicalDevice&) = default;
};
struct LogicalDevice {
  std::string name;  // "/device:CPU:0"
  std::string device_type;
};
std::ostream& operator<<(std::ostream& os, const PhysicalDevice& d);
std::ostream& operator<<(std::ostream& os, const std::vector<PhysicalDevice>& list);
std::ostream& operator<<(std::ostream& os, const LogicalDevice& d);
std::ostream& operator<<(std::ostream& os, const std::vector<LogicalDevice>& list);

// What the machine has; "" means every type.
std::vector<PhysicalDevice> list_physical_devices(std::string_view device_type = "");
// What programs may name in device scopes.
std::vector<LogicalDevice> list_logical_devices(std::string_view device_type = "");

// Both must come before the first op runs; FailedPrecondition afterwards.
void set_visible_devices(const std::vector<PhysicalDevice>& devices,
                         std::string_view device_type = "");
std::vector<PhysicalDevice> get_visible_devices(std::string_view device_type = "");
struct LogicalDeviceConfiguration {
  std::int64_t memory_limit = 0;  // MB; 0: none
};
// Splits a physical device into logical ones, each with a memory limit.
void set_logical_device_configuration(
    const PhysicalDevice& device, const std::vector<LogicalDeviceConfiguration>& logical_devices);

// Whether an op that has no kernel for its device runs on the host instead (the
// default), its inputs copied there; else it is Unimplemented. Updates of a
// variable always run where the variable is.
bool get_soft_device_placement();
void set_soft_device_placement(bool enabled);

namespace experimental {
// Memory grows on need on every device of Rill: enable = false is Unimplemented.
void set_memory_growth(const PhysicalDevice& device, bool enable);
// Whether float32 products and convolutions on a GPU may round their operands to TF32, which is
// several times as fast; off by default (TensorFlow: on). Call it before the first step: what
// is recorded already stays as it is.
void enable_tensor_float_32_execution(bool enabled);
bool tensor_float_32_execution_enabled();
}  // namespace experimental

}  // namespace config

namespace test {
bool is_gpu_available();
}
namespace contrib {
namespace eager {
int num_gpus();
}
}  // namespace contrib

}  // namespace RILL_API
