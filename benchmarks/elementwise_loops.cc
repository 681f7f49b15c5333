// Bandwidth of the element loops against a plain copy loop, one thread.
//   elementwise_loops [repetitions]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "rill/kernels/cpu/simd_loop.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/elementary.h"

namespace {

using rill::cpu::binary_loop;
using rill::cpu::binary_loop_scalar_right;
using rill::cpu::unary_loop;
namespace fn = rill::functors;

double best_seconds(const std::function<void()>& body, int inner, int rounds) {
  double best = 1e30;
  for (int r = 0; r < rounds; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < inner; ++i) body();
    const std::chrono::duration<double> t = std::chrono::steady_clock::now() - start;
    best = std::min(best, t.count() / inner);
  }
  return best;
}

// The yardstick: a vectorised loop, not turned into memcpy, whose
// non-temporal stores would make it another thing.
[[gnu::noinline, gnu::optimize("no-tree-loop-distribute-patterns")]] void copy_loop(
    const float* x, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}

void measure(std::int64_t n, int rounds) {
  std::vector<float> x(n), b(n), y(n, 0.0f);
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = 0.001f + 4.0f * static_cast<float>(i % 9973) / 9973.0f;
    b[i] = 1.0f - x[i];
  }
  const int inner = static_cast<int>(std::max<std::int64_t>(1, (std::int64_t{1} << 22) / n));
  struct Case {
    const char* name;
    int streams;  // arrays moved
    std::function<void()> body;
  };
  const float *px = x.data(), *pb = b.data();
  float* py = y.data();
  const Case cases[] = {
      {"copy", 2, [=] { copy_loop(px, py, n); }},
      {"add", 3, [=] { binary_loop<fn::Add>(px, pb, py, n); }},
      {"mul", 3, [=] { binary_loop<fn::Mul>(px, pb, py, n); }},
      {"mul scalar", 2, [=] { binary_loop_scalar_right<fn::Mul>(px, 3.0f, py, n); }},
      {"relu", 2, [=] { unary_loop<fn::Relu>(px, py, n); }},
      {"sqrt", 2, [=] { unary_loop<fn::Sqrt>(px, py, n); }},
      {"exp", 2, [=] { unary_loop<fn::Exp>(px, py, n); }},
      {"log", 2, [=] { unary_loop<fn::Log>(px, py, n); }},
      {"tanh", 2, [=] { unary_loop<fn::Tanh>(px, py, n); }},
      {"sigmoid", 2, [=] { unary_loop<fn::Sigmoid>(px, py, n); }},
      {"softplus", 2, [=] { unary_loop<fn::Softplus>(px, py, n); }},
      {"sin", 2, [=] { unary_loop<fn::Sin>(px, py, n); }},
      {"erf", 2, [=] { unary_loop<fn::Erf>(px, py, n); }},
  };
  std::printf("%lld floats\n", static_cast<long long>(n));
  double copy = 0;
  for (const Case& c : cases) {
    c.body();
    const double seconds = best_seconds(c.body, inner, rounds);
    const double rate = 4.0 * c.streams * static_cast<double>(n) / seconds * 1e-9;
    if (copy == 0) copy = rate;
    std::printf("  %-12s %7.2f GB/s  %6.3f ns/element  %5.2f of copy\n", c.name, rate,
                seconds * 1e9 / static_cast<double>(n), rate / copy);
  }
}

void small(int rounds) {
  std::vector<float> a(16, 1.0f), b(16, 2.0f), y(16);
  for (const std::int64_t n : {1, 2, 4, 8, 16}) {
    volatile std::int64_t count = n;
    const double add = best_seconds(
        [&] { binary_loop<fn::Add>(a.data(), b.data(), y.data(), count); }, 100000, rounds);
    const double exp =
        best_seconds([&] { unary_loop<fn::Exp>(a.data(), y.data(), count); }, 100000, rounds);
    const double sin =
        best_seconds([&] { unary_loop<fn::Sin>(a.data(), y.data(), count); }, 100000, rounds);
    std::printf("  n = %-2lld  add %5.1f ns  exp %5.1f ns  sin %5.1f ns\n",
                static_cast<long long>(n), add * 1e9, exp * 1e9, sin * 1e9);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  measure(std::int64_t{1} << 24, rounds);
  measure(std::int64_t{1} << 13, rounds);
  small(rounds);
}
