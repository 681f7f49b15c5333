#pragma once
#include <string_view>

#include "rill/base/format.h"

// What the library says of itself goes to standard error: by default warnings,
// of which there are few. The environment variable RILL_LOG chooses what is
// said: debug, info, warning, error, or off.
namespace rill RILL_API {

enum class LogLevel { debug, info, warning, error, off };

LogLevel log_level();
void set_log_level(LogLevel level);
// Where lines go instead of standard error; null restores it.
using LogSink = void (*)(LogLevel level, std::string_view line);
void set_log_sink(LogSink sink);

namespace detail {
// "rill: warning: text", one write a line.
void write_log(LogLevel level, std::string_view text);
}  // namespace detail

}  // namespace RILL_API

// RILL_LOG(warning, "{} of {} values are not in the file", missing, all): the
// arguments are evaluated only when the level is on.
#define RILL_LOG(level, ...)                                                           \
  do {                                                                                 \
    if (::rill::LogLevel::level >= ::rill::log_level())                                \
      ::rill::detail::write_log(::rill::LogLevel::level, ::rill::format(__VA_ARGS__)); \
  } while (false)
