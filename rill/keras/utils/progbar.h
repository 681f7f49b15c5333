#pragma once
#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "rill/keras/models/logs.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

struct ProgbarOptions {
  int width = 30;
  int verbose = 1;         // 0 nothing, 1 a bar, 2 a line at the end
  double interval = 0.05;  // seconds between two drawings
  std::string unit_name = "step";
  std::ostream* out = nullptr;  // standard output
};

// The progress of a long work, as Keras shows it:
//
//   1875/1875 [==============================] - 3s 2ms/step - loss: 0.2978 - accuracy: 0.9131
//
// On a terminal it moves; elsewhere only the last line is written, so that a log stays readable.
class Progbar {
 public:
  // target: how many there will be; -1 when that is not known.
  explicit Progbar(std::int64_t target, ProgbarOptions options = {});
  // The current count, and numbers to show. `finalize`: it is the last.
  void update(std::int64_t current, const Logs& values = {}, bool finalize = false);
  void add(std::int64_t n, const Logs& values = {}) { update(seen_ + n, values); }
  // Whether update would draw now: ask first, and do not compute numbers in vain.
  bool due(std::int64_t current) const;
  bool moves() const { return moves_; }

 private:
  std::string line(std::int64_t current, const Logs& values, bool last) const;
  std::int64_t target_, seen_ = 0;
  ProgbarOptions options_;
  std::ostream* out_;
  bool moves_;
  std::size_t drawn_ = 0;  // characters of the line on the terminal
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace utils
}  // namespace keras
}  // namespace RILL_API
