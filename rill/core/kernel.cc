#include "rill/core/kernel.h"

#include <cstdlib>

#include "rill/base/check.h"

namespace rill {

KernelContext::Extra& KernelContext::extra() {
  if (!extra_) extra_ = new Extra;
  return *extra_;
}

void KernelContext::free_extra() {
  for (void* p : extra_->scratch) std::free(p);
  delete extra_;
}

void* KernelContext::scratch(std::size_t bytes) {
  void* p = nullptr;
  if (posix_memalign(&p, 64, bytes ? bytes : 1) != 0) {
    fail(Code::resource_exhausted,
         format("[{}] out of memory: {} bytes of scratch space wanted", tag(), bytes));
    return nullptr;
  }
  extra().scratch.push_back(p);
  return p;
}

void KernelContext::fail(Code code, std::string message) {
  if (failed()) return;
  extra().code = code;
  extra().message = std::move(message);
}

}  // namespace rill
