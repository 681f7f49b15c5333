#pragma once
#include <atomic>
#include <cstring>
#include <utility>

#include "rill/core/device.h"

namespace rill {

// Memory of the host that is handed out again: what tensors and kernels' scratch space stand on.
// ResourceExhausted where there is none.
void* allocate_on_host(std::size_t bytes);
void deallocate_on_host(void* p, std::size_t bytes) noexcept;  // `bytes` as it was asked for

// The same for a scope; aligned to 64 bytes.
class HostMemory {
 public:
  explicit HostMemory(std::size_t bytes) : bytes_(bytes), data_(allocate_on_host(bytes)) {}
  HostMemory(HostMemory&& other) noexcept
      : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  ~HostMemory() {
    if (data_) deallocate_on_host(data_, bytes_);
  }
  HostMemory& operator=(HostMemory&&) = delete;
  void* get() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

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
