#include <condition_variable>
#include <deque>
#include <thread>

#include "rill/base/parallel.h"
#include "rill/data/map_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

class ParallelMapCursor final : public UnaryCursor {
 public:
  ParallelMapCursor(std::unique_ptr<Cursor> input, const detail::Fn& f, const UserCall& call,
                    int threads, bool ordered)
      : UnaryCursor(std::move(input)),
        f_(f),
        call_(call),
        num_threads_(threads),
        ordered_(ordered),
        room_(2 * static_cast<std::size_t>(threads)) {}
  ~ParallelMapCursor() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  bool next(Nest* element) override {
    std::unique_lock lock(mutex_);
    while (static_cast<int>(threads_.size()) < num_threads_)
      threads_.emplace_back([this] { work(); });
    std::size_t ready = 0;
    done_.wait(lock, [&] {
      for (ready = 0; ready < slots_.size(); ++ready) {
        if (slots_[ready]->done) return true;
        if (ordered_) return false;
      }
      return slots_.empty() && input_ended_ && !pulling_;
    });
    if (slots_.empty()) return false;
    const std::shared_ptr<Slot> slot = slots_[ready];
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(ready));
    lock.unlock();
    work_.notify_one();
    return slot->result.take(element);
  }

  void save(StateWriter& out) override {
    std::unique_lock lock(mutex_);
    hold_ = true;
    done_.wait(lock, [&] {
      for (const auto& slot : slots_)
        if (!slot->done) return false;
      return !pulling_;
    });
    out.stage("ParallelMapDataset");
    out.put(index_);
    out.put(static_cast<std::int64_t>(input_ended_));
    out.put(static_cast<std::int64_t>(slots_.size()));
    for (const auto& slot : slots_) slot->result.save(out);
    input_->save(out);
    hold_ = false;
    lock.unlock();
    work_.notify_all();
  }
  void restore(StateReader& in) override {
    in.stage("ParallelMapDataset");
    index_ = in.integer(0, INT64_MAX);
    input_ended_ = in.boolean();
    for (std::int64_t n = in.integer(0, 1 << 20); n > 0; --n) {
      auto slot = std::make_shared<Slot>();
      slot->result = Produced::restore(in);
      slot->done = true;
      slots_.push_back(std::move(slot));
    }
    input_->restore(in);
  }

 private:
  struct Slot {
    Produced result;
    bool done = false;
  };

  void work() {
    set_compute_width(1);
    std::unique_lock lock(mutex_);
    for (;;) {
      // One at a time asks the input, so that the slots stand in its order.
      work_.wait(lock, [&] {
        return stop_ || (!hold_ && !pulling_ && !input_ended_ && slots_.size() < room_);
      });
      if (stop_) return;
      pulling_ = true;
      lock.unlock();
      Produced from = Produced::of([&](Nest* e) { return input_->next(e); });
      lock.lock();
      pulling_ = false;
      if (from.at_end()) {
        input_ended_ = true;
        done_.notify_all();
        continue;
      }
      auto slot = std::make_shared<Slot>();
      slots_.push_back(slot);
      if (from.failed()) {
        slot->result = std::move(from);
      } else {
        const std::int64_t index = index_++;
        lock.unlock();
        work_.notify_one();
        Produced to = Produced::of([&](Nest* e) {
          Nest element;
          from.take(&element);
          *e = call_(f_, element, index);
          return true;
        });
        lock.lock();
        slot->result = std::move(to);
      }
      slot->done = true;
      done_.notify_all();
    }
  }

  const detail::Fn& f_;
  UserCall call_;
  const int num_threads_;
  const bool ordered_;
  const std::size_t room_;

  std::mutex mutex_;  // guards all below; the input belongs to who set pulling_
  std::condition_variable work_, done_;
  std::deque<std::shared_ptr<Slot>> slots_;
  std::int64_t index_ = 0;
  bool pulling_ = false, input_ended_ = false, hold_ = false, stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Cursor> parallel_map_cursor(std::unique_ptr<Cursor> input, const detail::Fn& f,
                                            const UserCall& call, int threads, bool ordered) {
  return std::make_unique<ParallelMapCursor>(std::move(input), f, call, threads, ordered);
}

}  // namespace rill::data
