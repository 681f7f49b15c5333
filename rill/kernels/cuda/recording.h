#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rill/core/recording.h"
#include "rill/kernels/cuda/gpu_device.h"

namespace rill::cuda {

// A CUDA graph of what kernels launched. It is made on a stream of its own: what other threads
// queue on the device meanwhile runs, and is no part of it.
class CudaRecording : public Recording {
 public:
  explicit CudaRecording(GpuDevice& gpu);
  ~CudaRecording() override;
  bool capture(const std::function<void()>& work);  // false: it cannot be
  void replay(const std::function<void()>& refresh) override;

  // The recording that this thread is making or refreshing; null: none.
  static CudaRecording* current();
  bool refreshing() const { return refreshing_; }
  cudaStream_t stream() const { return stream_; }
  // Where a kernel reads numbers that differ from run to run: on the device. They are
  // `value` from the next replay on.
  const void* parameters(const void* value, std::size_t bytes);
  // Memory that is given back while recording: kernels of the graph use it, so it stays the
  // recording's. What was made within it serves again, since kernels run in their order.
  void hold(void* p, std::size_t bytes);
  void* take(std::size_t bytes);  // null: none of that size
  void made(void* p) { made_.insert(p); }

 private:
  static constexpr std::size_t kParameterBytes = 16 << 10;
  struct Block {
    void* p;
    std::size_t bytes;
  };
  GpuDevice& gpu_;
  cudaStream_t stream_ = nullptr;  // while it is made
  cudaGraphExec_t exec_ = nullptr;
  char* on_device_ = nullptr;
  std::vector<char> numbers_;
  std::size_t used_ = 0;
  bool refreshing_ = false, overflow_ = false;
  std::vector<Block> held_;
  std::unordered_set<void*> made_;                             // while recording
  std::unordered_map<std::size_t, std::vector<void*>> again_;  // by the size of the block
};

// Makes recordings of GPUs known.
void install_recorder();

}  // namespace rill::cuda
