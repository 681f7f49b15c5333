#include "rill/kernels/cuda/tracer.h"

#if __has_include(<cupti.h>)
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "rill/base/format.h"
#include "rill/core/device_tracer.h"
#include "rill/core/observer.h"
#include "rill/core/op.h"
#endif

namespace rill::cuda {

std::atomic<bool> tracing{false};

#if __has_include(<cupti.h>)
namespace {

struct Cupti {
  decltype(&::cuptiActivityRegisterCallbacks) set_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityFlushAll) flush = nullptr;
  decltype(&::cuptiActivityGetNextRecord) next = nullptr;
  decltype(&::cuptiActivityPushExternalCorrelationId) push = nullptr;
  decltype(&::cuptiActivityPopExternalCorrelationId) pop = nullptr;
  decltype(&::cuptiGetTimestamp) now = nullptr;
  decltype(&::cuptiGetResultString) text = nullptr;
};

// Records of the API calls bring along which op they belong to.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER};
constexpr std::size_t kBuffer = std::size_t{4} << 20;
constexpr auto kOurs = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

std::string open(Cupti& f) {
  const char* path = std::getenv("RILL_CUPTI");
  const std::string name = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
  void* library = nullptr;
  std::string why;
  for (const std::string& at :
       {path && *path ? std::string(path) : name, "/usr/local/cuda/lib64/" + name,
        "/usr/local/cuda/extras/CUPTI/lib64/" + name}) {
    if ((library = dlopen(at.c_str(), RTLD_NOW | RTLD_LOCAL))) break;
    const char* reason = dlerror();
    if (why.empty())
      why = format(
          "CUPTI was not found ({}); add its folder to LD_LIBRARY_PATH or set RILL_CUPTI "
          "to the path of {}",
          reason ? reason : "no reason given", name);
  }
  if (!library) return why;
  why.clear();
  const auto load = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function && why.empty()) why = format("{} has no function {}", name, symbol);
  };
  load(f.set_callbacks, "cuptiActivityRegisterCallbacks");
  load(f.enable, "cuptiActivityEnable");
  load(f.disable, "cuptiActivityDisable");
  load(f.flush, "cuptiActivityFlushAll");
  load(f.next, "cuptiActivityGetNextRecord");
  load(f.push, "cuptiActivityPushExternalCorrelationId");
  load(f.pop, "cuptiActivityPopExternalCorrelationId");
  load(f.now, "cuptiGetTimestamp");
  load(f.text, "cuptiGetResultString");
  return why;
}

std::string readable(const char* name) {
  int status = 0;
  char* text = name ? abi::__cxa_demangle(name, nullptr, nullptr, &status) : nullptr;
  std::string out = text ? text : name ? name : "a kernel";
  std::free(text);
  return out;
}
const char* direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "device to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "device to another";
    default:
      return "copy";
  }
}

class Tracer final : public DeviceTracer {
 public:
  static Tracer& get() {
    static auto* t = new Tracer;  // CUPTI may call when the program ends
    return *t;
  }
  const Cupti& functions() const { return cupti_; }

  std::string start(std::int64_t most) override {
    static const std::string why = open(cupti_);
    if (!why.empty()) return why;
    {
      std::lock_guard lock(mutex_);
      found_.clear(), ids_.clear(), ops_.clear();
      most_ = most, dropped_ = 0;
    }
    if (const CUptiResult r = cupti_.set_callbacks(give_buffer, take_buffer); r != CUPTI_SUCCESS)
      return refusal(r);
    for (const CUpti_ActivityKind kind : kKinds)
      if (const CUptiResult r = cupti_.enable(kind); r != CUPTI_SUCCESS) {
        for (const CUpti_ActivityKind k : kKinds) cupti_.disable(k);
        return refusal(r);
      }
    std::uint64_t now = 0;
    cupti_.now(&now);
    offset_ns_ = observer_clock_ns() - static_cast<std::int64_t>(now);
    tracing = true;
    return "";
  }

  std::vector<DeviceActivity> stop(std::int64_t& dropped) override {
    tracing = false;
    cudaDeviceSynchronize();
    for (const CUpti_ActivityKind kind : kKinds) cupti_.disable(kind);
    cupti_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    std::lock_guard lock(mutex_);
    std::vector<DeviceActivity> out;
    for (Found& f : found_) {
      if (const auto id = ids_.find(f.correlation); id != ids_.end())
        if (const auto op = ops_.find(id->second); op != ops_.end()) f.what.op = op->second;
      out.push_back(std::move(f.what));
    }
    found_.clear(), ids_.clear();
    std::stable_sort(out.begin(), out.end(), [](const DeviceActivity& a, const DeviceActivity& b) {
      return a.start_ns < b.start_ns;
    });
    dropped = dropped_;
    return out;
  }

  // The number that stands for an op.
  void remember(const Op& op) {
    std::lock_guard lock(mutex_);
    ops_.try_emplace(reinterpret_cast<std::uint64_t>(&op), op.name);
  }

 private:
  struct Found {
    DeviceActivity what;
    std::uint32_t correlation;
  };

  std::string refusal(CUptiResult r) const {
    const char* text = nullptr;
    cupti_.text(r, &text);
    return format("CUPTI refused to watch: {}", text ? text : "no reason given");
  }

  static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBuffer));
    *size = *buffer ? kBuffer : 0;
    *most = 0;
  }
  static void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                   std::size_t valid) {
    Tracer& t = get();
    {
      std::lock_guard lock(t.mutex_);
      for (CUpti_Activity* r = nullptr; t.cupti_.next(buffer, valid, &r) == CUPTI_SUCCESS;)
        t.read(*r);
    }
    std::free(buffer);
  }

  template <class R>
  void add(DeviceActivity::Kind kind, const R& r, std::string name, std::int64_t bytes) {
    if (static_cast<std::int64_t>(found_.size()) >= most_) {
      ++dropped_;
      return;
    }
    found_.push_back({{kind, std::move(name), "", format("GPU:{}", r.deviceId),
                       static_cast<std::int64_t>(r.start) + offset_ns_,
                       static_cast<std::int64_t>(r.end) + offset_ns_, bytes},
                      r.correlationId});
  }
  void read(const CUpti_Activity& record) {
    using Kind = DeviceActivity::Kind;
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const auto& r = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
        auto& name = names_[r.name ? r.name : ""];
        if (name.empty()) name = readable(r.name);
        return add(Kind::kernel, r, name, 0);
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& r = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
        return add(Kind::copy, r, direction(r.copyKind), static_cast<std::int64_t>(r.bytes));
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& r = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
        return add(Kind::fill, r, "fill", static_cast<std::int64_t>(r.bytes));
      }
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const auto& r = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(record);
        if (r.externalKind == kOurs) ids_[r.correlationId] = r.externalId;
        return;
      }
      default:
        return;
    }
  }

  Cupti cupti_;
  std::mutex mutex_;  // guards what follows
  std::vector<Found> found_;
  std::unordered_map<std::uint32_t, std::uint64_t> ids_;  // of an API call -> its op's
  std::unordered_map<std::uint64_t, std::string> ops_;    // by their address
  std::unordered_map<std::string, std::string> names_;    // of kernels, for a reader
  std::int64_t most_ = 0, dropped_ = 0;
  std::atomic<std::int64_t> offset_ns_{0};  // from CUPTI's clock to the observer's
};

}  // namespace

void trace_op(const Op* op) {
  thread_local const Op* current = nullptr;
  if (op == current) return;
  Tracer& t = Tracer::get();
  std::uint64_t last = 0;
  if (current) t.functions().pop(kOurs, &last);
  if (op) {
    t.remember(*op);
    t.functions().push(kOurs, reinterpret_cast<std::uint64_t>(op));
  }
  current = op;
}
void install_tracer() { set_device_tracer(&Tracer::get()); }

#else
void trace_op(const Op*) {}
void install_tracer() {}
#endif

}  // namespace rill::cuda
