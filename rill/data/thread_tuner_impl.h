#pragma once
#include <cstdint>

namespace rill::data {

// How many threads should read ahead, by what they are good for. It begins with one and doubles
// while whoever takes the elements waits for them; a number that gives no more of them per second
// is taken back. Elements and their order do not depend on it.
class ThreadTuner {
 public:
  explicit ThreadTuner(std::int64_t most) : most_(most) {}
  std::int64_t threads() const { return threads_; }
  // An element was taken at time `now`, after `waited` of that time; both in seconds.
  void took(double waited, double now);
  // More threads than these are not allowed.
  void limit(std::int64_t threads);

 private:
  void decide(double rate, double share_waited);

  std::int64_t most_, threads_ = 1;
  std::int64_t before_ = 0;  // the threads before a trial; 0: there is none
  double rate_before_ = 0;
  bool settling_ = true;            // what is measured belongs to the number of threads before
  int pause_ = 0, next_pause_ = 4;  // windows without trials
  // The window that is measured.
  double start_ = -1, waited_ = 0;
  std::int64_t elements_ = 0;
};

}  // namespace rill::data
