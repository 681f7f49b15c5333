#include "rill/base/waiting.h"

#if RILL_PARALLEL_OPENMP
#include <dlfcn.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "rill/base/core_count.h"

namespace rill {
namespace {

using Nanoseconds = std::int64_t;
constexpr Nanoseconds kMillisecond = 1'000'000;

// Coarse: a tick of the kernel (1 to 4 ms), for a few nanoseconds.
Nanoseconds now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec * Nanoseconds{1'000'000'000} + t.tv_nsec;
}

// A file of /proc that is read again and again.
class ProcFile {
 public:
  explicit ProcFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ProcFile(ProcFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ProcFile& operator=(ProcFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~ProcFile() {
    if (fd_ >= 0) close(fd_);
  }
  // False: not there, or gone.
  bool read(char (&text)[128]) const {
    const ssize_t n = fd_ < 0 ? -1 : pread(fd_, text, sizeof text - 1, 0);
    if (n <= 0) return false;
    text[n] = 0;
    return true;
  }

 private:
  int fd_;
};

// How long the threads of the pool were ready to run and had no core.
class Delays {
 public:
  void add(pid_t thread) {
    ProcFile file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
    Nanoseconds so_far = 0;
    if (waited(file, &so_far)) threads_.push_back({std::move(file), so_far});
  }
  // Of the thread that waited longest since the last call. Negative: nothing is known.
  Nanoseconds longest() {
    Nanoseconds longest = -1;
    std::erase_if(threads_, [&](Thread& t) {
      Nanoseconds so_far = 0;
      if (!waited(t.file, &so_far)) return true;  // it ended
      longest = std::max(longest, so_far - t.before);
      t.before = so_far;
      return false;
    });
    return longest;
  }

 private:
  struct Thread {
    ProcFile file;
    Nanoseconds before;
  };
  static bool waited(const ProcFile& file, Nanoseconds* delay) {
    char text[128];
    long long ran = 0, waits = 0;
    if (!file.read(text) || std::sscanf(text, "%lld %lld", &ran, &waits) != 2) return false;
    *delay = waits;
    return true;
  }
  std::vector<Thread> threads_;
};

// Threads of the whole system that run or want to; 0 where the system does not say.
int runnable_threads() {
  static const ProcFile* file = new ProcFile("/proc/loadavg");
  char text[128];
  int running = 0;
  if (!file->read(text) || std::sscanf(text, "%*f %*f %*f %d/", &running) != 1) return 0;
  return running;
}

// Switches how the pool waits. LLVM's libomp has a call for it. GNU's libgomp has
// none, but its threads spin only for a moment while there are more of them than
// cores: a second, idle team makes it so.
class PoolSwitch {
 public:
  // `width`: how many threads the pool has, at least.
  void sleep(bool wanted, int width) {
    if (wanted == sleeping_) return;
    sleeping_ = wanted;
    if (set_blocktime_) {
      set_blocktime_(wanted ? 0 : 200);
    } else if (wanted) {
      sleeping_ = start_team(std::max(2, omp_get_num_procs() - width + 2));
    } else {
      {
        const std::lock_guard lock(mutex_);
        done_ = true;
      }
      ended_.notify_one();
      surplus_.join();
      done_ = false;
    }
  }
  bool sleeping() const { return sleeping_; }

 private:
  // False where the system gives no more threads: then the pool spins on.
  bool start_team(int threads) {
    // Signals are for the program's own threads. The new ones inherit the mask.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
      surplus_ = std::thread([this, threads] { hold_team(threads); });
    } catch (const std::system_error&) {
      started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  }
  void hold_team(int threads) {
#pragma omp parallel num_threads(threads)
    {
      __asm__ volatile("");  // a region without a body would be left out
    }
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return done_; });
  }

  void (*const set_blocktime_)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT,
                                                                            "kmp_set_blocktime"));
  bool sleeping_ = false, done_ = false;
  std::thread surplus_;
  std::mutex mutex_;
  std::condition_variable ended_;
};

// A grain takes some 5 us. A thread that sleeps is up after 5 us at best, and where others want its
// core after 50 and more.
constexpr std::int64_t kBlocksWorthWaking = 16;

bool user_has_chosen() {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"})
    if (std::getenv(name)) return true;
  return false;
}

class Policy {
 public:
  void adapt(int width) {
    const Nanoseconds t = now();
    if (t < next_look_.load(std::memory_order_relaxed)) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && t >= next_look_.load(std::memory_order_relaxed)) look(t, width);
  }
  bool sleeping() const { return sleeping_.load(std::memory_order_relaxed); }
  void join(pid_t thread) {
    const std::lock_guard lock(mutex_);
    delays_.add(thread);
  }

 private:
  static constexpr Nanoseconds kBetweenLooks = 10 * kMillisecond;

  void look(Nanoseconds t, int width) {
    const Nanoseconds since = t - last_look_;
    const Nanoseconds delay = delays_.longest();
    last_look_ = t;
    next_look_.store(t + kBetweenLooks, std::memory_order_relaxed);
    // A program that did something else for a while says nothing about now.
    if (delay < 0 || since > 20 * kBetweenLooks) return;
    if (!pool_.sleeping()) {
      // A tenth of the time without a core: more than a neighbour's short visit. One long visit
      // is not a habit, so it takes two looks in a row.
      crowded_looks_ = delay * 10 > since ? crowded_looks_ + 1 : 0;
      if (crowded_looks_ < 2) return;
      // Crowded again soon after the last change: wait longer before the next try.
      patience_ = t - changed_ < 100 * kBetweenLooks ? std::min(patience_ * 2, kMostPatience)
                                                     : kLeastPatience;
      change(t, true, width);
    } else {
      // This thread is one of the runnable ones, its partners sleep between regions.
      const int running = runnable_threads();
      const bool room = running > 0 && running - 1 + width <= omp_get_num_procs();
      quiet_looks_ = room ? quiet_looks_ + 1 : std::max(0, quiet_looks_ - 3);
      if (quiet_looks_ >= patience_) change(t, false, width);
    }
  }
  void change(Nanoseconds t, bool sleep, int width) {
    pool_.sleep(sleep, width);
    sleeping_.store(pool_.sleeping(), std::memory_order_relaxed);
    changed_ = t;
    crowded_looks_ = quiet_looks_ = 0;
  }

  static constexpr int kLeastPatience = 8, kMostPatience = 256;  // looks
  std::atomic<Nanoseconds> next_look_ = 0;
  std::atomic<bool> sleeping_ = false;
  std::mutex mutex_;
  Delays delays_;
  PoolSwitch pool_;
  Nanoseconds last_look_ = 0, changed_ = 0;
  int crowded_looks_ = 0, quiet_looks_ = 0, patience_ = kLeastPatience;
};

// Null: the user has chosen. Never destroyed: threads may end after main.
Policy* policy() {
  static Policy* const p = user_has_chosen() ? nullptr : new Policy;
  return p;
}

}  // namespace

void adapt_waiting(int width) {
  if (Policy* p = policy()) p->adapt(width);
}

std::int64_t blocks_worth_a_thread() {
  const Policy* p = policy();
  return p && p->sleeping() ? kBlocksWorthWaking : 1;
}

void join_pool() {
  thread_local bool joined = false;
  if (joined) return;
  joined = true;
  if (Policy* p = policy()) p->join(gettid());
}

}  // namespace rill
#else
namespace rill {
void adapt_waiting(int) {}
std::int64_t blocks_worth_a_thread() { return 1; }
void join_pool() {}
}  // namespace rill
#endif
