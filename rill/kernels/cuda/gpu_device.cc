#include "rill/kernels/cuda/gpu_device.h"

#include <cublas_v2.h>

#include <new>

#include "rill/base/check.h"
#include "rill/kernels/cuda/matmul_plans.h"
#include "rill/kernels/cuda/recording.h"

namespace rill::cuda {
namespace {

// A failure of CUDA itself. Most cannot be repaired in this process: CUDA answers
// every later call with the same error.
[[noreturn]] void throw_cuda_error(const Device& device, cudaError_t error, const char* what) {
  throw_error(error == cudaErrorMemoryAllocation ? Code::resource_exhausted : Code::internal,
              format("device {}: {} failed: {} ({})", device.name(), what,
                     cudaGetErrorString(error), cudaGetErrorName(error)));
}

class CudaEvent final : public DeviceEvent {
 public:
  explicit CudaEvent(const GpuDevice& gpu) : gpu_(gpu) {
    gpu.activate();
    check(cudaEventCreate(&event_), "making an event");
    if (const cudaError_t e = cudaEventRecord(event_, gpu.stream()); e != cudaSuccess) {
      cudaEventDestroy(event_);
      throw_cuda_error(gpu, e, "recording an event");
    }
  }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  cudaEvent_t handle() const { return event_; }

  bool reached() const override {
    const cudaError_t e = cudaEventQuery(event_);
    if (e != cudaErrorNotReady) check(e, "asking for an event");
    return e == cudaSuccess;
  }
  void wait() const override { check(cudaEventSynchronize(event_), "waiting for an event"); }
  double milliseconds_since(const DeviceEvent& start) const override {
    const auto* from = dynamic_cast<const CudaEvent*>(&start);
    RILL_CHECK(from && &from->gpu_ == &gpu_, invalid_argument,
               "[device event] the start is not an event of {}; record both on one device",
               gpu_.name());
    from->wait();
    wait();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, from->event_, event_), "comparing events");
    return ms;
  }

 private:
  void check(cudaError_t e, const char* what) const {
    if (e != cudaSuccess) throw_cuda_error(gpu_, e, what);
  }
  const GpuDevice& gpu_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace

GpuDevice::~GpuDevice() = default;

GpuDevice::GpuDevice(int index, int ordinal, std::size_t memory_limit)
    : Device(DeviceType::gpu, index),
      ordinal_(ordinal),
      allocator_(name()),
      plans_(std::make_unique<MatmulPlans>(ordinal)) {
  allocator_.set_limit(memory_limit);
  const auto check = [this](cudaError_t e, const char* what) {
    if (e != cudaSuccess) throw_cuda_error(*this, e, what);
  };
  check(cudaSetDevice(ordinal), "choosing it");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal),
        "asking for its multiprocessors");
  void* p = nullptr;
  check(cudaHostAlloc(&p, sizeof(KernelError), cudaHostAllocMapped), "making pinned memory");
  kernel_error_ = new (p) KernelError;
  check(cudaHostGetDevicePointer(&p, kernel_error_, 0), "mapping pinned memory");
  kernel_error_on_device_ = static_cast<KernelError*>(p);
}

cudaStream_t GpuDevice::stream() const {
  const CudaRecording* r = CudaRecording::current();
  return r && !r->refreshing() ? r->stream() : stream_;
}

void GpuDevice::activate() const {
  static thread_local int current = -1;
  if (current == ordinal_) return;
  if (const cudaError_t e = cudaSetDevice(ordinal_); e == cudaSuccess) current = ordinal_;
}

void* GpuDevice::allocate(std::size_t bytes) {
  activate();
  CudaRecording* r = CudaRecording::current();
  if (!r || r->refreshing()) return allocator_.allocate(bytes);
  void* p = r->take(bytes);
  if (!p) r->made(p = allocator_.allocate(bytes));
  return p;
}
void GpuDevice::deallocate(void* p, std::size_t bytes) noexcept {
  // What a recording used stays its own.
  if (CudaRecording* r = CudaRecording::current(); r && !r->refreshing()) return r->hold(p, bytes);
  allocator_.deallocate(p, bytes);
}

// Work for a queue of the host: it may not overtake the stream.
void GpuDevice::enqueue(std::function<void()> work) {
  synchronize();
  work();
}

void GpuDevice::report(Code code, std::string message) {
  std::lock_guard lock(mutex_);
  if (code_ == Code::ok) code_ = code, message_ = std::move(message);
}

void GpuDevice::throw_first_error(cudaError_t error) {
  std::unique_lock lock(mutex_);
  const Code code = std::exchange(code_, Code::ok);
  std::string message = std::move(message_);
  message_.clear();
  if (code != Code::ok) throw_error(code, std::move(message));
  if (error != cudaSuccess) throw_cuda_error(*this, error, "running what was queued");
  if (kernel_error_->set) {
    message = message_of(*kernel_error_);
    kernel_error_->set = 0;
    throw_error(Code::invalid_argument, std::move(message));
  }
}

void GpuDevice::synchronize() {
  refuse_while_recording("waiting for what was queued");
  activate();
  throw_first_error(cudaStreamSynchronize(stream_));
}

// A step that marks or awaits a point in time is not recorded.
std::shared_ptr<DeviceEvent> GpuDevice::record_event() {
  refuse_while_recording("an event");
  return std::make_shared<CudaEvent>(*this);
}
void GpuDevice::wait_for(const std::shared_ptr<DeviceEvent>& event) {
  refuse_while_recording("waiting for an event");
  const auto* other = dynamic_cast<const CudaEvent*>(event.get());
  if (!other) return event->wait();
  activate();
  if (const auto e = cudaStreamWaitEvent(stream_, other->handle(), 0); e != cudaSuccess)
    throw_cuda_error(*this, e, "waiting for an event");
}

void GpuDevice::copy(void* dst, const void* src, std::size_t bytes) {
  activate();
  if (bytes == 0) return;
  if (const auto e = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream());
      e != cudaSuccess)
    throw_cuda_error(*this, e, "copying");
}

// What the host writes or reads differs from run to run: a step with such a copy is not
// recorded, and its kernels run one by one.
void GpuDevice::refuse_while_recording(const char* what) const {
  if (const CudaRecording* r = CudaRecording::current(); r && !r->refreshing())
    throw_error(Code::failed_precondition,
                format("device {}: {} cannot be recorded", name(), what));
}

void GpuDevice::copy_from_host(void* dst, const void* src, std::size_t bytes) {
  refuse_while_recording("a copy from the host");
  activate();
  if (tracing) trace_op(nullptr);
  if (const auto e = staging_.upload(dst, src, bytes, stream_); e != cudaSuccess)
    throw_cuda_error(*this, e, "copying from the host");
}

void GpuDevice::copy_to_host(void* dst, const void* src, std::size_t bytes) {
  refuse_while_recording("a copy to the host");
  activate();
  if (tracing) trace_op(nullptr);
  throw_first_error(staging_.download(dst, src, bytes, stream_));
}

// Memory of our own for cuBLAS: it then makes none during a call, and its results do not depend on
// what else runs. It is told anew with each stream.
GpuDevice::Blas::Blas(GpuDevice& device) : device_(device), lock_(device.blas_mutex_) {
  const cudaStream_t stream = device.stream();
  if (device.blas_ && device.blas_stream_ == stream) return;
  if (!device.blas_) {
    cublasHandle_t handle = nullptr;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
    if (cudaMalloc(&device.blas_workspace_, kWorkspace) != cudaSuccess ||
        cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH) != CUBLAS_STATUS_SUCCESS) {
      cudaGetLastError();
      cublasDestroy(handle);
      return;
    }
    device.blas_ = handle;
  }
  device.blas_stream_ = nullptr;
  if (cublasSetStream(device.blas_, stream) == CUBLAS_STATUS_SUCCESS &&
      cublasSetWorkspace(device.blas_, device.blas_workspace_, kWorkspace) == CUBLAS_STATUS_SUCCESS)
    device.blas_stream_ = stream;
}
cublasContext* GpuDevice::Blas::handle() const {
  return device_.blas_stream_ ? device_.blas_ : nullptr;
}

void check_launch(KernelContext& c) {
  if (const cudaError_t e = cudaGetLastError(); e != cudaSuccess) [[unlikely]]
    c.fail(Code::internal, format("[{}] device {} refused a kernel: {} ({})", c.tag(),
                                  c.device().name(), cudaGetErrorString(e), cudaGetErrorName(e)));
}

}  // namespace rill::cuda
