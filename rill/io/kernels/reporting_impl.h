#pragma once
#include "rill/base/error.h"
#include "rill/core/kernel.h"

namespace rill::io {

// Kernels do not throw: an error of `body` becomes theirs.
template <class F>
void reporting(KernelContext& c, F body) noexcept {
  try {
    body();
  } catch (const errors::Error& e) {
    c.fail(e.code(), e.message());
  } catch (const std::exception& e) {
    c.fail(Code::resource_exhausted, e.what());
  }
}

}  // namespace rill::io
