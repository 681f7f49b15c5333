#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include "rill/base/api.h"

namespace rill RILL_API {

// Intrusive shared pointer. `T` is counted by the free functions retain(T*)
// and release(T*), found by argument-dependent lookup, so that a public header
// needs only a forward declaration of T.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  explicit Ref(T* p) noexcept : p_(p) {}  // takes over one count
  Ref(const Ref& o) noexcept : p_(o.p_) {
    if (p_) retain(p_);
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) release(p_);
  }

  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

// The count itself. Thread-safe. The last owner is found by a plain load, so
// the common case of a sole owner costs no locked instruction.
class RefCount {
 public:
  void retain() noexcept { n_.fetch_add(1, std::memory_order_relaxed); }
  // True when the caller held the last count and must destroy the object.
  bool release() noexcept {
    return n_.load(std::memory_order_acquire) == 1 ||
           n_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool unique() const noexcept { return n_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<std::uint32_t> n_{1};
};

}  // namespace RILL_API
