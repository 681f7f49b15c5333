#include "rill/core/kernel.h"

#include "rill/base/check.h"
#include "rill/core/cpu_device.h"

namespace rill {

KernelContext::Extra& KernelContext::extra() {
  if (!extra_) extra_ = new Extra;
  return *extra_;
}

void KernelContext::free_extra() {
  const bool on_host = device_->kernels() == DeviceType::cpu;
  for (const auto& [p, bytes] : extra_->scratch)
    on_host ? deallocate_on_host(p, bytes) : device_->deallocate(p, bytes);
  delete extra_;
}

void* KernelContext::scratch(std::size_t bytes) {
  void* p = nullptr;
  try {
    p = device_->kernels() == DeviceType::cpu ? allocate_on_host(bytes) : device_->allocate(bytes);
  } catch (const errors::Error&) {
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
