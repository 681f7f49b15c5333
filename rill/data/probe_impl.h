#pragma once
#include <atomic>
#include <deque>
#include <mutex>

#include "rill/data/dataset_impl.h"

// Measures the stages of one iterator, for Dataset::profile().
namespace rill::data {

// What is known of one stage; many threads add to it.
class StageProbe {
 public:
  StageProbe(std::string name, StageProbe* parent)
      : name(std::move(name)), parent(parent), depth(parent ? parent->depth + 1 : 0) {}
  const std::string name;
  StageProbe* const parent;
  const int depth;
  std::atomic<std::int64_t> elements{0}, own_ns{0}, function_ns{0};
  std::atomic<std::int64_t> samples{0}, filled{0}, room{0}, bytes{0};
  std::atomic<int> threads{0};
};

class Probe {
 public:
  // Of equal stages at the same place there is one.
  StageProbe* stage(const DatasetImpl& dataset, StageProbe* parent);
  std::vector<StageProfile> report() const;  // each before those that it reads

 private:
  mutable std::mutex mutex_;
  std::deque<StageProbe> stages_;
};

// The time from its making to its end, as that of a stage, and not that of the stages around it on
// this thread.
class StageTimer {
 public:
  explicit StageTimer(std::atomic<std::int64_t>* ns);  // null: nothing is measured
  ~StageTimer();
  StageTimer(const StageTimer&) = delete;

 private:
  std::atomic<std::int64_t>* ns_;
  StageTimer* outer_;
  std::int64_t start_ = 0, inner_ = 0;
};

// The same cursor, watched.
std::unique_ptr<Cursor> probed(std::unique_ptr<Cursor> cursor, StageProbe* stage);

}  // namespace rill::data
