#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rill/core/shape.h"

// Where the time of a program goes, op by op, in eager execution and in traced functions:
//
//   tf::profiler::Profile profile;
//   train();
//   const auto report = profile.stop();
//   std::cout << report.table() << report.why_slow();
//   report.save_chrome_trace("train.json");   // for chrome://tracing or ui.perfetto.dev
//
// All threads are watched. While no profile runs, nothing is measured and nothing costs.
namespace rill RILL_API {

namespace detail {
class AnyFunction;
}

namespace profiler {

struct Options {
  // Calls beyond these are counted, not kept. One takes about 40 bytes.
  std::int64_t max_events = 1'000'000;
};

struct Value {
  DType dtype;
  TensorShape shape;
};

// Calls that are alike: the same op and node on the same shapes.
struct CallKind {
  // The op's name ("MatMul"); of a group of elementwise ops, the members' ("Mul+Add"). A
  // function shows as "(call)", and the making of it as "(trace)" and "(plan)".
  std::string op;
  std::string node;  // its name in the graph; empty outside functions
  // "eager", "handles" (no kernel: control flow, views), "node" (a function that was not
  // planned), or how a plan runs it: "kernel", "update", "read", "view", "general",
  // "group"; "function", "trace", "plan" for what is not an op.
  std::string how;
  std::string detail;  // why a step has general form; why a function was traced again
  std::string device;  // "GPU:0", whose kernels are only queued in the time shown; empty: the CPU
  std::vector<Value> inputs, outputs;
  std::int64_t bytes = 0;  // read and written by one call, by the sizes of its tensors
  std::int64_t flops = 0;  // of one call of a product or a convolution
  int width = 1;           // cores that a call could use
  bool elementwise = false;
  // Slow paths that calls took, in all.
  std::int64_t moved_bytes = 0, copied_bytes = 0, widened_calls = 0, refused_calls = 0;
  std::string refused;  // why the fast primitive did not take it
};

struct Event {
  const CallKind* what = nullptr;  // lives as long as a copy of the report
  std::int64_t start_ns = 0;       // since the start of the profile
  std::int64_t end_ns = 0;         // of the steady clock, as is start_ns
  std::int64_t self_ns = 0;        // without the calls inside it
  int thread = 0;                  // counted from 0, in the order of their first calls
  bool failed = false;             // it ended by an error
};

// A kernel, a copy or a fill of a GPU, in its own time, as CUPTI saw it.
struct Activity {
  std::string kind;    // "kernel", "copy", "fill"
  std::string name;    // of the kernel; "host to device"
  std::string op;      // that queued it; empty: a copy of the user's, or a recorded step
  std::string device;  // "GPU:0"
  std::int64_t start_ns = 0, end_ns = 0;  // as of events
  std::int64_t bytes = 0;                 // that were copied or filled
};

// Something that runs slower than it need.
struct Finding {
  std::string what;    // "MatMul of float16"
  std::string reason;  // why it is slow
  std::string mend;    // what to do
  std::int64_t calls = 0;
  double milliseconds = 0;  // spent there; 0 when nothing was measured
};

// What a profile saw. A handle: copies share it.
class Report {
 public:
  class Data;
  explicit Report(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  // One line an op, the most time first: calls, total ms, share of the whole, mean us,
  // bytes, GB/s, GFLOP/s; then a summary. Time is that in an op itself, without the calls
  // inside it, so that shares add up. Kernels and copies of GPUs have a table of their own.
  std::string table() const;
  std::string by_node() const;  // one line a node
  // What ran on a slow path, the most time first, with reasons and what to do.
  std::vector<Finding> findings() const;
  std::string why_slow() const;  // the same as text
  // A JSON file for Chrome's viewer or Perfetto, complete or not there at all. Unavailable
  // when it cannot be written.
  void save_chrome_trace(const std::string& path) const;

  std::vector<Event> events() const;  // by thread, in the order in which they ended
  // What GPUs did, by start; none where CUPTI is not installed, and table() says so.
  const std::vector<Activity>& activities() const;
  std::int64_t dropped_events() const;
  double wall_seconds() const;

 private:
  std::shared_ptr<const Data> data_;
};

// One profile at a time: FailedPrecondition when one runs, or, for stop(), none does.
void start(const Options& options = {});
Report stop();
bool running();

// A profile for the time of a scope.
class [[nodiscard]] Profile {
 public:
  explicit Profile(const Options& options = {}) { start(options); }
  ~Profile();
  Profile(const Profile&) = delete;
  Report stop();

 private:
  bool stopped_ = false;
};

// What is slow about a traced function, as far as its traces and its last plan tell;
// a report knows more, since it has seen it run.
std::vector<Finding> findings(const detail::AnyFunction& f);
std::string why_slow(const detail::AnyFunction& f);
template <class F>
requires requires(const F& f) { f.any(); }
std::string why_slow(const F& f) { return why_slow(f.any()); }
template <class F>
requires requires(const F& f) { f.any(); }
std::vector<Finding> findings(const F& f) { return findings(f.any()); }

}  // namespace profiler

}  // namespace RILL_API
