#include "rill/kernels/cuda/recording.h"

#include <cstring>
#include <exception>

#include "rill/base/check.h"

namespace rill::cuda {
namespace {

thread_local CudaRecording* recording = nullptr;

std::unique_ptr<Recording> record_gpu(Device& device, const std::function<void()>& work) {
  auto r = std::make_unique<CudaRecording>(static_cast<GpuDevice&>(device));
  if (!r->capture(work)) return nullptr;
  return r;
}

}  // namespace

void install_recorder() { set_recorder(DeviceType::gpu, record_gpu); }

CudaRecording* CudaRecording::current() { return recording; }
bool is_refreshing() { return recording && recording->refreshing(); }

CudaRecording::CudaRecording(GpuDevice& gpu)
    : gpu_(gpu),
      on_device_(static_cast<char*>(gpu.allocate(kParameterBytes))),
      numbers_(kParameterBytes) {}

CudaRecording::~CudaRecording() {
  gpu_.activate();
  if (exec_) {
    cudaStreamSynchronize(gpu_.stream());  // it may be running
    cudaGraphExecDestroy(exec_);
  }
  gpu_.deallocate(on_device_, kParameterBytes);
  for (const Block& b : held_) gpu_.deallocate(b.p, b.bytes);
  for (const auto& [size, blocks] : again_)
    for (void* p : blocks) gpu_.deallocate(p, size);
}

void CudaRecording::hold(void* p, std::size_t bytes) {
  if (made_.contains(p))
    again_[Allocator::size_of_block(bytes)].push_back(p);
  else
    held_.push_back({p, bytes});
}
void* CudaRecording::take(std::size_t bytes) {
  const auto found = again_.find(Allocator::size_of_block(bytes));
  if (found == again_.end() || found->second.empty()) return nullptr;
  void* p = found->second.back();
  found->second.pop_back();
  return p;
}

bool CudaRecording::capture(const std::function<void()>& work) {
  gpu_.activate();
  if (cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess ||
      cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    if (stream_) cudaStreamDestroy(stream_);
    cudaGetLastError();
    return false;
  }
  recording = this;
  used_ = 0;
  bool done = true;
  std::exception_ptr error;  // the capture ends first
  try {
    work();
  } catch (const errors::ResourceExhausted&) {
    error = std::current_exception();
  } catch (const errors::Error&) {
    done = false;  // said again when the steps run one by one
  } catch (...) {
    error = std::current_exception();
  }
  done = done && !error;
  recording = nullptr;
  cudaGraph_t graph = nullptr;
  done = cudaStreamEndCapture(stream_, &graph) == cudaSuccess && done && !overflow_;
  done = done && graph && cudaGraphInstantiate(&exec_, graph, 0) == cudaSuccess;
  if (graph) cudaGraphDestroy(graph);
  cudaStreamDestroy(stream_);
  if (!done) cudaGetLastError();
  if (error) std::rethrow_exception(error);
  return done;
}

void CudaRecording::replay(const std::function<void()>& refresh) {
  gpu_.activate();
  recording = this;
  refreshing_ = true;
  used_ = 0;
  try {
    refresh();
  } catch (...) {
    recording = nullptr;
    refreshing_ = false;
    throw;
  }
  recording = nullptr;
  refreshing_ = false;
  if (used_ > 0) gpu_.copy_from_host(on_device_, numbers_.data(), used_);
  if (tracing) trace_op(nullptr);
  const cudaError_t e = cudaGraphLaunch(exec_, gpu_.stream());
  RILL_CHECK(e == cudaSuccess, internal, "device {} refused a recorded step: {} ({})", gpu_.name(),
             cudaGetErrorString(e), cudaGetErrorName(e));
}

const void* CudaRecording::parameters(const void* value, std::size_t bytes) {
  const std::size_t at = (used_ + 15) / 16 * 16;
  if (at + bytes > kParameterBytes) {
    overflow_ = true;
    return on_device_;
  }
  std::memcpy(numbers_.data() + at, value, bytes);
  used_ = at + bytes;
  return on_device_ + at;
}

}  // namespace rill::cuda
