#include "rill/base/logging.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace rill {
namespace {

constexpr std::string_view kNames[] = {"debug", "info", "warning", "error", "off"};

LogLevel level_from_environment() {
  const char* text = std::getenv("RILL_LOG");
  for (int i = 0; text && i < 5; ++i)
    if (kNames[i] == text) return static_cast<LogLevel>(i);
  return LogLevel::warning;
}
std::atomic<LogLevel>& current_level() {
  static std::atomic<LogLevel> level{level_from_environment()};
  return level;
}
std::atomic<LogSink> current_sink{nullptr};

}  // namespace

LogLevel log_level() { return current_level().load(std::memory_order_relaxed); }
void set_log_level(LogLevel level) { current_level() = level; }
void set_log_sink(LogSink sink) { current_sink = sink; }

void detail::write_log(LogLevel level, std::string_view text) {
  const std::string line = format("rill: {}: {}\n", kNames[static_cast<int>(level)], text);
  if (const LogSink sink = current_sink)
    return sink(level, std::string_view(line).substr(0, line.size() - 1));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace rill
