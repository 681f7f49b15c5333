#include "rill/kernels/cuda/allocator.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>

#include "rill/base/check.h"
#include "rill/kernels/cuda/recording.h"

namespace rill::cuda {
namespace {

// Small blocks are cut from slabs: CUDA's own are 2 MB at least. They are never
// given back.
constexpr std::size_t kSlab = std::size_t{8} << 20, kSmall = std::size_t{1} << 20;

}  // namespace

// A power of two in four steps, as on the host: at most a fifth of a block is slack.
Allocator::Class Allocator::class_of(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 512);
  const std::size_t power = std::bit_floor(bytes - 1), step = power / 4;
  const std::size_t steps = (bytes + step - 1) / step;  // 5 .. 8
  return {steps * step, 4 * static_cast<std::size_t>(std::countr_zero(power)) + steps - 5};
}

void* Allocator::allocate(std::size_t bytes) {
  const Class c = class_of(bytes);
  std::lock_guard lock(mutex_);
  if (limit_ && in_use_ + c.size > limit_) throw_exhausted(c.size);
  void* p = nullptr;
  if (auto& list = free_[c.index]; !list.empty()) {
    p = list.back();
    list.pop_back();
  } else {
    p = c.size <= kSmall ? from_slab(c.size) : from_cuda(c.size);
  }
  in_use_ += c.size;
  peak_ = std::max(peak_, in_use_);
  ++allocations_;
  ++out_[c.index];
  return p;
}

void Allocator::deallocate(void* p, std::size_t bytes) noexcept {
  const Class c = class_of(bytes);
  std::lock_guard lock(mutex_);
  in_use_ -= c.size;
  --out_[c.index];
  try {
    free_[c.index].push_back(p);
  } catch (...) {  // no room to remember it: lost
  }
}

void* Allocator::from_slab(std::size_t size) {
  const std::size_t aligned = (size + 255) / 256 * 256;
  if (static_cast<std::size_t>(slab_end_ - slab_) < aligned) {
    slab_ = static_cast<char*>(from_cuda(kSlab));
    slab_end_ = slab_ + kSlab;
  }
  void* p = slab_;
  slab_ += aligned;
  return p;
}

void* Allocator::from_cuda(std::size_t size) {
  // A recording may need memory while it is made, which only this mode allows.
  struct Relaxed {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    Relaxed() { cudaThreadExchangeStreamCaptureMode(&mode); }
    ~Relaxed() { cudaThreadExchangeStreamCaptureMode(&mode); }
  } relaxed;
  void* p = nullptr;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (cudaMalloc(&p, size) == cudaSuccess) {
      taken_ += size;
      return p;
    }
    cudaGetLastError();                                     // it is dealt with here
    if (attempt == 0 && !CudaRecording::current()) trim();  // which waits for the device
  }
  throw_exhausted(size);
}

// Says what holds the memory: the sizes that take most.
void Allocator::throw_exhausted(std::size_t wanted) const {
  std::size_t left = 0, total = 0;
  cudaMemGetInfo(&left, &total);
  struct Held {
    std::size_t size, count;
  };
  std::vector<Held> held;
  for (std::size_t i = 0; i < std::size(out_); ++i)
    if (out_[i]) {
      const std::size_t power = std::size_t{1} << i / 4;
      held.push_back({(i % 4 + 5) * (power / 4), out_[i]});
    }
  std::sort(held.begin(), held.end(),
            [](const Held& a, const Held& b) { return a.size * a.count > b.size * b.count; });
  std::string largest;
  for (std::size_t i = 0; i < held.size() && i < 4; ++i)
    largest += format("{}{} of {} bytes", i ? ", " : "", held[i].count, held[i].size);
  RILL_FAIL(
      resource_exhausted,
      "device {} is out of memory: {} bytes wanted, {} in use by tensors (blocks: {}){}, {} of "
      "{} free. Use a smaller batch or free tensors",
      device_, wanted, in_use_, largest.empty() ? "none" : largest,
      limit_ ? format(", limit {}", limit_) : std::string(), left, total);
}

void Allocator::trim() {
  for (std::size_t i = class_of(kSmall + 1).index; i < std::size(free_); ++i) {
    const std::size_t size = (i % 4 + 5) * ((std::size_t{1} << i / 4) / 4);
    for (void* p : free_[i]) cudaFree(p), taken_ -= size;  // waits for the device
    free_[i].clear();
  }
}

MemoryStats Allocator::stats() const {
  std::lock_guard lock(mutex_);
  return {in_use_, peak_, taken_ - std::min(taken_, in_use_), allocations_};
}
void Allocator::reset_peak() {
  std::lock_guard lock(mutex_);
  peak_ = in_use_;
}
void Allocator::set_limit(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
}

}  // namespace rill::cuda
