#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

namespace rill {

// Whose turn it is to make what a cache lacks. One thread at a time makes something, without
// the cache's lock, so that other threads find what already exists. Threads that miss
// something wait until the turn ends and look again. The thread that has the turn may take it
// again, as when the trace of a function calls the function.
//
//   std::unique_lock lock(mutex_);
//   if (auto found = turn_.find_or_take(lock, find)) return found;
//   const MakingTurn::Holder holder(turn_, lock);
//   lock.unlock();
//   auto made = make();  // if it throws, the next thread in line tries
//   lock.lock();
//   ...                  // puts it into the cache
class MakingTurn {
 public:
  // What `find` gives, or null: then the turn is this thread's, and a Holder must follow.
  // REQUIRES: `lock` is held; `find` runs under it.
  template <class Find>
  auto find_or_take(std::unique_lock<std::mutex>& lock, Find find) {
    for (;;) {
      auto found = find();
      if (found) return found;
      if (depth_ == 0 || owner_ == std::this_thread::get_id()) {
        owner_ = std::this_thread::get_id();
        ++depth_;
        return found;
      }
      ended_.wait(lock);
    }
  }

  // Ends the turn, under the lock, which it takes again if need be.
  class Holder {
   public:
    Holder(MakingTurn& turn, std::unique_lock<std::mutex>& lock) : turn_(turn), lock_(lock) {}
    ~Holder() {
      if (!lock_.owns_lock()) lock_.lock();
      if (--turn_.depth_ == 0) turn_.ended_.notify_all();
    }
    Holder(const Holder&) = delete;

   private:
    MakingTurn& turn_;
    std::unique_lock<std::mutex>& lock_;
  };

 private:
  std::thread::id owner_;
  int depth_ = 0;
  std::condition_variable ended_;
};

}  // namespace rill
