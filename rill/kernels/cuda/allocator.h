#pragma once
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "rill/core/device.h"

namespace rill::cuda {

// The memory of one GPU, kept and handed out again. All work of a device is on
// one stream, so a block that is given back may be used by whatever is queued
// next: neither call waits, and in the steady state neither reaches CUDA.
class Allocator {
 public:
  explicit Allocator(std::string device) : device_(std::move(device)) {}
  // ResourceExhausted, after what is cached has been given back, when there is no room.
  void* allocate(std::size_t bytes);
  void deallocate(void* p, std::size_t bytes) noexcept;

  // What a block of so many bytes takes: blocks of one size are alike.
  static std::size_t size_of_block(std::size_t bytes) { return class_of(bytes).size; }

  MemoryStats stats() const;
  void reset_peak();
  void set_limit(std::size_t bytes);  // 0: none

 private:
  struct Class {
    std::size_t size;
    std::size_t index;
  };
  static Class class_of(std::size_t bytes);
  void* from_slab(std::size_t size);
  void* from_cuda(std::size_t size);
  void trim();  // what is cached of large blocks
  [[noreturn]] void throw_exhausted(std::size_t wanted) const;

  std::string device_;
  mutable std::mutex mutex_;
  std::vector<void*> free_[256];  // by class
  std::size_t out_[256] = {};     // blocks of each class that are in use
  char *slab_ = nullptr, *slab_end_ = nullptr;
  std::size_t in_use_ = 0, peak_ = 0, taken_ = 0, allocations_ = 0, limit_ = 0;
};

}  // namespace rill::cuda
