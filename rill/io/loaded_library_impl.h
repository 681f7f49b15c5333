#pragma once
#include <dlfcn.h>

#include "rill/base/check.h"

namespace rill::io {

// A shared library that is opened when it is first needed, so that programs which never need it
// neither depend on it nor spend time on loading it. It stays open.
class LoadedLibrary {
 public:
  // FailedPrecondition, which names the package, when it is not installed.
  LoadedLibrary(const char* file, const char* what_for, const char* package)
      : file_(file), handle_(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) {
      const char* why = ::dlerror();
      RILL_FAIL(failed_precondition,
                "[io] {} needs {}, which cannot be loaded ({}). Install it "
                "(Debian: apt-get install {})",
                what_for, file, why ? why : "no reason given", package);
    }
  }
  // A function, of the type that the library's header declares it with.
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(::dlsym(handle_, name));
    RILL_CHECK(function, failed_precondition, "[io] {} has no function {}; install a newer version",
               file_, name);
  }

 private:
  const char* file_;
  void* handle_;
};

}  // namespace rill::io
