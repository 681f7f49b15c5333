#pragma once
// Rows of the budget table: a figure of ours beside what it is held to, measured
// in turns in one run. The machine is noisy: the fastest of many samples counts.
#include <algorithm>
#include <chrono>
#include <cstdio>

namespace budget {

// Seconds of one call: `calls` calls in one sample.
template <class F>
double sample(F&& body, int calls = 1) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) body();
  const std::chrono::duration<double> t = std::chrono::steady_clock::now() - start;
  return t.count() / calls;
}

template <class F>
double best(F&& body, int calls, int samples) {
  double s = 1e30;
  for (int i = 0; i < samples; ++i) s = std::min(s, sample(body, calls));
  return s;
}

struct Pair {
  double ours, reference;
};
// The best of each, in turns.
template <class F, class G>
Pair best_of_both(F&& ours, G&& reference, int calls, int samples) {
  Pair p{1e30, 1e30};
  for (int i = 0; i < samples; ++i) {
    p.ours = std::min(p.ours, sample(ours, calls));
    p.reference = std::min(p.reference, sample(reference, calls));
  }
  return p;
}

inline const char* verdict(bool goal, bool gate) {
  return goal ? "goal" : gate ? "gate" : "MISSED";
}

// A time that must be small.
inline void time_row(const char* what, double seconds, double gate_ns, double goal_ns) {
  const double ns = seconds * 1e9;
  std::printf("%-62s %10.0f ns   gate %6.0f  goal %6.0f  %s\n", what, ns, gate_ns, goal_ns,
              verdict(ns <= goal_ns, ns <= gate_ns));
}
// A speed as part of the reference's: 1 is as fast.
inline void speed_row(const char* what, Pair p, double gate, double goal) {
  const double r = p.reference / p.ours;
  std::printf("%-62s %8.3f ms of %8.3f  speed %4.2f  gate %4.2f  goal %4.2f  %s\n", what,
              p.ours * 1e3, p.reference * 1e3, r, gate, goal, verdict(r >= goal, r >= gate));
}
// A time as a multiple of the reference's.
inline void multiple_row(const char* what, Pair p, double gate, double goal) {
  const double r = p.ours / p.reference;
  std::printf("%-62s %8.3f ms of %8.3f  times %4.2f  gate %4.2f  goal %4.2f  %s\n", what,
              p.ours * 1e3, p.reference * 1e3, r, gate, goal, verdict(r <= goal, r <= gate));
}

}  // namespace budget
