#pragma once
#include <cstddef>
#include <functional>

#include "rill/base/ref.h"
#include "rill/core/device.h"
#include "rill/core/dtype.h"

namespace rill {

// Memory of one device, shared by the tensors that look at it. Elements that
// are C++ objects (strings) are constructed with it and destroyed with it.
class Buffer {
 public:
  // ResourceExhausted when there is no room. Contents are undefined.
  static Ref<Buffer> allocate(Device& device, DType dtype, std::int64_t num_elements);
  // Memory of somebody else; `deleter` (may be empty) runs when the last user is gone.
  static Ref<Buffer> wrap(void* data, std::size_t bytes, std::function<void()> deleter);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device& device() const { return *device_; }
  // Nobody else looks at it and it is ours: it may be written in place.
  bool unique() const { return !deleter_ && refs_.unique(); }

  friend void retain(Buffer* b) noexcept { b->refs_.retain(); }
  friend void release(Buffer* b) noexcept {
    if (b->refs_.release()) destroy(b);
  }

 private:
  Buffer(Device& device, void* data, std::size_t bytes)
      : device_(&device), data_(data), bytes_(bytes) {}
  ~Buffer() = default;
  static void destroy(Buffer* b) noexcept;

  RefCount refs_;
  bool inline_ = false;   // header and elements are one block
  bool strings_ = false;  // elements are std::string
  Device* device_;
  void* data_;
  std::size_t bytes_;
  std::function<void()>* deleter_ = nullptr;
};

}  // namespace rill
