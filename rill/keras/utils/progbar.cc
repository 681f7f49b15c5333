#include "rill/keras/utils/progbar.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "rill/base/format.h"

namespace rill::keras::utils {

namespace {

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

std::string fixed(double v, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, v);
  return text;
}

// "2s", "3ms", "15us": the time of one step.
std::string per_unit(double seconds, const std::string& unit) {
  if (seconds >= 1 || seconds == 0) return fixed(seconds, 0) + "s/" + unit;
  if (seconds >= 1e-3) return fixed(seconds * 1e3, 0) + "ms/" + unit;
  return fixed(seconds * 1e6, 0) + "us/" + unit;
}

std::string eta_text(double seconds) {
  const auto s = static_cast<long>(seconds);
  if (s > 3600) return format("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60);
  if (s > 60) return format("{}:{:02}", s / 60, s % 60);
  return format("{}s", s);
}

std::string numbers(const Logs& values) {
  std::string s;
  for (const auto& [name, v] : values.items()) {
    char text[64];
    std::snprintf(text, sizeof text, std::abs(v) > 1e-3 || v == 0 ? "%.4f" : "%.4e", v);
    s += " - " + name + ": " + text;
  }
  return s;
}

}  // namespace

Progbar::Progbar(std::int64_t target, ProgbarOptions options)
    : target_(target),
      options_(std::move(options)),
      out_(options_.out ? options_.out : &std::cout),
      moves_(options_.verbose == 1 && out_ == &std::cout && isatty(STDOUT_FILENO)),
      start_(std::chrono::steady_clock::now()),
      last_(start_ - std::chrono::hours(1)) {}

bool Progbar::due(std::int64_t current) const {
  if (options_.verbose == 0) return false;
  if (target_ >= 0 && current >= target_) return true;
  return moves_ && seconds_since(last_) >= options_.interval;
}

std::string Progbar::line(std::int64_t current, const Logs& values, bool last) const {
  const double elapsed = seconds_since(start_);
  const double each = current > 0 ? elapsed / static_cast<double>(current) : 0;
  if (options_.verbose == 2) {
    const std::string count =
        target_ >= 0 ? format("{}/{}", target_, target_) : std::to_string(current);
    return count + " - " + fixed(elapsed, 0) + "s" + numbers(values) + " - " +
           per_unit(elapsed, "epoch") + " - " + per_unit(each, options_.unit_name);
  }
  std::string s;
  if (target_ >= 0) {
    const std::string total = std::to_string(target_), now = std::to_string(current);
    s.append(total.size() > now.size() ? total.size() - now.size() : 0, ' ');
    s += now + "/" + total + " [";
    const auto width = static_cast<std::size_t>(options_.width);
    const double share =
        target_ > 0 ? static_cast<double>(current) / static_cast<double>(target_) : 1;
    const auto done = std::min(width, static_cast<std::size_t>(static_cast<double>(width) * share));
    if (done > 0) {
      s.append(done - 1, '=');
      s += current < target_ ? '>' : '=';
    }
    s.append(width - done, '.');
    s += "]";
  } else {
    s = format("{:7}/Unknown", current);
  }
  if (last || target_ < 0)
    s += " - " + fixed(elapsed, 0) + "s " + per_unit(each, options_.unit_name);
  else
    s += " - ETA: " + eta_text(each * static_cast<double>(target_ - current));
  return s + numbers(values);
}

void Progbar::update(std::int64_t current, const Logs& values, bool finalize) {
  seen_ = current;
  const bool last = finalize || (target_ >= 0 && current >= target_);
  if (options_.verbose == 0 || (!last && !due(current))) return;
  if (last && target_ < 0) target_ = current;
  std::string text = line(current, values, last);
  if (moves_) {
    // Over what is there, and what is left of a longer line blanked.
    std::string over = "\r" + text;
    if (drawn_ > text.size()) over.append(drawn_ - text.size(), ' ');
    drawn_ = text.size();
    *out_ << over << (last ? "\n" : "") << std::flush;
  } else if (last) {
    *out_ << text << '\n' << std::flush;
  }
  last_ = std::chrono::steady_clock::now();
}

}  // namespace rill::keras::utils
