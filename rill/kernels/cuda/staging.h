#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

namespace rill::cuda {

// Copies between ordinary host memory and a GPU by way of pinned memory, which
// the GPU reaches by itself.
class Staging {
 public:
  // Queues the copy; `src` may be changed when it returns.
  cudaError_t upload(void* dst, const void* src, std::size_t bytes, cudaStream_t stream);
  // Waits for all that was queued before, and for the copy.
  cudaError_t download(void* dst, const void* src, std::size_t bytes, cudaStream_t stream);

 private:
  // Uploads go round through slots. A slot is left when it is full, and entered
  // again when the copies out of it are done.
  static constexpr std::size_t kSlot = std::size_t{1} << 20, kSlots = 8,
                               kDown = std::size_t{4} << 20;
  cudaError_t prepare();

  std::mutex up_mutex_, down_mutex_;
  char *up_ = nullptr, *down_ = nullptr;
  cudaEvent_t left_[kSlots] = {};
  std::size_t slot_ = 0, at_ = 0;
};

}  // namespace rill::cuda
