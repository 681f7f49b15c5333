#pragma once
#include <atomic>
#include <cstdint>

#include "rill/core/nest.h"

namespace rill::data {

// The memory that the buffers of one iterator whose sizes AUTOTUNE chooses may hold together.
class AutotuneBudget {
 public:
  AutotuneBudget() = default;
  void set_limit(std::int64_t bytes) { limit_ = bytes; }  // 0: half of what is free now

  // One buffer's part of it.
  class Part {
   public:
    explicit Part(AutotuneBudget& budget) : budget_(budget) {}
    ~Part() { budget_.held_ -= held_; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    // Holds `bytes` from now on; false, and no change, when that does not fit.
    bool resize(std::int64_t bytes);

   private:
    AutotuneBudget& budget_;
    std::int64_t held_ = 0;
  };

 private:
  std::int64_t limit() const;
  mutable std::atomic<std::int64_t> limit_{0};
  std::atomic<std::int64_t> held_{0};
};

// The memory of an element's tensors.
std::int64_t bytes_of(const Nest& element);

}  // namespace rill::data
