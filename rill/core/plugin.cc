#include "rill/core/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "rill/base/format.h"

// A program may have the plug-in linked in; else the name is null.
extern "C" [[gnu::weak]] const char* rill_plugin_load(std::uint64_t abi);

namespace rill {
namespace {

constexpr const char* kLibrary = "librill_cuda.so";

// The file that holds this code: librill.so, or a program with the archive in it.
std::string own_file() {
  Dl_info info;
  return dladdr(reinterpret_cast<const void*>(&own_file), &info) && info.dli_fname ? info.dli_fname
                                                                                   : "";
}

std::string ask(PluginEntry entry) {
  const char* reason = entry(plugin_abi());
  return reason ? reason : "";
}

std::string load() {
  if (rill_plugin_load) return ask(rill_plugin_load);
  const std::string own = own_file();
  const auto slash = own.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : own.substr(0, slash);
  // A plug-in would bring librill.so along: a second registry beside the program's own.
  if (std::string_view(own).substr(slash + 1).substr(0, 10) != "librill.so")
    return "this program has librill.a in it, and plug-ins need librill.so";
  std::vector<std::string> folders;
  if (const char* path = std::getenv("RILL_PLUGIN_PATH")) {
    for (std::string_view rest = path; !rest.empty();) {
      const auto colon = rest.find(':');
      if (colon != 0) folders.emplace_back(rest.substr(0, colon));
      rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
  }
  folders.push_back(folder);
  for (const std::string& f : folders) {
    const std::string file = f + "/" + kLibrary;
    if (access(file.c_str(), R_OK) != 0) continue;
    // Before CUDA's libraries, which take a while to load and are of no use without it.
    if (!dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
      return "there is no driver for NVIDIA GPUs (libcuda.so.1)";
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return format("the plug-in cannot be loaded: {}", dlerror());
    const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntry));
    if (!entry) return format("{} is not a plug-in of Rill: it has no {}", file, kPluginEntry);
    return ask(entry);
  }
  std::string places;
  for (const std::string& f : folders) places += (places.empty() ? "" : ", ") + f;
  return format(
      "the plug-in {} was not found in {}; build Rill where nvcc is, or name its folder "
      "in RILL_PLUGIN_PATH",
      kLibrary, places);
}

}  // namespace

const std::string& load_gpu_plugin() {
  static const std::string reason = load();
  return reason;
}

}  // namespace rill
