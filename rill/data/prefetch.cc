#include <condition_variable>
#include <deque>
#include <thread>

#include "rill/base/parallel.h"
#include "rill/core/default_device.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

constexpr std::size_t kAutotuneStart = 2, kAutotuneMost = 16;

// A thread asks the input ahead of the consumer. When the queue is empty and
// the thread is not at work the consumer asks the input itself, rather than
// wake a thread and wait for it.
class PrefetchCursor final : public UnaryCursor {
 public:
  PrefetchCursor(std::unique_ptr<Cursor> input, std::int64_t size, Pass& pass)
      : UnaryCursor(std::move(input)),
        tuned_(size == AUTOTUNE),
        grows_(tuned_ && pass.options().autotune.enabled),
        memory_(pass.autotune()),
        room_(tuned_ ? kAutotuneStart : static_cast<std::size_t>(size)) {}
  ~PrefetchCursor() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  bool next(Nest* element) override {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    if (queue_.empty() && producing_ && grows_ && room_ < kAutotuneMost &&
        memory_.resize(2 * needs_))
      room_ *= 2, needs_ *= 2;
    done_.wait(lock, [&] { return !queue_.empty() || !producing_; });
    if (!queue_.empty()) {
      Produced p = std::move(queue_.front());
      queue_.pop_front();
      // A thread that sleeps is woken when half is gone, not for every element.
      const bool wake = sleeping_ && queue_.size() <= room_ / 2;
      lock.unlock();
      if (wake) work_.notify_one();
      return p.take(element);
    }
    if (ended_) return false;
    producing_ = true;
    lock.unlock();
    Produced p = Produced::of([&](Nest* e) { return input_->next(e); });
    lock.lock();
    producing_ = false;
    ended_ = p.at_end();
    if (tuned_) fit(p);
    const bool wake = sleeping_;
    lock.unlock();
    if (wake) work_.notify_one();
    return p.take(element);
  }

  void save(StateWriter& out) override {
    std::unique_lock lock(mutex_);
    hold_ = true;
    done_.wait(lock, [&] { return !producing_; });
    out.stage("PrefetchDataset");
    out.put(static_cast<std::int64_t>(ended_));
    out.put(static_cast<std::int64_t>(queue_.size()));
    for (const Produced& p : queue_) p.save(out);
    input_->save(out);
    hold_ = false;
    lock.unlock();
    work_.notify_all();
  }
  void restore(StateReader& in) override {
    in.stage("PrefetchDataset");
    ended_ = in.boolean();
    for (std::int64_t n = in.integer(0, 1 << 30); n > 0; --n)
      queue_.push_back(Produced::restore(in));
    input_->restore(in);
  }

  BufferUse buffer() const override {
    std::lock_guard lock(mutex_);
    BufferUse use{.filled = static_cast<std::int64_t>(queue_.size()),
                  .room = static_cast<std::int64_t>(room_),
                  .threads = 1};
    for (const Produced& p : queue_) use.bytes += p.bytes();
    return use;
  }

 private:
  void work() {
    set_compute_width(1);
    const OnHostByDefault on_host;
    std::unique_lock lock(mutex_);
    for (;;) {
      sleeping_ = true;
      work_.wait(lock, [&] {
        return stop_ || (!hold_ && !producing_ && !ended_ && queue_.size() < room_);
      });
      sleeping_ = false;
      if (stop_) return;
      producing_ = true;
      lock.unlock();
      Produced p = Produced::of([&](Nest* e) { return input_->next(e); });
      lock.lock();
      producing_ = false;
      if (tuned_) fit(p);
      if (p.at_end())
        ended_ = true;
      else
        queue_.push_back(std::move(p));
      done_.notify_one();
    }
  }

  // Elements as large as this one fill no more than the memory that is allowed; one is always.
  void fit(const Produced& p) {
    const auto wanted = [&] { return static_cast<std::int64_t>(room_) * p.bytes(); };
    if (wanted() <= needs_) return;
    while (!memory_.resize(wanted()) && room_ > 1) room_ /= 2;
    needs_ = wanted();
  }

  const bool tuned_, grows_;
  AutotuneBudget::Part memory_;
  std::int64_t needs_ = 0;  // room_ of the largest elements so far, in bytes
  mutable std::mutex
      mutex_;  // guards all below; the input belongs to the thread that set producing_
  std::condition_variable work_, done_;
  std::size_t room_;
  std::deque<Produced> queue_;
  bool producing_ = false, sleeping_ = false, ended_ = false, hold_ = false, stop_ = false;
  std::thread thread_;
};

class PrefetchDataset final : public UnaryDataset {
 public:
  PrefetchDataset(const Dataset& input, std::int64_t size) : UnaryDataset(input), size_(size) {}
  const char* name() const override { return "PrefetchDataset"; }
  Facts facts() const override { return {Fact::tuned("buffer_size", size_)}; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<PrefetchCursor>(input().start(place), size_, *place.pass);
  }

 private:
  std::int64_t size_;
};

}  // namespace

Dataset Dataset::prefetch(const Size& size) const {
  if (size.is_symbolic())
    return sized_recipe(*this, size, like_of(*this),
                        [](const Dataset& d, std::int64_t n) { return d.prefetch(n); });
  const std::int64_t buffer_size = size;
  RILL_CHECK(buffer_size >= AUTOTUNE, invalid_argument,
             "[prefetch] buffer_size is {}; expected a number of elements or AUTOTUNE",
             buffer_size);
  if (buffer_size == 0) return *this;
  return make_dataset<PrefetchDataset>(*this, buffer_size);
}

}  // namespace rill::data
