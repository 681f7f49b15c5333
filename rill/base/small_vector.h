#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "rill/base/api.h"

namespace rill RILL_API {

// A vector of trivially copyable elements, the first N of them stored inline:
// shapes, strides and axes live on the stack.
template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() noexcept = default;
  explicit SmallVector(std::size_t n, T value = {}) { resize(n, value); }
  SmallVector(std::initializer_list<T> l) { assign(l.begin(), l.size()); }
  SmallVector(std::span<const T> s) { assign(s.data(), s.size()); }
  SmallVector(const SmallVector& o) {
    if (o.heap_) [[unlikely]] {
      assign(o.data(), o.size_);
    } else {  // a fixed number of bytes: no call, no branch on the size
      size_ = o.size_;
      std::memcpy(inline_, o.inline_, sizeof(inline_));
    }
  }
  SmallVector(SmallVector&& o) noexcept { steal(o); }
  SmallVector& operator=(const SmallVector& o) {
    if (this == &o) return *this;
    if (heap_ || o.heap_) [[unlikely]] {
      assign(o.data(), o.size_);
    } else {
      size_ = o.size_;
      std::memcpy(inline_, o.inline_, sizeof(inline_));
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this != &o) {
      delete[] heap_;
      steal(o);
    }
    return *this;
  }
  ~SmallVector() { delete[] heap_; }

  T* data() noexcept { return heap_ ? heap_ : inline_; }
  const T* data() const noexcept { return heap_ ? heap_ : inline_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  operator std::span<const T>() const noexcept { return {data(), size_}; }

  void clear() noexcept { size_ = 0; }
  void push_back(T v) {
    reserve(size_ + 1);
    data()[size_++] = v;
  }
  void pop_back() { --size_; }
  void insert(std::size_t at, T v) {
    reserve(size_ + 1);
    std::memmove(data() + at + 1, data() + at, (size_ - at) * sizeof(T));
    data()[at] = v;
    ++size_;
  }
  void erase(std::size_t at) {
    std::memmove(data() + at, data() + at + 1, (size_ - at - 1) * sizeof(T));
    --size_;
  }
  void resize(std::size_t n, T value = {}) {
    if (n > size_) reserve(n);
    for (std::size_t i = size_; i < n; ++i) data()[i] = value;
    size_ = static_cast<std::uint32_t>(n);
  }
  void assign(const T* p, std::size_t n) {
    reserve(n);
    if (n) std::memmove(data(), p, n * sizeof(T));
    size_ = static_cast<std::uint32_t>(n);
  }
  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  void reserve(std::size_t n) {
    if (n > capacity_) [[unlikely]]
      grow(n);
  }
  [[gnu::noinline]] void grow(std::size_t n) {
    const std::size_t capacity = std::size_t{capacity_} * 2 < n ? n : std::size_t{capacity_} * 2;
    T* p = new T[capacity];
    std::memcpy(p, data(), size_ * sizeof(T));
    delete[] heap_;
    heap_ = p;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void steal(SmallVector& o) noexcept {
    heap_ = o.heap_;
    size_ = o.size_;
    capacity_ = o.capacity_;
    if (!heap_) std::memcpy(inline_, o.inline_, sizeof(inline_));
    o.heap_ = nullptr;
    o.size_ = 0;
    o.capacity_ = N;
  }

  T* heap_ = nullptr;
  std::uint32_t size_ = 0, capacity_ = N;
  T inline_[N];
};

}  // namespace RILL_API
