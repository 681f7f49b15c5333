#include "rill/data/thread_tuner_impl.h"

#include <algorithm>

namespace rill::data {
namespace {

// Windows are as long as it takes to tell a rate from noise.
constexpr std::int64_t kFewestElements = 16;
constexpr double kShortest = 5e-3;
constexpr double kWaits = 0.1;  // of the time: more threads may help
constexpr double kGain = 1.1;   // of the rate: they did
constexpr int kLongestPause = 64;

}  // namespace

void ThreadTuner::took(double waited, double now) {
  if (start_ < 0) start_ = now - waited;
  waited_ += waited;
  ++elements_;
  const double time = now - start_;
  if (elements_ < std::max(kFewestElements, 2 * threads_) || time < kShortest) return;
  const double rate = static_cast<double>(elements_) / time, share = waited_ / time;
  start_ = now;
  waited_ = 0;
  elements_ = 0;
  if (settling_)
    settling_ = false;
  else
    decide(rate, share);
}

void ThreadTuner::decide(double rate, double share_waited) {
  if (before_ > 0) {
    const bool helped = rate >= kGain * rate_before_;
    if (!helped) {
      threads_ = before_;
      settling_ = true;
      pause_ = next_pause_;
      next_pause_ = std::min(2 * next_pause_, kLongestPause);
    } else {
      next_pause_ = 4;
    }
    before_ = 0;
    if (!helped) return;
  }
  if (pause_ > 0) {
    --pause_;
    return;
  }
  if (share_waited < kWaits || threads_ >= most_) return;
  before_ = threads_;
  rate_before_ = rate;
  threads_ = std::min(2 * threads_, most_);
  settling_ = true;
}

void ThreadTuner::limit(std::int64_t threads) {
  most_ = std::max<std::int64_t>(threads, 1);
  if (threads_ <= most_) return;
  threads_ = most_;
  before_ = 0;
  settling_ = true;
}

}  // namespace rill::data
