#include "rill/core/device.h"

#include <cctype>
#include <mutex>

#include "rill/base/check.h"
#include "rill/core/cpu_device.h"
#include "rill/core/gpus.h"
#include "rill/core/test_device.h"

namespace rill {
namespace {

struct Devices {
  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> list;
  Devices() { list.push_back(std::make_unique<CpuDevice>(0)); }
};
Devices& devices() {
  static auto* d = new Devices;
  return *d;
}

// Takes "key:" off the front of `s`, ignoring case.
bool take(std::string_view& s, std::string_view word) {
  if (s.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(s[i])) != word[i]) return false;
  s.remove_prefix(word.size());
  return true;
}

}  // namespace

const char* device_type_name(DeviceType type) {
  switch (type) {
    case DeviceType::cpu:
      return "CPU";
    case DeviceType::gpu:
      return "GPU";
    case DeviceType::test:
      return "TEST";
  }
  return "?";
}

Device::Device(DeviceType type, int index)
    : type_(type),
      index_(index),
      name_(std::string("/job:localhost/replica:0/task:0/device:") + device_type_name(type) + ":" +
            std::to_string(index)) {}
Device::~Device() = default;

Device& cpu_device() {
  static Device& cpu = *devices().list.front();
  return cpu;
}

Device& add_device(std::unique_ptr<Device> device) {
  std::lock_guard lock(devices().mutex);
  devices().list.push_back(std::move(device));
  return *devices().list.back();
}

std::vector<Device*> all_devices() {
  std::lock_guard lock(devices().mutex);
  std::vector<Device*> out;
  for (auto& d : devices().list) out.push_back(d.get());
  return out;
}

Device& find_device(std::string_view name) {
  std::string_view s = name;
  for (std::string_view prefix : {"/job:localhost", "/replica:0", "/task:0"}) take(s, prefix);
  take(s, "/");
  take(s, "device:");
  int index = 0;
  const Device* found = nullptr;
  bool readable = false;
  std::string why;  // there are no devices of this type
  for (DeviceType type : {DeviceType::cpu, DeviceType::gpu, DeviceType::test}) {
    std::string word = device_type_name(type);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string_view rest = s;
    if (!take(rest, word)) continue;
    readable = rest.empty() || (rest.size() > 1 && rest.size() < 6 && rest[0] == ':');
    for (char c : rest.substr(rest.empty() ? 0 : 1)) {
      readable = readable && std::isdigit(static_cast<unsigned char>(c));
      index = index * 10 + (c - '0');
    }
    if (!readable) break;
    if (type == DeviceType::test) test_device();
    if (type == DeviceType::gpu) why = start_gpus();
    for (Device* d : all_devices())
      if (d->type() == type && d->index() == index) found = d;
  }
  if (!found) {
    std::string known;
    for (Device* d : all_devices()) known += (known.empty() ? "" : ", ") + d->name();
    RILL_FAIL(invalid_argument, "[device] {} \"{}\"{}{}. Devices: {}",
              readable ? "there is no device" : "cannot read the device name", name,
              why.empty() ? "" : ": ", why, known);
  }
  return const_cast<Device&>(*found);
}

}  // namespace rill
