#include "rill/core/kernel.h"

#include <cstdlib>

#include "rill/base/check.h"

namespace rill {

KernelContext::~KernelContext() {
  for (void* p : scratch_) std::free(p);
}

void* KernelContext::scratch(std::size_t bytes) {
  void* p = nullptr;
  if (posix_memalign(&p, 64, bytes ? bytes : 1) != 0) {
    fail(Code::resource_exhausted, format("[{}] out of memory: {} bytes of scratch space wanted", tag(), bytes));
    return nullptr;
  }
  scratch_.push_back(p);
  return p;
}

void KernelContext::fail(Code code, std::string message) {
  if (failed()) return;
  code_ = code;
  message_ = std::move(message);
}

}  // namespace rill
