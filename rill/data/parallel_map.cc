#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "rill/base/parallel.h"
#include "rill/core/default_device.h"
#include "rill/data/map_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

class ParallelMapCursor final : public UnaryCursor {
 public:
  ParallelMapCursor(std::unique_ptr<Cursor> input, const detail::Fn& f, const UserCall& call,
                    const ParallelMapOptions& o)
      : UnaryCursor(std::move(input)),
        f_(f),
        call_(call),
        num_threads_(o.threads),
        ordered_(o.ordered),
        room_(2 * static_cast<std::size_t>(o.threads)) {
    if (o.budget) memory_.emplace(*o.budget);
  }
  ~ParallelMapCursor() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  bool next(Nest* element) override {
    if (ready_.empty() && !await()) return false;
    Produced result = std::move(ready_.front());
    ready_.pop_front();
    return result.take(element);
  }

  void save(StateWriter& out) override {
    std::unique_lock lock(mutex_);
    hold_ = true;
    std::size_t results = ready_.size();
    done_.wait(lock, [&] {
      return !pulling_ &&
             std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->done; });
    });
    for (const auto& job : jobs_) results += job->results.size();
    out.stage("ParallelMapDataset");
    out.put(index_);
    out.put(static_cast<std::int64_t>(input_ended_));
    out.put(static_cast<std::int64_t>(results));
    for (const Produced& p : ready_) p.save(out);
    for (const auto& job : jobs_)
      for (const Produced& p : job->results) p.save(out);
    input_->save(out);
    hold_ = false;
    lock.unlock();
    work_.notify_all();
  }
  void restore(StateReader& in) override {
    in.stage("ParallelMapDataset");
    index_ = in.integer(0, INT64_MAX);
    input_ended_ = in.boolean();
    for (std::int64_t n = in.integer(0, 1 << 30); n > 0; --n)
      ready_.push_back(Produced::restore(in));
    input_->restore(in);
  }

  BufferUse buffer() const override {
    std::lock_guard lock(mutex_);
    BufferUse use{.filled = static_cast<std::int64_t>(ready_.size()),
                  .room = static_cast<std::int64_t>(room_ * job_size_),
                  .threads = num_threads_};
    for (const Produced& p : ready_) use.bytes += p.bytes();
    for (const auto& job : jobs_) {
      if (!job->done) continue;
      use.filled += static_cast<std::int64_t>(job->results.size());
      for (const Produced& p : job->results) use.bytes += p.bytes();
    }
    return use;
  }

 private:
  // Some consecutive elements, which one thread works on.
  struct Job {
    std::int64_t first = 0;  // index of the first element that is not an error
    std::vector<Produced> results;
    bool done = false;
  };

  // Waits for a job that is done and takes its results; false at the end.
  bool await() {
    std::unique_lock lock(mutex_);
    while (static_cast<int>(threads_.size()) < num_threads_)
      threads_.emplace_back([this] { work(); });
    auto found = jobs_.end();
    done_.wait(lock, [&] {
      found = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& job) {
        return job->done || ordered_;  // in order only the first will do
      });
      if (found != jobs_.end()) return (*found)->done;
      return jobs_.empty() && input_ended_ && !pulling_;
    });
    if (found == jobs_.end()) return false;
    for (Produced& p : (*found)->results) ready_.push_back(std::move(p));
    jobs_.erase(found);
    lock.unlock();
    work_.notify_one();
    return true;
  }

  void work() {
    set_compute_width(1);
    const OnHostByDefault on_host;
    std::unique_lock lock(mutex_);
    for (;;) {
      // One at a time asks the input, so that the jobs are in its order.
      work_.wait(lock, [&] {
        return stop_ || (!hold_ && !pulling_ && !input_ended_ && jobs_.size() < room_);
      });
      if (stop_) return;
      pulling_ = true;
      const std::size_t size = job_size_;
      lock.unlock();
      auto job = std::make_shared<Job>();
      bool ended = false;
      while (!ended && job->results.size() < size) {
        Produced p = Produced::of([&](Nest* e) { return input_->next(e); });
        ended = p.at_end();
        if (!ended) job->results.push_back(std::move(p));
      }
      lock.lock();
      pulling_ = false;
      input_ended_ = ended;
      job->first = index_;
      for (const Produced& p : job->results) index_ += !p.failed();
      if (!job->results.empty()) jobs_.push_back(job);
      lock.unlock();
      work_.notify_one();
      const auto start = std::chrono::steady_clock::now();
      run(*job);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      const std::int64_t largest = memory_ ? largest_result(*job) : 0;
      lock.lock();
      job->done = true;
      // Handing over costs microseconds: jobs are made long enough to be worth it,
      // and no longer. What is computed, and its order, do not depend on that.
      if (job_size_ == size && time.count() < kShortJob)
        job_size_ = std::min(2 * size, kMostElements);
      if (job_size_ == size && time.count() > kLongJob)
        job_size_ = std::max<std::size_t>(size / 2, 1);
      if (largest > 0) fit(largest);
      done_.notify_all();
    }
  }
  void run(Job& job) const {
    std::int64_t index = job.first;
    for (Produced& p : job.results) {
      if (stop_) return;  // nobody will want it
      if (p.failed()) continue;
      p = Produced::of([&](Nest* e) {
        Nest element;
        p.take(&element);
        *e = call_(f_, element, index);
        return true;
      });
      ++index;
    }
  }

  static std::int64_t largest_result(const Job& job) {
    std::int64_t most = 0;
    for (const Produced& p : job.results) most = std::max(most, p.bytes());
    return most;
  }
  // Fewer and smaller jobs, so that results of this size keep within the memory that is allowed;
  // one job of one element is always.
  void fit(std::int64_t bytes) {
    largest_ = std::max(largest_, bytes);
    const auto wanted = [&] { return static_cast<std::int64_t>(job_size_ * room_) * largest_; };
    while (!memory_->resize(wanted()) && job_size_ * room_ > 1)
      (job_size_ > 1 ? job_size_ : room_) /= 2;
  }

  static constexpr double kShortJob = 50e-6, kLongJob = 400e-6;
  static constexpr std::size_t kMostElements = 64;

  const detail::Fn& f_;
  UserCall call_;
  const int num_threads_;
  const bool ordered_;
  std::deque<Produced> ready_;  // the consumer's

  mutable std::mutex mutex_;  // guards all below; the input belongs to the thread that set pulling_
  std::condition_variable work_, done_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::size_t room_;  // for jobs
  std::size_t job_size_ = 1;
  std::optional<AutotuneBudget::Part> memory_;
  std::int64_t largest_ = 0;  // result so far, in bytes
  std::int64_t index_ = 0;
  bool pulling_ = false, input_ended_ = false, hold_ = false;
  std::atomic<bool> stop_{false};  // written under the mutex; jobs look at it as they go
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Cursor> parallel_map_cursor(std::unique_ptr<Cursor> input, const detail::Fn& f,
                                            const UserCall& call,
                                            const ParallelMapOptions& options) {
  return std::make_unique<ParallelMapCursor>(std::move(input), f, call, options);
}

}  // namespace rill::data
