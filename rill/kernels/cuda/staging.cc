#include "rill/kernels/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace rill::cuda {

#define RILL_RETURN_ERROR(call)                                               \
  do {                                                                        \
    if (const cudaError_t error = (call); error != cudaSuccess) return error; \
  } while (false)

cudaError_t Staging::prepare() {
  if (up_) return cudaSuccess;
  for (cudaEvent_t& event : left_)
    RILL_RETURN_ERROR(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  void* p = nullptr;
  RILL_RETURN_ERROR(cudaMallocHost(&p, kSlot * kSlots));
  up_ = static_cast<char*>(p);
  return cudaSuccess;
}

cudaError_t Staging::upload(void* dst, const void* src, std::size_t bytes, cudaStream_t stream) {
  std::lock_guard lock(up_mutex_);
  RILL_RETURN_ERROR(prepare());
  for (std::size_t done = 0; done < bytes;) {
    if (at_ == kSlot) {
      RILL_RETURN_ERROR(cudaEventRecord(left_[slot_], stream));
      slot_ = (slot_ + 1) % kSlots;
      RILL_RETURN_ERROR(cudaEventSynchronize(left_[slot_]));  // at once for a new event
      at_ = 0;
    }
    const std::size_t n = std::min(bytes - done, kSlot - at_);
    char* pinned = up_ + slot_ * kSlot + at_;
    std::memcpy(pinned, static_cast<const char*>(src) + done, n);
    RILL_RETURN_ERROR(
        cudaMemcpyAsync(static_cast<char*>(dst) + done, pinned, n, cudaMemcpyHostToDevice, stream));
    done += n;
    at_ = std::min(kSlot, (at_ + n + 63) / 64 * 64);
  }
  return cudaSuccess;
}

cudaError_t Staging::download(void* dst, const void* src, std::size_t bytes, cudaStream_t stream) {
  std::lock_guard lock(down_mutex_);
  if (!down_) {
    void* p = nullptr;
    RILL_RETURN_ERROR(cudaMallocHost(&p, kDown));
    down_ = static_cast<char*>(p);
  }
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(bytes - done, kDown);
    RILL_RETURN_ERROR(cudaMemcpyAsync(down_, static_cast<const char*>(src) + done, n,
                                      cudaMemcpyDeviceToHost, stream));
    RILL_RETURN_ERROR(cudaStreamSynchronize(stream));
    std::memcpy(static_cast<char*>(dst) + done, down_, n);
    done += n;
  }
  return bytes == 0 ? cudaStreamSynchronize(stream) : cudaSuccess;
}

}  // namespace rill::cuda
