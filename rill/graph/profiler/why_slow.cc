// What runs slower than it need, why, and what to do.
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "rill/graph/function/function_impl.h"
#include "rill/graph/plan/plan.h"
#include "rill/graph/profiler/profiler_impl.h"

namespace rill::profiler {
namespace {

// Calls below this, and many of them, cost more to make than to carry out.
constexpr double kTinyNs = 2000;
constexpr std::int64_t kManyCalls = 100;
// A kernel that takes this long on one core would gain from a second.
constexpr double kLongNs = 200e3;
constexpr std::int64_t kMuchWork = 10'000'000, kManyBytes = 1 << 20;
// A second trace, with sizes unknown, and a few plans are as it should be.
constexpr int kManyRetraces = 2, kManyPlans = 4;

constexpr const char* kMendDtype =
    "compute in float32 (tf::cast once, outside the loop) and keep narrow types for storage";
constexpr const char* kMendRetrace =
    "pass numbers that change as tensors, and give the function an input_signature with None for "
    "sizes that change";
constexpr const char* kMendPlans =
    "pad inputs to a few sizes, or drop the last, smaller batch; the 8 plans used last are kept";

struct Tally {
  const CallKind* kind;
  std::int64_t calls = 0, self_ns = 0;
  double mean_ns() const { return static_cast<double>(self_ns) / static_cast<double>(calls); }
  double ms() const { return static_cast<double>(self_ns) / 1e6; }
};

// Findings of one sort about one thing become one.
class Findings {
 public:
  void add(std::string what, std::string reason, std::string_view mend, std::int64_t calls,
           double ms) {
    for (Finding& f : list_)
      if (f.what == what && f.reason == reason) {
        f.calls += calls;
        f.milliseconds += ms;
        return;
      }
    list_.push_back({std::move(what), std::move(reason), std::string(mend), calls, ms});
  }
  std::vector<Finding> take() {
    std::stable_sort(list_.begin(), list_.end(), [](const Finding& a, const Finding& b) {
      return a.milliseconds > b.milliseconds;
    });
    return std::move(list_);
  }

 private:
  std::vector<Finding> list_;
};

bool computes(const CallKind& k) {
  return k.how == "eager" || k.how == "node" || k.how == "kernel" || k.how == "update" ||
         k.how == "general" || k.how == "group";
}

// The dtype that the arithmetic is about: that of the first input with one.
DType main_dtype(const CallKind& k) {
  for (const auto* values : {&k.outputs, &k.inputs})
    for (const Value& v : *values)
      if (kNumericTypes.contains(v.dtype)) return v.dtype;
  return {};
}

bool is_product(const CallKind& k) { return k.op == "MatMul" || k.op == "BatchMatMulV2"; }

void generic_dtypes(const Tally& t, Findings& out) {
  const CallKind& k = *t.kind;
  const DType d = main_dtype(k);
  if (!computes(k) || !k.device.empty() || !d.defined()) return;
  const std::string what = format("{} of {}", k.op, d);
  const bool half = kHalfTypes.contains(d);
  const bool small = d == int8 || d == uint8 || d == int16 || d == uint16;
  if (k.widened_calls > 0 || (t.calls == 0 && is_product(k) && (half || small)))
    out.add(what,
            format("{} is computed in {}: inputs are widened into scratch memory and the result "
                   "is narrowed at every call",
                   d, half ? "float32" : "a wider integer"),
            kMendDtype, k.widened_calls, t.ms());
  else if (half && k.elementwise && k.op != "Cast")
    out.add(what,
            format("the CPU computes {} in float32: every element is converted there and back", d),
            kMendDtype, t.calls, t.ms());
}

void refused_primitives(const Tally& t, Findings& out) {
  const CallKind& k = *t.kind;
  if (k.refused_calls == 0) return;
  const DType d = main_dtype(k);
  out.add(format("{} on {}", k.op, describe(k.inputs)),
          format("{}: plain loops ran instead", k.refused),
          d != float32 && !kHalfTypes.contains(d)
              ? "compute in float32"
              : "choose strides, dilations and a number of groups that are common, in a build with "
                "oneDNN",
          k.refused_calls, t.ms());
}

void hidden_copies(const Tally& t, Findings& out) {
  const CallKind& k = *t.kind;
  if (k.moved_bytes > 0)
    out.add(k.op,
            format("its inputs were copied from one device to another: {} bytes in {} calls",
                   k.moved_bytes, t.calls),
            "make them where they are used: open tf::device() around what makes them, and keep "
            "variables on the device of their ops",
            t.calls, t.ms());
  if (k.copied_bytes > 0)
    out.add(k.op,
            format("variables were copied before they could be changed, since somebody held the "
                   "old value: {} bytes in {} calls",
                   k.copied_bytes, t.calls),
            "let go of tensors that were read from the variable, and of tapes that saw them, "
            "before the update",
            t.calls, t.ms());
}

void serial_kernels(const Tally& t, double busy_cores, Findings& out) {
  const CallKind& k = *t.kind;
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  if (t.calls == 0 || k.width != 1 || cores < 2 || busy_cores > 0.8 * cores) return;
  if (!computes(k) || !k.device.empty() || t.mean_ns() < kLongNs) return;
  if (k.flops < kMuchWork && k.bytes < kManyBytes) return;
  out.add(k.op,
          format("a call of {:.1f} ms had one core of {}, and the others were idle",
                 t.mean_ns() / 1e6, static_cast<int>(cores)),
          "threads other than the main one begin with one core: call rill::set_compute_width(n) "
          "there; on the main thread look at OMP_NUM_THREADS",
          t.calls, t.ms());
}

void general_steps(const Tally& t, Findings& out) {
  const CallKind& k = *t.kind;
  if (k.how != "general" || k.detail.find("shape") == std::string::npos) return;
  out.add(format("{} \"{}\"", k.op, k.node), "it runs outside the plan: " + k.detail,
          "set_shape() where you know the shape; replace ops whose result has as many elements as "
          "some values say (boolean_mask, unique, where of one argument) by forms of fixed size",
          t.calls, t.ms());
}

void unplanned(const Tally& t, Findings& out) {
  if (t.kind->how != "node") return;
  out.add("functions that run node by node",
          "they were not planned: their shapes were new at nearly every call, or a device scope "
          "was open around the call",
          "call them outside device scopes, with few different shapes", t.calls, t.ms());
}

void tiny_calls(const std::vector<Tally>& all, Findings& out) {
  std::map<std::string_view, Tally> by_op;
  for (const Tally& t : all) {
    if (t.kind->how != "eager") continue;
    Tally& sum = by_op[t.kind->op];
    sum.kind = t.kind;
    sum.calls += t.calls;
    sum.self_ns += t.self_ns;
  }
  std::string names;
  Tally tiny{nullptr};
  for (const auto& [op, t] : by_op) {
    if (t.calls <= kManyCalls || t.mean_ns() >= kTinyNs) continue;
    names += (names.empty() ? "" : ", ") + std::string(op);
    tiny.calls += t.calls;
    tiny.self_ns += t.self_ns;
  }
  if (tiny.calls > 0)
    out.add("many tiny ops: " + names,
            format("{} eager calls took {:.2f} us each: calling them costs more than their work",
                   tiny.calls, tiny.mean_ns() / 1e3),
            "put the step that calls them into a tf::function, or give them more elements at once",
            tiny.calls, tiny.ms());
}

void making_anew(const std::vector<Tally>& all, Findings& out) {
  struct Made {
    std::int64_t count = 0;
    double ms = 0;
    std::string why;
  };
  std::map<std::string_view, Made> traces, plans;
  for (const Tally& t : all) {
    const CallKind& k = *t.kind;
    if (k.how != "plan" && (k.how != "trace" || k.detail.empty())) continue;
    Made& m = (k.how == "plan" ? plans : traces)[k.node];
    m.count += t.calls;
    m.ms += t.ms();
    m.why = k.detail;
  }
  for (const auto& [name, m] : traces)
    if (m.count >= kManyRetraces)
      out.add(format("function \"{}\"", name),
              format("it was traced again {} times, lately since {}", m.count, m.why), kMendRetrace,
              m.count, m.ms);
  for (const auto& [name, m] : plans)
    if (m.count >= kManyPlans)
      out.add(format("function \"{}\"", name),
              format("it was planned again {} times: the shapes of its inputs change", m.count),
              kMendPlans, m.count, m.ms);
}

std::string as_text(const std::vector<Finding>& list, double all_ms) {
  if (list.empty()) return "nothing ran on a path that is known to be slow\n";
  std::string out;
  int n = 0;
  for (const Finding& f : list) {
    out += format("{}. {}", ++n, f.what);
    if (f.milliseconds > 0)
      out += format(" ({} calls, {:.3f} ms, {:.1f}% of the time)", f.calls, f.milliseconds,
                    100 * f.milliseconds / all_ms);
    out += format("\n   why:  {}\n   mend: {}\n", f.reason, f.mend);
  }
  return out;
}

}  // namespace

std::vector<Finding> Report::findings() const {
  std::map<const CallKind*, Tally> tallies;
  std::int64_t busy_ns = 0;
  for (const Event& e : data_->events) {
    Tally& t = tallies[e.what];
    t.kind = e.what;
    ++t.calls;
    t.self_ns += e.self_ns;
    busy_ns += e.self_ns * e.what->width;
  }
  const double busy =
      data_->wall_ns > 0 ? static_cast<double>(busy_ns) / static_cast<double>(data_->wall_ns) : 0;
  std::vector<Tally> all;
  for (const CallKind& k : data_->kinds)  // in the order in which they came
    if (const auto it = tallies.find(&k); it != tallies.end()) all.push_back(it->second);
  Findings out;
  for (const Tally& t : all) {
    generic_dtypes(t, out);
    refused_primitives(t, out);
    hidden_copies(t, out);
    serial_kernels(t, busy, out);
    general_steps(t, out);
    unplanned(t, out);
  }
  tiny_calls(all, out);
  making_anew(all, out);
  return out.take();
}

std::string Report::why_slow() const {
  std::int64_t all = 0;
  for (const Event& e : data_->events) all += e.self_ns;
  return as_text(findings(), static_cast<double>(all) / 1e6);
}

std::vector<Finding> findings(const detail::AnyFunction& f) {
  Findings out;
  std::vector<Ref<GraphFunction>> bodies;
  {
    std::lock_guard lock(f.impl().mutex);
    const int again = f.impl().trace_count - 1;
    if (again >= kManyRetraces)
      out.add(format("function \"{}\"", f.name()),
              format("it was traced again {} times, lately since {}", again,
                     f.impl().why_retraced.empty() ? "other specs were asked for"
                                                   : f.impl().why_retraced),
              kMendRetrace, again, 0);
    for (const auto& t : f.impl().traces) bodies.push_back(t->body);
  }
  for (const auto& body : bodies) {
    const GraphFunction::History h = body->history();
    if (h.plans_made >= kManyPlans)
      out.add(format("function \"{}\"", body->name),
              format("it was planned again {} times, and a plan was used again {} times: the "
                     "shapes of its inputs change",
                     h.plans_made, h.plans_found),
              kMendPlans, h.plans_made, 0);
    if (!h.plan) continue;
    for (const OpCall& call : h.plan->calls()) {
      const CallKind kind = kind_of(call);
      generic_dtypes({&kind}, out);
      general_steps({&kind}, out);
    }
  }
  return out.take();
}
std::string why_slow(const detail::AnyFunction& f) { return as_text(findings(f), 0); }

}  // namespace rill::profiler
