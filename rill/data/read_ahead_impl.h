#pragma once
#include <condition_variable>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "rill/data/dataset_impl.h"
#include "rill/data/thread_tuner_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {

// Threads that read ahead of one consumer, from several cursors. The sources do not know of one
// another; whichever of the next ones in turn has the least in its queue is read first.
class ReadAhead {
 public:
  struct Limits {
    std::int64_t sources = 1;  // at most
    std::int64_t threads = 1;
    bool tuned = false;  // the number of threads is AUTOTUNE's, up to `threads`
  };
  ReadAhead(const Limits& limits, Pass& pass);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;

  // The same elements, read ahead. Its state is that of a PrefetchDataset. REQUIRES: it goes before
  // this; `place` tells the sources apart, and in which order they have their turns.
  std::unique_ptr<Cursor> add(std::unique_ptr<Cursor> input, std::size_t place);
  // An element, an error or the end of the source at this place can be had at once.
  bool is_ready(std::size_t place) const;
  // What all queues hold, and the threads that are in use.
  BufferUse use() const;

 private:
  class Source;
  void work(std::int64_t number);
  Source* next_source() const;
  void start_threads();
  void fit(const Produced& p);
  void tune(double waited);

  const Limits limits_;
  const bool grows_;
  AutotuneBudget::Part memory_;

  mutable std::mutex mutex_;  // guards all below; a source's input belongs to who set `producing`
  std::condition_variable work_, done_, idle_;
  std::vector<Source*> sources_;  // by place; null: there is none
  std::size_t turn_ = 0;          // of the place that was asked last
  std::size_t room_;              // for elements of each source
  std::int64_t largest_ = 0;      // element so far, in bytes
  std::int64_t active_;           // threads that may work
  std::optional<ThreadTuner> tuner_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rill::data
