#include "rill/kernels/cuda/cudnn.h"

#if RILL_WITH_CUDNN
#include <cudnn_version.h>
#include <dlfcn.h>

#include <cstdlib>

#include "rill/base/format.h"

namespace rill::cuda {
namespace {

struct Opened {
  Cudnn functions;
  std::string why;  // empty: it can be used
};

Opened open() {
  Opened r;
  // A path of the user's own first; then as the linker finds it.
  const char* path = std::getenv("RILL_CUDNN");
  const std::string name = path && *path ? path : "libcudnn.so." + std::to_string(CUDNN_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    r.why = format(
        "cuDNN {} was not found ({}); install it, add its folder to LD_LIBRARY_PATH or "
        "set RILL_CUDNN to the path of libcudnn.so.{}",
        CUDNN_MAJOR, reason ? reason : "no reason given", CUDNN_MAJOR);
    return r;
  }
  const auto load = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function && r.why.empty()) r.why = format("{} has no function {}", name, symbol);
  };
  load(r.functions.create, "cudnnCreate");
  load(r.functions.set_stream, "cudnnSetStream");
  load(r.functions.version, "cudnnGetVersion");
  load(r.functions.error_string, "cudnnGetErrorString");
  load(r.functions.make, "cudnnBackendCreateDescriptor");
  load(r.functions.destroy, "cudnnBackendDestroyDescriptor");
  load(r.functions.set, "cudnnBackendSetAttribute");
  load(r.functions.get, "cudnnBackendGetAttribute");
  load(r.functions.finalize, "cudnnBackendFinalize");
  load(r.functions.execute, "cudnnBackendExecute");
  if (r.why.empty() && r.functions.version() / 10000 != CUDNN_MAJOR)
    r.why =
        format("{} is cuDNN {}; this build expects {}.x", name, r.functions.version(), CUDNN_MAJOR);
  return r;
}

}  // namespace

const Cudnn* cudnn(const std::string** why) {
  static const Opened* opened = new Opened(open());  // never closed: kernels may still run at exit
  *why = &opened->why;
  return opened->why.empty() ? &opened->functions : nullptr;
}

}  // namespace rill::cuda
#endif
