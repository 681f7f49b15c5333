#include "rill/base/parallel.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "rill/base/check.h"
#include "rill/base/core_count.h"
#include "rill/base/denormals.h"
#include "rill/base/waiting.h"

#if RILL_PARALLEL_OPENMP
#include <omp.h>
#endif

namespace rill {
namespace {

int full_width() {
#if RILL_PARALLEL_OPENMP
  // OMP_NUM_THREADS, if set, wins.
  static const int n =
      std::getenv("OMP_NUM_THREADS") ? std::max(1, omp_get_max_threads()) : usable_cores();
  return n;
#else
  return usable_cores();
#endif
}

// 0: not decided. The thread that first runs library code while it is the
// process's main thread gets the cores, every other thread 1.
thread_local int width = 0;
thread_local bool inside_region = false;

bool is_main_thread() { return getpid() == gettid(); }

// A libgomp region in a forked child hangs: the pool's threads are gone.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { width = 1; });

}  // namespace

int compute_width() {
  if (width == 0) set_compute_width(is_main_thread() ? full_width() : 1);
  return width;
}

void set_compute_width(int w) {
  RILL_CHECK(w >= 1, invalid_argument, "[set_compute_width] width must be at least 1, got {}", w);
  width = w;
#if RILL_PARALLEL_OPENMP
  omp_set_num_threads(w);  // what oneDNN reads
#endif
}

namespace detail {

void parallel_for(std::int64_t n, std::int64_t grain, RangeFn fn, void* context) noexcept {
  const std::int64_t blocks = (n + grain - 1) / grain;
  int parts = static_cast<int>(std::min<std::int64_t>(compute_width(), blocks));
  if (parts > 1 && !inside_region) {
    adapt_waiting(parts);
    parts = static_cast<int>(std::min<std::int64_t>(parts, blocks / blocks_worth_a_thread()));
  }
  if (parts <= 1 || inside_region) {
    fn(context, 0, n);
    return;
  }
  auto part = [&](int p) {
    const std::int64_t begin = blocks * p / parts * grain;
    const std::int64_t end = std::min(n, blocks * (p + 1) / parts * grain);
    inside_region = true;
    join_pool();
    if (begin < end) fn(context, begin, end);
    inside_region = false;
  };
  // The threads that are made here serve kernels, of oneDNN too, from now on.
  const FlushDenormals flush;
#if RILL_PARALLEL_OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
  for (int p = 0; p < parts; ++p) part(p);
#else
  std::vector<std::thread> threads;
  for (int p = 1; p < parts; ++p) threads.emplace_back(part, p);
  part(0);
  for (auto& t : threads) t.join();
#endif
}

}  // namespace detail
}  // namespace rill
