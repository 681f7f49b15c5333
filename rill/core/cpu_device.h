#pragma once
#include <atomic>
#include <cstring>

#include "rill/core/device.h"

namespace rill {

// The host, or a logical part of it with a memory limit of its own (0: none).
class CpuDevice : public Device {
 public:
  explicit CpuDevice(int index, std::size_t memory_limit = 0)
      : Device(DeviceType::cpu, index), limit_(memory_limit) {}

  void* allocate(std::size_t bytes) override;
  void deallocate(void* p, std::size_t bytes) noexcept override;
  void enqueue(std::function<void()> work) override { work(); }
  void synchronize() override {}
  void report(Code code, std::string message) override { throw_error(code, std::move(message)); }
  void copy(void* dst, const void* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void copy_from_host(void* dst, const void* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }

 private:
  std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace rill
