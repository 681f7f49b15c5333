#include "rill/core/kernel.h"

#include <cstdlib>

#include "rill/base/check.h"

namespace rill {

KernelContext::Extra& KernelContext::extra() {
  if (!extra_) extra_ = new Extra;
  return *extra_;
}

void KernelContext::free_extra() {
  for (const auto& [p, bytes] : extra_->scratch) {
    if (device_->kernels() == DeviceType::cpu)
      std::free(p);
    else
      device_->deallocate(p, bytes);
  }
  delete extra_;
}

void* KernelContext::scratch(std::size_t bytes) {
  void* p = nullptr;
  if (device_->kernels() == DeviceType::cpu) {
    if (posix_memalign(&p, 64, bytes ? bytes : 1) != 0) p = nullptr;
  } else {
    try {
      p = device_->allocate(bytes);
    } catch (const errors::Error&) {
      p = nullptr;
    }
  }
  if (!p) {
    fail(Code::resource_exhausted,
         format("[{}] out of memory: {} bytes of scratch space wanted", tag(), bytes));
    return nullptr;
  }
  extra().scratch.emplace_back(p, bytes);
  return p;
}

void KernelContext::fail(Code code, std::string message) {
  if (failed()) return;
  extra().code = code;
  extra().message = std::move(message);
}

}  // namespace rill
