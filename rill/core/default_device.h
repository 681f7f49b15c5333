#pragma once
#include "rill/core/call_context.h"
#include "rill/core/device.h"

namespace rill {

// Where a program that names no device computes: on the first GPU, where there is one. Null: on
// the host. The environment variable RILL_DEFAULT_DEVICE names another device ("cpu", "/gpu:1").
// The first call starts the GPUs.
Device* default_device();

// The device of the innermost scope, else the default one; null: the host.
inline Device* scope_device() {
  Device* scope = call_context().device;
  return scope ? scope : default_device();
}

// While it lives, this thread works on the host unless a scope says otherwise: for input
// pipelines, whose small steps a GPU would only delay.
class [[nodiscard]] OnHostByDefault {
 public:
  OnHostByDefault() : saved_(call_context().device) {
    if (!saved_ && default_device()) call_context().device = &cpu_device();
  }
  ~OnHostByDefault() { call_context().device = saved_; }
  OnHostByDefault(const OnHostByDefault&) = delete;

 private:
  Device* saved_;
};

}  // namespace rill
