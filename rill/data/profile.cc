// Dataset::profile(): every cursor of one pass is watched.
#include <algorithm>
#include <chrono>
#include <ostream>

#include "rill/core/default_device.h"
#include "rill/core/observer.h"
#include "rill/data/probe_impl.h"

namespace rill::data {
namespace {

thread_local StageTimer* innermost = nullptr;

class ProbedCursor final : public Cursor {
 public:
  ProbedCursor(std::unique_ptr<Cursor> cursor, StageProbe* stage)
      : cursor_(std::move(cursor)), stage_(*stage) {}
  bool next(Nest* element) override {
    const StageTimer timer(&stage_.own_ns);
    const bool there = cursor_->next(element);
    gave(there ? 1 : 0);
    return there;
  }
  void save(StateWriter& out) override { cursor_->save(out); }
  void restore(StateReader& in) override { cursor_->restore(in); }
  const Rows* rows() const override { return cursor_->rows(); }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    const StageTimer timer(&stage_.own_ns);
    return gave(cursor_->next_rows(rows, n));
  }
  bool makes_batches() const override { return cursor_->makes_batches(); }
  std::int64_t next_batch(std::int64_t n, Nest* batch) override {
    const StageTimer timer(&stage_.own_ns);
    return gave(cursor_->next_batch(n, batch));
  }
  std::int64_t skip(std::int64_t n) override {
    const StageTimer timer(&stage_.own_ns);
    return cursor_->skip(n);
  }
  BufferUse buffer() const override { return cursor_->buffer(); }

 private:
  std::int64_t gave(std::int64_t n) {
    stage_.elements += n;
    const BufferUse use = cursor_->buffer();
    if (use.threads > stage_.threads) stage_.threads = use.threads;
    if (use.room > 0) {
      ++stage_.samples;
      stage_.filled += use.filled;
      if (use.room > stage_.room) stage_.room = use.room;
      if (use.bytes > stage_.bytes) stage_.bytes = use.bytes;
    }
    return n;
  }

  std::unique_ptr<Cursor> cursor_;
  StageProbe& stage_;
};

// While tf::profiler watches the program, each stage's part of a step is in its tables and traces.
class ObservedCursor final : public Cursor {
 public:
  ObservedCursor(std::unique_ptr<Cursor> cursor, const char* name)
      : cursor_(std::move(cursor)), name_(name) {}
  bool next(Nest* element) override {
    return observed([&] { return cursor_->next(element); });
  }
  void save(StateWriter& out) override { cursor_->save(out); }
  void restore(StateReader& in) override { cursor_->restore(in); }
  const Rows* rows() const override { return cursor_->rows(); }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    return observed([&] { return cursor_->next_rows(rows, n); });
  }
  bool makes_batches() const override { return cursor_->makes_batches(); }
  std::int64_t next_batch(std::int64_t n, Nest* batch) override {
    return observed([&] { return cursor_->next_batch(n, batch); });
  }
  std::int64_t skip(std::int64_t n) override {
    return observed([&] { return cursor_->skip(n); });
  }
  BufferUse buffer() const override { return cursor_->buffer(); }

 private:
  template <class F>
  auto observed(F f) -> decltype(f()) {
    OpObserver* const observer = op_observer();
    if (!observer) return f();
    OpCall call{.op = name_, .how = Ran::handles};
    CallWatch watch(*observer, call);
    const auto result = f();
    watch.done();
    return result;
  }

  std::unique_ptr<Cursor> cursor_;
  const char* name_;
};

std::string bytes_text(std::int64_t bytes) {
  if (bytes >= 1 << 20) return format("{:.1f} MB", static_cast<double>(bytes) / (1 << 20));
  return bytes >= 1024 ? format("{:.1f} kB", static_cast<double>(bytes) / 1024)
                       : format("{} B", bytes);
}
// The share of the time in which a stage works.
double work_per_thread(const StageProfile& s) { return s.work_ms / std::max(s.threads, 1); }

}  // namespace

StageTimer::StageTimer(std::atomic<std::int64_t>* ns) : ns_(ns), outer_(innermost) {
  if (!ns_) return;
  innermost = this;
  start_ = observer_clock_ns();
}
StageTimer::~StageTimer() {
  if (!ns_) return;
  const std::int64_t all = observer_clock_ns() - start_;
  *ns_ += all - inner_;
  innermost = outer_;
  if (outer_) outer_->inner_ += all;
}

std::unique_ptr<Cursor> probed(std::unique_ptr<Cursor> cursor, StageProbe* stage) {
  return std::make_unique<ProbedCursor>(std::move(cursor), stage);
}

StageProbe* Probe::stage(const DatasetImpl& dataset, StageProbe* parent) {
  std::lock_guard lock(mutex_);
  const std::string name = dataset.name();
  for (StageProbe& s : stages_)
    if (s.parent == parent && s.name == name) return &s;
  return &stages_.emplace_back(name, parent);
}

std::vector<StageProfile> Probe::report() const {
  std::lock_guard lock(mutex_);
  std::vector<StageProfile> out;
  const auto add = [&](const auto& self, const StageProbe* parent) -> void {
    for (const StageProbe& s : stages_) {
      if (s.parent != parent) continue;
      StageProfile p{.stage = s.name, .depth = s.depth, .elements = s.elements};
      const double own = static_cast<double>(s.own_ns) * 1e-6;
      p.work_ms = static_cast<double>(s.function_ns) * 1e-6;
      p.threads = std::max<int>(s.threads, 1);
      // Who asks a stage with threads waits for them.
      (s.threads > 0 ? p.wait_ms : p.work_ms) += own;
      p.room = s.room;
      p.bytes = s.bytes;
      if (s.samples > 0) p.filled = static_cast<double>(s.filled) / static_cast<double>(s.samples);
      out.push_back(std::move(p));
      self(self, &s);
    }
  };
  add(add, nullptr);
  return out;
}

std::unique_ptr<Cursor> DatasetImpl::start(Place place) const {
  Probe* probe = place.pass->probe();
  if (!probe) {
    std::unique_ptr<Cursor> cursor = make_cursor(place);
    if (!op_observer()) return cursor;
    return std::make_unique<ObservedCursor>(std::move(cursor), name());
  }
  place.stage = probe->stage(*this, place.stage);
  StageProbe* stage = place.stage;
  return probed(make_cursor(place), stage);
}

PipelineProfile Dataset::profile(ProfileOptions options) const {
  RILL_CHECK(options.seconds > 0, invalid_argument,
             "[Dataset.profile] seconds is {}; expected more than zero", options.seconds);
  PipelineProfile out;
  Probe probe;
  {
    Pass pass;
    pass.set_probe(&probe);
    const OnHostByDefault on_host;
    const std::int64_t start = observer_clock_ns();
    const std::unique_ptr<Cursor> cursor = impl_->start({&pass});
    const auto seconds = [&] { return static_cast<double>(observer_clock_ns() - start) * 1e-9; };
    for (Nest element; out.elements != options.elements && seconds() < options.seconds;) {
      if (!cursor->next(&element)) break;
      ++out.elements;
    }
    out.seconds = seconds();
  }
  out.stages = probe.report();
  const auto slowest = std::max_element(out.stages.begin(), out.stages.end(),
                                        [](const StageProfile& a, const StageProfile& b) {
                                          return work_per_thread(a) < work_per_thread(b);
                                        });
  if (slowest != out.stages.end()) out.bottleneck = slowest->stage;
  return out;
}

std::string PipelineProfile::table() const {
  std::size_t width = 5;
  for (const StageProfile& s : stages)
    width = std::max(width, s.stage.size() + 2 * static_cast<std::size_t>(s.depth));
  const auto padded = [&](std::string text) {
    const std::size_t missing = width - text.size();
    return std::move(text) + std::string(missing, ' ');
  };
  std::string out = padded("Stage") + "  elements     work ms  threads     wait ms  buffer\n";
  for (const StageProfile& s : stages) {
    out +=
        padded(std::string(2 * static_cast<std::size_t>(s.depth), ' ') + s.stage) +
        format("  {:>8}  {:>10.1f}  {:>7}  {:>10.1f}", s.elements, s.work_ms, s.threads, s.wait_ms);
    if (s.room > 0) out += format("  {:.1f} of {}, {}", s.filled, s.room, bytes_text(s.bytes));
    out += '\n';
  }
  out += format("{} elements in {:.2f} s.", elements, seconds);
  for (const StageProfile& s : stages)
    if (s.stage == bottleneck) {
      out += format(" The bottleneck is {}, which works {:.0f} % of the time{}.\n", bottleneck,
                    100 * std::min(1.0, work_per_thread(s) / std::max(1e3 * seconds, 1e-9)),
                    s.threads > 1 ? format(" in {} threads", s.threads) : "");
      break;
    }
  return out;
}
std::ostream& operator<<(std::ostream& os, const PipelineProfile& profile) {
  return os << profile.table();
}

}  // namespace rill::data
