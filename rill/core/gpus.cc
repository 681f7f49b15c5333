#include "rill/core/gpus.h"

#include <mutex>
#include <optional>

#include "rill/base/check.h"
#include "rill/core/plugin.h"

namespace rill {
namespace {

struct Gpus {
  std::mutex mutex;
  std::optional<GpuSource> source;
  std::optional<std::vector<LogicalGpu>> plan;  // none: each GPU is a device
  bool started = false;
  std::string why_none;
};
Gpus& gpus() {
  static auto* g = new Gpus;
  return *g;
}

// Why there is no source. Without the lock: a plug-in that is loaded sets one.
std::string find_source() {
  Gpus& g = gpus();
  {
    std::lock_guard lock(g.mutex);
    if (g.source) return "";
  }
  return load_gpu_plugin();
}

}  // namespace

void set_gpu_source(const GpuSource& source) {
  std::lock_guard lock(gpus().mutex);
  gpus().source = source;
}

int count_gpus() {
  if (!find_source().empty()) return 0;
  std::lock_guard lock(gpus().mutex);
  return gpus().source ? gpus().source->count : 0;
}

void plan_gpus(std::vector<LogicalGpu> devices) {
  Gpus& g = gpus();
  std::lock_guard lock(g.mutex);
  RILL_CHECK(!g.started, failed_precondition,
             "[plan_gpus] the GPUs have been started; configure them at the start of the program");
  g.plan = std::move(devices);
}

const std::string& start_gpus() {
  Gpus& g = gpus();
  std::string why = find_source();
  std::lock_guard lock(g.mutex);
  if (g.started) return g.why_none;
  g.started = true;
  g.why_none = std::move(why);
  if (!g.why_none.empty() || !g.source) return g.why_none;
  if (!g.plan) {
    g.plan.emplace();
    for (int i = 0; i < g.source->count; ++i) g.plan->push_back({i, 0});
  }
  if (g.plan->empty()) g.why_none = "the program made no GPU visible (set_visible_devices)";
  try {
    for (std::size_t i = 0; i < g.plan->size(); ++i) {
      const LogicalGpu& d = (*g.plan)[i];
      add_device(g.source->make(static_cast<int>(i), d.physical, d.memory_limit));
    }
  } catch (const std::exception& e) {
    g.why_none = e.what();
  }
  return g.why_none;
}

}  // namespace rill
