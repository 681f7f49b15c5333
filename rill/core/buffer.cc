#include "rill/core/buffer.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "rill/base/check.h"

namespace rill {
namespace {

constexpr std::size_t kAlign = 64;
// Up to this size header and elements are one malloc block, served by malloc's
// own per-thread cache; above it the device's allocator keeps and reuses.
constexpr std::size_t kInlineBytes = 4096;

}  // namespace

Ref<Buffer> Buffer::allocate(Device& device, DType dtype, std::int64_t n) {
  std::size_t bytes;
  // Half the address space, so that rounding a size up cannot wrap around.
  RILL_CHECK(!__builtin_mul_overflow(static_cast<std::size_t>(n), dtype.itemsize(), &bytes) &&
                 bytes <= PTRDIFF_MAX / 2,
             resource_exhausted, "a tensor of {} elements of {} does not fit in the address space",
             n, dtype);
  Buffer* b;
  if (device.is_host() && bytes <= kInlineBytes) {
    // Tiny tensors need no vector alignment; the smaller block is the faster one.
    const std::size_t align = bytes <= 16 ? 16 : kAlign;
    constexpr std::size_t header = (sizeof(Buffer) + 15) / 16 * 16;
    char* block = static_cast<char*>(std::malloc(header + bytes + align));
    if (!block) RILL_FAIL(resource_exhausted, "out of memory allocating {} bytes", bytes);
    const auto first = reinterpret_cast<std::uintptr_t>(block + header);
    b = new (block)
        Buffer(device, reinterpret_cast<void*>((first + align - 1) / align * align), bytes);
    b->inline_ = true;
  } else {
    b = new Buffer(device, nullptr, bytes);
    try {
      b->data_ = device.allocate(bytes);
    } catch (...) {
      delete b;
      throw;
    }
  }
  if (dtype == string) {
    auto* s = static_cast<std::string*>(b->data_);
    for (std::int64_t i = 0; i < n; ++i) new (s + i) std::string;
    b->strings_ = true;
  }
  return Ref<Buffer>(b);
}

Ref<Buffer> Buffer::wrap(void* data, std::size_t bytes, std::function<void()> deleter) {
  auto* b = new Buffer(cpu_device(), data, bytes);
  b->deleter_ = new std::function<void()>(std::move(deleter));
  return Ref<Buffer>(b);
}

void Buffer::destroy(Buffer* b) noexcept {
  if (b->strings_) {
    auto* s = static_cast<std::string*>(b->data_);
    for (std::size_t i = 0, n = b->bytes_ / sizeof(std::string); i < n; ++i) s[i].~basic_string();
  }
  if (b->inline_) {
    b->~Buffer();
    std::free(b);
    return;
  }
  if (b->deleter_) {
    if (*b->deleter_) (*b->deleter_)();
    delete b->deleter_;
  } else {
    b->device_->deallocate(b->data_, b->bytes_);
  }
  delete b;
}

}  // namespace rill
