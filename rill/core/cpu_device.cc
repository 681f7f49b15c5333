// The host: kernels run inside the call, memory comes from a reusing allocator.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "rill/base/check.h"
#include "rill/core/cpu_device.h"

namespace rill {
namespace {

// Fresh pages cost more than the kernel that fills them, so freed blocks are
// kept by size class and handed out again. A class is a power of two in four
// steps: at most a fifth of a block is slack.
class CachingAllocator {
 public:
  void* allocate(std::size_t bytes) {
    const std::size_t size = size_class(bytes);
    std::lock_guard lock(mutex_);
    void* p = nullptr;
    if (auto it = free_.find(size); it != free_.end() && !it->second.blocks.empty()) {
      p = it->second.take();
      it->second.used = ++clock_;
      stats_.cached_bytes -= size;
    } else {
      p = from_system(size);
    }
    stats_.bytes_in_use += size;
    stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.bytes_in_use);
    ++stats_.allocations;
    return p;
  }

  void deallocate(void* p, std::size_t bytes) noexcept {
    const std::size_t size = size_class(bytes);
    std::lock_guard lock(mutex_);
    stats_.bytes_in_use -= size;
    // What is kept is bounded by what was once needed at the same time. Sizes
    // that have not been asked for make room for those that are.
    const std::size_t bound = stats_.peak_bytes + kSlackBytes;
    try {
      Class& kept = free_[size];
      kept.blocks.push_back(p);
      kept.used = ++clock_;
      stats_.cached_bytes += size;
    } catch (...) {
      return std::free(p);
    }
    while (stats_.bytes_in_use + stats_.cached_bytes > bound) evict();
  }

  void trim() {
    std::lock_guard lock(mutex_);
    trim_locked();
  }
  MemoryStats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }
  void reset_peak() {
    std::lock_guard lock(mutex_);
    stats_.peak_bytes = stats_.bytes_in_use;
  }

 private:
  static constexpr std::size_t kAlign = 64, kHugePage = std::size_t{2} << 20;
  static constexpr std::size_t kSlackBytes = std::size_t{64} << 20;

  static std::size_t size_class(std::size_t bytes) {
    bytes = std::max<std::size_t>(bytes, 256);
    const std::size_t step = std::bit_floor(bytes - 1) / 4;
    return (bytes + step - 1) / step * step;
  }

  // The free blocks of one size, and when one was last asked for or given back.
  struct Class {
    std::vector<void*> blocks;
    std::uint64_t used = 0;
    void* take() {
      void* p = blocks.back();
      blocks.pop_back();
      return p;
    }
  };

  // Gives a block of the size longest unused back. REQUIRES: there is one.
  void evict() {
    auto oldest = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (!it->second.blocks.empty() &&
          (oldest == free_.end() || it->second.used < oldest->second.used)) {
        oldest = it;
      }
    }
    std::free(oldest->second.take());
    stats_.cached_bytes -= oldest->first;
  }

  void trim_locked() {
    while (stats_.cached_bytes > 0) evict();
  }

  void* from_system(std::size_t size) {
    const std::size_t physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                 static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    const bool fits = stats_.bytes_in_use <= physical && size <= physical - stats_.bytes_in_use;
    const std::size_t align = size >= kHugePage ? kHugePage : kAlign;
    void* p = nullptr;
    if (fits && posix_memalign(&p, align, size) != 0) {
      trim_locked();
      if (posix_memalign(&p, align, size) != 0) p = nullptr;
    }
    if (!p) {
      RILL_FAIL(
          resource_exhausted,
          "out of memory: {} bytes wanted, {} bytes in use, {} bytes of memory in this machine. "
          "Use a smaller batch or free tensors",
          size, stats_.bytes_in_use, physical);
    }
    if (size >= kHugePage) madvise(p, size, MADV_HUGEPAGE);
    return p;
  }

  std::mutex mutex_;
  std::map<std::size_t, Class> free_;
  std::uint64_t clock_ = 0;
  MemoryStats stats_;
};

CachingAllocator& allocator() {
  static auto* a = new CachingAllocator;  // never destroyed: tensors may outlive main()
  return *a;
}

}  // namespace

void* allocate_on_host(std::size_t bytes) { return allocator().allocate(bytes); }
void deallocate_on_host(void* p, std::size_t bytes) noexcept { allocator().deallocate(p, bytes); }

void* CpuDevice::allocate(std::size_t bytes) {
  if (limit_ != 0) {
    std::size_t before = used_.fetch_add(bytes);
    if (before + bytes > limit_) {
      used_.fetch_sub(bytes);
      RILL_FAIL(resource_exhausted, "device {} is limited to {} bytes: {} in use, {} wanted",
                name(), limit_, before, bytes);
    }
  }
  return allocate_on_host(bytes);
}

void CpuDevice::deallocate(void* p, std::size_t bytes) noexcept {
  if (limit_ != 0) used_.fetch_sub(bytes);
  deallocate_on_host(p, bytes);
}

MemoryStats memory_stats() { return allocator().stats(); }
void reset_peak_memory() { allocator().reset_peak(); }
void release_cached_memory() { allocator().trim(); }

}  // namespace rill
