#include "rill/eager/context.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <ostream>

#include "rill/base/check.h"
#include "rill/core/cpu_device.h"
#include "rill/core/execute.h"
#include "rill/core/float32_math.h"
#include "rill/core/gpus.h"
#include "rill/eager/started.h"

namespace rill {

std::atomic<bool> runtime_started{false};

bool executing_eagerly() { return call_context().executor == nullptr; }
void enable_eager_execution() {}

DeviceScope::DeviceScope(std::string_view name) : saved_(call_context().device) {
  call_context().device = &find_device(name);
}
DeviceScope::~DeviceScope() { call_context().device = saved_; }

std::atomic<bool> soft_placement{true};

namespace config {

bool get_soft_device_placement() { return soft_placement; }
void set_soft_device_placement(bool enabled) { soft_placement = enabled; }

namespace {

struct Settings {
  std::mutex mutex;
  std::vector<PhysicalDevice> visible = list_physical_devices();
  // Parts of a GPU by its name; GPUs that are not here are one device each.
  std::map<std::string, std::vector<LogicalDeviceConfiguration>> parts;
};
Settings& settings() {
  static auto* s = new Settings;
  return *s;
}

constexpr std::string_view kGpuName = "/physical_device:GPU:";

// What of the GPUs programs will see. REQUIRES: the lock of the settings.
void plan_visible_gpus(const Settings& s) {
  std::vector<LogicalGpu> plan;
  for (const PhysicalDevice& d : s.visible) {
    if (d.device_type != "GPU") continue;
    const int physical = std::stoi(d.name.substr(kGpuName.size()));
    const auto parts = s.parts.find(d.name);
    if (parts == s.parts.end()) {
      plan.push_back({physical, 0});
      continue;
    }
    for (const LogicalDeviceConfiguration& part : parts->second)
      plan.push_back({physical, static_cast<std::size_t>(part.memory_limit) << 20});
  }
  plan_gpus(std::move(plan));
}

bool of_type(const std::string& type, std::string_view wanted) {
  return wanted.empty() || type == wanted;
}

void require_not_started(const char* what) {
  RILL_CHECK(!runtime_started, failed_precondition,
             "[{}] devices cannot be configured after the first op has run; call it at the start "
             "of the program",
             what);
}

template <class List>
std::ostream& print_list(std::ostream& os, const List& list) {
  os << "[";
  for (std::size_t i = 0; i < list.size(); ++i) os << (i ? ", " : "") << list[i];
  return os << "]";
}

}  // namespace

std::ostream& operator<<(std::ostream& os, const PhysicalDevice& d) {
  return os << "PhysicalDevice(name='" << d.name << "', device_type='" << d.device_type << "')";
}
std::ostream& operator<<(std::ostream& os, const std::vector<PhysicalDevice>& list) {
  return print_list(os, list);
}
std::ostream& operator<<(std::ostream& os, const LogicalDevice& d) {
  return os << "LogicalDevice(name='" << d.name << "', device_type='" << d.device_type << "')";
}
std::ostream& operator<<(std::ostream& os, const std::vector<LogicalDevice>& list) {
  return print_list(os, list);
}

// The host is one device however many cores it has; GPUs come with their plug-in.
std::vector<PhysicalDevice> list_physical_devices(std::string_view type) {
  std::vector<PhysicalDevice> out;
  if (of_type("CPU", type)) out.push_back({"/physical_device:CPU:0", "CPU"});
  for (int i = 0, n = of_type("GPU", type) ? count_gpus() : 0; i < n; ++i)
    out.push_back({std::string(kGpuName) + std::to_string(i), "GPU"});
  return out;
}

std::vector<LogicalDevice> list_logical_devices(std::string_view type) {
  runtime_started = true;
  if (of_type("GPU", type)) start_gpus();
  std::vector<LogicalDevice> out;
  for (Device* d : all_devices()) {
    const std::string name = device_type_name(d->type());
    if (d->type() != DeviceType::test && of_type(name, type))
      out.push_back({"/device:" + name + ":" + std::to_string(d->index()), name});
  }
  return out;
}

void set_visible_devices(const std::vector<PhysicalDevice>& devices, std::string_view type) {
  require_not_started("set_visible_devices");
  const auto known = list_physical_devices();
  for (const PhysicalDevice& d : devices) {
    RILL_CHECK(std::find(known.begin(), known.end(), d) != known.end(), invalid_argument,
               "[set_visible_devices] this machine has no {}", d.name);
    RILL_CHECK(of_type(d.device_type, type), invalid_argument,
               "[set_visible_devices] {} is not of type {}", d.name, type);
  }
  Settings& s = settings();
  std::lock_guard lock(s.mutex);
  std::erase_if(s.visible, [&](const PhysicalDevice& d) { return of_type(d.device_type, type); });
  s.visible.insert(s.visible.end(), devices.begin(), devices.end());
  if (of_type("GPU", type)) plan_visible_gpus(s);
}

std::vector<PhysicalDevice> get_visible_devices(std::string_view type) {
  Settings& s = settings();
  std::lock_guard lock(s.mutex);
  std::vector<PhysicalDevice> out;
  for (const PhysicalDevice& d : s.visible)
    if (of_type(d.device_type, type)) out.push_back(d);
  return out;
}

void set_logical_device_configuration(const PhysicalDevice& device,
                                      const std::vector<LogicalDeviceConfiguration>& list) {
  require_not_started("set_logical_device_configuration");
  const auto known = list_physical_devices();
  RILL_CHECK(std::find(known.begin(), known.end(), device) != known.end(), invalid_argument,
             "[set_logical_device_configuration] this machine has no {}", device.name);
  RILL_CHECK(!list.empty(), invalid_argument,
             "[set_logical_device_configuration] at least one logical device is needed");
  for (const LogicalDeviceConfiguration& part : list)
    RILL_CHECK(
        part.memory_limit >= 0, invalid_argument,
        "[set_logical_device_configuration] memory_limit is {} MB; expected 0 (none) or more",
        part.memory_limit);
  if (device.device_type == "GPU") {
    Settings& s = settings();
    std::lock_guard lock(s.mutex);
    s.parts[device.name] = list;
    return plan_visible_gpus(s);
  }
  RILL_CHECK(list[0].memory_limit == 0, invalid_argument,
             "[set_logical_device_configuration] the first CPU holds what everything else needs "
             "and has no limit; give the limit to a further one");
  for (std::size_t i = 1; i < list.size(); ++i)
    add_device(std::make_unique<CpuDevice>(static_cast<int>(i),
                                           static_cast<std::size_t>(list[i].memory_limit) << 20));
}

namespace experimental {
void set_memory_growth(const PhysicalDevice& device, bool enable) {
  RILL_CHECK(enable, unimplemented,
             "[set_memory_growth] memory of {} always grows on need; it cannot be taken whole at "
             "the start",
             device.name);
}
void enable_tensor_float_32_execution(bool enabled) { allow_tensor_float_32(enabled); }
bool tensor_float_32_execution_enabled() { return tensor_float_32_allowed(); }
}  // namespace experimental
}  // namespace config

namespace test {
bool is_gpu_available() { return contrib::eager::num_gpus() > 0; }
}  // namespace test
namespace contrib::eager {
int num_gpus() { return static_cast<int>(config::list_physical_devices("GPU").size()); }
}  // namespace contrib::eager

}  // namespace rill
