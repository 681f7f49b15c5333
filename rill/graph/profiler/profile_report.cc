// What a profile saw, as tables and as a trace for Chrome's viewer.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "rill/base/check.h"
#include "rill/graph/profiler/profiler_impl.h"

namespace rill::profiler {
namespace {

struct Row {
  std::string op, node;
  std::int64_t calls = 0, self_ns = 0, bytes = 0, flops = 0;
};

bool is_op(const CallKind& k) { return k.op.front() != '('; }

std::string fit(std::string text, std::size_t width) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  return text;
}

std::string counted(double n) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int u = 0;
  while (n >= 1000 && u < 5) n /= 1000, ++u;
  return format(u == 0 ? "{:.0f} {}" : "{:.1f} {}", n, kUnits[u]);
}
std::string rate(std::int64_t amount, std::int64_t ns) {  // in 10^9 a second
  return amount > 0 && ns > 0
             ? format("{:.1f}", static_cast<double>(amount) / static_cast<double>(ns))
             : "-";
}

std::string table_of(const Report::Data& data, bool by_node) {
  std::map<std::pair<std::string_view, std::string_view>, Row> rows;
  std::int64_t all_ns = 0, ops = 0, flops = 0, failed = 0;
  bool queued = false;
  for (const Event& e : data.events) {
    const CallKind& k = *e.what;
    Row& r = rows[{k.op, by_node ? std::string_view(k.node) : std::string_view()}];
    if (r.calls == 0) r.op = k.op, r.node = k.node;
    ++r.calls;
    r.self_ns += e.self_ns;
    r.bytes += k.bytes;
    r.flops += k.flops;
    all_ns += e.self_ns;
    ops += is_op(k);
    flops += k.flops;
    failed += e.failed;
    queued = queued || !k.device.empty();
  }
  std::vector<const Row*> order;
  for (const auto& [key, r] : rows) order.push_back(&r);
  std::stable_sort(order.begin(), order.end(),
                   [](const Row* a, const Row* b) { return a->self_ns > b->self_ns; });
  std::string out = format("{:<34}", "op");
  if (by_node) out += format(" {:<34}", "node");
  out += format(" {:>9} {:>10} {:>7} {:>10} {:>10} {:>7} {:>8}\n", "calls", "total ms", "share",
                "mean us", "bytes", "GB/s", "GFLOP/s");
  for (const Row* r : order) {
    out += format("{:<34}", fit(r->op, 34));
    if (by_node) out += format(" {:<34}", fit(r->node, 34));
    const double ns = static_cast<double>(r->self_ns);
    out += format(" {:>9} {:>10.3f} {:>6.1f}% {:>10.2f} {:>10} {:>7} {:>8}\n", r->calls, ns / 1e6,
                  all_ns > 0 ? 100 * ns / static_cast<double>(all_ns) : 0.,
                  ns / 1e3 / static_cast<double>(r->calls), counted(static_cast<double>(r->bytes)),
                  rate(r->bytes, r->self_ns), rate(r->flops, r->self_ns));
  }
  const double wall_ms = static_cast<double>(data.wall_ns) / 1e6;
  out +=
      format("{} calls of ops on {} thread{}: {:.3f} ms of {:.3f} ms wall time", ops, data.threads,
             data.threads == 1 ? "" : "s", static_cast<double>(all_ns) / 1e6, wall_ms);
  if (flops > 0)
    out += format("; {:.2f} GFLOP, {} GFLOP/s in all", static_cast<double>(flops) / 1e9,
                  rate(flops, data.wall_ns));
  out += "\n";
  if (failed > 0) out += format("{} calls ended by an error\n", failed);
  if (queued) {
    out += "kernels of devices other than the CPU show the time in which they are queued";
    if (!data.why_no_activities.empty()) out += "; " + data.why_no_activities;
    out += "\n";
  }
  if (data.dropped > 0)
    out += format(
        "{} further calls were not kept: the profile holds {} events; raise Options::max_events\n",
        data.dropped, data.events.size());
  return out;
}

// What GPUs did: one line a kernel of an op, or a kind of copy.
std::string table_of(const std::vector<Activity>& activities) {
  if (activities.empty()) return "";
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Row> rows;
  std::int64_t all_ns = 0;
  for (const Activity& a : activities) {
    Row& r = rows[{a.device, a.op, a.name}];
    if (r.calls == 0) {
      r.op = a.device + (a.op.empty() ? "" : " " + a.op);
      r.node = a.kind == "kernel" ? a.name : a.kind + ", " + a.name;
    }
    ++r.calls;
    r.self_ns += a.end_ns - a.start_ns;
    r.bytes += a.bytes;
    all_ns += a.end_ns - a.start_ns;
  }
  std::vector<const Row*> order;
  for (const auto& [key, r] : rows) order.push_back(&r);
  std::stable_sort(order.begin(), order.end(),
                   [](const Row* a, const Row* b) { return a->self_ns > b->self_ns; });
  std::string out =
      format("{:<34} {:<50} {:>9} {:>10} {:>7} {:>10} {:>10} {:>7}\n", "on the device", "kernel",
             "calls", "total ms", "share", "mean us", "bytes", "GB/s");
  for (const Row* r : order) {
    const double ns = static_cast<double>(r->self_ns);
    out += format("{:<34} {:<50} {:>9} {:>10.3f} {:>6.1f}% {:>10.2f} {:>10} {:>7}\n",
                  fit(r->op, 34), fit(r->node, 50), r->calls, ns / 1e6,
                  all_ns > 0 ? 100 * ns / static_cast<double>(all_ns) : 0.,
                  ns / 1e3 / static_cast<double>(r->calls),
                  r->bytes > 0 ? counted(static_cast<double>(r->bytes)) : "-",
                  rate(r->bytes, r->self_ns));
  }
  return out;
}

// The bytes of the UTF-8 character that begins at i; 0 when none does.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  auto at = [&](std::size_t k) -> unsigned {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  const unsigned c = at(i), next = at(i + 1);
  const std::size_t n = c < 0x80                ? 1
                        : c >= 0xc2 && c < 0xe0 ? 2
                        : (c & 0xf0) == 0xe0    ? 3
                        : c >= 0xf0 && c < 0xf5 ? 4
                                                : 0;
  for (std::size_t k = 1; k < n; ++k)
    if ((at(i + k) & 0xc0) != 0x80) return 0;
  // Forms that are too long, surrogates, and what lies beyond the last character.
  if ((c == 0xe0 && next < 0xa0) || (c == 0xed && next >= 0xa0) || (c == 0xf0 && next < 0x90) ||
      (c == 0xf4 && next >= 0x90))
    return 0;
  return n;
}

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    const auto c = static_cast<unsigned char>(ch);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += ch;
    } else if (c >= 0x80) {
      const std::size_t n = utf8_length(text, i);
      out += n ? text.substr(i, n) : "\\ufffd";
      i += n ? n - 1 : 0;
    } else if (c < 0x20 || c == 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
      out += buffer;
    } else {
      out += ch;
    }
  }
  out += '"';
}

// Microseconds with the nanoseconds behind the point.
void append_us(std::string& out, std::int64_t ns) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  out += buffer;
}

void append_event(std::string& out, const Event& e) {
  const CallKind& k = *e.what;
  out += ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(e.thread) + ",\"ts\":";
  append_us(out, e.start_ns);
  out += ",\"dur\":";
  append_us(out, e.end_ns - e.start_ns);
  out += ",\"name\":";
  append_json(out, is_op(k) || k.node.empty() ? k.op : k.op + " " + k.node);
  out += ",\"cat\":";
  append_json(out, k.how);
  out += ",\"args\":{\"node\":";
  append_json(out, k.node);
  out += ",\"inputs\":";
  append_json(out, describe(k.inputs));
  out += ",\"outputs\":";
  append_json(out, describe(k.outputs));
  out += ",\"bytes\":" + std::to_string(k.bytes);
  if (k.flops > 0) out += ",\"flops\":" + std::to_string(k.flops);
  if (!k.detail.empty()) out += ",\"detail\":", append_json(out, k.detail);
  if (!k.device.empty()) out += ",\"device\":", append_json(out, k.device);
  if (e.failed) out += ",\"failed\":true";
  out += "}}";
}

// The trace has a process of its own for each device; "GPU:0" is 2.
int process_of(std::string_view device) {
  return 2 + std::atoi(std::string(device.substr(device.find(':') + 1)).c_str());
}
void append_activity(std::string& out, const Activity& a) {
  out += ",\n{\"ph\":\"X\",\"pid\":" + std::to_string(process_of(a.device));
  out += ",\"tid\":0,\"ts\":";
  append_us(out, std::max<std::int64_t>(a.start_ns, 0));
  out += ",\"dur\":";
  append_us(out, a.end_ns - a.start_ns);
  out += ",\"name\":";
  append_json(out, a.name);
  out += ",\"cat\":";
  append_json(out, a.kind);
  out += ",\"args\":{\"op\":";
  append_json(out, a.op);
  if (a.bytes > 0) out += ",\"bytes\":" + std::to_string(a.bytes);
  out += "}}";
}

}  // namespace

std::string describe(const std::vector<Value>& values) {
  std::string out;
  for (const Value& v : values) {
    if (!out.empty()) out += ", ";
    out += std::string(v.dtype.name()) + " " + v.shape.to_string();
  }
  return out;
}

std::string Report::table() const { return table_of(*data_, false) + table_of(data_->activities); }
std::string Report::by_node() const { return table_of(*data_, true) + table_of(data_->activities); }
const std::vector<Activity>& Report::activities() const { return data_->activities; }
std::vector<Event> Report::events() const { return data_->events; }
std::int64_t Report::dropped_events() const { return data_->dropped; }
double Report::wall_seconds() const { return static_cast<double>(data_->wall_ns) / 1e9; }

void Report::save_chrome_trace(const std::string& path) const {
  const std::string temporary = format("{}.{}.tmp", path, getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  bool ok = file != nullptr;
  if (file) {
    std::string text =
        "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"rill\"}}";
    auto flush = [&] {
      ok = ok && std::fwrite(text.data(), 1, text.size(), file) == text.size();
      text.clear();
    };
    for (int t = 0; t < data_->threads; ++t)
      text += format(
          ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":"
          "\"thread {}\"}}}}",
          t, t);
    for (const Event& e : data_->events) {
      append_event(text, e);
      if (text.size() > (1 << 20)) flush();
    }
    std::set<std::string> devices;
    for (const Activity& a : data_->activities) devices.insert(a.device);
    for (const std::string& d : devices)
      text += format(
          ",\n{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"{}\"}}}}",
          process_of(d), d);
    for (const Activity& a : data_->activities) {
      append_activity(text, a);
      if (text.size() > (1 << 20)) flush();
    }
    text += "\n]\n";
    flush();
    ok = (std::fclose(file) == 0) && ok;
    ok = ok && std::rename(temporary.c_str(), path.c_str()) == 0;
  }
  if (ok) return;
  const int error = errno;
  std::remove(temporary.c_str());
  RILL_FAIL(unavailable,
            "[profiler.save_chrome_trace] \"{}\" cannot be written: {}; expected a path in a "
            "folder that exists, with room on its disk",
            path, std::strerror(error));
}

}  // namespace rill::profiler
