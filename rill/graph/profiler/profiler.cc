// Collects calls while a profile runs.
#include "rill/graph/profiler/profiler.h"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "rill/base/check.h"
#include "rill/graph/profiler/profiler_impl.h"

namespace rill::profiler {
namespace {

// Programs whose shapes never come twice would make a new kind at each call.
constexpr std::int64_t kMostKinds = 1 << 16;

struct Record {
  std::uint32_t kind;
  bool failed;
  std::int64_t start_ns, end_ns, self_ns;
};

std::size_t mix(std::size_t h, std::size_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u ^ (h >> 29); }
std::size_t hash_of(const OpCall& c) {
  const std::hash<std::string_view> text;
  std::size_t h = mix(text(c.op), text(c.node));
  h = mix(h, text(c.detail));
  h = mix(h, static_cast<std::size_t>(c.how) | static_cast<std::size_t>(c.width) << 8);
  h = mix(h, reinterpret_cast<std::size_t>(c.device));
  for (const auto* values : {&c.inputs, &c.outputs}) {
    h = mix(h, values->size());
    for (const ObservedValue& v : *values) {
      h = mix(h, static_cast<std::size_t>(v.dtype.code()));
      for (std::int64_t d : v.shape.dims()) h = mix(h, static_cast<std::size_t>(d));
    }
  }
  return h;
}

std::string short_name(const Device& d) {
  return format("{}:{}", device_type_name(d.type()), d.index());
}

bool same_values(const std::vector<Value>& a, const std::vector<ObservedValue>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].dtype != b[i].dtype || !(a[i].shape == b[i].shape)) return false;
  return true;
}
bool is_kind(const CallKind& k, const OpCall& c) {
  return k.op == c.op && k.node == c.node && k.how == ran_name(c.how) && k.detail == c.detail &&
         k.width == c.width && k.device == (c.device ? short_name(*c.device) : "") &&
         same_values(k.inputs, c.inputs) && same_values(k.outputs, c.outputs);
}

// What one thread saw. Its lock is wanted by another thread only when a profile stops.
struct ThreadLog {
  std::mutex mutex;
  std::uint64_t session = 0;  // whose calls these are
  std::vector<Record> records;
  std::deque<CallKind> kinds;
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash;

  void clear() {
    records = {};
    kinds.clear();
    by_hash.clear();
  }
};

class Collector final : public OpObserver {
 public:
  static Collector& get() {
    static auto* c = new Collector;  // calls may still arrive when the program ends
    return *c;
  }

  void start(const Options& options) {
    RILL_CHECK(options.max_events > 0, invalid_argument,
               "[profiler.start] max_events is {}; expected at least 1", options.max_events);
    std::lock_guard lock(mutex_);
    RILL_CHECK(session_.load() == 0, failed_precondition,
               "[profiler.start] a profile is running already; stop() it first");
    max_events_ = options.max_events;
    taken_ = 0, kinds_ = 0, dropped_ = 0;
    tracer_ = device_tracer();
    why_no_activities_ = tracer_ ? tracer_->start(max_events_) : "";
    if (!why_no_activities_.empty()) tracer_ = nullptr;
    start_ns_ = observer_clock_ns();
    session_ = ++last_session_;
    observe_ops(this);
  }

  std::shared_ptr<Report::Data> stop() {
    std::lock_guard lock(mutex_);
    const std::uint64_t session = session_.load();
    RILL_CHECK(session != 0, failed_precondition,
               "[profiler.stop] no profile is running; start() one first");
    observe_ops(nullptr);
    const std::int64_t end = observer_clock_ns();
    session_ = 0;  // a call that ends from here on is not kept
    auto data = std::make_shared<Report::Data>();
    data->wall_ns = end - start_ns_;
    for (const auto& log : logs_) {
      std::lock_guard log_lock(log->mutex);
      if (log->session == session && !log->records.empty()) move_to(*data, *log);
      log->clear();
    }
    data->dropped = dropped_;
    data->why_no_activities = why_no_activities_;
    if (tracer_) {
      static constexpr const char* kKinds[] = {"kernel", "copy", "fill"};
      std::int64_t dropped = 0;
      for (DeviceActivity& a : std::exchange(tracer_, nullptr)->stop(dropped))
        data->activities.push_back({kKinds[static_cast<int>(a.kind)], std::move(a.name),
                                    std::move(a.op), std::move(a.device), a.start_ns - start_ns_,
                                    a.end_ns - start_ns_, a.bytes});
      data->dropped += dropped;
    }
    std::erase_if(logs_, [](const auto& log) { return log.use_count() == 1; });  // ended threads
    return data;
  }

  bool running() const { return session_.load() != 0; }

  void record(const OpCall& call) noexcept override {
    if (taken_.fetch_add(1, std::memory_order_relaxed) >= max_events_) return drop();
    try {
      ThreadLog& log = log_of_thread();
      std::lock_guard lock(log.mutex);
      const std::uint64_t session = session_.load();
      if (session == 0 || call.start_ns < start_ns_) return;
      if (log.session != session) {
        log.clear();
        log.session = session;
      }
      const std::size_t hash = hash_of(call);
      CallKind* kind = nullptr;
      std::uint32_t index = 0;
      const auto [first, last] = log.by_hash.equal_range(hash);
      for (auto it = first; it != last && !kind; ++it)
        if (is_kind(log.kinds[it->second], call)) index = it->second, kind = &log.kinds[index];
      if (!kind) {
        if (kinds_.fetch_add(1, std::memory_order_relaxed) >= kMostKinds) return drop();
        index = static_cast<std::uint32_t>(log.kinds.size());
        log.kinds.push_back(kind_of(call));
        kind = &log.kinds.back();
        log.by_hash.emplace(hash, index);
      }
      kind->moved_bytes += call.notes.moved_bytes;
      kind->copied_bytes += call.notes.copied_bytes;
      kind->widened_calls += call.notes.widened;
      if (call.notes.refused) {
        ++kind->refused_calls;
        if (kind->refused.empty()) kind->refused = call.notes.refused;
      }
      log.records.push_back({index, call.failed, call.start_ns, call.end_ns, call.self_ns});
    } catch (...) {  // no memory: the program continues without this event
      drop();
    }
  }

 private:
  void drop() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

  ThreadLog& log_of_thread() {
    thread_local const std::shared_ptr<ThreadLog> log = [this] {
      auto made = std::make_shared<ThreadLog>();
      std::lock_guard lock(mutex_);
      logs_.push_back(made);
      return made;
    }();
    return *log;
  }

  void move_to(Report::Data& data, ThreadLog& log) const {
    std::vector<const CallKind*> kinds;
    for (CallKind& k : log.kinds) kinds.push_back(&data.kinds.emplace_back(std::move(k)));
    const int thread = data.threads++;
    for (const Record& r : log.records)
      data.events.push_back({kinds[r.kind], r.start_ns - start_ns_, r.end_ns - start_ns_, r.self_ns,
                             thread, r.failed});
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<ThreadLog>> logs_;  // in the order of their threads' first calls
  std::uint64_t last_session_ = 0;
  DeviceTracer* tracer_ = nullptr;  // while it watches
  std::string why_no_activities_;
  std::atomic<std::uint64_t> session_{0};  // 0: none runs
  std::atomic<std::int64_t> max_events_{0}, start_ns_{0}, taken_{0}, kinds_{0}, dropped_{0};
};

}  // namespace

static std::vector<TensorShape> shapes_of(const std::vector<ObservedValue>& values) {
  std::vector<TensorShape> out;
  for (const ObservedValue& v : values) out.push_back(v.shape);
  return out;
}

CallKind kind_of(const OpCall& call) {
  CallKind k;
  k.op = call.op;
  k.node = call.node;
  k.how = ran_name(call.how);
  k.detail = call.detail;
  if (call.device) k.device = short_name(*call.device);
  for (const ObservedValue& v : call.inputs) k.inputs.push_back({v.dtype, v.shape});
  for (const ObservedValue& v : call.outputs) k.outputs.push_back({v.dtype, v.shape});
  k.bytes = call.bytes;
  if (call.flops) k.flops = call.flops(shapes_of(call.inputs), shapes_of(call.outputs));
  k.width = call.width;
  k.elementwise = call.elementwise;
  return k;
}

void start(const Options& options) { Collector::get().start(options); }
Report stop() { return Report(Collector::get().stop()); }
bool running() { return Collector::get().running(); }

Report Profile::stop() {
  Report r = profiler::stop();
  stopped_ = true;
  return r;
}
Profile::~Profile() {
  if (stopped_) return;
  try {
    profiler::stop();
  } catch (const errors::Error&) {  // somebody stopped it by the free function
  }
}

}  // namespace rill::profiler
