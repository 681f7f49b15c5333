#include "rill/kernels/cuda/cufft.h"

#if RILL_WITH_CUFFT
#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

#include "rill/base/format.h"

namespace rill::cuda {
namespace {

// Its number is one behind CUDA's: 12 comes with CUDA 13.
constexpr int kMajor = CUFFT_VERSION / 1000;

struct Opened {
  Cufft functions;
  std::string why;  // empty: it can be used
};

Opened open() {
  Opened r;
  const char* path = std::getenv("RILL_CUFFT");
  const std::string name = path && *path ? path : "libcufft.so." + std::to_string(kMajor);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    r.why = format(
        "cuFFT {} was not found ({}); install it, add its folder to LD_LIBRARY_PATH, set "
        "RILL_CUFFT to the path of libcufft.so.{}, or transform on the CPU "
        "(tf::device(\"/cpu:0\"))",
        kMajor, reason ? reason : "no reason given", kMajor);
    return r;
  }
  const auto load = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function && r.why.empty()) r.why = format("{} has no function {}", name, symbol);
  };
  load(r.functions.create, "cufftCreate");
  load(r.functions.destroy, "cufftDestroy");
  load(r.functions.set_auto_allocation, "cufftSetAutoAllocation");
  load(r.functions.make_plan, "cufftMakePlanMany64");
  load(r.functions.set_stream, "cufftSetStream");
  load(r.functions.set_work_area, "cufftSetWorkArea");
  load(r.functions.complex_to_complex, "cufftExecZ2Z");
  load(r.functions.real_to_complex, "cufftExecD2Z");
  return r;
}

}  // namespace

const Cufft* cufft(const std::string** why) {
  static const Opened* opened = new Opened(open());  // never closed: kernels may still run at exit
  *why = &opened->why;
  return opened->why.empty() ? &opened->functions : nullptr;
}

}  // namespace rill::cuda
#endif
