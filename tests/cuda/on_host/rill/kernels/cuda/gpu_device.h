#pragma once
// Stands in for rill/kernels/cuda/gpu_device.h where kernels are tested without a GPU: a
// device of type GPU whose memory is the host's and whose kernels are loops.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "rill/base/check.h"
#include "rill/core/kernel.h"
#include "rill/kernels/cuda/kernel_error.h"

#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __grid_constant__

using cudaStream_t = void*;
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice };
inline void cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t) {
  if (bytes) std::memset(p, value, bytes);
}
inline void cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  if (bytes) std::memcpy(to, from, bytes);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}

namespace rill::cuda {

inline void report(KernelError* t, const Op* op, Finding finding, const char* what, long long index,
                   long long value, long long limit) {
  if (!t->set) *t = {1, finding, op, what, index, value, limit};
}

class GpuDevice : public Device {
 public:
  explicit GpuDevice(int index) : Device(DeviceType::gpu, index) {}
  void* allocate(std::size_t bytes) override {
    if (in_use_ + bytes > limit)
      throw_error(Code::resource_exhausted, "the stand-in is out of memory: limit");
    in_use_ += bytes;
    return std::malloc(bytes ? bytes : 1);
  }
  void deallocate(void* p, std::size_t bytes) noexcept override {
    in_use_ -= bytes;
    std::free(p);
  }
  std::atomic<std::size_t> limit = SIZE_MAX;  // of the bytes in use
  std::size_t in_use() const { return in_use_; }
  void enqueue(std::function<void()> work) override { work(); }
  void synchronize() override {
    if (const Code code = std::exchange(code_, Code::ok); code != Code::ok)
      throw_error(code, std::move(message_));
    if (std::exchange(kernel_error_.set, 0u))
      throw_error(Code::invalid_argument, message_of(kernel_error_));
  }
  void report(Code code, std::string message) override {
    if (code_ == Code::ok) code_ = code, message_ = std::move(message);
  }
  void copy(void* dst, const void* src, std::size_t bytes) override {
    if (bytes) std::memcpy(dst, src, bytes);
  }
  void copy_from_host(void* dst, const void* src, std::size_t bytes) override {
    copy(dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, std::size_t bytes) override {
    copy(dst, src, bytes);
    synchronize();
  }
  cudaStream_t stream() const { return nullptr; }
  KernelError* kernel_error() { return &kernel_error_; }
  int multiprocessors() const { return 4; }

 private:
  std::atomic<std::size_t> in_use_ = 0;
  KernelError kernel_error_;
  Code code_ = Code::ok;
  std::string message_;
};

inline GpuDevice& gpu_of(const KernelContext& c) { return static_cast<GpuDevice&>(c.device()); }
inline void check_launch(KernelContext&) {}

}  // namespace rill::cuda
