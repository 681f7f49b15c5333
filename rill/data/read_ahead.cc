#include "rill/data/read_ahead_impl.h"

#include <algorithm>
#include <chrono>

#include "rill/base/parallel.h"
#include "rill/core/default_device.h"

namespace rill::data {
namespace {

constexpr std::size_t kStartRoom = 2, kMostRoom = 16;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

class ReadAhead::Source final : public UnaryCursor {
 public:
  Source(std::unique_ptr<Cursor> input, ReadAhead& all, std::size_t place)
      : UnaryCursor(std::move(input)), all_(all), place_(place) {
    std::lock_guard lock(all_.mutex_);
    all_.sources_[place_] = this;
  }
  ~Source() override {
    std::unique_lock lock(all_.mutex_);
    all_.sources_[place_] = nullptr;
    all_.done_.wait(lock, [&] { return !producing_; });
  }

  bool next(Nest* element) override {
    const double start = all_.tuner_ ? seconds_now() : 0;
    std::unique_lock lock(all_.mutex_);
    all_.start_threads();
    all_.turn_ = place_;
    const bool waits = queue_.empty() && producing_;
    if (waits && all_.grows_ && all_.room_ < kMostRoom) all_.room_ *= 2, all_.fit({});
    all_.done_.wait(lock, [&] { return !queue_.empty() || !producing_; });
    Produced p;
    if (!queue_.empty()) {
      p = std::move(queue_.front());
      queue_.pop_front();
    } else if (!ended_) {
      // Rather than wake a thread and wait for it.
      producing_ = true;
      lock.unlock();
      p = Produced::of([&](Nest* e) { return input_->next(e); });
      lock.lock();
      producing_ = false;
      ended_ = p.at_end();
      all_.fit(p);
    }
    if (all_.tuner_) all_.tune(seconds_now() - start);
    // As where one thread reads ahead: not for every element.
    const bool wake = queue_.size() <= all_.room_ / 2;
    lock.unlock();
    if (wake) all_.work_.notify_one();
    return p.take(element);
  }

  void save(StateWriter& out) override {
    std::unique_lock lock(all_.mutex_);
    hold_ = true;
    all_.done_.wait(lock, [&] { return !producing_; });
    out.stage("PrefetchDataset");
    out.put(static_cast<std::int64_t>(ended_));
    out.put(static_cast<std::int64_t>(queue_.size()));
    for (const Produced& p : queue_) p.save(out);
    input_->save(out);
    hold_ = false;
    lock.unlock();
    all_.work_.notify_all();
  }
  void restore(StateReader& in) override {
    in.stage("PrefetchDataset");
    ended_ = in.boolean();
    for (std::int64_t n = in.integer(0, 1 << 30); n > 0; --n)
      queue_.push_back(Produced::restore(in));
    input_->restore(in);
  }

 private:
  friend class ReadAhead;
  bool wants_more() const { return !producing_ && !ended_ && !hold_ && queue_.size() < all_.room_; }

  ReadAhead& all_;
  const std::size_t place_;
  // Guarded by the mutex of all.
  std::deque<Produced> queue_;
  bool producing_ = false, ended_ = false, hold_ = false;
};

ReadAhead::ReadAhead(const Limits& limits, Pass& pass)
    : limits_(limits),
      grows_(pass.options().autotune.enabled),
      memory_(pass.autotune()),
      sources_(static_cast<std::size_t>(limits.sources)),
      room_(kStartRoom),
      active_(limits.threads) {
  if (!limits.tuned || !grows_) return;
  tuner_.emplace(limits.threads);
  active_ = tuner_->threads();
}
ReadAhead::~ReadAhead() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  idle_.notify_all();
  for (std::thread& t : threads_) t.join();
}

std::unique_ptr<Cursor> ReadAhead::add(std::unique_ptr<Cursor> input, std::size_t place) {
  return std::make_unique<Source>(std::move(input), *this, place);
}
bool ReadAhead::is_ready(std::size_t place) const {
  std::lock_guard lock(mutex_);
  const Source* s = sources_[place];
  return s && (!s->queue_.empty() || (s->ended_ && !s->producing_));
}
BufferUse ReadAhead::use() const {
  std::lock_guard lock(mutex_);
  BufferUse use{.room = static_cast<std::int64_t>(room_) * limits_.sources,
                .threads = static_cast<int>(active_)};
  for (const Source* s : sources_) {
    if (!s) continue;
    use.filled += static_cast<std::int64_t>(s->queue_.size());
    for (const Produced& p : s->queue_) use.bytes += p.bytes();
  }
  return use;
}

void ReadAhead::start_threads() {
  while (static_cast<std::int64_t>(threads_.size()) < active_)
    threads_.emplace_back(
        [this, number = static_cast<std::int64_t>(threads_.size())] { work(number); });
}
void ReadAhead::work(std::int64_t number) {
  set_compute_width(1);
  const OnHostByDefault on_host;
  std::unique_lock lock(mutex_);
  for (;;) {
    idle_.wait(lock, [&] { return stop_ || number < active_; });
    Source* source = nullptr;
    work_.wait(lock, [&] { return stop_ || number >= active_ || (source = next_source()); });
    if (stop_) return;
    if (!source) continue;
    source->producing_ = true;
    lock.unlock();
    Produced p = Produced::of([&](Nest* e) { return source->input_->next(e); });
    lock.lock();
    source->producing_ = false;
    fit(p);
    if (p.at_end())
      source->ended_ = true;
    else
      source->queue_.push_back(std::move(p));
    done_.notify_all();
  }
}
// Of those that want more the one with the least, and of these the next in turn.
ReadAhead::Source* ReadAhead::next_source() const {
  Source* best = nullptr;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Source* s = sources_[(turn_ + i) % sources_.size()];
    if (!s || !s->wants_more() || (best && best->queue_.size() <= s->queue_.size())) continue;
    best = s;
    if (best->queue_.empty()) break;
  }
  return best;
}

// Elements as large as this one fill no more than the memory that is allowed; one of each source
// is always.
void ReadAhead::fit(const Produced& p) {
  largest_ = std::max(largest_, p.bytes());
  const auto fits = [&] {
    return memory_.resize(static_cast<std::int64_t>(room_) * limits_.sources * largest_);
  };
  bool good = fits();
  for (; !good && room_ > 1; good = fits()) room_ /= 2;
  if (!good && tuner_) tuner_->limit(active_);
}
void ReadAhead::tune(double waited) {
  tuner_->took(waited, seconds_now());
  if (tuner_->threads() == active_) return;
  active_ = tuner_->threads();
  start_threads();
  idle_.notify_all();
  work_.notify_all();
}

}  // namespace rill::data
