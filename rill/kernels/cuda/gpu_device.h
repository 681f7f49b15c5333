#pragma once
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>

#include "rill/core/device_memory.h"
#include "rill/core/kernel.h"
#include "rill/kernels/cuda/allocator.h"
#include "rill/kernels/cuda/kernel_error.h"
#include "rill/kernels/cuda/staging.h"
#include "rill/kernels/cuda/tracer.h"

struct cublasContext;

namespace rill::cuda {

class MatmulPlans;

// A GPU with one stream: kernels, copies and the return of memory take effect
// in the order in which the host asked for them.
class GpuDevice : public Device, public DeviceMemory {
 public:
  // `ordinal`: CUDA's number of the GPU, of which this may be a part with its own memory.
  GpuDevice(int index, int ordinal, std::size_t memory_limit);
  ~GpuDevice() override;

  void* allocate(std::size_t bytes) override;
  void deallocate(void* p, std::size_t bytes) noexcept override;
  void enqueue(std::function<void()> work) override;
  void synchronize() override;
  std::shared_ptr<DeviceEvent> record_event() override;
  void wait_for(const std::shared_ptr<DeviceEvent>& event) override;
  void report(Code code, std::string message) override;
  void copy(void* dst, const void* src, std::size_t bytes) override;
  void copy_from_host(void* dst, const void* src, std::size_t bytes) override;
  void copy_to_host(void* dst, const void* src, std::size_t bytes) override;

  MemoryStats stats() const override { return allocator_.stats(); }
  void reset_peak() override { allocator_.reset_peak(); }
  void set_limit(std::size_t bytes) override { allocator_.set_limit(bytes); }

  int ordinal() const { return ordinal_; }
  // Where this thread queues: the device's stream, or that of the recording which it makes.
  cudaStream_t stream() const;
  KernelError* kernel_error() const { return kernel_error_on_device_; }
  int multiprocessors() const { return multiprocessors_; }
  // CUDA calls of this thread are about this device.
  void activate() const;

  // cuBLAS on this stream, for one caller at a time.
  class Blas {
   public:
    explicit Blas(GpuDevice& device);
    cublasContext* handle() const;  // null: cuBLAS could not start
    MatmulPlans& plans() const { return *device_.plans_; }
    void* workspace() const { return device_.blas_workspace_; }
    static constexpr std::size_t kWorkspace = std::size_t{32} << 20;

   private:
    GpuDevice& device_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  void throw_first_error(cudaError_t error);
  void refuse_while_recording(const char* what) const;

  int ordinal_;
  cudaStream_t stream_ = nullptr;
  Allocator allocator_;
  Staging staging_;
  KernelError *kernel_error_ = nullptr, *kernel_error_on_device_ = nullptr;
  int multiprocessors_ = 1;
  std::mutex mutex_;  // guards code_ and message_
  Code code_ = Code::ok;
  std::string message_;
  std::mutex blas_mutex_;
  cublasContext* blas_ = nullptr;  // guarded by blas_mutex_, as are the next three
  cudaStream_t blas_stream_ = nullptr;
  void* blas_workspace_ = nullptr;
  std::unique_ptr<MatmulPlans> plans_;
};

// The GPU of a call, made current.
inline GpuDevice& gpu_of(const KernelContext& c) {
  auto& device = static_cast<GpuDevice&>(c.device());
  device.activate();
  if (tracing.load(std::memory_order_relaxed)) [[unlikely]]
    trace_op(&c.op());
  return device;
}

// This thread refreshes the numbers of a recording: kernels queue nothing.
bool is_refreshing();
// Fails the call when its launch was refused.
void check_launch(KernelContext& c);

}  // namespace rill::cuda
